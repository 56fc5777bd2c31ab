package move

import (
	"fmt"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// countedRows yields n rows of values.
type countedRows struct {
	n, at int
	row   func(i int) []any
	err   error
}

func (r *countedRows) Next() bool {
	r.at++
	return r.at <= r.n
}

func (r *countedRows) Values() ([]any, error) { return r.row(r.at), nil }

func (r *countedRows) Err() error { return r.err }

// loadGiven loads the rows of a source.
func loadGiven(t *testing.T, uri, into string, names []string, rows RowSource, wish planner.LoadWish) (*TableReport, error) {
	t.Helper()
	m, err := OpenLoad(t.Context(), LoadRequest{Target: uri, Into: into, Open: GivenRows(names, rows, nil), Wish: wish})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	report, err := m.Run(t.Context())
	return &report.Tables[0], err
}

func TestLoadGivenRows(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE given (id int PRIMARY KEY, t text, n numeric, at timestamptz, gone int GENERATED ALWAYS AS (id * 2) STORED)")
	const n = 20000
	report, err := loadGiven(t, uri, "given", []string{"id", "t", "n"}, &countedRows{n: n, row: func(i int) []any {
		return []any{i, fmt.Sprint("row ", i), fmt.Sprintf("%d.5", i)}
	}}, planner.LoadWish{MaxErrors: -1})
	if err != nil || report.Rows != n || report.Load.Read != n {
		t.Fatalf("%v, %+v", err, report)
	}
	sameContents(t, uri, "SELECT id, t, n, at, gone FROM given", uri, "SELECT i, 'row ' || i, i + 0.5, NULL::timestamptz, i * 2 FROM generate_series(1, 20000) i")
}
