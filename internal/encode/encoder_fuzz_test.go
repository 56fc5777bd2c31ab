package encode

import (
	"bytes"
	"testing"
)

// FuzzEncoders gives every built-in encoder any bytes: none may panic or touch what stands in dst, and a refusal gives dst back as it was.
func FuzzEncoders(f *testing.F) {
	var encoders []Encoder
	for oid, scalar := range scalars {
		for _, version := range []int{14, 16, 18} {
			for _, modifier := range []int32{-1, 6, 5<<16 | 2 + 4} {
				encode := scalar(&Type{OID: oid, Name: "t", Modifier: modifier, Class: Base, Delim: ','}, Settings{Version: version, UTC: version > 14})
				if encode != nil {
					encoders = append(encoders, encode)
				}
			}
		}
	}
	for _, seed := range []string{
		"", " ", "1", "-12.5e-3", "0x1F", "1_000", "NaN", "infinity", "true", "2024-01-31 10:11:12.123456+02", "P1Y2M3DT4H5M6.7S", "1 year ago",
		"{1,NULL,\"a\"}", "[2:3]={1,2}", "(1,2)", "[1,2),(3,4]", "10.0.0.1/8", "::1", "08:00:2b:01:02:03", `\x0aFF`, `\001a\\`, `{"a": [1, null, "\u0061"]}`,
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "X1F", "B101", "$1,234.56", "16/B374D848", "(0,1)", "\xff\xfe\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, encode := range encoders {
			given := bytes.Clone(text)
			dst, err := encode([]byte("kept")[:4:4], text)
			if !bytes.HasPrefix(dst, []byte("kept")) || err != nil && len(dst) != 4 {
				t.Fatalf("dst is %q after %q (%v)", dst, text, err)
			}
			if !bytes.Equal(given, text) {
				t.Fatalf("the text %q was changed to %q", given, text)
			}
		}
	})
}
