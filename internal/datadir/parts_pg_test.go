package datadir

import (
	"crypto/md5"
	"fmt"
	"hash"
	"runtime"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// TestLargeValuesInParts compares what Parts hands on with what the server says, for each compression, and that memory stays small.
func TestLargeValuesInParts(t *testing.T) {
	s := private(t, nil)
	uri := s.URI("postgres")
	lz := "pglz"
	if strings.Contains(clustertest.Query(t, uri, "SELECT enumvals::text FROM pg_settings WHERE name = 'default_toast_compression'"), "lz4") {
		lz = "lz4"
	}
	clustertest.Exec(t, uri, `CREATE DOMAIN public.dom AS text; CREATE TABLE public.t (id int, raw text, pg public.dom, lz text, bytes bytea, small text)`,
		"ALTER TABLE public.t ALTER raw SET STORAGE EXTERNAL, ALTER pg SET COMPRESSION pglz, ALTER lz SET COMPRESSION "+lz,
		`INSERT INTO public.t SELECT g, m, m, m, convert_to(m, 'UTF8'), CASE WHEN g < 3 THEN 'a' || g END FROM generate_series(1, 3) g,
			LATERAL (SELECT string_agg(repeat(md5((i * g)::text), 1 + i % 9) || repeat('x', i % 300), '') AS m FROM generate_series(1, 4000 * g) i) x`,
		"INSERT INTO public.t SELECT 4, repeat('r', 16000000), repeat('p', 16000000), repeat('lz4', 5000000), NULL, ''", "CHECKPOINT")
	columns := []string{"id", "raw", "pg", "lz", "bytes", "small"}
	var sums []string
	for _, c := range columns {
		sums = append(sums, fmt.Sprintf("length(%[1]s::text) || ':' || md5(%[1]s::text)", c))
	}
	want := clustertest.Query(t, uri, "SELECT "+strings.Join(sums, ", ")+" FROM public.t ORDER BY id")
	db := database(t, stopped(t, s, false), "postgres")
	table := findTable(t, db, "public.t")
	printers, err := db.Printers(table)
	if err != nil {
		t.Fatal(err)
	}
	defer printers.Close()
	for _, threshold := range []int{largeValue, 1} {
		printers.threshold = threshold
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var got []string
		err := db.Scan(t.Context(), table, nil, func(row Row) error {
			if !printers.Large(row) {
				t.Error("the row is not large")
			}
			texts, err := summed(printers, row)
			got = append(got, texts)
			return err
		})
		runtime.ReadMemStats(&after)
		if err != nil || strings.Join(got, "\n") != want {
			t.Errorf("threshold %d: got\n%s\nwant\n%s\nerror %v", threshold, strings.Join(got, "\n"), want, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 15<<20 {
			t.Errorf("threshold %d: %d bytes were allocated for values of 16 MB", threshold, used)
		}
	}
}

// summed prints a row as the lengths and md5 of its columns.
func summed(p *Printers, row Row) (string, error) {
	columns := len(p.Columns())
	texts, hashes, lengths := make([]string, columns), make([]hash.Hash, columns), make([]int, columns)
	last := -1
	err := p.Parts(row, func(part Part) error {
		i := part.Column
		if hashes[i] == nil {
			hashes[i] = md5.New()
			if i != last+1 {
				return fmt.Errorf("column %d follows column %d", i, last)
			}
		}
		last = i
		hashes[i].Write(part.Text)
		lengths[i] += len(part.Text)
		if part.Last && !part.Null {
			texts[i] = fmt.Sprintf("%d:%x", lengths[i], hashes[i].Sum(nil))
		}
		return nil
	})
	return strings.Join(texts, "|"), err
}
