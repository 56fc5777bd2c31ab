package heap_test

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/pghaul/pghaul/internal/heap"
)

func unhex(t *testing.T, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseVarlena(t *testing.T) {
	for _, c := range []struct {
		name, data, want string
	}{
		{"short", "096162637878", `plain "abc" of 3, 4 bytes`},
		{"short and empty", "03", `plain "" of 0, 1 bytes`},
		{"long", "1c0000006162637878", `plain "abc" of 3, 7 bytes`},
		{"long and empty", "10000000", `plain "" of 0, 4 bytes`},
		{"pglz", "2a000000" + "14000000" + "0261", `pglz "\x02a" of 20, 10 bytes`},
		{"lz4", "2a000000" + "14000040" + "0261", `lz4 "\x02a" of 20, 10 bytes`},
		{"external", "0112" + "68000000" + "64000000" + "39300000" + "40420f00", "external 12345 of 1000000, 100 bytes as 100, plain, 18 bytes"},
		{"external pglz", "0112" + "68000000" + "32000000" + "39300000" + "40420f00", "external 12345 of 1000000, 100 bytes as 50, pglz, 18 bytes"},
		{"external lz4", "0112" + "68000000" + "32000040" + "39300000" + "40420f00", "external 12345 of 1000000, 100 bytes as 50, lz4, 18 bytes"},
		{"nothing", "", "error: the value starts behind the tuple"},
		{"short and cut", "0961", "error: the value has 4 bytes, of which 2 are there"},
		{"long and cut", "1c00000061", "error: the value has 7 bytes, of which 5 are there"},
		{"less than a header", "1c", "error: the header of the value is cut"},
		{"a compressed value without its header", "1a00000000000000", "error: the value states a length of 6 bytes, less than its header"},
		{"a compression that is none", "2a000000" + "14000080" + "0261", "error: compression method 2 is not known"},
		{"external and cut", "01126800000064", "error: the value has 18 bytes, of which 7 are there"},
		{"an expanded object", "0102" + "0000000000000000", "error: the value is of an external kind that no file holds"},
		{"external with a compression that is none", "0112" + "68000000" + "320000c0" + "39300000" + "40420f00", "error: compression method 3 is not known"},
		{"stored larger than it is", "0112" + "68000000" + "65000000" + "39300000" + "40420f00", "error: the TOAST pointer states 101 bytes stored for a value of 104"},
		{"of less than nothing", "0112" + "03000000" + "00000000" + "39300000" + "40420f00", "error: the TOAST pointer states 0 bytes stored for a value of 3"},
	} {
		v, size, err := heap.ParseVarlena(unhex(t, c.data))
		method := map[heap.Compression]string{heap.NoCompression: "plain", heap.PGLZ: "pglz", heap.LZ4: "lz4"}
		got := fmt.Sprintf("%s %q of %d, %d bytes", method[v.Compression], v.Payload, v.RawSize, size)
		switch p := v.Pointer; {
		case err != nil:
			got = "error: " + err.Error()
		case v.External:
			got = fmt.Sprintf("external %d of %d, %d bytes as %d, %s, %d bytes", p.ValueID, p.RelationID, p.RawSize, p.StoredSize, method[p.Compression], size)
		}
		if got != c.want {
			t.Errorf("%s: it is %s, want %s", c.name, got, c.want)
		}
	}
}
