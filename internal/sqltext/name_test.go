package sqltext

import (
	"errors"
	"strings"
	"testing"
)

func TestParseQualified(t *testing.T) {
	tests := []struct{ in, schema, name, problem string }{
		{in: "t", name: "t"},
		{in: "s.t", schema: "s", name: "t"},
		{in: "Sales.ORDERS", schema: "sales", name: "orders"},
		{in: `"My Schema"."T.x"`, schema: "My Schema", name: "T.x"},
		{in: `"a""b"`, name: `a"b`},
		{in: " s . t ", schema: "s", name: "t"},
		{in: "GRÖßE", name: "grÖße"},
		{in: "🐘", name: "🐘"},
		{in: "my-table", name: "my-table"},
		{in: "t$1", name: "t$1"},
		{in: "\xc3\x28", name: "\xc3\x28"},
		{in: "", problem: "empty name"},
		{in: "  ", problem: "empty name"},
		{in: ".t", problem: "empty part"},
		{in: "s.", problem: "empty part"},
		{in: `""`, problem: "empty part"},
		{in: `s.""`, problem: "empty part"},
		{in: "db.s.t", problem: "too many dotted parts (3, at most 2)"},
		{in: `"T`, problem: "a double quote is not closed"},
		{in: `"T""`, problem: "a double quote is not closed"},
		{in: "a b", problem: `unexpected "b" after "a"`},
		{in: `a"b"`, problem: `unexpected "\"b\"" after "a"`},
		{in: `"a"b`, problem: `unexpected "b" after "a"`},
		{in: "a\x00b", problem: "a NUL byte inside"},
	}
	for _, tt := range tests {
		schema, name, err := ParseQualified(tt.in)
		if problem := problemOf(t, err); problem != tt.problem || schema != tt.schema || name != tt.name {
			t.Errorf("ParseQualified(%q) = %q, %q, %q; want %q, %q, %q",
				tt.in, schema, name, problem, tt.schema, tt.name, tt.problem)
		}
	}
}

func TestSplitPair(t *testing.T) {
	tests := []struct{ in, source, target, problem string }{
		{in: "t", source: "t"},
		{in: "t:u", source: "t", target: "u"},
		{in: `"a:b":s."c:d"`, source: `"a:b"`, target: `s."c:d"`},
		{in: `"a"":b"`, source: `"a"":b"`},
		{in: "", problem: "no source table"},
		{in: ":u", problem: "no source table"},
		{in: "t:", problem: "no target table after the colon"},
		{in: "a:b:c", problem: "more than one colon"},
		{in: `"a:b`, problem: "a double quote is not closed"},
	}
	for _, tt := range tests {
		source, target, err := SplitPair(tt.in)
		if problem := problemOf(t, err); problem != tt.problem || source != tt.source || target != tt.target {
			t.Errorf("SplitPair(%q) = %q, %q, %q; want %q, %q, %q",
				tt.in, source, target, problem, tt.source, tt.target, tt.problem)
		}
	}
}

func TestNameErrorNamesTheText(t *testing.T) {
	_, _, err := ParseQualified("a b")
	if err == nil || !strings.Contains(err.Error(), "a b") {
		t.Errorf("error %v does not name what was typed", err)
	}
}

// problemOf returns the Problem of a *NameError, and empty for no error.
func problemOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var ne *NameError
	if !errors.As(err, &ne) {
		t.Fatalf("error %v is not a *NameError", err)
	}
	return ne.Problem
}
