package move

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// reading is a database with a session inside a read-only transaction.
type reading struct {
	uri     string
	facts   *pgx.Conn
	session *session
}

func readFrom(t *testing.T, uri string) *reading {
	t.Helper()
	c, err := catalog.Connect(t.Context(), uri, "UTF8")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return &reading{uri: uri, facts: c, session: readingSession(t, uri)}
}

func readingSession(t *testing.T, uri string) *session {
	t.Helper()
	config, err := catalog.Config(uri)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSession(t.Context(), config, "UTF8", "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	if _, err := s.exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		t.Fatal(err)
	}
	return s
}

// side is a table of the database as one half of a comparison.
func (r *reading) side(t *testing.T, table string) side {
	t.Helper()
	relation, err := catalog.Read(t.Context(), r.facts, "public", table, catalog.Source)
	if err != nil {
		t.Fatal(err)
	}
	return side{relation: relation, columns: relation.Columns, sessions: []*session{r.session}}
}

// comparedSide is a table that several sessions read.
func comparedSide(t *testing.T, uri, table string, sessions int) side {
	t.Helper()
	s := readFrom(t, uri).side(t, table)
	for len(s.sessions) < sessions {
		s.sessions = append(s.sessions, readingSession(t, uri))
	}
	return s
}

// told is a comparison's differences, one line each, and its keys under them.
func told(c *Comparison) string {
	var b strings.Builder
	for _, d := range c.Different {
		fmt.Fprintf(&b, "%s: %d, %d\n", d.Range, d.SourceRows, d.TargetRows)
		for _, k := range d.Keys {
			fmt.Fprintf(&b, "  %s\n", k)
		}
	}
	return b.String()
}

func TestCompareNamesRowsOfBigTable(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri,
		`CREATE TABLE a (id bigint PRIMARY KEY, d date, j int, t varchar(10))`,
		`INSERT INTO a SELECT i, '2024-02-15', i / 10, md5(i::text)::varchar(10) FROM generate_series(1, 200000) AS i`,
		`CREATE TABLE b (t varchar(10), gone int, id bigint, j int, d date)`,
		`ALTER TABLE b DROP COLUMN gone`,
		`CREATE TABLE c AS TABLE a`,
		`INSERT INTO b (id, d, j, t) SELECT * FROM a ORDER BY t`)
	same := compareNamed(t, uri, "a", "b", VerifyHash)
	if !same.Equal() || same.SourceRows != 200000 || same.TargetRows != 200000 || same.Ranges != 10 {
		t.Fatalf("equal tables: %+v", same)
	}
	clustertest.Exec(t, uri,
		`UPDATE c SET j = j + 1, t = 'x' WHERE id = 1001`,
		`DELETE FROM c WHERE id BETWEEN 1500 AND 1503`,
		`INSERT INTO c SELECT * FROM c WHERE id = 77`,
		`INSERT INTO c VALUES (-5, '2024-01-01', 0, 'new')`,
		`UPDATE c SET d = NULL WHERE id = 150000`)
	c := compareNamed(t, uri, "a", "c", VerifyHash)
	lines := strings.Split(told(c), "\n")
	want := []string{"  id=-5: only in the target", "  id=77: 1 in the source, 2 in the target", "  id=1001: different in j, t",
		"  id=1500: missing in the target", "  id=1501: missing in the target"}
	if len(c.Different) != 2 || c.SourceRows != 200000 || c.TargetRows != 199998 {
		t.Errorf("differences:\n%s", told(c))
	}
	if diff := cmp.Diff(want, lines[1:6]); diff != "" {
		t.Errorf("first range: %s", diff)
	}
	if !strings.Contains(told(c), "id >= ") || !strings.Contains(told(c), "  id=150000: different in d\n") {
		t.Errorf("second range:\n%s", told(c))
	}
	counted := compareNamed(t, uri, "a", "c", VerifyCount)
	if len(counted.Different) != 1 || counted.Different[0].SourceRows-counted.Different[0].TargetRows != 2 ||
		strings.Contains(told(counted), "1001") || !strings.Contains(told(counted), "id=1500: missing in the target") {
		t.Errorf("counted:\n%s", told(counted))
	}
}

// compareNamed compares two tables of one database by the columns of the first.
func compareNamed(t *testing.T, uri, source, target string, level VerifyLevel) *Comparison {
	t.Helper()
	from, to := comparedSide(t, uri, source, 1), comparedSide(t, uri, target, 1)
	from.columns, to.columns = pairByName(t, from.columns, to.columns)
	c, err := compareSides(context.Background(), from, to, level)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func pairByName(t *testing.T, source, target []planner.Column) (from, to []planner.Column) {
	t.Helper()
	for _, c := range source {
		i := indexesOf(target, []string{c.Name})
		if i == nil {
			t.Fatalf("target lacks %s", c.Name)
		}
		from, to = append(from, c), append(to, target[i[0]])
	}
	return from, to
}
