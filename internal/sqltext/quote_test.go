package sqltext

import (
	"strings"
	"testing"
)

func TestQuoteIdent(t *testing.T) {
	tests := []struct{ name, want string }{
		{"t", "t"},
		{"_a1", "_a1"},
		{"", `""`},
		{"1a", `"1a"`},
		{"T", `"T"`},
		{"a b", `"a b"`},
		{"a.b", `"a.b"`},
		{"a$b", `"a$b"`},
		{`say "hi"`, `"say ""hi"""`},
		{`a\b`, `"a\b"`},
		{"größe", `"größe"`},
		{"🐘", `"🐘"`},
		{"select", `"select"`},
		{"between", `"between"`},
		{"freeze", `"freeze"`},
		{"json", `"json"`},
		{"system_user", `"system_user"`},
		{"merge_action", `"merge_action"`},
		{"name", "name"}, // unreserved
		{"value", "value"},
	}
	for _, tt := range tests {
		if got := QuoteIdent(tt.name); got != tt.want {
			t.Errorf("QuoteIdent(%q) = %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestQuoteQualified(t *testing.T) {
	tests := []struct{ schema, name, want string }{
		{"public", "t", "public.t"},
		{"", "T", `"T"`},
		{"My Schema", "T.x", `"My Schema"."T.x"`},
	}
	for _, tt := range tests {
		if got := QuoteQualified(tt.schema, tt.name); got != tt.want {
			t.Errorf("QuoteQualified(%q, %q) = %s, want %s", tt.schema, tt.name, got, tt.want)
		}
	}
	if got := QuoteIdents([]string{"a", "B", "order"}); got != `a, "B", "order"` {
		t.Errorf("QuoteIdents = %s", got)
	}
	if got := QuoteIdents(nil); got != "" {
		t.Errorf("QuoteIdents(nil) = %s", got)
	}
}

func TestQuoteLiteral(t *testing.T) {
	tests := []struct{ s, want string }{
		{"", "''"},
		{"a", "'a'"},
		{"it's", "'it''s'"},
		{`C:\x`, `E'C:\\x'`},
		{`\'`, `E'\\'''`},
		{"a\nb", "'a\nb'"},
		{"'; drop table t; --", "'''; drop table t; --'"},
	}
	for _, tt := range tests {
		if got := QuoteLiteral(tt.s); got != tt.want {
			t.Errorf("QuoteLiteral(%q) = %s, want %s", tt.s, got, tt.want)
		}
	}
}

// FuzzIdentRoundTrip checks that what QuoteQualified writes, ParseQualified
// reads back, whatever the bytes.
func FuzzIdentRoundTrip(f *testing.F) {
	f.Add("public", "t")
	f.Add("My Schema", `T."x`)
	f.Add("order", "🐘 \t")
	f.Add("\xff\xfe", "a:b")
	f.Fuzz(func(t *testing.T, schema, name string) {
		if schema == "" || name == "" || strings.Contains(schema+name, "\x00") {
			return // no such name exists in a server
		}
		text := QuoteQualified(schema, name)
		gotSchema, gotName, err := ParseQualified(text)
		if err != nil || gotSchema != schema || gotName != name {
			t.Fatalf("%s read as %q %q %v, want %q %q", text, gotSchema, gotName, err, schema, name)
		}
		source, target, err := SplitPair(text + ":" + text)
		if err != nil || source != text || target != text {
			t.Fatalf("pair of %s split as %q %q %v", text, source, target, err)
		}
	})
}
