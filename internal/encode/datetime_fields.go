package encode

import "bytes"

// fieldKind tells what the characters of a field look like, not yet what it means (ParseDateTime of datetime.c).
type fieldKind uint8

const (
	numberField fieldKind = iota // digits, at most one point
	dateField                    // digits or letters around - / .
	clockField                   // digits and colons
	wordField                    // letters
	signedWord                   // a sign before letters
	offsetField                  // a sign before digits
)

// maxFields is how many fields the server tells apart (MAXDATEFIELDS).
const maxFields = 25

// fields are the parts of a text, in lower case. They hold offsets, no slices, so that they stay on the stack.
type fields struct {
	buffer [256]byte
	used   int
	room   int // as many bytes as the server has for them, each with a terminator
	n      int
	kind   [maxFields]fieldKind
	bounds [maxFields][2]uint8
}

// text is a field's text.
func (f *fields) text(i int) []byte { return f.buffer[f.bounds[i][0]:f.bounds[i][1]] }

// ends says whether a field is the last.
func (f *fields) ends(i int) bool { return i == f.n-1 }

func (f *fields) put(c byte) bool {
	if f.used+1 >= f.room {
		return false
	}
	f.buffer[f.used] = c
	f.used++
	return true
}

// run takes the bytes from at on that a class has, and tells where they end.
func (f *fields) run(text []byte, at int, class charClass) (int, bool) {
	for at < len(text) && charClasses[text[at]]&class != 0 {
		c := text[at]
		if c-'A' <= 'Z'-'A' {
			c += 'a' - 'A'
		}
		if !f.put(c) {
			return at, false
		}
		at++
	}
	return at, true
}

// split cuts a text into fields. It is false where the server finds no fields in it, or has no room for them.
func (f *fields) split(text []byte, room int) bool {
	f.room = room
	for at := 0; at < len(text); {
		class := charClasses[text[at]]
		if class&space != 0 {
			at++
			continue
		}
		if f.n == maxFields {
			return false
		}
		start, ok := f.used, false
		switch {
		case class&digit != 0:
			at, ok = f.startDigit(text, at)
		case class&point != 0:
			f.kind[f.n] = numberField
			if ok = f.put('.'); ok {
				at, ok = f.run(text, at+1, digit)
			}
		case class&letter != 0:
			at, ok = f.startLetter(text, at)
		case class&sign != 0:
			at, ok = f.startSign(text, at)
		case class&punct != 0:
			at++
			continue
		}
		if !ok {
			return false
		}
		f.bounds[f.n] = [2]uint8{uint8(start), uint8(f.used)}
		f.used++ // the terminator
		f.n++
	}
	return true
}

// startDigit takes a field that begins with a digit: a time, a date, a number.
func (f *fields) startDigit(text []byte, at int) (int, bool) {
	f.kind[f.n] = numberField
	at, ok := f.run(text, at, digit)
	if !ok || at == len(text) {
		return at, ok
	}
	delimiter := text[at]
	switch delimiter {
	case ':':
		f.kind[f.n] = clockField
		return f.run(text, at, digit|colon|point)
	case '-', '/', '.':
	default:
		return at, true
	}
	same := charClasses[delimiter] &^ (sign | punct)
	if !f.put(delimiter) {
		return at, false
	}
	at++
	if at == len(text) || charClasses[text[at]]&digit == 0 {
		f.kind[f.n] = dateField
		return f.run(text, at, digit|letter|same)
	}
	if delimiter != '.' {
		f.kind[f.n] = dateField
	}
	if at, ok = f.run(text, at, digit); ok && at < len(text) && text[at] == delimiter {
		f.kind[f.n] = dateField
		return f.run(text, at, digit|same)
	}
	return at, ok
}

// startLetter takes a field that begins with a letter: a word, a date with a month's name in front, the name of a time zone.
func (f *fields) startLetter(text []byte, at int) (int, bool) {
	f.kind[f.n] = wordField
	start := f.used
	at, ok := f.run(text, at, letter)
	if !ok || at == len(text) {
		return at, ok
	}
	switch c := text[at]; {
	case c == '-' || c == '/' || c == '.':
	case c == '+' || charClasses[c]&digit != 0:
		// "J2451187" and "T1011" are a known word and a number, "GMT5" is a zone.
		if word, _ := dateWord(f.buffer[start:f.used]); word != unknownWord {
			return at, true
		}
	default:
		return at, true
	}
	f.kind[f.n] = dateField
	return f.run(text, at, digit|letter|sign|slash|point|colon|underscore)
}

// startSign takes a field that begins with a sign, behind which there may be spaces.
func (f *fields) startSign(text []byte, at int) (int, bool) {
	if !f.put(text[at]) {
		return at, false
	}
	for at++; at < len(text) && charClasses[text[at]]&space != 0; {
		at++
	}
	if at == len(text) {
		return at, false
	}
	switch class := charClasses[text[at]]; {
	case class&digit != 0:
		f.kind[f.n] = offsetField
		return f.run(text, at, digit|colon|point|minus)
	case class&letter != 0:
		f.kind[f.n] = signedWord
		return f.run(text, at, letter)
	}
	return at, false
}

// charClass is a set of the kinds of character that matter in a date, as isdigit and its like know them in ASCII.
type charClass uint16

const (
	digit charClass = 1 << iota
	letter
	space
	punct
	sign
	minus
	slash
	point
	colon
	underscore
)

var charClasses = func() (classes [256]charClass) {
	for c := range 128 {
		switch {
		case c >= '0' && c <= '9':
			classes[c] = digit
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			classes[c] = letter
		case c == ' ' || c >= '\t' && c <= '\r':
			classes[c] = space
		case c > ' ' && c < 127:
			classes[c] = punct
		}
	}
	classes['+'] |= sign
	classes['-'] |= sign | minus
	classes['/'] |= slash
	classes['.'] |= point
	classes[':'] |= colon
	classes['_'] |= underscore
	return classes
}()

// blankForeign replaces the bytes that are not ASCII by spaces. What such a byte is depends on the target's encoding and locale: in UTF-8
// nothing that a date may have, elsewhere perhaps punctuation, which is skipped.
func blankForeign(text []byte) (blanked []byte, foreign bool) {
	for i, c := range text {
		if c < 0x80 {
			continue
		}
		if !foreign {
			blanked, foreign = bytes.Clone(text), true
		}
		blanked[i] = ' '
	}
	return blanked, foreign
}
