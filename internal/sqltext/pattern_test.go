package sqltext

import "testing"

func TestPattern(t *testing.T) {
	tests := []struct{ in, schema, name, problem string }{
		{in: "t", name: "^(t)$"},
		{in: "*", name: "^(.*)$"},
		{in: "Foo*", name: "^(foo.*)$"},
		{in: `"FOO"*`, name: "^(FOO.*)$"},
		{in: "s.t?", schema: "^(s)$", name: "^(t.)$"},
		{in: `"My.Schema"."a*b"`, schema: `^(My\.Schema)$`, name: `^(a\*b)$`},
		{in: `"a""b"`, name: `^(a"b)$`},
		{in: `FOO"""BAR"`, name: `^(foo"BAR)$`},
		{in: "t$1", name: `^(t\$1)$`},
		{in: `"t$1"`, name: `^(t\$1)$`},
		{in: "t[0-9]+", name: "^(t[0-9]+)$"},
		{in: "int[]", name: `^(int\[])$`},
		{in: "(a|B)", name: "^((a|b))$"},
		{in: "ÄB", name: "^(Äb)$"},
		{in: "", problem: "empty name"},
		{in: "s.", problem: "empty part"},
		{in: ".t", problem: "empty part"},
		{in: "a.b.c", problem: "too many dotted parts in the pattern"},
		{in: `"a`, problem: "a double quote is not closed"},
		{in: "a\x00", problem: "a NUL byte inside"},
	}
	for _, tt := range tests {
		schema, name, err := Pattern(tt.in)
		if problem := problemOf(t, err); problem != tt.problem || schema != tt.schema || name != tt.name {
			t.Errorf("Pattern(%q) = %q, %q, %q; want %q, %q, %q",
				tt.in, schema, name, problem, tt.schema, tt.name, tt.problem)
		}
	}
}

func TestIsPattern(t *testing.T) {
	tests := []struct {
		in   string
		want bool
	}{
		{"t", false}, {"t*", true}, {"s.?", true}, {`"a*"`, false}, {`"a*"*`, true}, {`"a""*"`, false},
	}
	for _, tt := range tests {
		if got := IsPattern(tt.in); got != tt.want {
			t.Errorf("IsPattern(%q) = %v, want %v", tt.in, got, tt.want)
		}
	}
}
