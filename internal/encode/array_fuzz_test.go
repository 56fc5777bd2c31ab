package encode

import (
	"bytes"
	"testing"
)

// FuzzNested gives the encoders of types that are made of others any bytes: none may panic, or touch what stands in dst or the text.
func FuzzNested(f *testing.F) {
	numeric := Type{OID: 1700, Name: "numeric", Modifier: -1, Class: Base}
	text := Type{OID: 25, Name: "text", Modifier: -1, Class: Base}
	box := Type{OID: 603, Name: "box", Modifier: -1, Class: Base}
	integers := Type{OID: 3904, Name: "int4range", Class: Range, Elem: &integerType, Plain: true, Discrete: true}
	numbers := Type{OID: 3906, Name: "numrange", Class: Range, Elem: &numeric, Plain: true}
	var encoders []Encoder
	for _, version := range []int{14, 18} {
		for _, typ := range []Type{
			{Class: Array, Elem: &integerType}, {Class: Array, Elem: &text}, {Class: Array, Elem: &box, Delim: ';'}, {Class: Array, Elem: &integers},
			integers, numbers, {Class: Multirange, Range: &integers}, {Class: Multirange, Range: &numbers},
		} {
			encode := For(&typ, Settings{Version: version, UTC: true})
			if encode == nil {
				f.Fatalf("%+v has no encoder", typ)
			}
			encoders = append(encoders, encode)
		}
	}
	for _, seed := range []string{
		"{}", `{1,NULL,"a\"b"}`, "[2:3]={1,2}", "{{1,2},{3,4}}", `{"\`, `{\`, "{(1,2),(3,4);(5,6),(7,8)}", `{"[1,2)",empty}`, "[1,2)", `["1",2]`, `["`, `[\`,
		"empty", "{[1,2),(3,4]}", "{[1.0,NaN],(,1.00)}", `{[\ `, `{["`, "{(,)}", "\xff{\xfe}", "[-Infinity,Infinity]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, given []byte) {
		for _, encode := range encoders {
			text := bytes.Clone(given)
			dst, err := encode([]byte("kept")[:4:4], text)
			if !bytes.HasPrefix(dst, []byte("kept")) || err != nil && len(dst) != 4 {
				t.Fatalf("dst is %q after %q (%v)", dst, given, err)
			}
			if !bytes.Equal(given, text) {
				t.Fatalf("the text %q was changed to %q", given, text)
			}
		}
	})
}
