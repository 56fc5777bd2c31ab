package datum

import (
	"encoding/binary"
)

// A jsonb value is a tree of containers (utils/jsonb.h). A container is a header with the number of its elements or pairs, one
// JEntry for each element (of an object: for all keys, then for all values), and the elements' data behind each other. A JEntry
// has the kind and either the length of the data or, in every 32nd, the offset of its end. Numbers and containers are aligned to
// 4 bytes, with the padding counted as theirs.
const (
	jsonbCount  = 0x0FFFFFFF
	jsonbScalar = 0x10000000
	jsonbObject = 0x20000000
	jsonbArray  = 0x40000000

	entryLength    = 0x0FFFFFFF
	entryKind      = 0x70000000
	entryString    = 0x00000000
	entryNumeric   = 0x10000000
	entryFalse     = 0x20000000
	entryTrue      = 0x30000000
	entryNull      = 0x40000000
	entryContainer = 0x50000000
	entryHasOffset = 0x80000000

	// maximumDepth bounds recursion on what is nested in one value. The server's own parser stops far earlier at its
	// max_stack_depth of 2 MB; 100000 levels take about 30 MB of stack here.
	maximumDepth = 100000
)

// printJsonb prints what JsonbToCString in jsonb.c does: keys as they are stored, ": " and ", ".
func printJsonb(dst, value []byte) ([]byte, error) {
	start := len(dst)
	dst, err := appendContainer(dst, value, start, 0)
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

// jsonbEntries is a walk over a container's elements.
type jsonbEntries struct {
	entries, data []byte
	next          int // index of the next entry
	offset        int // where its data begin
}

// element gives the kind and data of the next element, and the padding before data that begin aligned.
func (w *jsonbEntries) element() (kind uint32, data []byte, padding int, err error) {
	entry := binary.LittleEndian.Uint32(w.entries[4*w.next:])
	w.next++
	end := int(entry & entryLength)
	if entry&entryHasOffset == 0 {
		end += w.offset
	}
	if end < w.offset || end > len(w.data) {
		return 0, nil, 0, malformed("jsonb", "an element lies outside of its container")
	}
	data, padding = w.data[w.offset:end], alignUp(w.offset, 4)-w.offset
	w.offset = end
	return entry & entryKind, data, padding, nil
}

func appendContainer(dst, value []byte, start, depth int) ([]byte, error) {
	if len(value) < 4 {
		return dst, malformed("jsonb", "a container is cut off")
	}
	if depth > maximumDepth {
		return dst, malformed("jsonb", "nested too deep")
	}
	header := binary.LittleEndian.Uint32(value)
	count := int(header & jsonbCount)
	walk := jsonbEntries{entries: value[4:]}
	total := count
	if header&jsonbObject != 0 {
		total *= 2
	}
	if total*4 > len(walk.entries) {
		return dst, malformed("jsonb", "more elements than bytes")
	}
	walk.data = walk.entries[4*total:]
	switch header &^ jsonbCount {
	case jsonbObject:
		return appendObject(dst, &walk, count, start, depth)
	case jsonbArray:
		return appendElements(dst, &walk, count, start, depth)
	case jsonbArray | jsonbScalar:
		if count == 1 && depth == 0 {
			return appendElement(dst, &walk, start, maximumDepth)
		}
	}
	return dst, malformed("jsonb", "a container is neither an array nor an object")
}

func appendElements(dst []byte, walk *jsonbEntries, count, start, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for i := range count {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		var err error
		if dst, err = appendElement(dst, walk, start, depth); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendObject walks over the keys and the values at once. The values begin where the keys end.
func appendObject(dst []byte, walk *jsonbEntries, count, start, depth int) ([]byte, error) {
	values := *walk
	for range count {
		if _, _, _, err := values.element(); err != nil {
			return dst, err
		}
	}
	dst = append(dst, '{')
	for i := range count {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		kind, key, _, err := walk.element()
		if err != nil {
			return dst, err
		}
		if kind != entryString {
			return dst, malformed("jsonb", "a key is not a string")
		}
		dst = append(appendJSONString(dst, key), ": "...)
		if dst, err = appendElement(dst, &values, start, depth); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendElement writes the next element of a walk.
func appendElement(dst []byte, walk *jsonbEntries, start, depth int) ([]byte, error) {
	kind, data, padding, err := walk.element()
	if err != nil {
		return dst, err
	}
	switch kind {
	case entryString:
		dst = appendJSONString(dst, data)
	case entryFalse:
		dst = append(dst, "false"...)
	case entryTrue:
		dst = append(dst, "true"...)
	case entryNull:
		dst = append(dst, "null"...)
	case entryNumeric, entryContainer:
		if padding > len(data) {
			return dst, malformed("jsonb", "an element is cut off")
		}
		if data = data[padding:]; kind == entryContainer {
			dst, err = appendContainer(dst, data, start, depth+1)
			break
		}
		var number []byte
		if number, _, err = OpenPlain(data); err == nil {
			dst, err = printNumeric(dst, number)
		}
	default:
		return dst, malformed("jsonb", "an element of unknown kind")
	}
	if err == nil && len(dst)-start > maximumOutput {
		err = malformed("jsonb", "its text would be longer than 1 GB")
	}
	return dst, err
}

// appendJSONString writes a string in quotes with JSON's escapes (escape_json in json.c).
func appendJSONString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			dst = append(dst, c)
			continue
		}
		switch c {
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '"', '\\':
			dst = append(dst, '\\', c)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(dst, '"')
}
