package encode

import (
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	b := newBed(t)
	seeds := []string{
		`{}`, `[]`, `{"a": 1}`, `{"a": [1, 2.5, -3e10], "b": {"c": null, "d": true, "e": false}}`, `"text"`, `1`, `-0`, `0.5`, `1e5`, `1E-5`, `1.5e+3`, `true`, `null`, "\t[1,\n2]\r ", "",
		" ", "{", "[", "]", "}", ",", ":", `[1,]`, `[,1]`, `[1 2]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{1:2}`, `{"a" 1}`, `{"a":1 "b":2}`, `[1}`, `{"a":1]`, `{]`, `[}`, `1 2`, `{} x`, `[] []`,
		`01`, `1.`, `.5`, `-`, `+1`, `1e`, `1e+`, `--1`, `1a`, `1_0`, `0x1`, `nul`, `nulll`, `True`, `tru e`, `abc`, `ä`, `"ä`, `'a'`, `#`, `"`, `"abc`, `"a\`, `"a\"`, `"\n\t\"\\\/\b\f\r"`, `"\x"`, `"\ä"`, "\"a\nb\"", "\"\x01\"", "\"\x1f",
		`"\u0061"`, `"\u006"`, `"\u00g1"`, `"\u00ä1"`, `"\u`, `"\u00`, `"\u0000"`, `"a\u0000b"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\ud83d"`, `"\ude00"`, `"\ud83d\u0041"`, `"\uD83D\uDE00\u00e4"`, `{"\u0000": 1}`, `{"\ud800": 1}`, "\"\\ud83d\n\"",
		`1e131071`, `1e131072`, `1e-16383`, `1e-16384`, `[1e200000]`, `[1e200000, 2]`, `[1e200000 nul]`, `[1e200000}`, `0e200000`, `0e-20000`, `-1e200000`, `1e99999999999`, `{"a": 1e200000, "b": "\ud83d"}`, "\uFEFF1", "1\u00a0", `[1][`, `{"a":{"b":[{}, {"c":"d"}]}}`,
	}
	for _, typeSQL := range []string{"json", "jsonb"} {
		b.fuzz(t, typeSQL, 0, 12000, `{}[],:"\u0dD8aEe+-.1t ä`+"\n", seeds...)
	}
}

func TestJSONOfManyLevels(t *testing.T) {
	b := newBed(t)
	nested := func(levels int) string {
		return strings.Repeat(`[{"a":`, levels/2) + "1" + strings.Repeat("}]", levels/2)
	}
	texts := []string{nested(100), nested(deepestJSON), strings.Repeat("[", 300), strings.Repeat(`{"a":`, 200) + "]", strings.Repeat(`["`+strings.Repeat("x", 50)+`",`, 20)}
	for _, typeSQL := range []string{"json", "jsonb"} {
		b.compare(t, typeSQL, 0, texts...)
		b.compare(t, typeSQL, 1, nested(deepestJSON+2))
		b.compare(t, typeSQL, 0, "1"+strings.Repeat("0", 20000), "0."+strings.Repeat("1", 16384), strings.Repeat("9", 131073))
	}
}
