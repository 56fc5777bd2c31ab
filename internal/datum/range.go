package datum

import (
	"encoding/binary"
	"strconv"
)

// The flags of a range, in its last byte or, of a multirange, in a list of their own (utils/rangetypes.h).
const (
	rangeEmpty          = 0x01
	rangeLowerInclusive = 0x02
	rangeUpperInclusive = 0x04
	rangeLowerInfinite  = 0x08
	rangeUpperInfinite  = 0x10
	rangeLowerNull      = 0x20
	rangeUpperNull      = 0x40
)

// rangePrinter prints a RangeType: the range type's OID, the bounds that are there, flags. Bounds that are varlenas may have short
// headers (range_serialize in rangetypes.c).
type rangePrinter struct {
	bound   Printer
	layout  layout
	oid     uint32
	quoting *quoting
}

func (b *builder) newRangePrinter(t *Type) (*rangePrinter, error) {
	if t.Subtype == nil {
		return nil, unprintable(t, "the type of its bounds is missing")
	}
	bound, err := b.printer(t.Subtype)
	if err != nil {
		return nil, err
	}
	return &rangePrinter{
		bound: bound, layout: b.layout(t.Subtype.Len, t.Subtype.Align), oid: t.OID,
		quoting: newQuoting("()[],", true, false),
	}, nil
}

func (b *builder) rangeOf(t *Type) (Printer, error) {
	p, err := b.newRangePrinter(t)
	if err != nil {
		return nil, err
	}
	return p.print, nil
}

func (p *rangePrinter) print(dst, value []byte) ([]byte, error) {
	if len(value) < 5 {
		return dst, malformed("range", "cut off")
	}
	if err := sameType("range", binary.LittleEndian.Uint32(value), p.oid); err != nil {
		return dst, err
	}
	start, end := len(dst), len(value)-1
	dst, err := p.bounds(dst, value[:end], 4, value[end])
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

func sameType(what string, found, want uint32) error {
	if want == 0 || found == want {
		return nil
	}
	return malformed(what, "it is of type "+strconv.FormatUint(uint64(found), 10)+" instead of "+strconv.FormatUint(uint64(want), 10))
}

// bounds writes a range whose bounds begin at an offset of body (range_deparse).
func (p *rangePrinter) bounds(dst, body []byte, offset int, flags byte) ([]byte, error) {
	if flags&rangeEmpty != 0 {
		return append(dst, "empty"...), nil
	}
	left, right := byte('('), byte(')')
	if flags&rangeLowerInclusive != 0 {
		left = '['
	}
	if flags&rangeUpperInclusive != 0 {
		right = ']'
	}
	dst = append(dst, left)
	var err error
	if flags&(rangeLowerInfinite|rangeLowerNull) == 0 {
		if dst, offset, err = p.one(dst, body, offset); err != nil {
			return dst, err
		}
	}
	dst = append(dst, ',')
	if flags&(rangeUpperInfinite|rangeUpperNull) == 0 {
		if dst, _, err = p.one(dst, body, offset); err != nil {
			return dst, err
		}
	}
	return append(dst, right), nil
}

func (p *rangePrinter) one(dst, body []byte, offset int) ([]byte, int, error) {
	bound, end, err := p.layout.next(body, 4, offset, true)
	if err != nil {
		return dst, 0, err
	}
	from := len(dst)
	if dst, err = p.bound(dst, bound); err != nil {
		return dst, 0, err
	}
	return p.quoting.quote(dst, from), end, nil
}

const (
	multirangeOffset = 0x80000000
	multirangeLength = 0x7FFFFFFF
)

// multirangeOf prints a MultirangeType: the multirange type's OID, the number of ranges, for each but the first a length of the
// one before or an offset, the flags of each, and the bounds, of each range aligned as its bounds' type wants
// (multirangetypes.c).
func (b *builder) multirangeOf(t *Type) (Printer, error) {
	if t.Subtype == nil {
		return nil, unprintable(t, "its range type is missing")
	}
	p, err := b.newRangePrinter(t.Subtype)
	if err != nil {
		return nil, err
	}
	return func(dst, value []byte) ([]byte, error) {
		start := len(dst)
		dst, err := p.ranges(dst, value, t.OID)
		if err != nil {
			return dst[:start], err
		}
		return dst, nil
	}, nil
}

func (p *rangePrinter) ranges(dst, value []byte, oid uint32) ([]byte, error) {
	if len(value) < 8 {
		return dst, malformed("multirange", "cut off")
	}
	if err := sameType("multirange", binary.LittleEndian.Uint32(value), oid); err != nil {
		return dst, err
	}
	count := int(binary.LittleEndian.Uint32(value[4:]))
	if count == 0 {
		return append(dst, "{}"...), nil
	}
	flags := 8 + 4*(count-1)
	if count > len(value) || flags+count > len(value) {
		return dst, malformed("multirange", "more ranges than bytes")
	}
	begin := alignUp(flags+count+4, p.layout.align) - 4
	offset, start := 0, len(dst)
	dst = append(dst, '{')
	for i := range count {
		if i > 0 {
			item := binary.LittleEndian.Uint32(value[8+4*(i-1):])
			if item&multirangeOffset != 0 {
				offset = int(item & multirangeLength)
			} else {
				offset += int(item & multirangeLength)
			}
			dst = append(dst, ',')
		}
		if offset > len(value) || begin+offset > len(value) {
			return dst, malformed("multirange", "a range lies outside of the value")
		}
		var err error
		if dst, err = p.bounds(dst, value, begin+offset, value[flags+i]); err != nil {
			return dst, err
		}
		if len(dst)-start > maximumOutput {
			return dst, malformed("multirange", "its text would be longer than 1 GB")
		}
	}
	return append(dst, '}'), nil
}
