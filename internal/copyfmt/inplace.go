package copyfmt

import "slices"

// EscapeText escapes the value that begins at start in dst, in its place, as AppendTextField would have added it. It is for values that
// are printed straight into a row, most of which hold nothing to escape.
func EscapeText(dst []byte, start int) []byte {
	n := 0
	for _, c := range dst[start:] {
		if letters[c] != 0 {
			n++
		}
	}
	if n == 0 {
		return dst
	}
	from := len(dst)
	to := from + n
	dst = slices.Grow(dst, n)[:to]
	for n > 0 {
		from--
		c := dst[from]
		if letter := letters[c]; letter != 0 {
			dst[to-1], dst[to-2] = letter, '\\'
			to -= 2
			n--
			continue
		}
		to--
		dst[to] = c
	}
	return dst
}
