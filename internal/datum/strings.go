package datum

import "bytes"

const hexDigits = "0123456789abcdef"

// printText passes the bytes on.
func printText(dst, value []byte) ([]byte, error) { return append(dst, value...), nil }

// printName prints a name up to its first NUL (NAMEDATALEN is 64 in every server that is not built specially).
func printName(dst, value []byte) ([]byte, error) {
	if len(value) != 64 {
		return dst, cutOff("name")
	}
	end := bytes.IndexByte(value, 0)
	if end < 0 {
		return dst, malformed("name", "no NUL at its end")
	}
	return append(dst, value[:end]...), nil
}

// printChar prints a "char": NUL as nothing, a byte over 127 as a backslash and three octal digits, as servers do from 16 on
// (charout in char.c). Older ones put the bare byte out, which is not valid text in UTF-8.
func printChar(dst, value []byte) ([]byte, error) {
	if len(value) != 1 {
		return dst, cutOff(`"char"`)
	}
	switch c := value[0]; {
	case c == 0:
		return dst, nil
	case c < 0x80:
		return append(dst, c), nil
	default:
		return append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7), nil
	}
}

// printBytea prints \x and two hexadecimal digits a byte (bytea_output hex).
func printBytea(dst, value []byte) ([]byte, error) {
	if len(value) > maximumOutput/2-2 {
		return dst, malformed("bytea", "its text would be longer than 1 GB")
	}
	dst = append(dst, '\\', 'x')
	for _, c := range value {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst, nil
}

// printUUID prints groups of 8, 4, 4, 4 and 12 digits (uuid.c).
func printUUID(dst, value []byte) ([]byte, error) {
	if len(value) != 16 {
		return dst, cutOff("uuid")
	}
	for i, c := range value {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst, nil
}
