package sqltext

// Prepare is PREPARE name [(types)] AS INSERT ...
type Prepare struct {
	// Name is the statement's name as the server folds it.
	Name string

	// Types is what stands between the parentheses of the list of types, as
	// written; empty without a list. It is not checked.
	Types string

	*Insert
}

// ParsePrepare recognises a query that is one PREPARE of an INSERT that
// ParseInsert would recognise. Of the results one is nil; the reason is "no
// INSERT" for any other query and for a PREPARE of something else.
//
// The server may still refuse the statement, for its types for example, and
// then has no statement of that name.
func ParsePrepare(sql []byte, o LexOptions) (*Prepare, *NotInsert) {
	l := lexer{sql: sql, opts: o}
	if !l.keyword("prepare") {
		return nil, notStarted
	}
	if not := checkText(sql, o); not != nil {
		return nil, not
	}
	p := &Prepare{}
	var ok bool
	if p.Name, ok = l.name(false); !ok {
		return nil, notName
	}
	if l.byte('(') {
		if p.Types, ok = l.types(); !ok {
			return nil, notSyntax
		}
	}
	if !l.keyword("as") || !l.keyword("insert") {
		return nil, notStarted
	}
	var not *NotInsert
	p.Insert, not = l.insert()
	if not != nil {
		return nil, not
	}
	return p, nil
}

// types goes over a list of types and its closing parenthesis.
func (l *lexer) types() (text string, ok bool) {
	start := l.at
	for depth := 1; ; {
		l.skip()
		switch c := l.next(); {
		case c == '(':
			depth++
			l.at++
		case c == ')':
			l.at++
			depth--
			if depth == 0 {
				return string(l.sql[start : l.at-1]), true
			}
		case c == '"':
			if _, ok := l.quotedName(); !ok {
				return "", false
			}
		case class[c]&classPart != 0, c == ',', c == '.', c == '[', c == ']', c == '%':
			l.at++
		default:
			return "", false
		}
	}
}

// Execute is EXECUTE name [(value, ...)]. As Insert it keeps the query's bytes
// and is for one goroutine.
type Execute struct {
	// Name is the statement's name as the server folds it.
	Name string

	// Width is the number of values, 0 to 65535.
	Width int

	values  lexer // before the first value
	scratch []byte
}

// ParseExecute recognises a query that is one EXECUTE whose values are quoted
// strings, numbers, NULL, TRUE and FALSE. Of the results one is nil; the
// reason is "no INSERT" for a query that is no EXECUTE. Whether there is a
// statement of that name and what it is the caller must know.
func ParseExecute(sql []byte, o LexOptions) (*Execute, *NotInsert) {
	l := lexer{sql: sql, opts: o}
	if !l.keyword("execute") {
		return nil, notStarted
	}
	if not := checkText(sql, o); not != nil {
		return nil, not
	}
	e := &Execute{}
	var ok bool
	if e.Name, ok = l.name(false); !ok {
		return nil, notName
	}
	if l.byte('(') {
		e.values = l
		if not := l.arguments(e); not != nil {
			return nil, not
		}
	}
	switch semicolon, ok := l.end(); {
	case ok:
		return e, nil
	case semicolon:
		return nil, notSeveral
	}
	return nil, notSyntax
}

// arguments takes the values and the closing parenthesis.
func (l *lexer) arguments(e *Execute) *NotInsert {
	var t token
	for {
		if not := l.value(&t); not != nil {
			return not
		}
		if t.kind == Param || t.kind == Default {
			return notExpression
		}
		e.Width++
		if e.Width > mostParameters {
			return notLarge
		}
		if l.byte(')') {
			return nil
		}
		if !l.byte(',') {
			return l.insteadOfNext()
		}
	}
}

// Values calls visit with each value, counted from 0, until it returns false,
// under the rules of Insert.Values.
func (e *Execute) Values(visit func(n int, v Value) bool) {
	l := e.values
	var t token
	for n := range e.Width {
		if l.value(&t) != nil || !visit(n, t.value(&e.scratch)) {
			return
		}
		l.skip()
		l.at++ // comma or parenthesis
	}
}
