package encode

import "testing"

var rangeTexts = []string{
	"[1,2]", "[1,2)", "(1,2]", "(1,2)", "(1,3)", "[1,1]", "[1,1)", "(1,1]", "(1,1)", "[2,1]", "(2,1)", "[,]", "(,)", "[1,]", "[,1]", "(1,)", "(,1)", "empty", " Empty ", "emptyx", "empty x", "EMPTY\v",
	" [1,2] ", "[ 1 , 2 ]", "[1,2]x", "[1,2", "[1", "[", "1,2", "", " ", "[1 2]", "[1]", "[]", "[1,2,3]", "[1,,2]", "{1,2}", `["1","2"]`, `["1",2]`, `["",1]`, `[1,""]`, `["1""",2]`, `["1`, `[\1,2]`, `[1,\`,
	`[1,2\]`, `[1,2\]]`, `[1\,2]`, `["1,2"]`, `[1,2"]`, `["1"2,3]`, "[x,1]", "[1,x]", "[x,x", "[2147483647,]", "(2147483647,]", "[1,2147483647]", "[1,2147483648]", "(9223372036854775807,)", "[1,9223372036854775807]",
	"(2147483646,2147483647)", "[-2147483648,-2147483648]", "[é,1]", "é[1,2]", "[1,2]é", "[1.5,2.5]", "[1.0,1.00]", "(1.0,1.00]", "[NaN,NaN]", "[1,NaN]", "[NaN,1]", "[-Infinity,Infinity]", "[Infinity,-Infinity]",
	"[-1.5,-1.25]", "[-1.25,-1.5]", "[0,0.0]", "[-0.0,0)", "[0.0001,0.00001]", "[10000,9999]", "[9999.9999,10000]", "[123456789.5,123456789.25]", "[1e10,1e-10]", "[1e-10,1e10]",
}

var dateRangeTexts = []string{
	"[2024-01-01,2024-01-31]", "[2024-01-01,2024-01-31)", "(2024-01-01,2024-01-02)", "(2024-01-01,2024-01-03)", "[2024-02-01,2024-01-01]", "[2024-01-01,]", "(,2024-01-01]", "[-infinity,infinity]", "(-infinity,infinity)",
	"[infinity,infinity]", "(infinity,infinity)", "[infinity,-infinity]", "(2024-01-01,infinity]", `["2024-01-01","2024-01-31"]`, `["2024-01-01 10:00","2024-01-31 11:30:00.5")`, "[5874897-12-31,]", "(5874897-12-31,]", "[,5874897-12-31]",
	"[,5874897-12-30]", "[2024-13-01,]", "[2024-01-01,x]", "empty", "(,)", "[2024-01-01 10:00+02,2024-01-01 08:00+00]", "[4713-01-01 BC,2024-01-01]", "(2024-01-01,2024-01-01]", "[2024-01-01,2024-01-01]",
}

func TestRanges(t *testing.T) {
	b := newBed(t)
	b.exec(t, "CREATE TYPE floatrange AS RANGE (subtype = float8, subtype_diff = float8mi)", "CREATE TYPE smallrange AS RANGE (subtype = int2)",
		"CREATE TYPE realrange AS RANGE (subtype = float4)", "CREATE TYPE timerange AS RANGE (subtype = time)", "CREATE TYPE oidrange AS RANGE (subtype = oid)")
	const alphabet = `01234567899,,.-[]()"\ emptyNaIif`
	b.fuzz(t, "int4range", 0, 8000, alphabet, rangeTexts...)
	for _, typeName := range []string{"int8range", "numrange", "floatrange", "smallrange", "realrange", "oidrange"} {
		b.fuzz(t, typeName, 0, 3000, alphabet, rangeTexts...)
	}
	const dates = `0123456789,,--:[]() infty"\`
	for _, typeName := range []string{"daterange", "tsrange", "tstzrange"} {
		b.fuzz(t, typeName, 150, 3000, dates, dateRangeTexts...)
	}
	b.fuzz(t, "timerange", 100, 2000, dates, "[10:00,11:00]", "(10:00,10:00]", "[11:00,10:00]", "[10:00:00.5,24:00)", "[,)")
}

func TestMultiranges(t *testing.T) {
	b := newBed(t)
	texts := []string{
		"{}", " { } ", "{[1,2)}", "{[1,2),[3,4)}", "{[1,2),[2,4)}", "{[3,4),[1,2)}", "{[1,5),[2,3)}", "{[1,3),[2,5)}", "{[1,2],[3,4]}", "{(1,2),(2,3)}", "{(,1),(3,)}", "{(,3),(1,)}", "{(,)}", "{empty}", "{empty,[1,2)}", "{[1,1)}", "{empty,}",
		"{[1,2),}", "{,[1,2)}", "{[1,2) [3,4)}", "{[1,2)", "{[1,2", "{", "}", "", "[1,2)", "{[1,2)} ", "{[1,2)}x", "{x}", "{emptyx}", "{Empty , EMPTY}", "{[2,1]}", "{[2,1],x", "{[x,1]}", "{[1,2,3]}", "{[1]}", `{["1","2"]}`, `{["1""]",2]}`, `{[\1,2]}`,
		`{[1\],2]}`, `{["]",2]}`, `{[\ 1,2]}`, `{[1,2"]}`, "{ [1,2) , (5,6] }", "{[1,1],[1,1]}", "{[1,2],(1,2),(1,2],[1,2)}", "{[1,2],(2,3]}", "{[1,2),(2,3]}", "{[1,2),[2,2]}", "{(,1],(,2)}", "{[1,),[2,)}", "{[1,3),[3,5),[5,7),[0,1)}", "{[10,20),[5,6),[1,3),[2,5)}",
		"{[1,2]é}", "{é}", "{{}}", "{[1,2)}}", "{(1,2)(3,4)}", "{[NaN,NaN],[1,2]}", "{[1,NaN),[NaN,NaN]}", "{[1.0,2.0),[1.00,3)}", "{[1.0,2.0),[2.00,3)}", "{[-Infinity,1),(5,Infinity]}", "{[-5,-3],[-3.5,-1]}",
	}
	const alphabet = `0123456,,{}{}[]()"\ empty`
	b.fuzz(t, "int4multirange", 0, 8000, alphabet, texts...)
	b.fuzz(t, "nummultirange", 20, 6000, alphabet+".", texts...)
	b.fuzz(t, "int8multirange", 0, 2000, alphabet, texts...)
	b.fuzz(t, "datemultirange", 150, 3000, `0123456789,,--{}[]() infty`, "{[2024-01-01,2024-01-31],[2024-02-01,2024-02-10]}", "{(2024-01-01,2024-01-02),[2024-01-02,infinity]}", "{[-infinity,-infinity],(-infinity,2024-01-01)}",
		"{[infinity,infinity],[2024-01-01,infinity)}", "{(,2024-01-01),[2023-01-01,)}", "{[2024-01-01,infinity],(,infinity)}", "{(5874897-12-31,)}")
	b.compare(t, "tsmultirange", 0, `{["2024-01-01 10:00","2024-01-01 11:00"),["2024-01-01 11:00","2024-01-01 12:00"]}`)
}

func TestRangesOfUnknownOrder(t *testing.T) {
	b := newBed(t)
	b.exec(t, "CREATE TYPE textrange AS RANGE (subtype = text)", "CREATE TYPE spanrange AS RANGE (subtype = interval)",
		"CREATE DOMAIN whole AS int4",
		"CREATE TYPE wholerange AS RANGE (subtype = whole, subtype_opclass = int4_ops)")
	for _, typeName := range []string{"textrange", "spanrange", "wholerange"} {
		if p := b.probe(t, typeName); For(&p.Type, b.settings) != nil {
			t.Errorf("%s has an encoder", typeName)
		}
	}
}
