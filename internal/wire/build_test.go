package wire

import (
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// TestBuild reads each built frame with pgx's decoder.
func TestBuild(t *testing.T) {
	bind := &Bind{
		Portal: "p", Statement: "s", ParamFormats: []int16{0, 1},
		Params: [][]byte{[]byte("one"), nil, {}}, ResultFormats: []int16{1},
	}
	tests := []struct {
		name  string
		frame []byte
		kind  byte
		into  pgproto3.Message
		want  pgproto3.Message
	}{
		{"Query", AppendQuery(nil, "select 1"), 'Q', &pgproto3.Query{}, &pgproto3.Query{String: "select 1"}},
		{"CopyData", AppendCopyData(nil, []byte("x\n")), 'd', &pgproto3.CopyData{}, &pgproto3.CopyData{Data: []byte("x\n")}},
		{"CopyDone", AppendCopyDone(nil), 'c', &pgproto3.CopyDone{}, &pgproto3.CopyDone{}},
		{"CopyFail", AppendCopyFail(nil, "no"), 'f', &pgproto3.CopyFail{}, &pgproto3.CopyFail{Message: "no"}},
		{"Terminate", AppendTerminate(nil), 'X', &pgproto3.Terminate{}, &pgproto3.Terminate{}},
		{"Sync", AppendSync(nil), 'S', &pgproto3.Sync{}, &pgproto3.Sync{}},
		{"Flush", AppendFlush(nil), 'H', &pgproto3.Flush{}, &pgproto3.Flush{}},
		{"Parse", AppendParse(nil, "s", "select $1", []uint32{23, 0}), 'P', &pgproto3.Parse{},
			&pgproto3.Parse{Name: "s", Query: "select $1", ParameterOIDs: []uint32{23, 0}}},
		{"Bind", AppendBind(nil, bind), 'B', &pgproto3.Bind{}, &pgproto3.Bind{
			DestinationPortal: "p", PreparedStatement: "s", ParameterFormatCodes: []int16{0, 1},
			Parameters: [][]byte{[]byte("one"), nil, {}}, ResultFormatCodes: []int16{1}}},
		{"Describe", AppendDescribe(nil, Statement, "s"), 'D', &pgproto3.Describe{}, &pgproto3.Describe{ObjectType: 'S', Name: "s"}},
		{"Close", AppendClose(nil, Portal, "p"), 'C', &pgproto3.Close{}, &pgproto3.Close{ObjectType: 'P', Name: "p"}},
		{"Execute", AppendExecute(nil, "p", 7), 'E', &pgproto3.Execute{}, &pgproto3.Execute{Portal: "p", MaxRows: 7}},
	}
	for _, tt := range tests {
		frames, rest := decodeAll(tt.frame)
		if len(frames) != 1 || len(rest) > 0 || frames[0].kind != tt.kind {
			t.Errorf("%s: %q is not one frame of type %c", tt.name, tt.frame, tt.kind)
			continue
		}
		if err := tt.into.Decode([]byte(frames[0].body)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if !reflect.DeepEqual(tt.into, tt.want) {
			t.Errorf("%s: read as %+v, want %+v", tt.name, tt.into, tt.want)
		}
	}
}

func TestBuildAppends(t *testing.T) {
	b := AppendQuery([]byte("before"), "x")
	if got := string(b); got != "beforeQ\x00\x00\x00\x06x\x00" {
		t.Errorf("got %q", got)
	}
	b = AppendParse(b[:6], "", "x", nil)
	if got := string(b); got != "beforeP\x00\x00\x00\x09\x00x\x00\x00\x00" {
		t.Errorf("got %q", got)
	}
	header := make([]byte, HeaderSize)
	PutCopyDataHeader(header, 258)
	if string(header) != "d\x00\x00\x01\x06" {
		t.Errorf("CopyData header is %q", header)
	}
}

func TestExtendedCopy(t *testing.T) {
	frames, rest := decodeAll(AppendExtendedCopy(nil, "copy t from stdin"))
	kinds := ""
	for _, f := range frames {
		kinds += string(f.kind)
	}
	if kinds != "PBE" || len(rest) > 0 {
		t.Errorf("frames are %q, %d bytes left", kinds, len(rest))
	}
}
