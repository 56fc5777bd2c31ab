package datum

import (
	"encoding/binary"
	"math"
	"strconv"
)

// The items of a jsonpath by their code (JsonPathItemType in utils/jsonpath.h), which is part of the stored form. 17 and later have
// those from pathBigint on.
const (
	pathNull = iota
	pathString
	pathNumeric
	pathBool
	pathAnd
	pathOr
	pathNot
	pathIsUnknown
	pathEqual
	pathNotEqual
	pathLess
	pathGreater
	pathLessOrEqual
	pathGreaterOrEqual
	pathAdd
	pathSub
	pathMul
	pathDiv
	pathMod
	pathPlus
	pathMinus
	pathAnyArray
	pathAnyKey
	pathIndexArray
	pathAny
	pathKey
	pathCurrent
	pathRoot
	pathVariable
	pathFilter
	pathExists
	pathType
	pathSize
	pathAbs
	pathFloor
	pathCeiling
	pathDouble
	pathDatetime
	pathKeyValue
	pathSubscript
	pathLast
	pathStartsWith
	pathLikeRegex
	pathBigint
	pathBoolean
	pathDate
	pathDecimal
	pathInteger
	pathNumber
	pathStringFunc
	pathTime
	pathTimeTz
	pathTimestamp
	pathTimestampTz
)

// pathWords are the items that are printed by themselves, and the operators between two operands.
var pathWords = map[byte]string{
	pathNull: "null", pathAnyArray: "[*]", pathCurrent: "@", pathRoot: "$", pathLast: "last",
	pathType: ".type()", pathSize: ".size()", pathAbs: ".abs()", pathFloor: ".floor()", pathCeiling: ".ceiling()",
	pathDouble: ".double()", pathKeyValue: ".keyvalue()", pathBigint: ".bigint()", pathBoolean: ".boolean()",
	pathDate: ".date()", pathInteger: ".integer()", pathNumber: ".number()", pathStringFunc: ".string()",

	pathAnd: " && ", pathOr: " || ", pathEqual: " == ", pathNotEqual: " != ", pathLess: " < ", pathGreater: " > ",
	pathLessOrEqual: " <= ", pathGreaterOrEqual: " >= ", pathAdd: " + ", pathSub: " - ", pathMul: " * ", pathDiv: " / ",
	pathMod: " % ", pathStartsWith: " starts with ",
}

// pathEnclosing are the items with one operand, by what stands before and behind it.
var pathEnclosing = map[byte][2]string{
	pathNot: {"!(", ")"}, pathIsUnknown: {"(", ") is unknown"}, pathFilter: {"?(", ")"}, pathExists: {"exists (", ")"},
	pathDatetime: {".datetime(", ")"}, pathTime: {".time(", ")"}, pathTimeTz: {".time_tz(", ")"},
	pathTimestamp: {".timestamp(", ")"}, pathTimestampTz: {".timestamp_tz(", ")"},
}

// pathPriority is the priority of an operator; what is none binds closest.
func pathPriority(kind byte) int {
	switch kind {
	case pathOr:
		return 0
	case pathAnd:
		return 1
	case pathEqual, pathNotEqual, pathLess, pathGreater, pathLessOrEqual, pathGreaterOrEqual, pathStartsWith:
		return 2
	case pathAdd, pathSub:
		return 3
	case pathMul, pathDiv, pathMod:
		return 4
	case pathPlus, pathMinus:
		return 5
	}
	return 6
}

// jsonPath is the walk over a jsonpath: items that begin with a code, aligned to 4 bytes the offset of the next item or 0, and what
// the code asks for. Offsets count from the item and lead forward, since items are stored before what they refer to.
type jsonPath struct {
	body  []byte
	items int // how many may still be printed: each is printed once, however offsets lie
}

// pathItem is one item: its code, where it begins, the offset of the next, and the rest of the path behind its head.
type pathItem struct {
	kind byte
	at   int
	next int
	rest []byte
}

// printJSONPath prints a jsonpath: a header of version and mode, then the items (jsonpath_out in jsonpath.c). A number with an
// accessor behind it is put in parentheses, as from 15 on; 14 leaves them out.
func printJSONPath(dst, value []byte) ([]byte, error) {
	const lax, version = 0x80000000, 1
	if len(value) < 4 || binary.LittleEndian.Uint32(value)&^lax != version {
		return dst, malformed("jsonpath", "an unknown version")
	}
	start := len(dst)
	if binary.LittleEndian.Uint32(value)&lax == 0 {
		dst = append(dst, "strict "...)
	}
	path := jsonPath{body: value[4:], items: len(value) / 5}
	dst, err := path.print(dst, 0, true, 0)
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

func (p *jsonPath) item(at int) (pathItem, error) {
	head := alignUp(at+1, 4)
	if at < 0 || head+4 > len(p.body) {
		return pathItem{}, malformed("jsonpath", "an item lies outside of the value")
	}
	return pathItem{
		kind: p.body[at], at: at, rest: p.body[head+4:],
		next: int(int32(binary.LittleEndian.Uint32(p.body[head:]))),
	}, nil
}

// number reads the n-th of the 4-byte fields behind an item's head.
func (it *pathItem) number(n int) (uint32, error) {
	if n < 0 || len(it.rest)/4 <= n {
		return 0, malformed("jsonpath", "an item is cut off")
	}
	return binary.LittleEndian.Uint32(it.rest[4*n:]), nil
}

// print writes an item and those that follow it in the path. enclose puts an operator in parentheses.
func (p *jsonPath) print(dst []byte, at int, enclose bool, depth int) ([]byte, error) {
	if depth > maximumDepth {
		return dst, malformed("jsonpath", "nested too deep")
	}
	for following := false; ; following = true {
		item, err := p.item(at)
		if err != nil {
			return dst, err
		}
		if p.items--; p.items < 0 {
			return dst, malformed("jsonpath", "items refer to each other more than once")
		}
		if dst, err = p.one(dst, &item, following, enclose, depth); err != nil {
			return dst, err
		}
		if item.next <= 0 {
			return dst, nil
		}
		at, enclose = at+item.next, true
	}
}

// one writes an item by itself; following says that another stands before it in the path.
func (p *jsonPath) one(dst []byte, item *pathItem, following, enclose bool, depth int) ([]byte, error) {
	if ends, ok := pathEnclosing[item.kind]; ok {
		dst, err := p.operand(append(dst, ends[0]...), item, 0, false, depth)
		return append(dst, ends[1]...), err
	}
	switch item.kind {
	case pathAnd, pathOr, pathEqual, pathNotEqual, pathLess, pathGreater, pathLessOrEqual, pathGreaterOrEqual,
		pathAdd, pathSub, pathMul, pathDiv, pathMod, pathStartsWith, pathPlus, pathMinus, pathLikeRegex:
		return p.operator(dst, item, enclose, depth)
	case pathNumeric, pathBool:
		return p.scalar(dst, item)
	case pathString, pathKey, pathVariable:
		text, err := item.text(0)
		if item.kind == pathVariable {
			dst = append(dst, '$')
		} else if item.kind == pathKey && following {
			dst = append(dst, '.')
		}
		return appendJSONString(dst, text), err
	case pathAnyKey:
		if following {
			dst = append(dst, '.')
		}
		return append(dst, '*'), nil
	case pathAny:
		if following {
			dst = append(dst, '.')
		}
		return item.levels(dst)
	case pathIndexArray:
		return p.subscripts(dst, item, depth)
	case pathDecimal:
		return p.decimal(dst, item, depth)
	}
	word, ok := pathWords[item.kind]
	if !ok {
		return dst, malformed("jsonpath", "an item of unknown kind "+strconv.Itoa(int(item.kind)))
	}
	return append(dst, word...), nil
}

// operand writes what the n-th field of an item refers to; 0 refers to nothing. Inside of an operator it is put in parentheses
// where it binds less.
func (p *jsonPath) operand(dst []byte, item *pathItem, n int, operator bool, depth int) ([]byte, error) {
	offset, err := item.number(n)
	if err != nil || offset == 0 && !operator {
		return dst, err
	}
	if int32(offset) <= 0 {
		return dst, malformed("jsonpath", "an operand stands before its operator")
	}
	at := item.at + int(offset)
	inner, err := p.item(at)
	if err != nil {
		return dst, err
	}
	return p.print(dst, at, operator && pathPriority(inner.kind) <= pathPriority(item.kind), depth+1)
}

func (p *jsonPath) operator(dst []byte, item *pathItem, enclose bool, depth int) ([]byte, error) {
	if enclose {
		dst = append(dst, '(')
	}
	var err error
	switch item.kind {
	case pathPlus, pathMinus:
		dst, err = p.operand(append(dst, "+-"[item.kind-pathPlus]), item, 0, true, depth)
	case pathLikeRegex:
		dst, err = p.likeRegex(dst, item, depth)
	default:
		if dst, err = p.operand(dst, item, 0, true, depth); err == nil {
			dst, err = p.operand(append(dst, pathWords[item.kind]...), item, 1, true, depth)
		}
	}
	if enclose {
		dst = append(dst, ')')
	}
	return dst, err
}

// likeRegex writes flags, expression and pattern, which are stored in this order.
func (p *jsonPath) likeRegex(dst []byte, item *pathItem, depth int) ([]byte, error) {
	flags, err := item.number(0)
	if err != nil {
		return dst, err
	}
	if dst, err = p.operand(dst, item, 1, true, depth); err != nil {
		return dst, err
	}
	pattern, err := item.text(2)
	if err != nil {
		return dst, err
	}
	dst = appendJSONString(append(dst, " like_regex "...), pattern)
	if flags == 0 {
		return dst, nil
	}
	dst = append(dst, ` flag "`...)
	for i, letter := range []byte("ismxq") {
		if flags>>i&1 == 1 {
			dst = append(dst, letter)
		}
	}
	return append(dst, '"'), nil
}

// text reads a string whose length is the n-th field.
func (it *pathItem) text(n int) ([]byte, error) {
	length, err := it.number(n)
	if err != nil {
		return nil, err
	}
	text := it.rest[4*n+4:]
	if uint64(length) > uint64(len(text)) {
		return nil, malformed("jsonpath", "a string is cut off")
	}
	return text[:length], nil
}

func (p *jsonPath) scalar(dst []byte, item *pathItem) ([]byte, error) {
	if item.kind == pathBool {
		if len(item.rest) == 0 {
			return dst, malformed("jsonpath", "an item is cut off")
		}
		return strconv.AppendBool(dst, item.rest[0] != 0), nil
	}
	number, _, err := OpenPlain(item.rest)
	if err != nil {
		return dst, err
	}
	if item.next > 0 {
		dst = append(dst, '(')
	}
	if dst, err = printNumeric(dst, number); err == nil && item.next > 0 {
		dst = append(dst, ')')
	}
	return dst, err
}

// levels writes ** with its levels.
func (it *pathItem) levels(dst []byte) ([]byte, error) {
	first, err := it.number(0)
	if err != nil {
		return dst, err
	}
	last, err := it.number(1)
	if err != nil {
		return dst, err
	}
	dst = append(dst, "**"...)
	if first == 0 && last == math.MaxUint32 {
		return dst, nil
	}
	dst = appendLevel(append(dst, '{'), first)
	if first != last {
		dst = appendLevel(append(dst, " to "...), last)
	}
	return append(dst, '}'), nil
}

func appendLevel(dst []byte, level uint32) []byte {
	if level == math.MaxUint32 {
		return append(dst, "last"...)
	}
	return strconv.AppendUint(dst, uint64(level), 10)
}

// subscripts writes the subscripts of an array: their number, then for each the operands from and to, where 0 is no to.
func (p *jsonPath) subscripts(dst []byte, item *pathItem, depth int) ([]byte, error) {
	count, err := item.number(0)
	if err != nil {
		return dst, err
	}
	if uint64(count)*8+4 > uint64(len(item.rest)) {
		return dst, malformed("jsonpath", "more subscripts than bytes")
	}
	dst = append(dst, '[')
	for i := range int(count) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = p.operand(dst, item, 1+2*i, false, depth); err != nil {
			return dst, err
		}
		if to, _ := item.number(2 + 2*i); to == 0 {
			continue
		}
		if dst, err = p.operand(append(dst, " to "...), item, 2+2*i, false, depth); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func (p *jsonPath) decimal(dst []byte, item *pathItem, depth int) ([]byte, error) {
	dst, err := p.operand(append(dst, ".decimal("...), item, 0, false, depth)
	if err != nil {
		return dst, err
	}
	if scale, _ := item.number(1); scale != 0 {
		dst = append(dst, ',')
	}
	dst, err = p.operand(dst, item, 1, false, depth)
	return append(dst, ')'), err
}
