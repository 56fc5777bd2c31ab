package move

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

type named string

func pointer[T any](v T) *T { return &v }

// goValues are values of Go types, by the type of the column that they go to.
func goValues() map[string][]any {
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.FixedZone("x", 3600))
	return map[string][]any{
		"smallint":         {1, int8(-1), int16(2), uint8(3), int64(40000), "5", pointer(6), (*int)(nil), "x", nil},
		"int":              {1, int32(-5), uint32(1 << 31), sql.NullInt64{Int64: 5, Valid: true}, sql.NullInt64{}, pgtype.Int4{Int32: 3, Valid: true}, 1.0, 1.5, " 7 ", named("8")},
		"bigint":           {int64(1) << 62, uint64(1) << 63, "9223372036854775807", big.NewInt(5), true},
		"real":             {1.5, float32(2.5), 3, "NaN"},
		"double precision": {1.5, float32(2.5), 3, "-Infinity", "1e309"},
		"numeric":          {1, 1.25, "12345678901234567890.5", pgtype.Numeric{Int: big.NewInt(125), Exp: -2, Valid: true}, pgtype.Numeric{NaN: true, Valid: true}, "x"},
		"numeric(4,1)":     {12.34, "999.96", "999.94"},
		"boolean":          {true, false, "yes", sql.NullBool{Bool: true, Valid: true}, 1, "maybe"},
		"text":             {"", "ä", []byte("bytes"), named("named"), sql.NullString{}, sql.NullString{String: "s", Valid: true}, pointer("p"), 5, at, "tab\tand\nline\\"},
		"varchar(3)":       {"abc", "abcd", "ab   ", named("xyz")},
		"char(3)":          {"a", "abcd"},
		"bytea":            {[]byte{0, 1, 255}, []byte{}, []byte(nil), `\x0102`},
		"uuid":             {[16]byte{1, 2, 3}, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", pgtype.UUID{Bytes: [16]byte{9}, Valid: true}, "x"},
		"date":             {at, "2024-02-29", "infinity", pgtype.Date{InfinityModifier: pgtype.NegativeInfinity, Valid: true}, sql.NullTime{Time: at, Valid: true}, "2024-02-30"},
		"timestamp":        {at, "2024-01-01 10:00", pgtype.Timestamp{Time: at.UTC(), Valid: true}},
		"timestamptz":      {at, "2024-01-01 10:00+02", pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}, sql.NullTime{}},
		"time":             {"10:00", pgtype.Time{Microseconds: 5000000, Valid: true}},
		"timetz":           {"10:00+02"},
		"interval":         {time.Hour + time.Microsecond, "1 month 2 days", pgtype.Interval{Months: 3, Days: 2, Microseconds: 1, Valid: true}},
		"json":             {map[string]any{"a": 1}, []int{1, 2}, `{"b": 2}`, []byte(`{"c":3}`), "{"},
		"jsonb":            {map[string]any{"a": 1}, `{"b": 2}`, []byte(`[1]`), struct{ X int }{5}, 5, nil},
		"inet":             {netip.MustParseAddr("10.0.0.1"), netip.MustParsePrefix("10.0.0.0/8"), net.ParseIP("::1"), "10.0.0.1/8", "x"},
		"cidr":             {netip.MustParsePrefix("10.0.0.0/8"), "10.0.0.1/8"},
		"macaddr":          {net.HardwareAddr{1, 2, 3, 4, 5, 6}, "08:00:2b:01:02:03"},
		"point":            {pgtype.Point{P: pgtype.Vec2{X: 1, Y: 2}, Valid: true}, "(3,4)"},
		"bit(3)":           {pgtype.Bits{Bytes: []byte{0xa0}, Len: 3, Valid: true}, "101", "1"},
		"int[]":            {[]int{1, 2}, []int32{}, []int(nil), "{1,NULL}", []*int{pointer(1), nil}, "{{1,2},{3,4}}", "{x}"},
		"text[]":           {[]string{"a", `b"c`, ""}, `{x,NULL}`, []any{"a", nil}},
		"int4range":        {pgtype.Range[pgtype.Int4]{Lower: pgtype.Int4{Int32: 1, Valid: true}, Upper: pgtype.Int4{Int32: 5, Valid: true}, LowerType: pgtype.Inclusive, UpperType: pgtype.Exclusive, Valid: true}, "[1,5]", "[5,1]"},
		"feeling":          {"happy", named("sad"), "glad"},
		"positive":         {5, int64(6), "7", -1, "x", sql.NullInt32{}},
		"oid":              {5, uint32(4294967295), "7"},
	}
}

// TestLoadValuesOfPrograms holds values of Go types against what pgx makes of them as parameters of INSERT.
func TestLoadValuesOfPrograms(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TYPE feeling AS ENUM ('happy', 'sad')", "CREATE DOMAIN positive AS int CHECK (VALUE > 0)")
	ctx := context.Background()
	c, err := pgx.Connect(ctx, uri)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	values := goValues()
	types := slices.Sorted(maps.Keys(values))
	var columns []string
	for i, typ := range types {
		columns = append(columns, fmt.Sprintf("c%d %s", i, typ))
	}
	clustertest.Exec(t, uri, "CREATE TABLE given (id int, "+strings.Join(columns, ", ")+"); CREATE TABLE inserted (LIKE given)")
	for n, format := range []planner.Format{"", planner.Text} {
		w, err := OpenWriter(ctx, LoadRequest{Target: uri, Into: "given", Wish: planner.LoadWish{MaxErrors: -1, Format: format, Fill: planner.Append, Analyze: planner.No}})
		if err != nil {
			t.Fatal(spelled(err))
		}
		if format == "" && w.Plan().Load.NoBinary != "" {
			t.Errorf("as text: %s", w.Plan().Load.NoBinary)
		}
		for i, typ := range types {
			for j, v := range values[typ] {
				id := 100000*n + 1000*i + j
				_, insertErr := c.Exec(ctx, fmt.Sprintf("INSERT INTO inserted (id, c%d) VALUES ($1, $2)", i), id, v)
				_, err := w.Add(func(b *RowBuilder) {
					b.Value(id)
					for at := range types {
						if at == i {
							b.Value(v)
						} else {
							b.Null()
						}
					}
				})
				if err == nil {
					_, err = w.Flush(ctx)
				}
				w.Discard()
				if (err != nil) != (insertErr != nil) {
					t.Errorf("%T %v to %s in %q: %v, as a parameter: %v", v, v, typ, format, err, insertErr)
					clustertest.Exec(t, uri, fmt.Sprintf("DELETE FROM given WHERE id = %d; DELETE FROM inserted WHERE id = %[1]d", id))
				}
			}
		}
		w.Close()
	}
	sameContents(t, uri, "SELECT g::text FROM given g", uri, "SELECT i::text FROM inserted i")
}

func TestLoadGivenErrors(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int NOT NULL, d date, v text)")
	row := []any{1, "2024-01-01", "x"}
	for _, c := range []struct {
		change func(r *countedRows)
		words  string
	}{
		{func(r *countedRows) { r.row = func(int) []any { return row[:2] } }, "it has 2 values and not 3"},
		{func(r *countedRows) { r.row = func(int) []any { return append(row, 1) } }, "it has 4 values and not 3"},
		{func(r *countedRows) { r.row = func(int) []any { return []any{1, "tomorrow", "x"} } }, "only the server can read"},
		{func(r *countedRows) { r.row = func(int) []any { return []any{1, nil, "x\x00"} } }, "NUL byte"},
		{func(r *countedRows) { r.row = func(int) []any { return []any{1, nil, "x\xff"} } }, "not UTF-8"},
		{func(r *countedRows) { r.row = func(int) []any { return []any{nil, nil, nil} } }, "row 1 of the given rows"},
		{func(r *countedRows) { r.err = context.DeadlineExceeded }, "cannot take row 21"},
		{func(r *countedRows) { r.err = fmt.Errorf("the well is dry") }, "the well is dry"},
	} {
		r := &countedRows{n: 20, row: func(int) []any { return row }}
		c.change(r)
		_, err := loadGiven(t, uri, "t", []string{"id", "d", "v"}, r, planner.LoadWish{MaxErrors: -1})
		if err == nil || !strings.Contains(spelled(err), c.words) {
			t.Errorf("%q is not in %s", c.words, spelled(err))
		}
	}
	if got := clustertest.Query(t, uri, "SELECT count(*) FROM t"); got != "0" {
		t.Errorf("%s rows are there", got)
	}
}

// typedRows yields rows without boxes.
type typedRows struct{ n, at int }

func (r *typedRows) NextRow(b *RowBuilder) (bool, error) {
	if r.at++; r.at > r.n {
		return false, nil
	}
	b.Int64(int64(r.at))
	b.Text(fmt.Sprint("row ", r.at))
	if r.at%2 == 0 {
		b.Null()
	} else {
		b.Value(float64(r.at) / 2)
	}
	return true, nil
}

func TestLoadTypedRows(t *testing.T) {
	t.Parallel()
	uri := clustertest.Database(t)
	for i, column := range []string{"bigint", "int", "numeric", "text", "positive"} {
		table := fmt.Sprint("typed", i)
		if i == 0 {
			clustertest.Exec(t, uri, "CREATE DOMAIN positive AS bigint CHECK (VALUE > 0)")
		}
		clustertest.Exec(t, uri, "CREATE TABLE "+table+" (id "+column+", v text, f real)")
		m, err := OpenLoad(t.Context(), LoadRequest{Target: uri, Into: table, Open: GivenRows([]string{"id", "v", "f"}, nil, &typedRows{n: 1000}), Wish: planner.LoadWish{MaxErrors: -1}})
		if err != nil {
			t.Fatal(spelled(err))
		}
		_, err = m.Run(t.Context())
		m.Close()
		if column == "text" {
			if err == nil || !strings.Contains(spelled(err), `column "id"`) {
				t.Errorf("integers into text: %s", spelled(err))
			}
			continue
		}
		if err != nil {
			t.Fatal(spelled(err))
		}
		sameContents(t, uri, "SELECT id::bigint, v, f FROM "+table, uri, "SELECT i::bigint, 'row ' || i, CASE WHEN i % 2 = 1 THEN i::real / 2 END FROM generate_series(1, 1000) i")
	}
}
