package datum

import "encoding/binary"

// fieldPrinter prints a field of a composite type; print is nil for a dropped one, which is only stepped over.
type fieldPrinter struct {
	print  Printer
	layout layout
}

// compositeOf prints a composite value: a heap tuple with its header, whose xmin, xmax and cid fields hold the varlena header, the
// type modifier and the type's OID (access/htup_details.h), as record_out in rowtypes.c does. Fields that were added after the
// value was stored are NULL.
func (b *builder) compositeOf(t *Type) (Printer, error) {
	fields := make([]fieldPrinter, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Dropped {
			fields[i].layout = b.layout(f.Len, f.Align)
			continue
		}
		show, err := b.printer(f.Type)
		if err != nil {
			return nil, err
		}
		fields[i] = fieldPrinter{print: show, layout: b.layout(f.Type.Len, f.Type.Align)}
	}
	quoting := newQuoting("(),", true, false)
	return func(dst, value []byte) ([]byte, error) {
		start := len(dst)
		dst, err := appendRecord(dst, value, t.OID, fields, quoting)
		if err != nil {
			return dst[:start], err
		}
		return dst, nil
	}, nil
}

// Offsets in the payload, 4 less than in HeapTupleHeaderData.
const (
	recordType     = 4
	recordMask2    = 14
	recordMask     = 16
	recordHeader   = 18
	recordBitmap   = 19
	recordHasNulls = 1
	recordCount    = 0x07FF
)

func appendRecord(dst, value []byte, oid uint32, fields []fieldPrinter, quoting *quoting) ([]byte, error) {
	if len(value) < recordBitmap {
		return dst, malformed("composite value", "the header is cut off")
	}
	if err := sameType("composite value", binary.LittleEndian.Uint32(value[recordType:]), oid); err != nil {
		return dst, err
	}
	count := int(binary.LittleEndian.Uint16(value[recordMask2:]) & recordCount)
	begin, least := int(value[recordHeader])-4, recordBitmap
	var bitmap []byte
	if binary.LittleEndian.Uint16(value[recordMask:])&recordHasNulls != 0 {
		least += (count + 7) / 8
	}
	if begin < least || begin > len(value) || (begin+4)%8 != 0 {
		return dst, malformed("composite value", "the fields begin at a wrong place")
	}
	if least > recordBitmap {
		bitmap = value[recordBitmap:least]
	}
	if count > len(fields) {
		return dst, malformed("composite value", "more fields than the type has")
	}
	start, body, offset, comma := len(dst), value[begin:], 0, false
	dst = append(dst, '(')
	for i := range fields {
		f := &fields[i]
		if f.print != nil {
			if comma {
				dst = append(dst, ',')
			}
			comma = true
		}
		if i >= count || isNullItem(bitmap, i) {
			continue
		}
		field, end, err := f.layout.next(body, 0, offset, true)
		if err != nil {
			return dst, err
		}
		offset = end
		if f.print == nil {
			continue
		}
		from := len(dst)
		if dst, err = f.print(dst, field); err != nil {
			return dst, err
		}
		dst = quoting.quote(dst, from)
		if len(dst)-start > maximumOutput {
			return dst, malformed("composite value", "its text would be longer than 1 GB")
		}
	}
	return append(dst, ')'), nil
}
