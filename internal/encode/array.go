package encode

import "encoding/binary"

// maxDimensions is MAXDIM of utils/array.h.
const maxDimensions = 6

// States of the errors that only arrays raise.
const (
	stateSubscript    = "2202E"
	stateProgramLimit = "54000"
)

func arrayEncoder(t *Type, s Settings) Encoder {
	if t.Elem == nil {
		return nil
	}
	elem := For(t.Elem, s)
	if elem == nil {
		return nil
	}
	k := &arrayKind{elem: elem, oid: t.Elem.OID, delim: t.Delim, modern: s.Version >= 17}
	if k.delim == 0 {
		k.delim = ','
	}
	return func(dst, text []byte) ([]byte, error) {
		got, err := k.encode(dst, text)
		if err != nil {
			return dst, err
		}
		return got, nil
	}
}

// arrayKind is what the arrays of a column have in common.
type arrayKind struct {
	elem  Encoder
	oid   uint32
	delim byte
	// modern: since 17 array_in reads text in one pass, so that elements are read before faults behind them are seen, and takes {{},{}}.
	modern bool
}

// arrayShape is the dimensions of an array.
type arrayShape struct {
	n      int
	length [maxDimensions]int // -1 for not known yet
	lower  [maxDimensions]int32
	given  bool // in the text, before the braces
}

// malformedArray is the refusal of a text that is no array.
func malformedArray(text []byte, detail string) *Invalid {
	return &Invalid{State: stateInvalidText, Message: `malformed array literal: "` + string(text) + `"`, Detail: detail}
}

func unexpected(c byte) string { return `Unexpected "` + string(rune(c)) + `" character.` }

// Details that stand at more than one place.
const (
	arrayEnds       = "Unexpected end of input."
	arrayElement    = "Unexpected array element."
	arrayJunk       = "Junk after closing right brace."
	arrayDimensions = "Multidimensional arrays must have sub-arrays with matching dimensions."
	arrayMismatch   = "Specified array dimensions do not match array contents."
)

// encode appends the binary form (array_send of arrayfuncs.c): number of dimensions, whether there are nulls, type of the elements, length
// and lower bound of each dimension, and each element with its length or -1.
func (k *arrayKind) encode(dst, text []byte) ([]byte, error) {
	shape := arrayShape{length: [maxDimensions]int{-1, -1, -1, -1, -1, -1}, lower: [maxDimensions]int32{1, 1, 1, 1, 1, 1}}
	i, err := k.readDimensions(&shape, text)
	if err != nil {
		return dst, err
	}
	if !k.modern {
		if err := k.count(&shape, text, i); err != nil {
			return dst, err
		}
	}
	start := len(dst)
	dst = append(dst, make([]byte, 12)...)
	binary.BigEndian.PutUint32(dst[start+8:], k.oid)
	r := arrayReader{arrayKind: k, text: text, at: i, shape: shape, header: -1}
	if shape.given {
		dst = r.reserve(dst)
	}
	if dst, err = r.read(dst); err != nil {
		return dst, err
	}
	if skipSpace(text, r.at) < len(text) {
		return dst, malformedArray(text, arrayJunk)
	}
	if r.elements == 0 {
		return dst[:start+12], nil
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(r.shape.n))
	if r.nulls {
		dst[start+7] = 1
	}
	for d := range r.shape.n {
		binary.BigEndian.PutUint32(dst[r.header+8*d:], uint32(r.shape.length[d]))
		binary.BigEndian.PutUint32(dst[r.header+8*d+4:], uint32(r.shape.lower[d]))
	}
	return dst, nil
}

// longestBound is how many digits of a bound are read here: versions differ in how they notice that an int overflows.
const longestBound = 9

// readDimensions reads bounds such as [1:2][3] with the sign = behind them, and returns where the braces start.
func (k *arrayKind) readDimensions(shape *arrayShape, text []byte) (int, error) {
	i := skipSpace(text, 0)
	for ; i < len(text) && text[i] == '['; i = skipSpace(text, i) {
		if shape.n == maxDimensions {
			return i, k.tooDeep()
		}
		upper, end, err := readArrayBound(text, i+1, `"[" must introduce explicitly-specified array dimensions.`)
		if err != nil {
			return i, err
		}
		lower := int32(1)
		if i = end; i < len(text) && text[i] == ':' {
			lower = upper
			if upper, i, err = readArrayBound(text, i+1, "Missing array dimension value."); err != nil {
				return i, err
			}
		}
		if i == len(text) || text[i] != ']' {
			return i, malformedArray(text, `Missing "]" after array dimensions.`)
		}
		i++
		if upper < lower {
			return i, &Invalid{State: stateSubscript, Message: "upper bound cannot be less than lower bound"}
		}
		shape.length[shape.n], shape.lower[shape.n] = int(upper)-int(lower)+1, lower
		shape.n++
	}
	shape.given = shape.n > 0
	if !shape.given {
		if i == len(text) || text[i] != '{' {
			return i, malformedArray(text, `Array value must start with "{" or dimension information.`)
		}
		return i, nil
	}
	if i == len(text) || text[i] != '=' {
		return i, malformedArray(text, `Missing "=" after array dimensions.`)
	}
	i = skipSpace(text, i+1)
	if i == len(text) || text[i] != '{' {
		return i, malformedArray(text, `Array contents must start with "{".`)
	}
	return i, nil
}

func (k *arrayKind) tooDeep() error {
	if k.modern {
		return &Invalid{State: stateProgramLimit, Message: "number of array dimensions exceeds the maximum allowed (6)"}
	}
	return &Invalid{State: stateProgramLimit, Message: "number of array dimensions (7) exceeds the maximum allowed (6)"}
}

// readArrayBound reads digits with a sign or without; missing is what to say where there are none.
func readArrayBound(text []byte, i int, missing string) (v int32, end int, err error) {
	start := i
	for i < len(text) && (isDigit(text[i]) || text[i] == '-' || text[i] == '+') {
		i++
	}
	digits := text[start:i]
	if len(digits) == 0 {
		return 0, i, malformedArray(text, missing)
	}
	negative := digits[0] == '-'
	if !isDigit(digits[0]) {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > longestBound {
		return 0, i, ErrUnsure
	}
	for _, c := range digits {
		if !isDigit(c) {
			return 0, i, ErrUnsure
		}
		v = v*10 + int32(c-'0')
	}
	if negative {
		v = -v
	}
	return v, i, nil
}
