package encode

import "testing"

func BenchmarkNested(b *testing.B) {
	integer := &Type{OID: 23, Name: "integer", Modifier: -1, Class: Base}
	text := &Type{OID: 25, Name: "text", Modifier: -1, Class: Base}
	moment := &Type{OID: 1114, Name: "timestamp without time zone", Modifier: -1, Class: Base}
	for _, c := range []struct {
		name, text string
		typ        Type
	}{
		{"inet", "192.168.17.4/24", Type{OID: 869, Class: Base}},
		{"inet6", "2001:db8::17:4", Type{OID: 869, Class: Base}},
		{"macaddr", "08:00:2b:01:02:03", Type{OID: 829, Class: Base}},
		{"point", "(12.5,-7.25)", Type{OID: 600, Class: Base}},
		{"polygon", "((0,0),(1.5,0),(1.5,1.5),(0,1.5))", Type{OID: 604, Class: Base}},
		{"integers", "{1,2,3,NULL,5000}", Type{OID: 1007, Class: Array, Elem: integer}},
		{"texts", `{red,"dark green","\"blue\""}`, Type{OID: 1009, Class: Array, Elem: text}},
		{"int4range", "[17,4711)", Type{OID: 3904, Class: Range, Elem: integer, Plain: true, Discrete: true}},
		{"tsrange", `["2024-01-01 10:00:00","2024-01-02 10:00:00")`, Type{OID: 3908, Class: Range, Elem: moment, Plain: true}},
	} {
		for _, version := range []int{15, 18} {
			encode := For(&c.typ, Settings{Version: version, UTC: true})
			if encode == nil {
				b.Fatal(c.name)
			}
			b.Run(c.name, func(b *testing.B) {
				b.ReportAllocs()
				given, dst := []byte(c.text), make([]byte, 0, 256)
				for b.Loop() {
					if _, err := encode(dst, given); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
