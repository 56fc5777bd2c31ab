package heap

import (
	"cmp"
	"fmt"
	"slices"
)

// Fault is something wrong in a page.
type Fault struct {
	Line   int // line pointer, counted from 1; 0 for the page itself
	Reason string
}

// Check looks for what is wrong in a page: its header, its checksum when checksums is set, its line pointers, tuples that overlap, and,
// when attrs is not nil, tuples whose columns do not fit. block is the page's number over all segments. A zero page is sound.
func (p Page) Check(block uint32, attrs []Attribute, checksums bool) []Fault {
	if p.Zero() {
		return nil
	}
	var faults []Fault
	h, err := p.Header()
	if checksums && len(p) >= PageHeaderSize {
		if want := Checksum(p, block); want != h.Checksum {
			faults = append(faults, Fault{Reason: fmt.Sprintf("the checksum is %#04x, the page's content has %#04x", h.Checksum, want)})
		}
	}
	if err != nil {
		return append(faults, Fault{Reason: err.Error()})
	}
	switch {
	case int(h.Special) != len(p):
		faults = append(faults, Fault{Reason: fmt.Sprintf("the page has %d bytes of special space, a heap page has none", len(p)-int(h.Special))})
	case (h.Lower-PageHeaderSize)%lineSize != 0:
		faults = append(faults, Fault{Reason: fmt.Sprintf("the line pointers end at %d, within one", h.Lower)})
	case p.Lines() > maxLines(len(p)):
		faults = append(faults, Fault{Reason: fmt.Sprintf("the page has %d line pointers, a heap page at most %d", p.Lines(), maxLines(len(p)))})
	}
	c := checker{page: p, header: h, attrs: attrs}
	faults = append(faults, c.lines()...)
	return append(faults, c.overlaps()...)
}

// maxLines is how many line pointers a heap page may have: as many as tuples without data fit (MaxHeapTuplesPerPage).
func maxLines(size int) int { return (size - PageHeaderSize) / (TupleHeaderSize + 1 + lineSize) }

type checker struct {
	page   Page
	header Header
	attrs  []Attribute
	values []Value
	spans  []span
}

// span is where a tuple lies.
type span struct{ start, end, line int }

func (c *checker) lines() []Fault {
	var faults []Fault
	for n := 1; n <= c.page.Lines(); n++ {
		if reason := c.line(n); reason != "" {
			faults = append(faults, Fault{Line: n, Reason: reason})
		}
	}
	return faults
}

// line returns what is wrong with one line, "" for nothing.
func (c *checker) line(n int) string {
	l, err := c.page.LineUnder(&c.header, n)
	if err != nil {
		return err.Error()
	}
	switch l.State {
	case LineRedirect:
		return c.redirect(n, l.Offset)
	case LineNormal:
		c.spans = append(c.spans, span{l.Offset, l.Offset + l.Length, n})
		return c.tuple(l, n)
	case LineUnused, LineDead:
	}
	return ""
}

// redirect checks where a redirect leads: to a tuple that no index knows (heap_prune_chain of pruneheap.c).
func (c *checker) redirect(n, to int) string {
	l, err := c.page.LineUnder(&c.header, to)
	if err != nil {
		return "" // told at that line
	}
	if l.State != LineNormal {
		return fmt.Sprintf("line %d redirects to line %d, which is %s", n, to, l.State)
	}
	if t, err := c.page.TupleAt(l, to); err == nil && t.Infomask2()&HeapOnly == 0 {
		return fmt.Sprintf("line %d redirects to line %d, which is no heap-only tuple", n, to)
	}
	return ""
}

func (c *checker) tuple(l Line, n int) string {
	t, err := c.page.TupleAt(l, n)
	if err != nil {
		return err.Error()
	}
	mask := t.Infomask()
	switch {
	case mask&XminFrozen == 0 && t.Xmin() == InvalidXID && mask&(MovedIn|MovedOff) == 0:
		return fmt.Sprintf("line %d: the tuple was written by no transaction", n)
	case mask&XmaxIsMulti != 0 && mask&XmaxCommitted != 0:
		return fmt.Sprintf("line %d: xmax is a multixact and marked as committed", n)
	case mask&XmaxCommitted != 0 && mask&XmaxInvalid == 0 && t.Xmax() == InvalidXID:
		return fmt.Sprintf("line %d: the tuple is marked as deleted, by no transaction", n)
	}
	if c.attrs == nil {
		return ""
	}
	if c.values, err = t.Values(c.attrs, c.values); err != nil {
		return fmt.Sprintf("line %d: %v", n, err)
	}
	for i, v := range c.values[:t.Natts()] {
		if v.Null || c.attrs[i].Len != -1 {
			continue
		}
		if _, _, err := ParseVarlena(v.Data); err != nil {
			return fmt.Sprintf("line %d: column %s: %v", n, c.attrs[i].Name, err)
		}
	}
	return ""
}

// overlaps finds tuples that share bytes.
func (c *checker) overlaps() []Fault {
	slices.SortFunc(c.spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.line, b.line)) })
	var faults []Fault
	var a span // reaches furthest of those before: a long one covers several
	for _, b := range c.spans {
		if b.start < a.end {
			faults = append(faults, Fault{Line: b.line, Reason: fmt.Sprintf("line %d shares bytes %d to %d with line %d", b.line, b.start, min(a.end, b.end), a.line)})
		}
		if b.end > a.end {
			a = b
		}
	}
	return faults
}
