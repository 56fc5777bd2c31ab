package encode

import (
	"strings"
	"testing"
)

func TestBooleans(t *testing.T) {
	b := newBed(t)
	b.fuzz(t, "bool", 0, 5000, "truefalsyno10 \tTFYNO", "true", "false", "yes", "no", "on", "off", "1", "0", "t", "f", "y", "n", "o", "of", "tru", "TRUE", " Yes ", "\tno\n",
		"", " ", "truee", "10", "01", "t rue", "offf", "onn", "nö")
}

func TestTexts(t *testing.T) {
	b := newBed(t)
	texts := []string{"", " ", "a", "ab", "abc", "abcd", "abc ", "abc   ", "abc  d", "   ", "    ", "äöü", "äöü ", "äöüß", "äöü   ", "日本", "日本語", "日本語 ", "日本語文", "a\nb", "x\t  "}
	for _, typeSQL := range []string{"text", "varchar", "varchar(3)", "varchar(1)", "char(3)", "char", "bpchar", "name"} {
		b.fuzz(t, typeSQL, 0, 1000, "ab äß日\t", texts...)
	}
}

func TestNames(t *testing.T) {
	b := newBed(t)
	long := strings.Repeat("x", 62)
	b.compare(t, "name", 0, long, long+"y", long+"yz", long+long, "", " a ")
	b.compare(t, "name", 2, long+"ä", strings.Repeat("日", 40))
	b.compare(t, `"char"`, 1, "", "a", "ab", " ", `\`, `\1`, `\101`, `\377`, `\378`, `\400`, `\1011`, `\\`, "\x7f", "ä")
	b.fuzz(t, `"char"`, 0, 1000, `\01234567a`, `\101`, `\001`, "abc")
}

func TestBytea(t *testing.T) {
	b := newBed(t)
	seeds := []string{"", `\x`, `\x0a`, `\xDEADbeef`, `\x 0a 0b`, "\\x0a\n0b\t", `\x0`, `\x0 a`, `\x0g`, `\xä0`, `\x0ä`, `\X00`, "abc", `a\\b`, `\000`, `\377`, `\400`, `\378`, `\0`, `\`, `a\`, `\\\\`, `\1234`, `\xyz`, "a b"}
	b.fuzz(t, "bytea", 150, 5000, `\x01234567abcF `+"\n", seeds...)
	b.compare(t, "bytea", 2, "ä", `\\ä`, `ä\1`)
}

func TestUUIDs(t *testing.T) {
	b := newBed(t)
	b.fuzz(t, "uuid", 0, 5000, "0123456789abcdefABCDEF-{}g ", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
		"a0eebc999c0b4ef8bb6d6bb9bd380a11", "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11", "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}", "", "{", "}", "{}", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1",
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}", " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
}

func TestBitStrings(t *testing.T) {
	b := newBed(t)
	for _, typeSQL := range []string{"bit", "bit(5)", "bit(8)", "bit varying", "bit varying(5)", "bit varying(12)"} {
		b.fuzz(t, typeSQL, 0, 1500, "01bBxXafF2g ä", "", "0", "1", "10101", "101010", "b10101", "B11110000", "xF", "XfF0", "x", "b", "10201", "1010ä", "xFg", "xä", "b 1", " 1", "0000000011111111", "'1'")
	}
}

func TestEnums(t *testing.T) {
	b := newBed(t)
	b.exec(t, `CREATE TYPE mood AS ENUM ('sad', 'ok', 'very happy', 'größer', '')`, "CREATE SCHEMA elsewhere", `CREATE TYPE elsewhere."Odd" AS ENUM ('a')`, "CREATE TYPE hollow AS ENUM ()",
		"CREATE DOMAIN known AS mood")
	b.fuzz(t, "mood", 0, 1000, "sadok öß", "sad", "ok", "very happy", "größer", "", " sad", "SAD", strings.Repeat("x", 100))
	b.compare(t, `elsewhere."Odd"`, 0, "a", "b")
	b.compare(t, "hollow", 0, "", "a")
	b.compare(t, "known", 0, "ok", "none")
}

func TestDomains(t *testing.T) {
	b := newBed(t)
	b.exec(t, "CREATE DOMAIN price AS numeric(5, 2)", "CREATE DOMAIN label AS varchar(3)")
	b.compare(t, "price", 0, "1.005", "999.995", "x")
	b.compare(t, "label", 0, "abc", "abc  ", "abcd")
}

func TestDocumentsThatTheServerReads(t *testing.T) {
	b := newBed(t)
	b.compare(t, "jsonpath", 0, "$", "$.a[*] ? (@ > 1)", "strict $.a", ` lax $."b c" `)
	b.compare(t, "xml", 2, "", "text", "<a/>", "<a>ä</a><b/>", " <a x='1'>&amp;</a>\n", `<?xml version="1.0"?><a/>`, `<?xml version="1.0" encoding="LATIN1"?><a>ä</a>`)
}

func TestExtensionTypes(t *testing.T) {
	b := newBed(t)
	b.exec(t, "CREATE EXTENSION citext", "CREATE EXTENSION ltree", "CREATE EXTENSION hstore")
	b.compare(t, "citext", 0, "", "Abc", "ä b\n")
	b.compare(t, "ltree", 0, "", "a", "Top.Science.x_1")
	b.compare(t, "lquery", 0, "*", "Top.*{1,2}.!x", "a|b*@")
	b.compare(t, "ltxtquery", 0, "a & b*@", "!x | y")
	p := b.probe(t, "hstore")
	if For(&p.Type, b.settings) != nil {
		t.Error("hstore has an encoder that no test covers")
	}
}
