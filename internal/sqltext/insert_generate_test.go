package sqltext

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator writes random statements that ParseInsert is to recognise, for
// tables of the five columns of generatedColumns.
type generator struct {
	*rand.Rand
	standard   bool // standard_conforming_strings
	parameters bool // may use $n
	b          strings.Builder
}

var generatedColumns = []string{"a", "B", "values", "é", `x"y`}

var generatedTables = []string{"t", "T", "a b", "é", "overriding", "values"}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

// anyCase writes a keyword in some mixture of letters.
func (g *generator) anyCase(word string) string {
	switch g.IntN(3) {
	case 0:
		return word
	case 1:
		return strings.ToUpper(word)
	}
	mixed := []byte(word)
	for i := range mixed {
		if g.IntN(2) == 0 {
			mixed[i] = strings.ToUpper(word)[i]
		}
	}
	return string(mixed)
}

// gap is white space that separates.
func (g *generator) gap() string {
	s := g.one(" ", "\n", "\t", "\r\n", "\f", "--\n", "-- it's\r", "/**/", "/* ' \" /* -- */ $$ */", "/*/*/**/*/*/", "/***/")
	if g.IntN(4) == 0 {
		s += g.gap()
	}
	return s
}

// space is white space, mostly none.
func (g *generator) space() string {
	if g.IntN(4) > 0 {
		return ""
	}
	return g.gap()
}

// name writes a name bare where that means the same, or in quotes.
func (g *generator) name(name string, afterDot bool) string {
	bare := strings.ToLower(name) == name && !strings.ContainsAny(name, ` "`) && (afterDot || !reserved[name])
	switch {
	case bare && name[0] > 'z':
		return name
	case bare && g.IntN(2) == 0:
		return g.anyCase(name[:1]) + name[1:]
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func (g *generator) repeat(most int, of ...string) string {
	s := ""
	for range g.IntN(most + 1) {
		s += g.one(of...)
	}
	return s
}

// quoted writes a string constant of any sort.
func (g *generator) quoted() string {
	plain := []string{"a", "B", " ", "''", `"`, "$", "$$", "--", "/*", "*/", ";", ",", ")", "(", "\n", "\r", "\t", "\v", "é", "🐘", "ſ", "0", "E", "u"}
	switch g.IntN(4) {
	case 0:
		tag := g.one("", "a", "A_1", "_")
		body := g.repeat(6, "a", "'", `\`, "$b$", "$aa$", "\n", "é", "a$", "$1", ";") + "."
		return "$" + tag + "$" + strings.ReplaceAll(body, "$"+tag+"$", "") + "$" + tag + "$"
	case 1:
		escapes := slices.Concat(plain, []string{`\\`, `\b`, `\f`, `\n`, `\r`, `\t`, `\a`, `\"`, `\8`, `\é`, `\1`, `\12`, `\101`, `\x41`, `\x7`, `\xg`, `\x4é`,
			`\303\251`, `\xc3\xa9`, `\u00e9`, `\u0041`, `\U0001f418`, `\uD83D\uDC18`, `\uD83D\U0000DC18`, `\` + "\n", `\501`, `\ `})
		s := g.one("E", "e") + "'" + g.repeat(8, escapes...) + "'"
		for g.IntN(6) == 0 {
			s += g.continuation() + "'" + g.repeat(4, escapes...) + "'"
		}
		return s
	}
	if g.standard {
		plain = append(plain, `\`, `\`, `\x41`, `\n`)
	}
	s := "'" + g.repeat(8, plain...) + "'"
	for g.IntN(6) == 0 {
		s += g.continuation() + "'" + g.repeat(4, plain...) + "'"
	}
	return s
}

// continuation is white space with a line break and no C comment.
func (g *generator) continuation() string {
	return g.repeat(2, " ", "\t", "\f", "-- it's\n") + g.one("\n", "\r", "\r\n", "--\n") + g.repeat(2, " ", "\n", "--x\r", "-- '\n")
}

func (g *generator) number() string {
	digits := func() string {
		return g.one("0", "1", "7", "00", "42", "007", "12345678901234567890", "2147483648", "9")
	}
	s := g.one(digits(), digits(), digits()+".", "."+digits(), digits()+"."+digits())
	if g.IntN(4) == 0 {
		s += g.one("e", "E") + g.one("", "+", "-") + g.one("0", "1", "5", "12", "030")
	}
	if g.IntN(3) == 0 {
		sign := g.one("", " ", "\n", "/*-*/", " --x\n")
		s = "-" + sign + s
	}
	return s
}

// value writes any value. n counts parameters.
func (g *generator) value(n *int) string {
	switch g.IntN(8) {
	case 0:
		return g.anyCase("null")
	case 1:
		return g.anyCase(g.one("true", "false"))
	case 2:
		return g.anyCase("default")
	case 3, 4:
		return g.number()
	case 5:
		if g.parameters {
			*n++
			return fmt.Sprintf("$%s%d", g.one("", "0"), 1+g.IntN(*n))
		}
	}
	return g.quoted()
}

// insert writes a whole statement.
func (g *generator) insert() string {
	b := &g.b
	b.Reset()
	write := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
	}
	write(g.space(), g.anyCase("insert"), g.gap(), g.anyCase("into"), g.gap())
	if table := g.one(generatedTables...); g.IntN(2) == 0 {
		write(g.name(g.one("s", "S"), false), g.space(), ".", g.space(), g.name(table, true))
	} else {
		write(g.name(table, false))
	}
	write(g.gap())
	width := 1 + g.IntN(len(generatedColumns))
	if g.IntN(2) == 0 {
		for i, c := range g.Perm(len(generatedColumns))[:width] {
			write([]string{"(", ","}[min(i, 1)], g.space(), g.name(generatedColumns[c], false), g.space())
		}
		write(")", g.space())
	}
	write(g.anyCase("values"))
	parameters := 0
	for row := range 1 + g.IntN(3) {
		write([]string{"", ","}[min(row, 1)], g.space(), "(")
		for column := range width {
			write([]string{"", ","}[min(column, 1)], g.space(), g.value(&parameters), g.space())
		}
		write(")", g.space())
	}
	write(g.repeat(2, ";", " ", "\n", "-- end\n"))
	return b.String()
}

// damage changes a statement at a few places.
func (g *generator) damage(sql string) string {
	for range 1 + g.IntN(3) {
		at := g.IntN(len(sql) + 1)
		end := min(at+g.IntN(4), len(sql))
		switch g.IntN(4) {
		case 0:
			sql = sql[:at] + sql[end:]
		case 1:
			sql = sql[:at] + sql[at:end] + sql[at:]
		default:
			sql = sql[:at] + g.one("'", "''", `\`, "$", "$$", ",", "(", ")", ";", "-", "--", "/*", "*/", "/", "*", `"`, "E'", "U&", "B", ".", "::", ":",
				"\v", "\x00", "1", "a", "e1", "_", "\n", "\r", " ", "é", "\xff", "\xa0", `\u00e9`, `\xff`, `\0`, `\'`, `\v`, "+", "=", "[1]", "null",
				" as x ", " on ", " default values ", " select ", " x ", " limit 1 ", "now()", "public.", "\u00a0", "\u2003", "0x1", "1_0", "$1", "-1") + sql[at:]
		}
	}
	return sql
}
