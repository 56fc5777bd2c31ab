package rowfile

import (
	"bytes"
	"testing"
)

// FuzzText reads anything in any layout: nothing panics, and the rows' bytes are the file's, with nothing lost and nothing read twice.
func FuzzText(f *testing.F) {
	f.Add([]byte("a,\"b\"\"\",c\r\n1,2,3\r\n"), uint8(0), byte(','), byte('"'), uint8(0))
	f.Add([]byte("a\tb\\\nc\t\\N\n\\.\n"), uint8(1), byte('\t'), byte(0), uint8(1))
	f.Add([]byte("\x83\x5c,\xe4\n"), uint8(0), byte(0), byte('\\'), uint8(2))
	f.Add([]byte("\xff\xfea\x00\xd8\xd8\n\x00x"), uint8(3), byte(0), byte(0), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, format uint8, delimiter, escape byte, encoding uint8) {
		l := Layout{
			Format: []Format{CSV, Text, TSV, AutoFormat, Fixed}[format%5], Delimiter: delimiter, Escape: escape,
			Encoding: []string{"UTF8", "LATIN1", "SJIS", "", "GB18030", "EUC_JP"}[encoding%6],
			Fixed:    FixedLayout{Fields: []FixedField{{Kind: FixedChar, Size: 3}}, Lines: encoding%2 == 0},
			Header:   NoHeader,
		}
		l, err := sniff(data, true, l)
		if err != nil || l.Format == NDJSON || l.Format == Parquet || l.Format == Binary {
			return
		}
		rows, _, err := rowsOf(t, bytes.NewReader(data), &l, Position{})
		var all []byte
		for _, r := range rows {
			if int(r.Offset) > len(data) || !l.wideText() && !bytes.HasPrefix(data[r.Offset:], []byte(r.Raw)) {
				t.Fatalf("a row is not where it says it is: %+v", r)
			}
			all = append(all, r.Raw...)
		}
		if l.wideText() || err != nil || l.Format == Text {
			return
		}
		if want := bytes.TrimPrefix(data, utf8BOM); string(all) != string(want) && string(all) != string(data) {
			t.Fatalf("%q was read as %q", data, all)
		}
	})
}
