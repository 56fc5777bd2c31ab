package rowfile

import (
	"bufio"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader converts UTF-16 to UTF-8, where half of a pair that stands alone becomes the three bytes that it would have. Those are not valid
// UTF-8, so that the row is refused, and each character's size in the file follows from its size in UTF-8. A last odd byte becomes 0xff.
type utf16Reader struct {
	r    *bufio.Reader
	big  bool
	rest []byte // of the last character, when it did not fit
	held [8]byte
}

func newUTF16Reader(r io.Reader, big bool) *utf16Reader {
	return &utf16Reader{r: bufio.NewReaderSize(r, 64<<10), big: big}
}

// Read implements io.Reader.
func (u *utf16Reader) Read(p []byte) (n int, err error) {
	n = copy(p, u.rest)
	u.rest = u.rest[n:]
	for n < len(p) {
		if n > 0 && u.r.Buffered() < 4 {
			return n, nil
		}
		c, err := u.unit()
		if err != nil {
			return n, err
		}
		var made []byte
		switch {
		case c < 0:
			made = append(u.held[:0], 0xff)
		case c < 0x80:
			p[n] = byte(c)
			n++
			continue
		case utf16.IsSurrogate(c):
			made = u.pair(c)
		default:
			made = utf8.AppendRune(u.held[:0], c)
		}
		k := copy(p[n:], made)
		n += k
		u.rest = made[k:]
	}
	return n, nil
}

// unit reads 16 bits; -1 is a single byte at the end.
func (u *utf16Reader) unit() (rune, error) {
	b, err := u.r.Peek(2)
	if len(b) == 1 && err == io.EOF {
		_, _ = u.r.Discard(1)
		return -1, nil
	}
	if len(b) < 2 {
		return 0, err
	}
	c := rune(b[0]) | rune(b[1])<<8
	if u.big {
		c = rune(b[1]) | rune(b[0])<<8
	}
	_, _ = u.r.Discard(2)
	return c, nil
}

// pair makes a character of c and the second half that follows it, if one does.
func (u *utf16Reader) pair(c rune) []byte {
	if b, _ := u.r.Peek(2); len(b) == 2 {
		second := rune(b[0]) | rune(b[1])<<8
		if u.big {
			second = rune(b[1]) | rune(b[0])<<8
		}
		if r := utf16.DecodeRune(c, second); r != utf8.RuneError {
			_, _ = u.r.Discard(2)
			return utf8.AppendRune(u.held[:0], r)
		}
	}
	return append(u.held[:0], 0xe0|byte(c>>12), 0x80|byte(c>>6)&0x3f|0x80, 0x80|byte(c)&0x3f)
}

// utf16Size is the number of bytes that text made by a utf16Reader has in the file.
func utf16Size(text []byte) int64 {
	n := int64(0)
	for _, c := range text {
		switch {
		case c == 0xff:
			n++
		case c >= 0xf0:
			n += 4
		case c < 0x80 || c >= 0xc0:
			n += 2
		}
	}
	return n
}

// appendUTF16 turns text made by a utf16Reader back into what the file has.
func appendUTF16(dst, text []byte, big bool) []byte {
	add := func(c uint16) {
		if big {
			dst = append(dst, byte(c>>8), byte(c))
			return
		}
		dst = append(dst, byte(c), byte(c>>8))
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1 && i+3 <= len(text) && text[i] == 0xed:
			add(uint16(text[i]&0x0f)<<12 | uint16(text[i+1]&0x3f)<<6 | uint16(text[i+2]&0x3f))
			size = 3
		case r == utf8.RuneError && size == 1:
			// A last odd byte: what it was is not known, and no character is lost with it.
			dst = append(dst, '?')
		case r >= 0x10000:
			a, b := utf16.EncodeRune(r)
			add(uint16(a))
			add(uint16(b))
		default:
			add(uint16(r))
		}
		i += size
	}
	return dst
}

// wideText reports whether the file is in UTF-16.
func (l *Layout) wideText() bool { return l.Encoding == utf16LE || l.Encoding == utf16BE }
