package move

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/wire"
)

func fields(values ...any) [][]byte {
	row := make([][]byte, len(values))
	for i, v := range values {
		if s, ok := v.(string); ok {
			row[i] = []byte(s)
		}
	}
	return row
}

// bound takes a Bind message apart: its parameters, of which nil is NULL.
func bound(t *testing.T, message []byte) (statement string, format uint16, params [][]byte) {
	t.Helper()
	if message[0] != wire.TypeBind || int(binary.BigEndian.Uint32(message[1:])) != len(message)-1 {
		t.Fatalf("not one Bind message: %x", message)
	}
	body := message[wire.HeaderSize:]
	end := bytes.IndexByte(body[1:], 0)
	if body[0] != 0 || end < 0 {
		t.Fatalf("no unnamed portal and statement: %x", body)
	}
	statement, body = string(body[1:1+end]), body[2+end:]
	if binary.BigEndian.Uint16(body) != 1 {
		t.Fatalf("not one format: %x", body)
	}
	format = binary.BigEndian.Uint16(body[2:])
	count := int(binary.BigEndian.Uint16(body[4:]))
	body = body[6:]
	for range count {
		size := int32(binary.BigEndian.Uint32(body))
		body = body[4:]
		if size < 0 {
			params = append(params, nil)
			continue
		}
		params = append(params, body[:size])
		body = body[size:]
	}
	if !bytes.Equal(body, bindTail) {
		t.Fatalf("after the parameters: %x", body)
	}
	return statement, format, params
}

func TestBatchText(t *testing.T) {
	b := newBatch([]arrayType{{23, ','}, {603, ';'}}, false)
	for round := range 2 {
		b.add(fields("1", `a"b\c{,;}`))
		b.add(fields(nil, ""))
		b.add(fields("NULL", nil))
		statement, format, params := bound(t, b.appendBind(nil, "s1"))
		want := fields(`{"1",NULL,"NULL"}`, `{"a\"b\\c{,;}";"";NULL}`)
		if statement != "s1" || format != 0 || !cmp.Equal(params, want) {
			t.Errorf("round %d: %s %d %q", round, statement, format, params)
		}
		b.reset()
	}
}

func TestBatchBinary(t *testing.T) {
	b := newBatch([]arrayType{{23, ','}, {25, ','}}, true)
	for round := range 2 {
		b.add(fields("\x00\x00\x00\x07", ""))
		b.add(fields("\x00\x00\x00\x08", nil))
		_, format, params := bound(t, b.appendBind([]byte{}, "s"))
		if format != 1 || len(params) != 2 {
			t.Fatalf("round %d: format %d, %d parameters", round, format, len(params))
		}
		for i, want := range []string{
			"00000001" + "00000000" + "00000017" + "00000002" + "00000001" + "0000000400000007" + "0000000400000008",
			"00000001" + "00000001" + "00000019" + "00000002" + "00000001" + "00000000" + "ffffffff",
		} {
			if got := hex.EncodeToString(params[i]); got != want {
				t.Errorf("round %d: parameter %d is %s", round, i, got)
			}
		}
		b.reset()
	}
}

func TestBatchFlattenAndSplit(t *testing.T) {
	rows := [][][]byte{fields("1", `q"\`), fields(nil, ""), fields("", nil), fields("4", "NULL"), fields(`\"`, `","`)}
	var flat [][]byte
	for _, r := range rows {
		flat = append(flat, r...)
	}
	for _, binaryFormat := range []bool{false, true} {
		for _, arrays := range []bool{false, true} {
			var types []arrayType
			if arrays {
				types = []arrayType{{25, ','}, {25, ';'}}
			}
			b := newBatch(types, binaryFormat)
			for round := range 2 {
				for _, r := range rows {
					b.add(r)
				}
				b.flatten()
				head := b.split(2)
				_, _, first := bound(t, head.appendBind(nil, ""))
				_, _, second := bound(t, b.appendBind(nil, ""))
				if diff := cmp.Diff(flat, append(first, second...)); diff != "" || len(first) != 4 || head.rows != 2 || b.rows != 3 {
					t.Errorf("binary %v arrays %v round %d: %s", binaryFormat, arrays, round, diff)
				}
				b.reset()
			}
		}
	}
}

func TestBatchKeepsLittleMemory(t *testing.T) {
	b := newBatch([]arrayType{{25, ','}}, true)
	b.add([][]byte{make([]byte, 2*keepBytes)})
	b.reset()
	if c := cap(b.arrays[0].data); c > keepBytes {
		t.Errorf("%d bytes are kept", c)
	}
}
