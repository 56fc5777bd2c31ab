package copyfmt

import (
	"encoding/binary"
	"strings"
)

// null is how the oracles write a NULL field.
const null = "<NULL>"

// naiveText decodes a whole stream byte by byte, as the manual tells it. It
// is the oracle of the fast code. ok is false for what COPY FROM refuses.
func naiveText(in string) (rows [][]string, ok bool) {
	var end string // the line end, once seen
	for in != "" {
		line, lineEnd, rest := naiveLine(in, end)
		if lineEnd == "bad" {
			return rows, false
		}
		if end == "" {
			end = lineEnd
		}
		if line == `\.` {
			return rows, true
		}
		fields, ok := naiveFields(line)
		if !ok {
			return rows, false
		}
		rows = append(rows, fields)
		in = rest
	}
	return rows, true
}

// naiveLine cuts the first line off; lineEnd is "bad" when it has a line end
// of another kind than end.
func naiveLine(in, end string) (line, lineEnd, rest string) {
	for i := 0; i < len(in); i++ {
		switch in[i] {
		case '\\':
			i++
		case '\n':
			if end == "\r" || end == "\r\n" {
				return "", "bad", ""
			}
			return in[:i], "\n", in[i+1:]
		case '\r':
			crlf := strings.HasPrefix(in[i:], "\r\n")
			if end == "\n" || end == "\r\n" && !crlf {
				return "", "bad", ""
			}
			if crlf && end != "\r" {
				return in[:i], "\r\n", in[i+2:]
			}
			return in[:i], "\r", in[i+1:]
		}
	}
	return in, "", ""
}

func naiveFields(line string) (fields []string, ok bool) {
	raw := ""
	for i := 0; i <= len(line); i++ {
		switch {
		case i == len(line) || line[i] == '\t':
			if raw == `\N` {
				fields = append(fields, null)
			} else {
				fields = append(fields, naiveUnescape(raw))
			}
			raw = ""
		case line[i] == '\\' && i+1 < len(line):
			if line[i+1] == '.' {
				return nil, false
			}
			raw += line[i : i+2]
			i++
		case line[i] == '\\':
			// A lone one at the end means nothing.
		default:
			raw += line[i : i+1]
		}
	}
	return fields, true
}

func naiveUnescape(raw string) (value string) {
	for raw != "" {
		c := raw[0]
		raw = raw[1:]
		if c != '\\' {
			value += string([]byte{c})
			continue
		}
		if raw == "" {
			return value
		}
		n := 1
		switch c = raw[0]; {
		case strings.IndexByte("bfnrtv", c) >= 0:
			c = "\b\f\n\r\t\v"[strings.IndexByte("bfnrtv", c)]
		case c >= '0' && c <= '7':
			v := 0
			for n = 0; n < 3 && n < len(raw) && raw[n] >= '0' && raw[n] <= '7'; n++ {
				v = v*8 + int(raw[n]-'0')
			}
			c = byte(v)
		case c == 'x':
			v, digits := 0, "0123456789abcdef"
			for n < 3 && n < len(raw) {
				d := strings.IndexByte(digits, raw[n]|0x20)
				if raw[n] < 0x30 || d < 0 {
					break
				}
				v = v*16 + d
				n++
			}
			if n > 1 {
				c = byte(v)
			}
		}
		value += string([]byte{c})
		raw = raw[n:]
	}
	return value
}

// naiveBinary decodes a whole stream with its header.
func naiveBinary(in string) (rows [][]string, ok bool) {
	if len(in) < 19 || in[:11] != "PGCOPY\n\xff\r\n\x00" || in[11:13] != "\x00\x00" {
		return nil, false
	}
	extension := int(binary.BigEndian.Uint32([]byte(in[15:19])))
	if extension > maxExtension || len(in) < 19+extension {
		return nil, false
	}
	in = in[19+extension:]
	for in != "" {
		if len(in) < 2 {
			return rows, false
		}
		n := int(int16(binary.BigEndian.Uint16([]byte(in))))
		in = in[2:]
		if n == -1 {
			return rows, in == ""
		}
		if n < 0 {
			return rows, false
		}
		row := []string{}
		for range n {
			if len(in) < 4 {
				return rows, false
			}
			length := int(int32(binary.BigEndian.Uint32([]byte(in))))
			in = in[4:]
			if length < -1 || length > len(in) {
				return rows, false
			}
			if length < 0 {
				row = append(row, null)
				continue
			}
			row = append(row, in[:length])
			in = in[length:]
		}
		rows = append(rows, row)
	}
	return rows, true
}
