package sqltext

// Set is SET [SESSION|LOCAL] name TO|= value, or RESET name.
type Set struct {
	// Name is the setting in lower case, with a dot when it has two parts. It
	// is "all" for RESET ALL.
	Name string

	// Value is the new value; empty when Default is set.
	Value string

	// Local says that the value holds until the end of the transaction.
	Local bool

	// Default says that the setting returns to its default: TO DEFAULT, RESET.
	Default bool
}

// ParseSet recognises a query that is one SET of one string or word, or one
// RESET. It returns nil for any other query, for the forms of SET without an
// equals sign or TO, for numbers and for lists.
func ParseSet(sql []byte, o LexOptions) *Set {
	l := lexer{sql: sql, opts: o}
	set := l.keyword("set")
	if !set && !l.keyword("reset") || checkText(sql, o) != nil {
		return nil
	}
	s := &Set{Default: !set}
	if set {
		s.Local = l.setScope()
	}
	if !l.settingName(s) {
		return nil
	}
	if set && (!l.byte('=') && !l.keyword("to") || !l.settingValue(s)) {
		return nil
	}
	if _, ok := l.end(); !ok {
		return nil
	}
	return s
}

// setScope takes SESSION or LOCAL when it is not the name of a setting.
func (l *lexer) setScope() (local bool) {
	before := *l
	local = l.keyword("local")
	if local || l.keyword("session") {
		l.skip()
		if c := l.next(); c == '=' || c == '.' || isWord(l.peekWord(), "to") {
			*l = before
			return false
		}
	}
	return local
}

// settingName takes a name of one or two parts. Settings are found without
// regard to case, even when their names are quoted.
func (l *lexer) settingName(s *Set) bool {
	if s.Default && l.keyword("all") {
		s.Name = "all"
		return true
	}
	name, ok := l.name(false)
	if ok && l.byte('.') {
		var second string
		second, ok = l.name(false)
		name += "." + second
	}
	s.Name = foldASCII(name)
	return ok
}

// settingValue takes a string, a word or DEFAULT.
func (l *lexer) settingValue(s *Set) bool {
	l.skip()
	c := l.next()
	if c == '\'' || (c == 'e' || c == 'E') && l.ahead(1) == '\'' {
		str, ok := l.quoted()
		if ok {
			s.Value = string(str.decode(nil))
		}
		return ok
	}
	for _, word := range [...]string{"on", "true", "false"} { // reserved, yet values
		if l.keyword(word) {
			s.Value = word
			return true
		}
	}
	if l.keyword("default") {
		s.Default = true
		return true
	}
	var ok bool
	s.Value, ok = l.name(false)
	return ok
}
