package sqltext

import "strings"

// reserved are the words that name no table and no column in their bare form:
// those whose catcode in pg_get_keywords() is R or T, in any version from 14
// to 18.
var reserved = wordSet(`all analyse analyze and any array as asc asymmetric authorization
	binary both case cast check collate collation column concurrently constraint create cross
	current_catalog current_date current_role current_schema current_time current_timestamp
	current_user default deferrable desc distinct do else end except false fetch for foreign
	freeze from full grant group having ilike in initially inner intersect into is isnull join
	lateral leading left like limit localtime localtimestamp natural not notnull null offset on
	only or order outer overlaps placing primary references returning right select session_user
	similar some symmetric system_user table tablesample then to trailing true union unique user
	using variadic verbose when where window with`)

// firstWords are the keywords that FirstWord knows, by their lower case.
var firstWords = func() map[string]string {
	words := map[string]string{}
	for word := range wordSet(`abort alter analyze begin call checkpoint close cluster comment commit
		copy create deallocate declare delete discard do drop end execute explain fetch grant import
		insert listen load lock merge move notify prepare reassign refresh reindex release reset revoke
		rollback savepoint security select set show start table truncate unlisten update vacuum values with`) {
		words[word] = strings.ToUpper(word)
	}
	return words
}()

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// FirstWord returns the keyword that a query begins with, in upper case:
// INSERT, BEGIN, SAVEPOINT, COPY and so on. White space, comments and empty
// statements before it are passed over. It is empty when there is no word or
// none that begins a statement, for example for an open parenthesis. Only the
// beginning is read and nothing is allocated.
//
// It says nothing about what follows: a query of several statements goes by
// its first, and WITH may begin anything.
func FirstWord(sql []byte) string {
	l := lexer{sql: sql}
	for l.byte(';') {
	}
	word := l.peekWord()
	var folded [16]byte
	if len(word) > len(folded) {
		return ""
	}
	for i, c := range word {
		folded[i] = lower(c)
	}
	return firstWords[string(folded[:len(word)])]
}
