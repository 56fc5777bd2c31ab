package datum

import (
	"encoding/binary"
	"strconv"
)

// printTSVector prints a tsvector (tsearch/ts_type.h): the number of words, for each a WordEntry of 1 bit whether it has positions,
// 11 bits of length and 20 bits of offset, then the words, each with its positions behind it.
func printTSVector(dst, value []byte) ([]byte, error) {
	if len(value) < 4 {
		return dst, malformed("tsvector", "cut off")
	}
	count, entries := binary.LittleEndian.Uint32(value), value[4:]
	if uint64(count)*4 > uint64(len(entries)) {
		return dst, malformed("tsvector", "more words than bytes")
	}
	words, start := entries[count*4:], len(dst)
	for i := range int(count) {
		entry := binary.LittleEndian.Uint32(entries[4*i:])
		length, offset := int(entry>>1&0x7FF), int(entry>>12)
		if offset > len(words) || length > len(words)-offset {
			return dst[:start], malformed("tsvector", "a word lies outside of the value")
		}
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = appendWord(dst, words[offset:offset+length])
		if entry&1 == 0 {
			continue
		}
		var ok bool
		if dst, ok = appendPositions(dst, words, alignUp(offset+length, 2)); !ok {
			return dst[:start], malformed("tsvector", "the positions lie outside of the value")
		}
		if len(dst)-start > maximumOutput {
			return dst[:start], malformed("tsvector", "its text would be longer than 1 GB")
		}
	}
	return dst, nil
}

// appendWord writes a word in quotes, quotes and backslashes in it doubled.
func appendWord(dst, word []byte) []byte {
	dst = append(dst, '\'')
	for _, c := range word {
		if c == '\'' || c == '\\' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '\'')
}

// appendPositions writes the positions at an offset: their number, then 2 bits of weight and 14 bits of position each.
func appendPositions(dst, words []byte, offset int) ([]byte, bool) {
	if offset+2 > len(words) {
		return dst, false
	}
	count := int(binary.LittleEndian.Uint16(words[offset:]))
	positions := words[offset+2:]
	if count*2 > len(positions) {
		return dst, false
	}
	for i := range count {
		separator := byte(',')
		if i == 0 {
			separator = ':'
		}
		position := binary.LittleEndian.Uint16(positions[2*i:])
		dst = strconv.AppendUint(append(dst, separator), uint64(position&0x3FFF), 10)
		if weight := position >> 14; weight > 0 {
			dst = append(dst, " CBA"[weight])
		}
	}
	return dst, true
}

const (
	queryItemSize = 12
	queryOperand  = 1
	queryOperator = 2

	queryNot    = 1
	queryAnd    = 2
	queryOr     = 3
	queryPhrase = 4
)

// queryPriority are the priorities of the operators by their code (tsearch_op_priority in tsquery.c).
var queryPriority = [...]int{queryNot: 4, queryAnd: 2, queryOr: 1, queryPhrase: 3}

// tsquery is a tsquery's items of 12 bytes in Polish notation, and the words of its operands, each with a NUL behind it.
type tsquery struct {
	items, words []byte
}

// printTSQuery prints a tsquery in infix notation (tsqueryout in tsquery.c).
func printTSQuery(dst, value []byte) ([]byte, error) {
	if len(value) < 4 {
		return dst, malformed("tsquery", "cut off")
	}
	count := binary.LittleEndian.Uint32(value)
	if uint64(count)*queryItemSize > uint64(len(value)-4) {
		return dst, malformed("tsquery", "more items than bytes")
	}
	if count == 0 {
		return dst, nil
	}
	split := 4 + int(count)*queryItemSize
	q := tsquery{items: value[4:split], words: value[split:]}
	start := len(dst)
	dst, err := q.infix(dst, 0, int(count), -1, false, 0)
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

// infix writes the expression that the items from begin to end hold, no more and no less.
func (q *tsquery) infix(dst []byte, begin, end, outer int, rightOfPhrase bool, depth int) ([]byte, error) {
	if begin >= end || depth > maximumDepth {
		return dst, malformed("tsquery", "not a tree")
	}
	item := q.items[begin*queryItemSize:][:queryItemSize]
	if item[0] == queryOperand && begin+1 == end {
		return q.operand(dst, item)
	}
	code := item[1]
	if item[0] != queryOperator || code < queryNot || code > queryPhrase {
		return dst, malformed("tsquery", "an unknown item")
	}
	priority := queryPriority[code]
	enclosed := priority < outer || code == queryPhrase && rightOfPhrase
	if enclosed {
		dst = append(dst, "( "...)
	}
	var err error
	if code == queryNot {
		dst, err = q.infix(append(dst, '!'), begin+1, end, priority, false, depth+1)
	} else {
		left := uint64(begin) + uint64(binary.LittleEndian.Uint32(item[4:]))
		if left >= uint64(end) {
			return dst, malformed("tsquery", "an operand lies outside of the query")
		}
		if dst, err = q.infix(dst, int(left), end, priority, false, depth+1); err != nil {
			return dst, err
		}
		dst = appendQueryOperator(dst, code, int16(binary.LittleEndian.Uint16(item[2:])))
		dst, err = q.infix(dst, begin+1, int(left), priority, code == queryPhrase, depth+1)
	}
	if err != nil {
		return dst, err
	}
	if enclosed {
		dst = append(dst, " )"...)
	}
	return dst, nil
}

func appendQueryOperator(dst []byte, code byte, distance int16) []byte {
	switch {
	case code == queryAnd:
		return append(dst, " & "...)
	case code == queryOr:
		return append(dst, " | "...)
	case distance == 1:
		return append(dst, " <-> "...)
	}
	return append(strconv.AppendInt(append(dst, " <"...), int64(distance), 10), "> "...)
}

// operand writes a word, whether it is a prefix, and the weights asked for: a QueryOperand has type, weights, prefix, checksum, and
// 12 bits of length beside 20 bits of offset.
func (q *tsquery) operand(dst, item []byte) ([]byte, error) {
	where := binary.LittleEndian.Uint32(item[8:])
	length, offset := int(where&0xFFF), int(where>>12)
	if offset > len(q.words) || length >= len(q.words)-offset || q.words[offset+length] != 0 {
		return dst, malformed("tsquery", "a word lies outside of the value")
	}
	dst = appendWord(dst, q.words[offset:offset+length])
	weight, prefix := item[1], item[2] != 0
	if weight == 0 && !prefix {
		return dst, nil
	}
	dst = append(dst, ':')
	if prefix {
		dst = append(dst, '*')
	}
	for i, letter := range []byte("ABCD") {
		if weight>>(3-i)&1 == 1 {
			dst = append(dst, letter)
		}
	}
	return dst, nil
}

// printGTSVector tells what an index key of text search holds (gtsvectorout in tsgistidx.c).
func printGTSVector(dst, value []byte) ([]byte, error) {
	if len(value) < 4 {
		return dst, malformed("gtsvector", "cut off")
	}
	const array, signature, all = 1, 2, 4
	switch flag, body := binary.LittleEndian.Uint32(value), value[4:]; {
	case flag&array != 0:
		return append(strconv.AppendInt(dst, int64(len(body)/4), 10), " unique words"...), nil
	case flag&all != 0:
		return append(dst, "all true bits"...), nil
	case flag&signature != 0:
		ones := 0
		for _, c := range body {
			for ; c != 0; c &= c - 1 {
				ones++
			}
		}
		dst = append(strconv.AppendInt(dst, int64(ones), 10), " true bits, "...)
		return append(strconv.AppendInt(dst, int64(8*len(body)-ones), 10), " false bits"...), nil
	}
	return dst, malformed("gtsvector", "an unknown kind")
}
