package encode

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// malformedMultirange is the refusal of a text that is no multirange.
func malformedMultirange(text []byte, detail string) *Invalid {
	return &Invalid{State: stateInvalidText, Message: `malformed multirange literal: "` + string(text) + `"`, Detail: detail}
}

// multirange appends the binary form of a multirange (multirange_send of multirangetypes.c): the number of ranges, and each with its length.
func (r *rangeReader) multirange(dst, text []byte) ([]byte, error) {
	ranges, err := r.readAll(text)
	if err != nil {
		return dst, err
	}
	ranges, sure := r.merge(ranges)
	if !sure {
		return dst, ErrUnsure
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(ranges)))
	for i := range ranges {
		at := len(dst)
		dst = append(dst, 0, 0, 0, 0, ranges[i].flags())
		for _, value := range [...][]byte{ranges[i].lower.value, ranges[i].upper.value} {
			if value != nil {
				dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(value))), value...)
			}
		}
		binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	}
	return dst, nil
}

// readAll follows multirange_in: a range is read when its end is found, so that its faults come before those behind it. Empty ranges are
// left out.
func (r *rangeReader) readAll(text []byte) ([]rangeValue, error) {
	i := skipSpace(text, 0)
	if i == len(text) || text[i] != '{' {
		return nil, malformedMultirange(text, "Missing left brace.")
	}
	var ranges []rangeValue
	for i, first := skipSpace(text, i+1), true; ; first = false {
		switch {
		case i == len(text):
			return nil, malformedMultirange(text, "Unexpected end of input.")
		case text[i] == '}' && first:
			return ranges, endMultirange(text, i)
		case hasWord(text[i:], "empty"):
			i += len("empty")
		case text[i] == '[' || text[i] == '(':
			end := endOfRange(text, i)
			if end == len(text) {
				return nil, malformedMultirange(text, "Unexpected end of input.")
			}
			_, v, err := r.read(nil, text[i:end+1])
			if err != nil {
				return nil, err
			}
			if !v.empty {
				ranges = append(ranges, v)
			}
			i = end + 1
		default:
			return nil, malformedMultirange(text, "Expected range start.")
		}
		i = skipSpace(text, i)
		switch {
		case i == len(text):
			return nil, malformedMultirange(text, "Unexpected end of input.")
		case text[i] == '}':
			return ranges, endMultirange(text, i)
		case text[i] != ',':
			return nil, malformedMultirange(text, "Expected comma or end of multirange.")
		}
		i = skipSpace(text, i+1)
	}
}

// endMultirange judges what follows the closing brace at i.
func endMultirange(text []byte, i int) error {
	if skipSpace(text, i+1) < len(text) {
		return malformedMultirange(text, "Junk after closing right brace.")
	}
	return nil
}

// endOfRange finds the bracket that ends the range at i, or the end of the text. As in the server, white space behind a backslash is
// passed over and what follows it is escaped.
func endOfRange(text []byte, i int) int {
	quoted, escaped := false, false
	for i++; i < len(text); i++ {
		c := text[i]
		switch {
		case isSpace(c):
		case escaped:
			escaped = false
		case c == '\\':
			escaped = true
		case c == '"' && quoted && i+1 < len(text) && text[i+1] == '"':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ']' || c == ')'):
			return i
		}
	}
	return len(text)
}

// merge sorts ranges and joins those that overlap or touch (multirange_canonicalize). It is not sure where two forms of one value, such as
// 1.0 and 1.00, compete: which of them is kept depends on how the server sorts.
func (r *rangeReader) merge(ranges []rangeValue) (merged []rangeValue, sure bool) {
	sure = true
	slices.SortFunc(ranges, func(a, b rangeValue) int {
		if c := r.compareBounds(a.lower, b.lower, true, true); c != 0 {
			return c
		}
		return r.compareBounds(a.upper, b.upper, false, false)
	})
	for _, v := range ranges {
		if len(merged) == 0 {
			merged = append(merged, v)
			continue
		}
		last := &merged[len(merged)-1]
		if !r.touch(last.upper, v.lower) && r.compareBounds(last.upper, v.lower, false, true) < 0 {
			merged = append(merged, v)
			continue
		}
		switch c := r.compareBounds(last.lower, v.lower, true, true); {
		case c == 0 && !bytes.Equal(last.lower.value, v.lower.value):
			sure = false
		case c > 0:
			last.lower = v.lower
		}
		switch c := r.compareBounds(last.upper, v.upper, false, false); {
		case c == 0 && !bytes.Equal(last.upper.value, v.upper.value):
			sure = false
		case c < 0:
			last.upper = v.upper
		}
	}
	return merged, sure
}

// touch tells whether nothing is between an upper bound and a lower one, and nothing in both (bounds_adjacent). The ends of a discrete range
// are equal then too, in the form that its bounds have here.
func (r *rangeReader) touch(upper, lower bound) bool {
	return upper.value != nil && lower.value != nil && upper.inclusive != lower.inclusive && r.compare(upper.value, lower.value) == 0
}

// compareBounds follows range_cmp_bounds: no lower bound is below all, no upper one above all, and an exclusive bound is beside its value.
func (r *rangeReader) compareBounds(a, b bound, aLower, bLower bool) int {
	placeA, placeB := place(a, aLower), place(b, bLower)
	if a.value == nil || b.value == nil {
		return placeA - placeB
	}
	if c := r.compare(a.value, b.value); c != 0 {
		return c
	}
	return placeA - placeB
}

// place is where a bound is beside its value, or among all values when it has none.
func place(b bound, lower bool) int {
	switch {
	case b.value == nil && lower:
		return -2
	case b.value == nil:
		return 2
	case b.inclusive:
		return 0
	case lower:
		return 1
	}
	return -1
}
