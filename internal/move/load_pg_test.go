package move

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// loadCase is a load of one file.
type loadCase struct {
	content string
	layout  rowfile.Layout
	wish    planner.LoadWish
	columns []NewColumn
	into    string
}

// setAsideWish asks for a load that puts any number of refused rows aside.
func setAsideWish() planner.LoadWish {
	return planner.LoadWish{OnError: planner.SetRowsAside, MaxErrors: -1}
}

// loaded runs a load and returns its report and the reject file's contents.
func loaded(t *testing.T, uri string, c *loadCase) (*TableReport, string, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "rows")
	if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadedFiles(t, uri, []string{path}, c)
}

func loadedFiles(t *testing.T, uri string, paths []string, c *loadCase) (*TableReport, string, error) {
	t.Helper()
	open := func(ctx context.Context, columns []string, _ bool) (rowfile.Rows, []NewColumn, error) {
		l := c.layout
		l.Columns = columns
		rows, err := rowfile.Open(ctx, paths, nil, l)
		if err != nil {
			return nil, nil, err
		}
		return rows, c.columns, nil
	}
	reject := filepath.Join(t.TempDir(), "reject")
	request := LoadRequest{Target: uri, Into: c.into, Open: open, Wish: c.wish}
	if c.wish.OnError == planner.SetRowsAside || c.wish.OnDuplicate == planner.DuplicateKeepOld {
		request.Reject = RejectFiles{Rows: reject, Reasons: reject + ".json"}
	}
	m, err := OpenLoad(t.Context(), request)
	if err != nil {
		return nil, "", err
	}
	defer m.Close()
	report, err := m.Run(t.Context())
	refused, readErr := os.ReadFile(reject)
	if readErr != nil && !errors.Is(readErr, os.ErrNotExist) {
		t.Fatal(readErr)
	}
	return &report.Tables[0], string(refused), err
}

// oneByOne puts each line into the table by a COPY of its own, in order, and returns the lines that the server refused.
func oneByOne(t *testing.T, uri, table string, lines []string) (refused []string) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, uri)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	for _, line := range lines {
		_, err := c.PgConn().CopyFrom(ctx, strings.NewReader(line), "COPY "+table+" FROM STDIN (FORMAT csv)")
		var pg *pgconn.PgError
		switch {
		case err == nil:
		case errors.As(err, &pg):
			refused = append(refused, line)
		default:
			t.Fatal(err)
		}
	}
	return refused
}

// restless is a table with every kind of condition that a row can break.
var restless = []string{
	"CREATE TABLE parent (id int PRIMARY KEY)",
	"INSERT INTO parent SELECT generate_series(1, 50)",
	`CREATE TABLE $t (
		id int PRIMARY KEY, day date NOT NULL, amount numeric(6,2) CHECK (amount > 0), parent int REFERENCES parent, code varchar(5),
		during int4range, EXCLUDE USING gist (during WITH &&), CONSTRAINT "Odd name" CHECK (code <> 'odd' OR day > '2000-01-01'))`,
	`CREATE FUNCTION $t_refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF NEW.code = 'raise' THEN RAISE EXCEPTION 'this code is not liked: %', NEW.code; END IF;
		IF NEW.code = 'drop' THEN RETURN NULL; END IF;
		RETURN NEW; END$$`,
	"CREATE TRIGGER refuse BEFORE INSERT ON $t FOR EACH ROW EXECUTE FUNCTION $t_refuse()",
	`CREATE FUNCTION $t_late() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF NEW.code = 'late' THEN RAISE EXCEPTION 'noticed too late'; END IF; RETURN NULL; END$$`,
	"CREATE TRIGGER late AFTER INSERT ON $t FOR EACH ROW EXECUTE FUNCTION $t_late()",
}

// randomLines are rows of restless, of which about one in every is refused for whatever reason.
func randomLines(r *rand.Rand, n, every int) []string {
	lines := make([]string, n)
	for i := range lines {
		id, day, amount, parent, code, during := fmt.Sprint(i+1), "2024-02-03", "1.50", fmt.Sprint(1+r.IntN(50)), "abc", fmt.Sprintf(`"[%d,%d)"`, 10*i, 10*i+5)
		if r.IntN(every) == 0 {
			switch r.IntN(14) {
			case 0:
				id = "x" + id
			case 1:
				id = fmt.Sprint(max(1, i))
			case 2:
				day = ""
			case 3:
				day = "2024-02-30"
			case 4:
				amount = "-1"
			case 5:
				amount = "12345.67"
			case 6:
				parent = "77"
			case 7:
				code = "too long"
			case 8:
				during = fmt.Sprintf(`"[%d,%d)"`, 10*i-7, 10*i+1)
			case 9:
				code = "raise"
			case 10:
				code = "late"
			case 11:
				code = "drop" // which is no refusal
			case 12:
				code, day = "odd", "1999-01-01"
			case 13:
				during += ",more"
			}
		}
		lines[i] = strings.Join([]string{id, day, amount, parent, code, during}, ",") + "\n"
	}
	return lines
}

func TestLoadSetsAsideWhatOneByOneIsRefused(t *testing.T) {
	for _, c := range []struct {
		name        string
		rows, every int
		commit      int64
	}{
		{"few", 700, 100, 0}, {"many", 700, 4, 0}, {"one batch and another", 60000, 5000, 0}, {"committed now and then", 3000, 40, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			uri := clustertest.Database(t)
			for _, table := range []string{"loaded", "expected"} {
				for i, sql := range restless {
					if i < 2 && table == "expected" {
						continue
					}
					clustertest.Exec(t, uri, strings.ReplaceAll(sql, "$t", table))
				}
			}
			lines := randomLines(rand.New(rand.NewPCG(7, uint64(c.rows))), c.rows, c.every)
			want := oneByOne(t, uri, "expected", lines)
			wish := setAsideWish()
			wish.CommitEvery = c.commit
			report, rejected, err := loaded(t, uri, &loadCase{content: strings.Join(lines, ""), layout: rowfile.Layout{Format: rowfile.CSV, Header: rowfile.NoHeader}, wish: wish, into: "loaded"})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.SplitAfter(rejected, "\n")
			got = got[:len(got)-1]
			if !slices.Equal(got, want) {
				t.Errorf("%d rows were refused, one by one %d:\n%s", len(got), len(want), firstDifference(got, want))
			}
			sameContents(t, uri, "SELECT l::text FROM loaded l", uri, "SELECT e::text FROM expected e")
			if report.Load.Refused != int64(len(want)) || report.Load.Read != int64(c.rows) {
				t.Errorf("the report counts %d of %d rows refused", report.Load.Refused, report.Load.Read)
			}
		})
	}
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Sprintf("number %d is %q and not %q", i, g, w)
		}
	}
	return ""
}
