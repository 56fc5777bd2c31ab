package rowfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReject(t *testing.T) {
	for _, encoding := range []string{"", utf16LE} {
		text := "a,b\r\n1,\"x\r\ny\"\r\n2\r\nä,3"
		data := []byte(text)
		if encoding != "" {
			data = appendUTF16(nil, []byte("\ufeff"+text), false)
		}
		l := layoutOf(t, data, Layout{Header: WithHeader})
		dir := t.TempDir()
		path, reasons := filepath.Join(dir, "rows"), filepath.Join(dir, "reasons")
		w, err := OpenReject(path, -1, reasons, -1, &l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("a file was made before a row was refused")
		}
		c, p := newCutter(bytes.NewReader(data), 0, "file", &l, Position{}), newTextParser(&l)
		var at, reasonsAt int64
		for range 2 { // The row without a line end is a block by itself.
			b, err := c.Next()
			if err != nil {
				t.Fatal(err)
			}
			err = p.Parse(b, func(r *Row) error {
				why := &Rejected{File: "file", Line: r.Line, Offset: b.Offset(r.Span), SQLState: "22P02", Message: "bad <row>"}
				if err := w.Write(p.Raw(b, r.Span), why); err != nil {
					return err
				}
				if r.Number == 1 {
					at, reasonsAt = w.Size()
				}
				return w.Sync()
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want := data
		if got, _ := os.ReadFile(path); !bytes.HasPrefix(got, want) || len(got) > len(want)+4 {
			t.Errorf("got %q, want %q and a line end", got, want)
		}
		if got, _ := os.ReadFile(reasons); strings.Count(string(got), "\n") != 3 || !strings.Contains(string(got), `"line":2,`) {
			t.Errorf("reasons: %s", got)
		}
		if _, err := OpenReject(path, -1, "", -1, &l); err == nil || !strings.Contains(err.Error(), "exists already") {
			t.Errorf("a file of another load: %v", err)
		}
		checkResumedReject(t, path, reasons, at, reasonsAt, &l)
	}
}

// checkResumedReject goes on behind the first two rows.
func checkResumedReject(t *testing.T, path, reasons string, at, reasonsAt int64, l *Layout) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := OpenReject(path, at, reasons, reasonsAt, l)
	if err != nil {
		t.Fatal(err)
	}
	raw := bytes.NewReader([]byte("x,\"" + strings.Repeat("é", 100000)))
	if err := w.WriteLarge(&Large{Raw: raw, Size: raw.Size()}, &Rejected{File: "file"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	row := []byte("x,\"" + strings.Repeat("é", 100000) + "\r\n")
	if l.Encoding == utf16LE {
		row = appendUTF16(nil, row, false)
	}
	if got, _ := os.ReadFile(path); string(got) != string(before[:at])+string(row) {
		t.Errorf("resumed: %d bytes", len(got))
	}
	w, err = OpenReject(path, at, reasons, reasonsAt, l)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]byte("a,b\r\n"), &Rejected{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != string(before[:at]) {
		t.Errorf("discarded: %q", got)
	}
	if _, err := OpenReject(path, at+1, "", 0, l); err == nil || !strings.Contains(err.Error(), "has lost refused rows") {
		t.Errorf("a file that shrank: %v", err)
	}
}

func TestRejectDiscardRemoves(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	w, err := OpenReject(path, -1, "", -1, &Layout{Format: CSV})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]byte("x\n"), &Rejected{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
	if _, err := OpenReject(path, -1, path, -1, &Layout{}); err == nil {
		t.Error("one file for both was taken")
	}
}
