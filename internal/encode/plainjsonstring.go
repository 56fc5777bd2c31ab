package encode

import (
	"fmt"
	"unicode/utf8"
)

// readString reads a string that starts at c.start.
func (c *jsonChecker) readString() error {
	high := false // the last escape was the first half of a pair of surrogates
	for i := c.start + 1; i < len(c.text); {
		b := c.text[i]
		if b == '\\' {
			n, err := c.readEscape(i, &high)
			if err != nil {
				return err
			}
			i += n
			continue
		}
		if high && (b >= ' ' || c.version >= 16) { // which of two faults is named changed with 16
			return c.loneSurrogate()
		}
		if b == '"' {
			c.end = i + 1
			return nil
		}
		if b < ' ' {
			return c.refuse(fmt.Sprintf("Character with value 0x%02x must be escaped.", b))
		}
		i++
	}
	c.end = len(c.text)
	return c.invalidToken()
}

func (c *jsonChecker) loneSurrogate() *Invalid {
	return c.refuse("Unicode low surrogate must follow a high surrogate.")
}

// readEscape reads the escape at i and returns its length.
func (c *jsonChecker) readEscape(i int, high *bool) (int, error) {
	if i+1 == len(c.text) {
		c.end = len(c.text)
		return 0, c.invalidToken()
	}
	letter := c.text[i+1]
	if letter == 'u' {
		return 6, c.readUnicode(i+2, high)
	}
	if *high {
		return 0, c.loneSurrogate()
	}
	switch letter {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	}
	c.start = i + 1
	_, n := utf8.DecodeRune(c.text[c.start:])
	c.end = c.start + n
	return 0, c.refuse(fmt.Sprintf(`Escape sequence "\%s" is invalid.`, c.text[c.start:c.end]))
}

// readUnicode reads the four digits of an escape, and for jsonb what they mean.
func (c *jsonChecker) readUnicode(i int, high *bool) error {
	code := 0
	for n := range 4 {
		if i+n == len(c.text) {
			c.end = len(c.text)
			return c.invalidToken()
		}
		digit := hexValues[c.text[i+n]]
		if digit == noHex {
			return c.refuse(`"\u" must be followed by four hexadecimal digits.`)
		}
		code = code<<4 | int(digit)
	}
	if !c.decode {
		return nil
	}
	first, second := code&0xFC00 == 0xD800, code&0xFC00 == 0xDC00
	switch {
	case first && *high:
		return c.refuse("Unicode high surrogate must not follow a high surrogate.")
	case second != *high:
		return c.loneSurrogate()
	case code == 0:
		return &Invalid{State: stateUntranslatable, Message: "unsupported Unicode escape sequence", Detail: `\u0000 cannot be converted to text.`}
	}
	*high = first
	return nil
}
