package encode

import (
	"encoding/hex"
	"errors"
	"testing"
)

var integerType = Type{OID: 23, Name: "integer", Modifier: -1, Class: Base}

func TestArrayByVersion(t *testing.T) {
	typ := &Type{OID: 1007, Name: "integer[]", Modifier: -1, Class: Array, Elem: &integerType}
	for _, c := range []struct {
		text     string
		old, new string // the binary form, or the message and the detail, or "unsure"
	}{
		{"{}", "000000000000000000000017", "000000000000000000000017"},
		{
			"[2:3]={7,null}", "00000001000000010000001700000002000000020000000400000007ffffffff",
			"00000001000000010000001700000002000000020000000400000007ffffffff",
		},
		{"{{},{}}", `malformed array literal: "{{},{}}": Unexpected "}" character.`, "000000000000000000000017"},
		{"{x", `malformed array literal: "{x": Unexpected end of input.`, `malformed array literal: "{x": Unexpected end of input.`},
		{"{x,{", `malformed array literal: "{x,{": Unexpected "{" character.`, `invalid input syntax for type integer: "x": `},
		{"[1]={1", `malformed array literal: "{1": Unexpected end of input.`, `malformed array literal: "[1]={1": Unexpected end of input.`},
		{`{"1"2}`, `malformed array literal: "{"1"2}": Unexpected array element.`, `malformed array literal: "{"1"2}": Incorrectly quoted array element.`},
		{"{{1},{{2}}}", "unsure", `malformed array literal: "{{1},{{2}}}": Multidimensional arrays must have sub-arrays with matching dimensions.`},
		{"[1-1]={1}", "unsure", "unsure"},
		{
			"{{{{{{{1}}}}}}}", "number of array dimensions (7) exceeds the maximum allowed (6): ",
			"number of array dimensions exceeds the maximum allowed (6): ",
		},
	} {
		for version, want := range map[int]string{16: c.old, 17: c.new} {
			if got := outcome(For(typ, Settings{Version: version}), c.text); got != want {
				t.Errorf("%d: %q: got %s, want %s", version, c.text, got, want)
			}
		}
	}
}

// outcome is what an encoder makes of a text, in words.
func outcome(encode Encoder, text string) string {
	got, err := encode(nil, []byte(text))
	var invalid *Invalid
	switch {
	case errors.As(err, &invalid):
		return invalid.Message + ": " + invalid.Detail
	case err != nil:
		return "unsure"
	}
	return hex.EncodeToString(got)
}

func TestArrayNeedsItsElements(t *testing.T) {
	composite := Type{OID: 20000, Name: "pair", Class: Composite}
	if For(&Type{OID: 20001, Class: Array, Elem: &composite}, Settings{Version: 15}) != nil {
		t.Error("an array of a type without an encoder has one")
	}
}
