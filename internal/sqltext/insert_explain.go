package sqltext

// Explain is EXPLAIN [options] INSERT ...
type Explain struct {
	// Analyze says that the statement is carried out.
	Analyze bool

	// Text says that the answer is in the text format, one row a line.
	Text bool

	// Insert is the statement, nil when ParseInsert would not recognise it;
	// Not says why, and is nil otherwise.
	Insert *Insert
	Not    *NotInsert
}

// ParseExplain recognises a query that is one EXPLAIN of an INSERT. It returns
// nil for any other query, for an EXPLAIN of something else, and when it
// cannot tell what an option means.
func ParseExplain(sql []byte, o LexOptions) *Explain {
	l := lexer{sql: sql, opts: o}
	if !l.keyword("explain") || checkText(sql, o) != nil {
		return nil
	}
	e := &Explain{Text: true}
	if l.byte('(') {
		if !l.explainOptions(e) {
			return nil
		}
	} else {
		e.Analyze = l.keyword("analyze") || l.keyword("analyse")
		l.keyword("verbose")
	}
	if l.keyword("with") {
		e.Not = notWith
		return e
	}
	if !l.keyword("insert") {
		return nil
	}
	e.Insert, e.Not = l.insert()
	return e
}

// explainOptions takes the options and the closing parenthesis. Of an option
// given twice the last counts.
func (l *lexer) explainOptions(e *Explain) bool {
	for {
		option := l.peekWord()
		l.at += len(option)
		value, ok := l.optionValue()
		if option == nil || !ok {
			return false
		}
		switch {
		case isWord(option, "analyze"), isWord(option, "analyse"):
			if e.Analyze, ok = boolean(value); !ok {
				return false
			}
		case isWord(option, "format"):
			e.Text = isWord(value, "text")
		}
		if l.byte(')') {
			return true
		}
		if !l.byte(',') {
			return false
		}
	}
}

// optionValue takes the value of an option, which may be absent: a word, a
// string or digits.
func (l *lexer) optionValue() (value []byte, ok bool) {
	word := l.peekWord()
	c := l.next()
	switch {
	case c == '\'' || (c == 'e' || c == 'E') && l.ahead(1) == '\'':
		s, ok := l.quoted()
		if !ok {
			return nil, false
		}
		return s.decode(nil), true
	case class[c]&classDigit != 0:
		at := l.at
		l.digits()
		return l.sql[at:l.at], true
	}
	l.at += len(word)
	return word, true
}

// boolean reads the value of an option as defGetBoolean does; none is true.
func boolean(value []byte) (b, ok bool) {
	for _, word := range [...]string{"true", "on", "1"} {
		if isWord(value, word) {
			return true, true
		}
	}
	for _, word := range [...]string{"false", "off", "0"} {
		if isWord(value, word) {
			return false, true
		}
	}
	return value == nil, value == nil
}
