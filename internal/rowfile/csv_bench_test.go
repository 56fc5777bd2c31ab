package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

// seedRows are rows of a number, a date, a number and a name, in several forms.
var seedRows = map[string]struct {
	format Format
	row    func(i int) string
}{
	"CSV": {CSV, func(i int) string {
		return fmt.Sprintf("%d,2024-%02d-%02d,%d,name%d\n", i, i%12+1, i%28+1, i%100000, i%10000)
	}},
	"CSV CRLF": {CSV, func(i int) string {
		return fmt.Sprintf("%d,2024-%02d-%02d,%d,name%d\r\n", i, i%12+1, i%28+1, i%100000, i%10000)
	}},
	"CSV quoted": {CSV, func(i int) string {
		return fmt.Sprintf("\"%d\",\"2024-%02d-%02d\",\"%d\",\"name%d\"\n", i, i%12+1, i%28+1, i%100000, i%10000)
	}},
	"CSV doubled": {CSV, func(i int) string {
		return fmt.Sprintf("%d,2024-%02d-%02d,%d,\"na\"\"me\"\"%d\"\n", i, i%12+1, i%28+1, i%100000, i%10000)
	}},
	"Text": {Text, func(i int) string {
		return fmt.Sprintf("%d\t2024-%02d-%02d\t%d\tname%d\n", i, i%12+1, i%28+1, i%100000, i%10000)
	}},
	"Text escaped": {Text, func(i int) string {
		return fmt.Sprintf("%d\t2024-%02d-%02d\t%d\tna\\tme%d\n", i, i%12+1, i%28+1, i%100000, i%10000)
	}},
}

func BenchmarkParse(b *testing.B) {
	for name, s := range seedRows {
		b.Run(name, func(b *testing.B) {
			data := seedData(s.row)
			l := layoutOf(b, data, Layout{Format: s.format, Header: NoHeader})
			l.SetColumns([]string{"a", "b", "c", "d"})
			p := newTextParser(&l)
			block := &Block{Data: data, Begin: Position{Line: 1}, ends: l.Ends}
			rows, fields := 0, 0
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				err := p.Parse(block, func(r *Row) error {
					rows++
					fields += len(r.Fields)
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			if fields != 4*rows {
				b.Fatalf("%d fields in %d rows", fields, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
		})
	}
}

func seedData(row func(int) string) []byte {
	var data bytes.Buffer
	for i := 0; data.Len() < BlockSize; i++ {
		data.WriteString(row(i))
	}
	return data.Bytes()
}

func BenchmarkCut(b *testing.B) {
	for name, s := range seedRows {
		b.Run(name, func(b *testing.B) {
			data := bytes.Repeat(seedData(s.row), 16)
			l := layoutOf(b, data, Layout{Format: s.format, Header: NoHeader})
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			rows := int64(0)
			for b.Loop() {
				c := newCutter(bytes.NewReader(data), 0, "file", &l, Position{})
				for {
					block, err := c.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					rows += block.Next.Row - block.Begin.Row
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
		})
	}
}
