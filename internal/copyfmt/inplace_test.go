package copyfmt

import (
	"bytes"
	"strings"
	"testing"
)

func TestEscapeText(t *testing.T) {
	values := []string{"", "plain", `\x00ff`, "\\", "a\tb\nc\r\b\f\v\\", "\\\\\\", "\n", "\\N", `\.`, "middle\\one", "é\t"}
	for c := range 256 {
		for before := range 17 {
			values = append(values, strings.Repeat("ü", before/2)+strings.Repeat("~", before%2)+string([]byte{byte(c)})+strings.Repeat("[", 16-before))
		}
	}
	for _, value := range values {
		want := AppendTextField([]byte("left\t"), []byte(value))
		if got := EscapeText([]byte("left\t"+value), 5); !bytes.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

func FuzzEscapeText(f *testing.F) {
	f.Add([]byte("a\tb"), 1)
	f.Fuzz(func(t *testing.T, b []byte, start int) {
		if start < 0 || start > len(b) {
			return
		}
		want := AppendTextField(bytes.Clone(b[:start]), b[start:])
		if got := EscapeText(bytes.Clone(b), start); !bytes.Equal(got, want) {
			t.Errorf("%q from %d: got %q, want %q", b, start, got, want)
		}
	})
}

func BenchmarkEscapeText(b *testing.B) {
	row := []byte("1234567\t2026-12-01\t42\tabcdefghij")
	b.SetBytes(int64(len(row)))
	for b.Loop() {
		row = EscapeText(row, 22)
	}
}
