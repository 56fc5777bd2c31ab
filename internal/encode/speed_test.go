package encode

import "testing"

// speeds are the common texts of the types that most tables consist of.
var speeds = []struct {
	name     string
	oid      uint32
	modifier int32
	text     string
}{
	{"int2", 21, -1, "1234"},
	{"int4", 23, -1, "-123456"},
	{"int8", 20, -1, "1234567890123"},
	{"text", 25, -1, "some words of text"},
	{"varchar", 1043, 14, "0123456789"},
	{"varcharOfCharacters", 1043, 14, "größe 日本"},
	{"bool", 16, -1, "t"},
	{"boolWord", 16, -1, "false"},
	{"float8", 701, -1, "1234.5678"},
	{"float8Shortest", 701, -1, "0.30000000000000004"},
	{"float8Exponent", 701, -1, "6.02214076e23"},
	{"float4", 700, -1, "3.1415927"},
	{"numeric", 1700, -1, "12345.67"},
	{"numericLong", 1700, -1, "12345678901234567890.1234567890"},
	{"numericLimited", 1700, 12<<16 | 2 + 4, "12345.67"},
	{"numericRounded", 1700, 12<<16 | 2 + 4, "12345.6789"},
	{"uuid", 2950, -1, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
	{"jsonb", 3802, -1, `{"id": 12345, "name": "some words", "tags": ["a", "b"], "ok": true}`},
	{"bytea", 17, -1, `\x00112233445566778899aabbccddeeff`},
}

func BenchmarkEncoders(b *testing.B) {
	for _, s := range speeds {
		encode := For(&Type{OID: s.oid, Modifier: s.modifier, Class: Base}, Settings{Version: 16, UTC: true})
		b.Run(s.name, func(b *testing.B) {
			text, dst := []byte(s.text), make([]byte, 0, 256)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := encode(dst, text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestEncodersDoNotAllocate(t *testing.T) {
	for _, s := range speeds {
		encode := For(&Type{OID: s.oid, Modifier: s.modifier, Class: Base}, Settings{Version: 16, UTC: true})
		text, dst := []byte(s.text), make([]byte, 0, 256)
		if n := testing.AllocsPerRun(100, func() { encode(dst, text) }); n != 0 {
			t.Errorf("%s: %v allocations", s.name, n)
		}
	}
}
