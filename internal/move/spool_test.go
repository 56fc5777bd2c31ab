package move

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pghaul/pghaul/internal/copyfmt"
)

// spooled passes a row through a file and reads the parameters back.
func spooled(t *testing.T, row []byte, arrays []arrayType, binaryFormat bool) ([][]byte, error) {
	t.Helper()
	s, err := newSpool(arrays, binaryFormat)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.fill(iotest.HalfReader(bytes.NewReader(row))); err != nil {
		return nil, err
	}
	var values []byte
	if err := s.send(func(p []byte) error { values = append(values, p...); return nil }); err != nil {
		t.Fatal(err)
	}
	message := appendBindHead(nil, "s", binaryFormat, s.params, int(s.size))
	_, _, params := bound(t, append(append(message, values...), bindTail...))
	return params, nil
}

// sameFields is cmp.Equal without its minutes for long values.
func sameFields(a, b [][]byte) bool {
	return slices.EqualFunc(a, b, func(x, y []byte) bool { return (x == nil) == (y == nil) && bytes.Equal(x, y) })
}

func TestSpool(t *testing.T) {
	long := strings.Repeat("a\tb\nc\\d\"e\r{", 30_000)
	slashes := strings.Repeat(`\`, 200_001)
	row := fields("1", long, nil, "", slashes, `\N`, nil)
	for _, binaryFormat := range []bool{false, true} {
		raw := copyfmt.AppendTextRow(nil, row)
		if binaryFormat {
			raw = copyfmt.AppendBinaryRow(nil, row)
		}
		params, err := spooled(t, raw, nil, binaryFormat)
		if err != nil || !sameFields(row, params) {
			t.Errorf("binary %v: %v, %d parameters", binaryFormat, err, len(params))
		}
		types := make([]arrayType, len(row))
		for i := range types {
			types[i] = arrayType{elem: 25, delimiter: ','}
		}
		b := newBatch(types, binaryFormat)
		b.add(row)
		_, _, want := bound(t, b.appendBind(nil, ""))
		params, err = spooled(t, raw, types, binaryFormat)
		if err != nil || !sameFields(want, params) {
			t.Errorf("binary %v, arrays: %v, %d parameters", binaryFormat, err, len(params))
		}
	}
}

func TestSpoolTorn(t *testing.T) {
	text := copyfmt.AppendTextRow(nil, fields("abc", nil, `\`))
	packed := copyfmt.AppendBinaryRow(nil, fields("abc", nil, "d"))
	for cut := range text {
		if _, err := spooled(t, text[:cut], nil, false); err == nil {
			t.Errorf("text of %d bytes passes", cut)
		}
	}
	for cut := range packed {
		if _, err := spooled(t, packed[:cut], nil, true); err == nil {
			t.Errorf("binary of %d bytes passes", cut)
		}
	}
	if _, err := spooled(t, binary.BigEndian.AppendUint32([]byte{0, 1}, 0xfffffff0), nil, true); !errors.Is(err, errTornRow) {
		t.Errorf("a negative length gives %v", err)
	}
}
