package heap

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

var jsonMakers = map[uint32]func(*Datatype) Maker{3802: same(makeJSONB)}

// The parts of jsonb on the page (utils/jsonb.h): a container is a header with the number of its elements or pairs, an entry for each element (of an
// object: for all keys, then for all values), and their bytes. An entry has the kind and the length, or in every 32nd the offset of the end.
const (
	jsonbScalar = 0x10000000
	jsonbObject = 0x20000000
	jsonbArray  = 0x40000000

	entryString    = 0x00000000
	entryNumeric   = 0x10000000
	entryFalse     = 0x20000000
	entryTrue      = 0x30000000
	entryNull      = 0x40000000
	entryContainer = 0x50000000
	entryHasOffset = 0x80000000
	entryMask      = 0x0FFFFFFF
	entryStride    = 32

	jsonbVersion = 1
)

var (
	errEscape   = &Refused{State: "22P05", Message: "unsupported Unicode escape sequence", Detail: `\u0000 cannot be converted to text.`}
	errOverflow = &Refused{State: stateOutOfRange, Message: "value overflows numeric format"}
	errTooLong  = &Refused{State: stateLimit, Message: "total size of jsonb container elements exceeds the maximum of 268435455 bytes"}
)

// makeJSONB parses JSON, and writes it as jsonb_util.c does: keys in order of length and bytes, of equal ones the last.
func makeJSONB(dst, payload []byte) ([]byte, error) {
	if len(payload) < 1 {
		return dst, errShort
	}
	if payload[0] != jsonbVersion {
		return dst, &Refused{State: "XX000", Message: "unsupported jsonb version number " + strconv.Itoa(int(payload[0]))}
	}
	if err := checkText(payload[1:]); err != nil {
		return dst, err
	}
	if !json.Valid(payload[1:]) {
		return dst, errJSON
	}
	p := jsonParser{text: payload[1:]}
	v := p.value()
	if p.err != nil {
		return dst, p.err
	}
	had := len(dst)
	if v.kind != entryContainer {
		v = jsonValue{kind: entryContainer, items: []jsonValue{v}, head: jsonbArray | jsonbScalar}
	}
	w := jsonbWriter{out: dst, start: had}
	w.container(&v)
	if w.err != nil {
		return dst[:had], w.err
	}
	return w.out, nil
}

// jsonValue is a value of a document.
type jsonValue struct {
	kind  uint32
	data  []byte      // of a string, or a numeric with its header
	head  uint32      // of a container
	items []jsonValue // of an object: keys and values in turn
}

// jsonParser reads a document that is known to be well formed. Its first failure sticks.
type jsonParser struct {
	text []byte
	err  error
}

// next skips white space and returns the byte behind it.
func (p *jsonParser) next() byte {
	p.text = bytes.TrimLeft(p.text, " \t\n\r")
	return p.text[0]
}

func (p *jsonParser) value() jsonValue {
	switch p.next() {
	case '{':
		v := jsonValue{kind: entryContainer, head: jsonbObject}
		p.list('}', func() {
			v.items = append(v.items, p.string())
			p.next() // the colon
			p.text = p.text[1:]
			v.items = append(v.items, p.value())
		})
		v.items = unique(v.items)
		return v
	case '[':
		v := jsonValue{kind: entryContainer, head: jsonbArray}
		p.list(']', func() { v.items = append(v.items, p.value()) })
		return v
	case '"':
		return p.string()
	case 't':
		return p.word(4, entryTrue)
	case 'f':
		return p.word(5, entryFalse)
	case 'n':
		return p.word(4, entryNull)
	}
	return p.number()
}

// list reads what stands between brackets.
func (p *jsonParser) list(end byte, item func()) {
	for p.text = p.text[1:]; p.next() != end; {
		if p.text[0] == ',' {
			p.text = p.text[1:]
		}
		item()
	}
	p.text = p.text[1:]
}

func (p *jsonParser) word(size int, kind uint32) jsonValue {
	p.text = p.text[size:]
	return jsonValue{kind: kind}
}

func (p *jsonParser) string() jsonValue {
	p.next()
	p.text = p.text[1:]
	if end := bytes.IndexAny(p.text, `"\`); p.text[end] == '"' {
		v := jsonValue{kind: entryString, data: p.text[:end]}
		p.text = p.text[end+1:]
		return v
	}
	var out []byte
	for p.text[0] != '"' {
		if p.text[0] != '\\' {
			out = append(out, p.text[0])
			p.text = p.text[1:]
			continue
		}
		c := p.text[1]
		p.text = p.text[2:]
		if c == 'u' {
			out = utf8.AppendRune(out, p.escaped())
			continue
		}
		if at := bytes.IndexByte([]byte("bfnrt"), c); at >= 0 {
			c = "\b\f\n\r\t"[at]
		}
		out = append(out, c)
	}
	p.text = p.text[1:]
	return jsonValue{kind: entryString, data: out}
}

// escaped reads the four digits behind \u, and the other half of a pair (json_lex_string of jsonapi.c).
func (p *jsonParser) escaped() rune {
	r := p.hex()
	switch {
	case r == 0:
		p.fail(errEscape)
	case utf16.IsSurrogate(r):
		if len(p.text) > 6 && p.text[0] == '\\' && p.text[1] == 'u' {
			p.text = p.text[2:]
			if r = utf16.DecodeRune(r, p.hex()); r != utf8.RuneError {
				return r
			}
		}
		p.fail(errJSON)
	}
	return r
}

func (p *jsonParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *jsonParser) hex() rune {
	n, _ := strconv.ParseUint(string(p.text[:4]), 16, 16) // four hexadecimal digits, as json.Valid has seen
	p.text = p.text[4:]
	return rune(n)
}

// number turns a number into a numeric with a four-byte header.
func (p *jsonParser) number() jsonValue {
	size := 0
	for size < len(p.text) && bytes.IndexByte([]byte("+-.0123456789eE"), p.text[size]) >= 0 {
		size++
	}
	n, err := decimalForm(p.text[:size])
	p.text = p.text[size:]
	var data []byte
	if err == nil {
		data, err = n.append(make([]byte, longHeader, 32))
	}
	if err != nil {
		p.fail(err)
		return jsonValue{kind: entryNull}
	}
	le.PutUint32(data, uint32(len(data))<<2)
	return jsonValue{kind: entryNumeric, data: data}
}

// decimalForm takes a number of JSON apart into digits to the base 10000, as numeric_in does.
func decimalForm(text []byte) (numericForm, error) {
	n := numericForm{}
	if text[0] == '-' {
		n.sign, text = numericNegative, text[1:]
	}
	exponent := 0
	if at := bytes.IndexAny(text, "eE"); at >= 0 {
		e, err := strconv.ParseInt(string(bytes.TrimPrefix(text[at+1:], []byte("+"))), 10, 32)
		if err != nil || e > 1<<30 || e < -1<<30 {
			return n, errOverflow
		}
		exponent, text = int(e), text[:at]
	}
	whole, decimals, _ := bytes.Cut(text, []byte("."))
	n.scale = max(len(decimals)-exponent, 0)
	digits := slices.Concat(whole, decimals)
	power := len(whole) + exponent // decimal digits before the point
	for len(digits) > 0 && digits[0] == '0' {
		digits, power = digits[1:], power-1
	}
	if n.scale > numericScaleMask || len(digits) > 0 && power > 4*(1<<15) {
		return n, errOverflow
	}
	if len(digits) == 0 {
		return n, nil
	}
	groups := power + 3
	if groups < 0 {
		groups -= 3 // towards the smaller
	}
	groups /= 4
	n.weight = groups - 1
	lead := groups*4 - power // zeros before the first digit
	for i := -lead; i < len(digits); i += 4 {
		d := 0
		for j := i; j < i+4; j++ {
			d *= 10
			if j >= 0 && j < len(digits) {
				d += int(digits[j] - '0')
			}
		}
		n.digits = append(n.digits, byte(d>>8), byte(d))
	}
	return n, nil
}

// unique sorts the pairs of an object by the lengths of their keys, then by their bytes, and drops those whose key comes again.
func unique(items []jsonValue) []jsonValue {
	type pair struct{ key, value jsonValue }
	pairs := make([]pair, 0, len(items)/2)
	for i := 0; i < len(items); i += 2 {
		pairs = append(pairs, pair{items[i], items[i+1]})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(len(a.key.data), len(b.key.data)), bytes.Compare(a.key.data, b.key.data))
	})
	items = items[:0]
	for i, p := range pairs {
		if i+1 == len(pairs) || !bytes.Equal(p.key.data, pairs[i+1].key.data) {
			items = append(items, p.key, p.value)
		}
	}
	return items
}

// jsonbWriter writes containers.
type jsonbWriter struct {
	out   []byte
	start int
	err   error
}

// pad aligns what follows to four bytes.
func (w *jsonbWriter) pad() {
	for (len(w.out)-w.start)%4 != 0 {
		w.out = append(w.out, 0)
	}
}

// container writes one and returns how many bytes it takes, with the padding before it.
func (w *jsonbWriter) container(v *jsonValue) uint32 {
	from := len(w.out)
	w.pad()
	count := len(v.items)
	if v.head == jsonbObject {
		count /= 2
	}
	w.out = le.AppendUint32(w.out, v.head|uint32(count))
	entries, total := len(w.out), uint32(0)
	w.out = append(w.out, make([]byte, 4*len(v.items))...)
	for i := range v.items {
		item := i
		if v.head == jsonbObject { // keys first
			if item = 2 * i; i >= count {
				item = 2*(i-count) + 1
			}
		}
		size := w.element(&v.items[item])
		entry := v.items[item].kind
		if total += size; total > entryMask {
			w.err = errTooLong
			return 0
		}
		if i%entryStride == 0 {
			entry |= total | entryHasOffset
		} else {
			entry |= size
		}
		le.PutUint32(w.out[entries+4*i:], entry)
	}
	return uint32(len(w.out) - from)
}

func (w *jsonbWriter) element(v *jsonValue) uint32 {
	from := len(w.out)
	switch v.kind {
	case entryContainer:
		return w.container(v)
	case entryNumeric:
		w.pad()
		w.out = append(w.out, v.data...)
	case entryString:
		w.out = append(w.out, v.data...)
	}
	return uint32(len(w.out) - from)
}
