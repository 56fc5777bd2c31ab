package encode

// macForm is one of the notations of a macaddr: how many characters a byte takes at most, 0 for any number, and what stands behind each.
type macForm struct {
	width int
	after [5]byte // 0 for nothing
}

// macForms are tried in this order (macaddr_in of mac.c, whose sscanf formats they are).
var macForms = [...]macForm{
	{0, [5]byte{':', ':', ':', ':', ':'}},
	{0, [5]byte{'-', '-', '-', '-', '-'}},
	{2, [5]byte{2: ':'}},
	{2, [5]byte{2: '-'}},
	{2, [5]byte{1: '.', 3: '.'}},
	{2, [5]byte{1: '-', 3: '-'}},
	{2, [5]byte{}},
}

func macEncoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		for i := 1; i < len(text); i++ {
			if text[i]|0x20 == 'x' && text[i-1] == '0' {
				return dst, ErrUnsure // C libraries differ in what two characters of 0x are
			}
		}
		for _, form := range macForms {
			bytes, good, sure := form.read(text)
			if !good {
				continue
			}
			if !sure {
				return dst, ErrUnsure
			}
			for _, b := range bytes {
				if b > 255 {
					return dst, &Invalid{State: stateOutOfRange, Message: `invalid octet value in "macaddr" value: "` + string(text) + `"`}
				}
			}
			for _, b := range bytes {
				dst = append(dst, byte(b))
			}
			return dst, nil
		}
		return dst, invalidSyntax("macaddr", text)
	}
}

// read reads six numbers and nothing but white space behind them. It is not sure about a number of more than 8 digits, which an int cannot
// hold.
func (f *macForm) read(text []byte) (bytes [6]uint32, good, sure bool) {
	sure = true
	i := 0
	for n := range bytes {
		if i = skipSpace(text, i); i == len(text) {
			return bytes, false, true
		}
		end := len(text)
		if f.width > 0 {
			end = min(end, i+f.width)
		}
		negative := text[i] == '-'
		if negative || text[i] == '+' {
			i++
		}
		first := i
		for ; i < end && digitValue(text[i]) < 16; i++ {
			bytes[n] = bytes[n]<<4 | uint32(digitValue(text[i]))
		}
		if i == first {
			return bytes, false, true
		}
		sure = sure && i-first <= 8
		if negative {
			bytes[n] = -bytes[n]
		}
		if n < 5 && f.after[n] != 0 {
			if i == len(text) || text[i] != f.after[n] {
				return bytes, false, true
			}
			i++
		}
	}
	return bytes, skipSpace(text, i) == len(text), sure
}

// mac8Encoder follows macaddr8_in (mac8.c): pairs of digits with one kind of spacer or none, six or eight of them.
func mac8Encoder(*Type, Settings) Encoder {
	return func(dst, text []byte) ([]byte, error) {
		bytes, count, ok := readMac8(text)
		switch {
		case ok && count == 8:
			return append(dst, bytes[:]...), nil
		case ok && count == 6: // EUI-48 becomes EUI-64 by two bytes in its middle
			return append(dst, bytes[0], bytes[1], bytes[2], 0xff, 0xfe, bytes[3], bytes[4], bytes[5]), nil
		}
		return dst, invalidSyntax("macaddr8", text)
	}
}

func readMac8(text []byte) (bytes [8]byte, count int, ok bool) {
	spacer := byte(0)
	i := skipSpace(text, 0)
	for i+1 < len(text) { // a single character behind the bytes goes unseen, as in the server
		high, low := digitValue(text[i]), digitValue(text[i+1])
		if high > 15 || low > 15 || count == 8 {
			return bytes, 0, false
		}
		bytes[count] = byte(high<<4 | low)
		count++
		i += 2
		if i < len(text) && (text[i] == ':' || text[i] == '-' || text[i] == '.') {
			if spacer == 0 {
				spacer = text[i]
			}
			if spacer != text[i] {
				return bytes, 0, false
			}
			i++
		}
		if (count == 6 || count == 8) && i < len(text) && isSpace(text[i]) {
			if i = skipSpace(text, i); i < len(text) {
				return bytes, 0, false
			}
		}
	}
	return bytes, count, true
}
