package sqltext

import (
	"bytes"
	"unicode/utf8"
)

// Insert is a recognised INSERT ... VALUES. It keeps the statement's bytes,
// which must not change while it is in use, and must not be used by two
// goroutines at once.
type Insert struct {
	// Schema and Table are the target's names as the server folds them. The
	// schema is empty when the statement leaves it to search_path.
	Schema, Table string

	// Columns are the columns as the server folds them, each once; nil when
	// the statement has no list. It has Width entries otherwise.
	Columns []string

	// Rows is the number of rows, at least 1.
	Rows int

	// Width is the number of values of each row, 1 to 1600.
	Width int

	// Parameters is the highest n of the parameters $n; 0 when there are none.
	// Lower ones may be missing.
	Parameters int

	// Ordered says that the values are the parameters $1, $2, $3 and so on,
	// without a gap, and nothing else.
	Ordered bool

	kinds   uint8 // a bit for each Kind that there is
	rows    lexer // before the first row
	scratch []byte
}

// NotInsert says why a statement was not recognised.
type NotInsert struct {
	// Reason is one of a small fixed set: see Reasons.
	Reason string
}

// String returns the reason.
func (n *NotInsert) String() string { return n.Reason }

// The reasons. A statement goes by the first that is met.
var (
	notStarted    = &NotInsert{"no INSERT"}
	notWith       = &NotInsert{"WITH"}
	notEncoding   = &NotInsert{"unsafe encoding"}
	notText       = &NotInsert{"invalid text"}
	notName       = &NotInsert{"name"}
	notAlias      = &NotInsert{"alias"}
	notDefaults   = &NotInsert{"DEFAULT VALUES"}
	notOverriding = &NotInsert{"OVERRIDING"}
	notSelect     = &NotInsert{"SELECT"}
	notSubcolumn  = &NotInsert{"subcolumn"}
	notExpression = &NotInsert{"expression"}
	notCast       = &NotInsert{"cast"}
	notLiteral    = &NotInsert{"unsafe literal"}
	notLarge      = &NotInsert{"too large"}
	notConflict   = &NotInsert{"ON CONFLICT"}
	notReturning  = &NotInsert{"RETURNING"}
	notSeveral    = &NotInsert{"several statements"}
	notSyntax     = &NotInsert{"syntax"}
)

// Reasons returns every reason that a NotInsert can have.
func Reasons() []string {
	var all []string
	for _, n := range []*NotInsert{notStarted, notWith, notEncoding, notText, notName, notAlias, notDefaults, notOverriding,
		notSelect, notSubcolumn, notExpression, notCast, notLiteral, notLarge, notConflict, notReturning, notSeveral, notSyntax} {
		all = append(all, n.Reason)
	}
	return all
}

const (
	mostColumns    = 1600  // MaxHeapAttributeNumber
	mostParameters = 65535 // as many as Bind can carry
)

// ParseInsert recognises a query that is one
//
//	INSERT INTO [schema.]table [(column, ...)] VALUES (value, ...), ...
//
// of parameters, quoted strings, numbers, NULL, TRUE, FALSE and DEFAULT. Of
// the results one is nil. What it recognises the server reads as the same
// rows of the same values, as far as that does not depend on the table and on
// the types of parameters; white space, comments, letter case and the forms of
// constants are those of PostgreSQL 14 to 18. What is read otherwise by some
// version or under a setting that a session does not report is not
// recognised; nor are statements that the server refuses, but for text that
// its client_encoding does not allow when o.UTF8 is not set.
//
// The query is read once, in linear time and without recursion; only the
// names are kept.
func ParseInsert(sql []byte, o LexOptions) (*Insert, *NotInsert) {
	l := lexer{sql: sql, opts: o}
	if !l.keyword("insert") {
		if l.keyword("with") {
			return nil, notWith
		}
		return nil, notStarted
	}
	if not := checkText(sql, o); not != nil {
		return nil, not
	}
	return l.insert()
}

// checkText looks at the bytes of the whole query.
func checkText(sql []byte, o LexOptions) *NotInsert {
	switch {
	case !o.SafeEncoding:
		return notEncoding
	case bytes.IndexByte(sql, 0) >= 0, o.UTF8 && !utf8.Valid(sql):
		return notText
	}
	return nil
}

// insert takes what follows the word INSERT, up to the end of the query.
func (l *lexer) insert() (*Insert, *NotInsert) {
	i := &Insert{}
	if not := l.target(i); not != nil {
		return nil, not
	}
	if not := l.columns(i); not != nil {
		return nil, not
	}
	if !l.keyword("values") {
		return nil, l.insteadOfValues()
	}
	i.rows = *l
	if not := l.allRows(i); not != nil {
		return nil, not
	}
	return i, nil
}

// target takes INTO and the table.
func (l *lexer) target(i *Insert) *NotInsert {
	if !l.keyword("into") {
		return notSyntax
	}
	var ok bool
	if i.Table, ok = l.name(false); !ok {
		return notName
	}
	if l.byte('.') {
		i.Schema = i.Table
		if i.Table, ok = l.name(true); !ok {
			return notName
		}
		if l.byte('.') {
			return notName // database.schema.table
		}
	}
	return nil
}

// columns takes the column list when there is one.
func (l *lexer) columns(i *Insert) *NotInsert {
	if !l.byte('(') {
		return nil
	}
	if word := l.peekWord(); isWord(word, "select") || isWord(word, "with") || isWord(word, "table") {
		return notSelect
	}
	for {
		name, ok := l.name(false)
		if !ok {
			if l.next() == '(' {
				return notSelect
			}
			return notName
		}
		i.Columns = append(i.Columns, name)
		if len(i.Columns) > mostColumns {
			return notLarge
		}
		if l.byte(')') {
			break
		}
		if !l.byte(',') {
			return l.insteadOfComma(len(i.Columns), name)
		}
	}
	if twice(i.Columns) {
		return notName
	}
	return nil
}

func (l *lexer) insteadOfComma(n int, name string) *NotInsert {
	switch l.next() {
	case '.', '[':
		return notSubcolumn
	case '(':
		if n == 1 && name == "values" {
			return notSelect
		}
	}
	return notSyntax
}

// twice reports whether a name is there twice. Few are compared with each
// other, as a map costs more than the rest of a small statement.
func twice(names []string) bool {
	if len(names) <= 16 {
		for i, a := range names {
			for _, b := range names[:i] {
				if a == b {
					return true
				}
			}
		}
		return false
	}
	seen := make(map[string]struct{}, len(names))
	for _, name := range names {
		seen[name] = struct{}{}
	}
	return len(seen) < len(names)
}

// insteadOfValues says what stands where VALUES was expected.
func (l *lexer) insteadOfValues() *NotInsert {
	word := l.peekWord()
	switch {
	case isWord(word, "as"):
		return notAlias
	case isWord(word, "default"):
		return notDefaults
	case isWord(word, "overriding"):
		return notOverriding
	case isWord(word, "select"), isWord(word, "with"), isWord(word, "table"), l.next() == '(':
		return notSelect
	}
	return notSyntax
}

// allRows takes the rows and the end of the query.
func (l *lexer) allRows(i *Insert) *NotInsert {
	ordered := true
	for {
		width, not := l.row(i, &ordered)
		if not != nil {
			return not
		}
		if i.Rows == 0 {
			i.Width = width
		}
		if width != i.Width {
			return notSyntax
		}
		i.Rows++
		if !l.byte(',') {
			break
		}
	}
	i.Ordered = ordered
	if i.Columns != nil && len(i.Columns) != i.Width {
		return notSyntax
	}
	return l.insteadOfEnd()
}

// row takes one row in its parentheses.
func (l *lexer) row(i *Insert, ordered *bool) (width int, not *NotInsert) {
	if !l.byte('(') {
		return 0, notSyntax
	}
	var v token
	for {
		if not := l.value(&v); not != nil {
			return 0, not
		}
		i.kinds |= 1 << v.kind
		if v.kind == Param {
			i.Parameters = max(i.Parameters, v.parameter)
		}
		*ordered = *ordered && v.kind == Param && v.parameter == i.Rows*i.Width+width+1
		width++
		if width > mostColumns {
			return 0, notLarge
		}
		l.skip()
		switch l.next() {
		case ',':
			l.at++
		case ')':
			l.at++
			return width, nil
		default:
			return 0, l.insteadOfNext()
		}
	}
}

// insteadOfNext says what follows a value where a comma was expected.
func (l *lexer) insteadOfNext() *NotInsert {
	switch {
	case l.at == len(l.sql):
		return notSyntax
	case l.next() == ':':
		return notCast
	}
	return notExpression
}

// insteadOfEnd takes the end of the query, or says what follows instead.
func (l *lexer) insteadOfEnd() *NotInsert {
	semicolon, ok := l.end()
	if ok {
		return nil
	}
	word := l.peekWord()
	switch {
	case semicolon:
		return notSeveral
	case isWord(word, "on"):
		return notConflict
	case isWord(word, "returning"):
		return notReturning
	case word != nil:
		return notSelect // VALUES with ORDER BY, LIMIT, UNION and so on
	}
	return notSyntax
}

// Has reports whether a value of that kind is among the rows.
func (i *Insert) Has(k Kind) bool { return i.kinds&(1<<k) != 0 }

// Values calls visit with each value, row by row, rows and columns counted
// from 0, until it returns false. A value's Text is valid until visit returns.
// Nothing is allocated but one buffer, the size of the longest string that is
// written otherwise than it reads.
func (i *Insert) Values(visit func(row, column int, v Value) bool) {
	l := i.rows
	var t token
	for row := range i.Rows {
		l.byte('(')
		for column := range i.Width {
			if l.value(&t) != nil {
				return // cannot be: ParseInsert has read it
			}
			if !visit(row, column, t.value(&i.scratch)) {
				return
			}
			l.skip()
			l.at++ // comma or parenthesis
		}
		l.byte(',')
	}
}
