package encode

import "encoding/binary"

// The flags of a range (utils/rangetypes.h).
const (
	rangeEmpty    = 0x01
	rangeLowerIn  = 0x02
	rangeUpperIn  = 0x04
	rangeLowerInf = 0x08
	rangeUpperInf = 0x10
)

// rangeEncoder encodes ranges over the types in orders, and multiranges of them. A canonical function that is not built in is not known here.
func rangeEncoder(t *Type, s Settings) Encoder {
	span := t
	if t.Class == Multirange {
		span = t.Range
	}
	if span == nil || span.Elem == nil || span.Elem.Class != Base || !span.Plain {
		return nil
	}
	r := &rangeReader{elem: For(span.Elem, s), compare: orders[span.Elem.OID]}
	if span.Discrete {
		r.next = successors[span.OID]
	}
	if r.elem == nil || r.compare == nil || span.Discrete && r.next == nil {
		return nil
	}
	if t.Class == Multirange {
		return r.multirange
	}
	return r.encode
}

// bound is an end of a range.
type bound struct {
	value     []byte // binary; nil for none
	inclusive bool
}

// rangeValue is a range; an empty one has no bounds.
type rangeValue struct {
	empty        bool
	lower, upper bound
}

// flags is the first byte of the binary form.
func (v *rangeValue) flags() (flags byte) {
	if v.empty {
		return rangeEmpty
	}
	switch {
	case v.lower.value == nil:
		flags |= rangeLowerInf
	case v.lower.inclusive:
		flags |= rangeLowerIn
	}
	switch {
	case v.upper.value == nil:
		flags |= rangeUpperInf
	case v.upper.inclusive:
		flags |= rangeUpperIn
	}
	return flags
}

// rangeReader is what ranges over one type have in common.
type rangeReader struct {
	elem    Encoder
	compare order
	next    successor // of a discrete range
}

// encode appends the binary form of a range (range_send of rangetypes.c): flags, and each bound with its length.
func (r *rangeReader) encode(dst, text []byte) ([]byte, error) {
	got, _, err := r.read(dst, text)
	if err != nil {
		return dst, err
	}
	return got, nil
}

// read follows range_in: the whole text is taken apart before either bound is read. The bounds of v stand in the binary form.
func (r *rangeReader) read(dst, text []byte) (_ []byte, v rangeValue, err error) {
	lower, upper, v, fault := parseRange(text)
	if fault != "" {
		return dst, v, &Invalid{State: stateInvalidText, Message: `malformed range literal: "` + string(text) + `"`, Detail: fault}
	}
	start := len(dst)
	dst = append(dst, 0)
	middle := len(dst)
	if lower != nil {
		if dst, err = r.bound(dst, lower); err != nil {
			return dst, v, err
		}
	}
	end := len(dst)
	if upper != nil {
		if dst, err = r.bound(dst, upper); err != nil {
			return dst, v, err
		}
		v.upper.value = dst[end+4:]
	}
	if lower != nil {
		v.lower.value = dst[middle+4 : end]
	}
	if err := r.settle(&v); err != nil {
		return dst, v, err
	}
	if v.empty {
		dst = dst[:middle]
	}
	dst[start] = v.flags()
	return dst, v, nil
}

// bound appends a bound with its length.
func (r *rangeReader) bound(dst, text []byte) ([]byte, error) {
	at := len(dst)
	dst, err := r.elem(append(dst, 0, 0, 0, 0), text)
	if err != nil {
		return dst, err
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst, nil
}

// parseRange takes a range apart: the texts of its bounds, nil for none, and whether they are inclusive. fault is what is wrong with it.
func parseRange(text []byte) (lower, upper []byte, v rangeValue, fault string) {
	i := skipSpace(text, 0)
	if hasWord(text[i:], "empty") {
		if skipSpace(text, i+len("empty")) < len(text) {
			return nil, nil, v, `Junk after "empty" key word.`
		}
		v.empty = true
		return nil, nil, v, ""
	}
	if i == len(text) || text[i] != '[' && text[i] != '(' {
		return nil, nil, v, "Missing left parenthesis or bracket."
	}
	v.lower.inclusive = text[i] == '['
	lower, i, ok := readBound(text, i+1)
	if !ok {
		return nil, nil, v, "Unexpected end of input."
	}
	if text[i] != ',' {
		return nil, nil, v, "Missing comma after lower bound."
	}
	if upper, i, ok = readBound(text, i+1); !ok {
		return nil, nil, v, "Unexpected end of input."
	}
	if text[i] == ',' {
		return nil, nil, v, "Too many commas."
	}
	v.upper.inclusive = text[i] == ']'
	if skipSpace(text, i+1) < len(text) {
		return nil, nil, v, "Junk after right parenthesis or bracket."
	}
	return lower, upper, v, ""
}

// readBound reads a bound up to its comma or bracket, which is at end, and takes quotes and backslashes away. A bound that is not there is
// nil; one that is quoted and empty is not.
func readBound(text []byte, i int) (value []byte, end int, ok bool) {
	if value, end, ok = readQuoted(text, i); ok {
		return value, end, true
	}
	start, quoted, changed := i, false, false
	for ; i < len(text); i++ {
		c := text[i]
		if !quoted && (c == ',' || c == ')' || c == ']') {
			break
		}
		if c != '\\' && c != '"' {
			if changed {
				value = append(value, c)
			}
			continue
		}
		if !changed {
			value, changed = append(make([]byte, 0, len(text)-start), text[start:i]...), true
		}
		switch {
		case c == '\\':
			if i++; i == len(text) {
				return nil, i, false
			}
			value = append(value, text[i])
		case !quoted:
			quoted = true
		case i+1 < len(text) && text[i+1] == '"':
			i++
			value = append(value, '"')
		default:
			quoted = false
		}
	}
	if i == len(text) {
		return nil, i, false
	}
	if !changed && i > start {
		value = text[start:i]
	}
	return value, i, true
}

// readQuoted reads a bound that is in quotes as a whole, without others in them, as the server writes it. Of all others it is not sure.
func readQuoted(text []byte, i int) (value []byte, end int, ok bool) {
	if i == len(text) || text[i] != '"' {
		return nil, i, false
	}
	for end = i + 1; end < len(text) && text[end] != '"'; end++ {
		if text[end] == '\\' {
			return nil, i, false
		}
	}
	if end+1 >= len(text) || text[end+1] != ',' && text[end+1] != ')' && text[end+1] != ']' {
		return nil, i, false
	}
	return text[i+1 : end : end], end + 1, true
}

// settle follows make_range: bounds in order, empty where nothing is between them, and one form for ranges over integers.
func (r *rangeReader) settle(v *rangeValue) error {
	if err := r.judge(v); err != nil || v.empty || r.next == nil {
		return err
	}
	// An exclusive lower bound becomes an inclusive one, an inclusive upper one exclusive.
	if v.lower.value != nil && !v.lower.inclusive {
		moved, err := r.next(v.lower.value)
		if err != nil {
			return err
		}
		v.lower.inclusive = moved
	}
	if v.upper.value != nil && v.upper.inclusive {
		moved, err := r.next(v.upper.value)
		if err != nil {
			return err
		}
		v.upper.inclusive = !moved
	}
	return r.judge(v)
}

// judge follows range_serialize.
func (r *rangeReader) judge(v *rangeValue) error {
	if v.lower.value == nil || v.upper.value == nil {
		return nil
	}
	switch c := r.compare(v.lower.value, v.upper.value); {
	case c > 0:
		return &Invalid{State: "22000", Message: "range lower bound must be less than or equal to range upper bound"}
	case c == 0 && !(v.lower.inclusive && v.upper.inclusive):
		v.empty = true
	}
	return nil
}
