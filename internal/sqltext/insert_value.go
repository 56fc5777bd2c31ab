package sqltext

import "bytes"

// Kind is what a value of a statement is.
type Kind uint8

// The kinds of values.
const (
	Null    Kind = iota // NULL
	True                // TRUE, of type boolean
	False               // FALSE, of type boolean
	Default             // DEFAULT
	Param               // $n
	String              // a quoted string, of unknown type: goes through the input function of its column's type
	Number              // an unquoted number
)

// Form is the way a number is written, on which its type depends.
type Form uint8

// The forms of numbers.
const (
	Integer    Form = iota // digits: integer, bigint or numeric by its size
	Decimal                // with a point: numeric
	Scientific             // with an exponent: numeric
)

// Value is one value of a row.
type Value struct {
	Kind Kind
	Form Form // of a Number

	// Parameter is n of $n, from 1.
	Parameter int

	// Text is the value of a String in the client's encoding, or a Number as
	// it is written, less white space after its sign and less the sign of a
	// zero: -0.0 is numeric, which has no negative zero, but the same text
	// would be one in double precision. A Number has at most 300 bytes and an
	// exponent between -300 and 300, so that the input functions of numeric
	// and double precision make of its text what the server makes of the
	// constant.
	Text []byte
}

// mostDigits bounds numbers. Far beyond double precision and far within
// numeric, where the server stops agreeing with itself: 1e-20000 is 0 as
// numeric and then as double precision, but an error as double precision.
const mostDigits = 300

// token is a value as it stands in the statement.
type token struct {
	kind      Kind
	form      Form
	negative  bool
	parameter int
	text      []byte // of a number, without its sign
	signed    []byte // of a negative number whose sign is next to its digits
	str       stringToken
}

// value returns the token's value, decoded into scratch when it must be.
func (t *token) value(scratch *[]byte) Value {
	v := Value{Kind: t.kind}
	switch t.kind {
	case Param:
		v.Parameter = t.parameter
	case String:
		v.Text = t.str.body
		if !t.str.plain {
			*scratch = t.str.decode(*scratch)
			v.Text = *scratch
		}
	case Number:
		v.Form = t.form
		switch {
		case !t.negative:
			v.Text = t.text
		case t.signed != nil:
			v.Text = t.signed
		default:
			*scratch = append(append((*scratch)[:0], '-'), t.text...)
			v.Text = *scratch
		}
	}
	return v
}

// value takes white space and one value.
func (l *lexer) value(t *token) *NotInsert {
	l.skip()
	c := l.next()
	switch {
	case c == '\'', (c == 'E' || c == 'e') && l.ahead(1) == '\'':
		t.kind = String
		var ok bool
		if t.str, ok = l.quoted(); !ok {
			return notLiteral
		}
	case c == '$' && class[l.ahead(1)]&classDigit != 0:
		return l.parameter(t)
	case c == '$':
		t.kind = String
		var ok bool
		if t.str, ok = l.dollarQuoted(); !ok {
			return notLiteral
		}
	case c == '-':
		return l.negative(t)
	case class[c]&classDigit != 0 || c == '.':
		t.negative = false
		return l.number(t)
	case class[c]&classStart != 0:
		return l.constant(t)
	default:
		return notExpression
	}
	return nil
}

// parameter takes $n.
func (l *lexer) parameter(t *token) *NotInsert {
	n := 0
	l.at++
	for class[l.next()]&classDigit != 0 {
		n = n*10 + int(l.next()-'0')
		if n > mostParameters {
			return notLarge
		}
		l.at++
	}
	if n == 0 || class[l.next()]&classPart != 0 {
		return notSyntax
	}
	t.kind = Param
	t.parameter = n
	return nil
}

// negative takes a number after one minus, which the server makes part of the
// constant. A plus would be an operator, looked up like any other.
func (l *lexer) negative(t *token) *NotInsert {
	sign := l.at
	l.at++
	l.skip()
	digits := l.at
	if not := l.number(t); not != nil {
		return not
	}
	if bytes.ContainsAny(mantissa(t.text), "123456789") {
		t.negative = true
		t.signed = nil
		if digits == sign+1 {
			t.signed = l.sql[sign:l.at]
		}
	}
	return nil
}

func mantissa(number []byte) []byte {
	if e := bytes.IndexAny(number, "eE"); e >= 0 {
		return number[:e]
	}
	return number
}

// number takes an unsigned number: digits, a point among, before or after
// them, an exponent. 0x1F and 1_000 are numbers since 16 only.
func (l *lexer) number(t *token) *NotInsert {
	start := l.at
	t.kind, t.form, t.negative = Number, Integer, false
	digits := l.digits()
	if l.next() == '.' {
		t.form = Decimal
		l.at++
		digits += l.digits()
	}
	if digits == 0 {
		return notExpression
	}
	if c := l.next(); c == 'e' || c == 'E' {
		t.form = Scientific
		l.at++
		if sign := l.next(); sign == '-' || sign == '+' {
			l.at++
		}
		at := l.at
		if l.digits() == 0 {
			return notSyntax
		}
		exponent := bytes.TrimLeft(l.sql[at:l.at], "0")
		if len(exponent) > 3 || len(exponent) == 3 && string(exponent) > "300" {
			return notLarge
		}
	}
	if c := l.next(); class[c]&classPart != 0 || c == '.' {
		return notExpression
	}
	t.text = l.sql[start:l.at]
	if len(t.text) >= mostDigits {
		return notLarge
	}
	return nil
}

func (l *lexer) digits() (n int) {
	for class[l.next()]&classDigit != 0 {
		l.at++
		n++
	}
	return n
}

// constant takes NULL, TRUE, FALSE or DEFAULT.
func (l *lexer) constant(t *token) *NotInsert {
	word := l.peekWord()
	switch {
	case isWord(word, "null"):
		t.kind = Null
	case isWord(word, "true"):
		t.kind = True
	case isWord(word, "false"):
		t.kind = False
	case isWord(word, "default"):
		t.kind = Default
	default:
		l.at += len(word)
		if l.next() == '\'' || l.next() == '&' {
			return notLiteral // B'', X'', N'', U&''
		}
		return notExpression
	}
	l.at += len(word)
	return nil
}
