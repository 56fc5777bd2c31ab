package datum

import (
	"encoding/binary"
	"strconv"
)

// maximumDimensions is MAXDIM in c.h.
const maximumDimensions = 6

// arrayPrinter prints an ArrayType (utils/array.h): number of dimensions, offset of the elements when a NULL bitmap stands before
// them or 0, element type, the dimensions' lengths, their lower bounds, the bitmap, and the elements aligned from the start.
type arrayPrinter struct {
	element   Printer
	layout    layout
	oid       uint32
	delimiter byte
	quoting   *quoting
}

func (b *builder) arrayOf(t *Type) (Printer, error) {
	if t.Element == nil {
		return nil, unprintable(t, "its element type is missing")
	}
	p, err := b.newArrayPrinter(t.Element)
	if err != nil {
		return nil, err
	}
	return p.print, nil
}

func (b *builder) newArrayPrinter(element *Type) (*arrayPrinter, error) {
	p := &arrayPrinter{oid: element.OID, delimiter: element.Delimiter}
	if p.delimiter == 0 {
		p.delimiter = ','
	}
	var err error
	if p.element, err = b.printer(element); err != nil {
		return nil, err
	}
	p.layout = b.layout(element.Len, element.Align)
	p.quoting = newQuoting("{}"+string(rune(p.delimiter)), false, true)
	return p, nil
}

// arrayShape is the head of an array value.
type arrayShape struct {
	count      int // of dimensions
	dimensions [maximumDimensions]int
	lower      [maximumDimensions]int32
	items      int
	bitmap     []byte // nil: no NULLs
	elements   int    // offset of the first element in the payload
}

// read takes the head of an array apart. The payload begins 4 bytes behind the offsets in it.
func (s *arrayShape) read(value []byte, oid uint32) error {
	if len(value) < 12 {
		return malformed("array", "the header is cut off")
	}
	count, offset := int(int32(binary.LittleEndian.Uint32(value))), int(int32(binary.LittleEndian.Uint32(value[4:])))
	if count < 0 || count > maximumDimensions || len(value) < 12+8*count {
		return malformed("array", "wrong number of dimensions")
	}
	if found := binary.LittleEndian.Uint32(value[8:]); oid != 0 && found != oid {
		return malformed("array", "its elements have type "+strconv.FormatUint(uint64(found), 10)+" instead of "+
			strconv.FormatUint(uint64(oid), 10))
	}
	s.count, s.items = count, 1
	for i := range count {
		length := int32(binary.LittleEndian.Uint32(value[12+4*i:]))
		s.dimensions[i] = int(length)
		s.lower[i] = int32(binary.LittleEndian.Uint32(value[12+4*count+4*i:]))
		if length < 0 || length > 0 && s.items > maximumOutput/int(length) {
			return malformed("array", "wrong dimensions")
		}
		s.items *= int(length)
	}
	if count == 0 {
		s.items = 0
	}
	head := 12 + 8*count
	s.bitmap, s.elements = nil, head // 16 + 8 * count bytes from the start: aligned for any type
	if offset != 0 {
		size := (s.items + 7) / 8
		s.elements = offset - 4
		if s.elements < head+size || s.elements > len(value) {
			return malformed("array", "the elements begin outside of the value")
		}
		s.bitmap = value[head : head+size]
	} else if s.items > len(value) {
		return malformed("array", "more elements than bytes")
	}
	return nil
}

func (p *arrayPrinter) print(dst, value []byte) ([]byte, error) {
	var shape arrayShape
	if err := shape.read(value, p.oid); err != nil {
		return dst, err
	}
	if shape.items == 0 {
		return append(dst, "{}"...), nil
	}
	start := len(dst)
	dst, err := p.items(appendBounds(dst, &shape), value, &shape, start)
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

// appendBounds writes [1:2][0:3]= where a lower bound is not 1 (array_out in arrayfuncs.c).
func appendBounds(dst []byte, shape *arrayShape) []byte {
	plain := true
	for _, lower := range shape.lower[:shape.count] {
		plain = plain && lower == 1
	}
	if plain {
		return dst
	}
	for i, lower := range shape.lower[:shape.count] {
		dst = strconv.AppendInt(append(dst, '['), int64(lower), 10)
		dst = strconv.AppendInt(append(dst, ':'), int64(lower)+int64(shape.dimensions[i])-1, 10)
		dst = append(dst, ']')
	}
	return append(dst, '=')
}

// items writes the elements with the braces of their dimensions.
func (p *arrayPrinter) items(dst, value []byte, shape *arrayShape, start int) ([]byte, error) {
	offset := min(shape.elements, len(value))
	var index [maximumDimensions]int
	last := shape.count - 1
	for range last + 1 {
		dst = append(dst, '{')
	}
	for i := range shape.items {
		if isNullItem(shape.bitmap, i) {
			dst = append(dst, "NULL"...)
		} else {
			element, end, err := p.layout.next(value, 4, offset, false)
			if err != nil {
				return dst, err
			}
			from := len(dst)
			if dst, err = p.element(dst, element); err != nil {
				return dst, err
			}
			dst, offset = p.quoting.quote(dst, from), end
		}
		if len(dst)-start > maximumOutput {
			return dst, malformed("array", "its text would be longer than 1 GB")
		}
		closed := 0
		for d := last; d >= 0; d-- {
			if index[d]++; index[d] < shape.dimensions[d] {
				break
			}
			index[d] = 0
			dst = append(dst, '}')
			closed++
		}
		if closed <= last {
			dst = append(dst, p.delimiter)
		}
		for ; closed > 0 && i+1 < shape.items; closed-- {
			dst = append(dst, '{')
		}
	}
	return dst, nil
}

// anyArray prints arrays whose element type only the value tells, as in pg_statistic.
func (b *builder) anyArray(t *Type) (Printer, error) {
	lookup := t.Lookup
	if lookup == nil {
		lookup = Builtin
	}
	known := map[uint32]*arrayPrinter{}
	inner := &builder{open: b.open}
	return func(dst, value []byte) ([]byte, error) {
		if len(value) < 12 {
			return dst, malformed("array", "the header is cut off")
		}
		oid := binary.LittleEndian.Uint32(value[8:])
		p := known[oid]
		if p == nil {
			element := lookup(oid)
			if element == nil {
				return dst, &Unprintable{Type: "anyarray", Reason: "its element type " + strconv.FormatUint(uint64(oid), 10) + " is not known"}
			}
			var err error
			if p, err = inner.newArrayPrinter(element); err != nil {
				return dst, err
			}
			known[oid] = p
		}
		return p.print(dst, value)
	}, nil
}

// vector prints an int2vector or oidvector: an array of one dimension with no NULLs, as numbers with blanks between them
// (int2vectorout in int.c, oidvectorout in oid.c).
func vector(element Printer, size int, oid uint32) Printer {
	return func(dst, value []byte) ([]byte, error) {
		var shape arrayShape
		if err := shape.read(value, oid); err != nil {
			return dst, err
		}
		start, body := len(dst), value[min(20, len(value)):]
		if shape.count > 1 || shape.bitmap != nil || shape.items*size > len(body) {
			return dst, malformed("vector", "not an array of one dimension without NULLs")
		}
		for i := range shape.items {
			if i > 0 {
				dst = append(dst, ' ')
			}
			var err error
			if dst, err = element(dst, body[i*size:(i+1)*size]); err != nil {
				return dst[:start], err
			}
		}
		return dst, nil
	}
}
