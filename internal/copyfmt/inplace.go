package copyfmt

import (
	"encoding/binary"
	"slices"
)

// plain tells how many of the first bytes surely need no escape. It looks at eight of them at a time: only control characters, which are
// below a space, and the backslash may need one.
func plain(b []byte) int {
	const each = 0x0101010101010101
	const high, space, backslash = 0x80 * each, ' ' * each, '\\' * each
	n := 0
	for ; len(b)-n >= 8; n += 8 {
		v := binary.LittleEndian.Uint64(b[n:])
		if ((v-space)&^v|((v^backslash)-each)&^(v^backslash))&high != 0 {
			break
		}
	}
	return n
}

// EscapeText escapes the value that begins at start in dst, in its place, as AppendTextField would have added it. It is for values that
// are printed straight into a row, most of which hold nothing to escape.
func EscapeText(dst []byte, start int) []byte {
	at := plain(dst[start:]) + start
	n := 0
	for _, c := range dst[at:] {
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
