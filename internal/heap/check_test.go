package heap_test

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

var checkAttrs = []heap.Attribute{{Name: "id", Len: 4, Align: 'i'}, {Name: "v", Len: -1, Align: 'i'}}

// soundTuple has id 1 and the text "abc".
func soundTuple() tuple {
	return tuple{infomask: 0x0902, infomask2: 2, xmin: 700, data: []byte{1, 0, 0, 0, 9, 'a', 'b', 'c'}}
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(page []byte)
		line   int
		reason string
	}{
		{"nothing", func([]byte) {}, 0, ""},
		{"version", func(p []byte) { p[18] = 3 }, 0, "layout version 3"},
		{"other byte order", func(p []byte) { p[18], p[19] = 0x20, 0x04 }, 0, "other byte order"},
		{"size", func(p []byte) { p[19] = 0x40 }, 0, "states a size of 16384"},
		{"lower behind upper", func(p []byte) { le.PutUint16(p[12:], 8190) }, 0, "bounds are broken"},
		{"flags", func(p []byte) { p[10] = 0x80 }, 0, "unknown flags"},
		{"line outside", func(p []byte) { putLine(p, 2, 8000, 1, 400) }, 2, "outside of the tuples"},
		{"line not aligned", func(p []byte) { putLine(p, 2, 8161, 1, 30) }, 2, "not aligned"},
		{"tuple too short", func(p []byte) { putLine(p, 2, 8152, 1, 8) }, 2, "too few for a tuple header"},
		{"shared bytes", func(p []byte) { putLine(p, 2, 8160, 1, 32) }, 2, "shares bytes"},
		{"redirect to itself", func(p []byte) { putLine(p, 1, 1, 2, 0) }, 1, "redirects to line 1"},
		{"redirect to nowhere", func(p []byte) { putLine(p, 1, 9, 2, 0) }, 1, "redirects to line 9 of 2"},
		{"redirect to a dead line", func(p []byte) { putLine(p, 1, 2, 2, 0); putLine(p, 2, 0, 3, 0) }, 1, "which is dead"},
		{"redirect to a root", func(p []byte) { putLine(p, 1, 2, 2, 0) }, 1, "no heap-only tuple"},
		{"header too long", func(p []byte) { p[8160+22] = 40 }, 1, "data start at 40"},
		{"too many columns", func(p []byte) { p[8160+18] = 3 }, 1, "3 attributes, the table 2"},
		{"value too long", func(p []byte) { p[8160+24+4] = 0x21 }, 1, "column v"},
		{"value of no kind", func(p []byte) { p[8160+24+4], p[8160+24+5] = 1, 7 }, 1, "external kind"},
		{"bytes behind the columns", func(p []byte) { putLine(p, 1, 8160, 1, 32); p[8160+24+4] = 7 }, 1, "bytes behind its last column"},
		{"special space", func(p []byte) { le.PutUint16(p[14:], 8112); le.PutUint16(p[16:], 8184) }, 0, "special space"},
		{"half a line", func(p []byte) { p[12] += 2 }, 0, "within one"},
		{"too many lines", func(p []byte) { le.PutUint16(p[12:], 24+4*292) }, 0, "292 line pointers"},
		{"a long tuple over two", func(p []byte) { putLine(p, 3, 8120, 1, 72); le.PutUint16(p[12:], 36); le.PutUint16(p[14:], 8120) }, 1, "with line 3"},
		{"redirect to a redirect", func(p []byte) { putLine(p, 1, 2, 2, 0); putLine(p, 2, 1, 2, 0) }, 2, "which is redirect"},
		{"deleted by nobody", func(p []byte) { le.PutUint16(p[8160+20:], 0x0502) }, 1, "deleted, by no transaction"},
		{"a multixact that committed", func(p []byte) { le.PutUint16(p[8160+20:], 0x1502) }, 1, "multixact and marked"},
		{"written by nobody", func(p []byte) { le.PutUint16(p[8160+20:], 0x0802); le.PutUint32(p[8160:], 0) }, 1, "written by no transaction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := makePage(soundTuple(), soundTuple())
			c.damage(page)
			faults := heap.Page(page).Check(0, checkAttrs, false)
			if c.reason == "" {
				if len(faults) > 0 {
					t.Fatalf("a sound page has faults: %v", faults)
				}
				return
			}
			for _, f := range faults {
				if f.Line == c.line && strings.Contains(f.Reason, c.reason) {
					return
				}
			}
			t.Errorf("faults are %v, want %q at line %d", faults, c.reason, c.line)
		})
	}
}

func TestCheckFindsAChangedByte(t *testing.T) {
	page := heap.Page(makePage(soundTuple(), soundTuple()))
	le.PutUint16(page[8:], heap.Checksum(page, 7))
	if faults := page.Check(7, checkAttrs, true); len(faults) > 0 {
		t.Fatalf("a sound page has faults: %v", faults)
	}
	if faults := page.Check(8, checkAttrs, true); len(faults) != 1 {
		t.Errorf("at another block the faults are %v", faults)
	}
	page[5000] ^= 1
	if faults := page.Check(7, checkAttrs, true); len(faults) != 1 || !strings.Contains(faults[0].Reason, "checksum") {
		t.Errorf("with a changed byte the faults are %v", faults)
	}
	if faults := heap.Page(make([]byte, 8192)).Check(0, checkAttrs, true); len(faults) > 0 {
		t.Errorf("a zero page has faults: %v", faults)
	}
}
