package rowfile

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// repeated yields one text again and again.
type repeated struct {
	unit string
	at   int
	left int64
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.left > 0 {
		k := copy(p[n:min(int64(len(p)), int64(n)+r.left)], r.unit[r.at:])
		n, r.left, r.at = n+k, r.left-int64(k), (r.at+k)%len(r.unit)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// bigFile is a text with a part that is repeated.
func bigFile(head, unit, tail string, times int) io.Reader {
	return io.MultiReader(strings.NewReader(head), &repeated{unit: unit, left: int64(times) * int64(len(unit))}, strings.NewReader(tail))
}

// TestLargeRowMemory reads a row of 100 MB and looks at what is in memory.
func TestLargeRowMemory(t *testing.T) {
	const units = 10 << 20
	text := "1,\"" + strings.Repeat("x", 100)
	l := layoutOf(t, []byte(text), Layout{Format: CSV, Header: NoHeader, Ends: EndLF})
	l.Ends = EndLF
	l.SetColumns([]string{"a", "b", "c"})
	c := newCutter(bigFile("0,0,0\n1,\"", "ab\"\"cd,\nxy", "\",2\n3,4,5\n", units), 0, "file", &l, Position{})
	p := newTextParser(&l)
	var kinds []bool
	peak := uint64(0)
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	}
	for {
		b, err := c.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		look()
		kinds = append(kinds, b.Large != nil)
		if b.Large == nil {
			continue
		}
		if b.Begin.Line != 2 || b.Next.Line != 2+units+1 {
			t.Errorf("lines %d to %d", b.Begin.Line, b.Next.Line)
		}
		fields, bad := p.LargeFields(b)
		if bad != nil || len(fields) != 3 {
			t.Fatalf("%d fields, %v", len(fields), bad)
		}
		if fields[1].Size != 9*units || fields[0].Size != 1 || fields[2].Size != 1 {
			t.Errorf("sizes %d, %d, %d", fields[0].Size, fields[1].Size, fields[2].Size)
		}
		n, err := io.Copy(io.Discard, fields[1].Open())
		look()
		if err != nil || n != 9*units {
			t.Errorf("read %d bytes, %v", n, err)
		}
		b.Large.Release()
	}
	if want := []bool{false, true, false}; !slices.Equal(kinds, want) {
		t.Errorf("large blocks: got %v, want %v", kinds, want)
	}
	if peak > 48<<20 {
		t.Errorf("%d MB were in memory", peak>>20)
	}
}

// TestLargeAsSmall has the fields of a row read from a file be those of the same row in memory.
func TestLargeAsSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for n := range 4000 {
		l := Layout{Format: []Format{CSV, Text}[n%2], Header: NoHeader, Ends: LineEnd(1 + n/2%3), Encoding: []string{"UTF8", "LATIN1", "SJIS"}[n/8%3]}
		if n%6 == 0 {
			l.Escape = '\\'
		}
		if n%5 == 0 {
			l.Null, l.ForceNull, l.ForceNotNull = null("N"), []string{"a"}, []string{"b"}
		}
		l = l.complete()
		l.SetColumns([]string{"a", "b", "c"}[:1+n%3])
		alphabet := "aN\"\"\"\\\\,,\t\tx41\n\r"
		if n%7 == 0 {
			alphabet += "\xe4\x00\x83\x5c"
		}
		row := randomText(r, alphabet, r.IntN(24))
		row = append(row, []string{"\n", "\r\n", "\r"}[l.Ends-1]...)
		scan := newRowScan(&l, l.Ends)
		if end := scan.first(row); end != len(row) {
			continue
		}
		p := newTextParser(&l)
		var small seen
		err := p.Parse(&Block{Data: row, Begin: Position{Line: 1}, ends: l.Ends}, func(r *Row) error {
			small = seen{Line: 1, Raw: string(row)}
			if r.Bad != nil {
				small.Bad = r.Bad.State
			} else {
				small.Fields = fieldsText(r.Fields)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		b := &Block{Begin: Position{Line: 1}, ends: l.Ends, Large: &Large{Raw: bytes.NewReader(row), Size: int64(len(row)), Release: func() {}}}
		large := largeRow(t, p, b)
		large.Bad, _, _ = strings.Cut(large.Bad, " ")
		if large != small && !(large.Bad != "" && small.Bad != "") { // Two things may be wrong, and another one come first.
			t.Fatalf("%s %s %s %q: in memory %+v, as a large row %+v", l.Format, l.Encoding, l.Ends, row, small, large)
		}
	}
}

func TestSpoolLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	l := layoutOf(t, []byte("a\n"), Layout{Format: CSV, Header: NoHeader})
	for _, tail := range []string{"\"\n", ""} { // "" never closes the quote
		c := newCutter(bigFile("\"", "0123456789\n", tail, 1<<20), 0, "file", &l, Position{})
		b, err := c.Next()
		if (err == nil) != (tail != "") {
			t.Fatalf("got %v", err)
		}
		if err != nil && !strings.Contains(err.Error(), "file, line 1: unterminated CSV quoted field") {
			t.Error(err)
		}
		if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
			t.Errorf("%d files are left, %v", len(found), err)
		}
		if b != nil {
			b.Large.Release()
		}
	}
}
