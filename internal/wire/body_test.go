package wire

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

func TestParseReport(t *testing.T) {
	msg := "SFEHLER\x00VERROR\x00C23505\x00Mduplicate\x00Dkey (1)\x00Hno\x00P12\x00p3\x00qselect\x00Wcopy t, line 1\x00" +
		"ss\x00tt\x00cc\x00dd\x00nn\x00Ff.c\x00L42\x00Rr\x00?future\x00\x00"
	want := &Report{
		Severity: "FEHLER", SeverityPlain: "ERROR", Code: "23505", Message: "duplicate", Detail: "key (1)", Hint: "no",
		Position: 12, InternalPosition: 3, InternalQuery: "select", Where: "copy t, line 1", Schema: "s", Table: "t",
		Column: "c", DataType: "d", Constraint: "n", File: "f.c", Line: 42, Routine: "r",
	}
	got, err := ParseReport([]byte(msg))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got.Error() != "FEHLER: duplicate (SQLSTATE 23505)" || got.SQLState() != "23505" {
		t.Errorf("as an error it is %q, %s", got.Error(), got.SQLState())
	}
}

func TestParseReportByPgx(t *testing.T) {
	e := &pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "57P01",
		Message: "terminating", Position: 5, Line: 9, ConstraintName: "k"}
	frame, err := e.Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseReport(frame[HeaderSize:])
	if err != nil || !r.Fatal() || r.Code != "57P01" || r.Message != "terminating" || r.Position != 5 || r.Line != 9 || r.Constraint != "k" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestParseTag(t *testing.T) {
	tests := []struct {
		tag  string
		want Tag
	}{
		{"COPY 5", Tag{"COPY", 5}},
		{"INSERT 0 12", Tag{"INSERT", 12}},
		{"SELECT 20000000000", Tag{"SELECT", 20000000000}},
		{"MERGE 3", Tag{"MERGE", 3}},
		{"CREATE TABLE", Tag{"CREATE TABLE", -1}},
		{"BEGIN", Tag{"BEGIN", -1}},
		{"", Tag{"", -1}},
		{"COPY -1", Tag{"COPY -1", -1}},
		{"INSERT 7", Tag{"INSERT", 7}},
	}
	for _, tt := range tests {
		got, err := ParseTag([]byte(tt.tag + "\x00"))
		if err != nil || got != tt.want {
			t.Errorf("%q: got %+v, %v", tt.tag, got, err)
		}
	}
}

func TestParseCopyStart(t *testing.T) {
	tests := []struct {
		msg  string
		want CopyStart
	}{
		{"\x00\x00\x00", CopyStart{Columns: []bool{}}},
		{"\x01\x00\x02\x00\x01\x00\x01", CopyStart{Binary: true, Columns: []bool{true, true}}},
		{"\x00\x00\x01\x00\x00", CopyStart{Columns: []bool{false}}},
	}
	for _, tt := range tests {
		got, err := ParseCopyStart([]byte(tt.msg))
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: got %+v, %v", tt.msg, got, err)
		}
	}
}

func TestParseParameterAndReady(t *testing.T) {
	name, value, err := ParseParameter([]byte("TimeZone\x00UTC\x00"))
	if name != "TimeZone" || value != "UTC" || err != nil {
		t.Errorf("parameter %q %q %v", name, value, err)
	}
	for _, want := range []Status{Idle, InTransaction, InFailed} {
		if got, err := ParseReady([]byte{byte(want)}); got != want || err != nil {
			t.Errorf("ready %q, %v", got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	report := func(b []byte) error { _, err := ParseReport(b); return err }
	tag := func(b []byte) error { _, err := ParseTag(b); return err }
	start := func(b []byte) error { _, err := ParseCopyStart(b); return err }
	param := func(b []byte) error { _, _, err := ParseParameter(b); return err }
	ready := func(b []byte) error { _, err := ParseReady(b); return err }
	tests := []struct {
		name  string
		parse func([]byte) error
		msg   string
		want  string
	}{
		{"empty report", report, "", "end of its fields"},
		{"report cut in a field", report, "SERR", "end of a field"},
		{"report cut between fields", report, "SERROR\x00", "end of its fields"},
		{"report with more", report, "\x00x", "end where it should"},
		{"tag not ended", tag, "COPY 5", "end of its tag"},
		{"tag with more", tag, "COPY\x005", "end where it should"},
		{"no copy format", start, "", "format"},
		{"no copy count", start, "\x00\x00", "column count"},
		{"copy format 2", start, "\x02\x00\x00", "known format"},
		{"negative count", start, "\x00\xff\xff", "format for each"},
		{"too few formats", start, "\x00\x00\x02\x00\x00", "format for each"},
		{"too many formats", start, "\x00\x00\x00\x00\x00", "format for each"},
		{"parameter without value", param, "a\x00", "value"},
		{"no status", ready, "", "transaction status"},
		{"unknown status", ready, "x", "known transaction status"},
		{"long status", ready, "II", "end where it should"},
	}
	for _, tt := range tests {
		err := tt.parse([]byte(tt.msg))
		var be *BodyError
		if !errors.As(err, &be) || !strings.Contains(be.Want, tt.want) {
			t.Errorf("%s: error is %v, want one about %q", tt.name, err, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("SERROR\x00C23505\x00P12\x00\x00"))
	f.Add([]byte("COPY 5\x00"))
	f.Add([]byte("\x01\x00\x01\x00\x01"))
	f.Add([]byte("a\x00b\x00"))
	f.Add([]byte("I"))
	f.Fuzz(func(t *testing.T, msg []byte) {
		if r, err := ParseReport(msg); err == nil && r == nil {
			t.Error("neither report nor error")
		}
		if tag, err := ParseTag(msg); err == nil && tag.Rows < -1 {
			t.Errorf("%q has %d rows", msg, tag.Rows)
		}
		if c, err := ParseCopyStart(msg); err == nil && len(msg) != 3+2*len(c.Columns) {
			t.Errorf("%q has %d columns", msg, len(c.Columns))
		}
		if name, value, err := ParseParameter(msg); err == nil && name+"\x00"+value+"\x00" != string(msg) {
			t.Errorf("%q read as %q, %q", msg, name, value)
		}
		if s, err := ParseReady(msg); err == nil && string(msg) != string(rune(s)) {
			t.Errorf("%q read as %q", msg, s)
		}
	})
}
