package sqltext

import (
	"fmt"
	"strings"
	"testing"
)

var benchmarkStatements = map[string]string{
	"short": rowsOf(5000, func(n int) string { return fmt.Sprintf("(%d, 'name%d', 1.5, NULL)", n, n) }),
	"dates": rowsOf(5000, func(n int) string {
		return fmt.Sprintf("(%d,'2024-01-02 03:04:05+00','some words of text, as they come','it''s')", n)
	}),
	"parameters": rowsOf(1000, func(n int) string { return fmt.Sprintf("($%d, $%d)", 2*n+1, 2*n+2) }),
	"long":       rowsOf(4, func(int) string { return "(1, '" + strings.Repeat("0123456789abcdef", 1<<14) + "')" }),
	"doubled":    rowsOf(4, func(int) string { return "(1, '" + strings.Repeat("it''s in text ", 1<<14) + "')" }),
	"escapes":    rowsOf(4, func(int) string { return "(1, E'" + strings.Repeat(`a line of text\n`, 1<<14) + "')" }),
	"bytea":      rowsOf(4, func(int) string { return `(1, E'\\x` + strings.Repeat("0123456789abcdef", 1<<14) + "')" }),
	"foreign":    rowsOf(4, func(int) string { return "(1, '" + strings.Repeat("Ευχαριστώ πολύ ", 1<<13) + "')" }),
	"one":        "INSERT INTO public.t (id, name, price) VALUES (17, 'a name', 1.5)",
}

func rowsOf(n int, row func(n int) string) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = row(i)
	}
	return "INSERT INTO t VALUES " + strings.Join(rows, ", ")
}

func BenchmarkParseInsert(b *testing.B) {
	for name, text := range benchmarkStatements {
		sql := []byte(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(sql)))
			b.ReportAllocs()
			for b.Loop() {
				if _, not := ParseInsert(sql, trusted); not != nil {
					b.Fatal(not)
				}
			}
		})
	}
}

func BenchmarkInsertValues(b *testing.B) {
	for name, text := range benchmarkStatements {
		sql := []byte(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(sql)))
			insert, not := ParseInsert(sql, trusted)
			if not != nil {
				b.Fatal(not)
			}
			b.ReportAllocs()
			total := 0
			for b.Loop() {
				insert.Values(func(_, _ int, v Value) bool {
					total += len(v.Text)
					return true
				})
			}
		})
	}
}

func BenchmarkFirstWord(b *testing.B) {
	sql := []byte("/* pool */ select abalance from pgbench_accounts where aid = $1")
	b.ReportAllocs()
	for b.Loop() {
		if FirstWord(sql) != "SELECT" {
			b.Fatal("not SELECT")
		}
	}
}
