package copyfmt

import (
	"bytes"
	"testing"
)

func TestAppendTextField(t *testing.T) {
	tests := []struct{ value, want string }{
		{"", ""},
		{"plain", "plain"},
		{"a\tb\nc\rd\\e\bf\fg\vh", `a\tb\nc\rd\\e\bf\fg\vh`},
		{`\.`, `\\.`},
		{`\N`, `\\N`},
		{`\x41`, `\\x41`},
		{"\x01\x7fé🐘", "\x01\x7fé🐘"},
		{"ends with \\", `ends with \\`},
	}
	for _, tt := range tests {
		if got := string(AppendTextField([]byte("<"), []byte(tt.value))); got != "<"+tt.want {
			t.Errorf("%q: got %q, want %q", tt.value, got[1:], tt.want)
		}
	}
}

func TestAppendTextRow(t *testing.T) {
	tests := []struct {
		fields [][]byte
		want   string
	}{
		{nil, "\n"},
		{[][]byte{{}}, "\n"},
		{[][]byte{nil}, "\\N\n"},
		{[][]byte{[]byte("1"), nil, {}, []byte("x\ty")}, "1\t\\N\t\tx\\ty\n"},
	}
	for _, tt := range tests {
		if got := string(AppendTextRow(nil, tt.fields)); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.fields, got, tt.want)
		}
	}
}

func TestAppendUnescaped(t *testing.T) {
	tests := []struct{ field, want string }{
		{"", ""},
		{"plain", "plain"},
		{`\b\f\n\r\t\v\\`, "\b\f\n\r\t\v\\"},
		{`\101\1012\60\0`, "AA20\x00"},
		{`\777\400`, "\xff\x00"},
		{`\x41\x414\x4g\xg\x`, "AA4\x04gxgx"},
		{`\xaF\XaF`, "\xafXaF"},
		{`\8\.\q\N`, "8.qN"},
		{`a\`, "a"},
		{"a\\\tb\\\nc", "a\tb\nc"},
	}
	for _, tt := range tests {
		if got := string(AppendUnescaped([]byte("<"), []byte(tt.field))); got != "<"+tt.want {
			t.Errorf("%q: got %q, want %q", tt.field, got[1:], tt.want)
		}
		if naive := naiveUnescape(tt.field); naive != tt.want {
			t.Errorf("%q: the oracle says %q, want %q", tt.field, naive, tt.want)
		}
	}
}

func TestIsTextNull(t *testing.T) {
	for field, want := range map[string]bool{`\N`: true, `\n`: false, `\\N`: false, "": false, "N": false, `\N `: false} {
		if got := IsTextNull([]byte(field)); got != want {
			t.Errorf("%q: %v", field, got)
		}
	}
}

func FuzzTextField(f *testing.F) {
	f.Add([]byte("a\tb\\\n\r\x00\xff"))
	f.Add([]byte(`\x41\101\`))
	f.Fuzz(func(t *testing.T, value []byte) {
		field := AppendTextField(nil, value)
		if bytes.ContainsAny(field, "\t\n\r") || IsTextNull(field) {
			t.Errorf("%q is written as %q", value, field)
		}
		if got := AppendUnescaped(nil, field); !bytes.Equal(got, value) {
			t.Errorf("%q came back as %q", value, got)
		}
		got := string(AppendUnescaped(nil, value))
		if want := naiveUnescape(string(value)); got != want {
			t.Errorf("%q means %q, the oracle says %q", value, got, want)
		}
		if len(got) > len(value) {
			t.Errorf("%q grew to %q", value, got)
		}
	})
}
