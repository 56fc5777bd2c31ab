package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul"
)

func TestPace(t *testing.T) {
	var a pace
	at := func(seconds, bytes, total int64) estimate {
		return a.next(pghaul.Progress{Stage: "rows", Elapsed: time.Duration(seconds) * time.Second, Bytes: bytes, Rows: bytes / 10, TotalBytes: total})
	}
	if e := at(1, 100, 1000); e.bytesPerSecond != 100 || e.rowsPerSecond != 10 || e.done != 0.1 || !e.leftKnown || e.left != 9*time.Second {
		t.Errorf("first: %+v", e)
	}
	if e := at(2, 300, 1000); e.bytesPerSecond != 200 {
		t.Errorf("second: %+v", e)
	}
	for s := int64(3); s < 30; s++ {
		at(s, 300, 1000)
	}
	if e := at(30, 300, 1000); e.bytesPerSecond != 0 {
		t.Errorf("a rate must follow a stop: %+v", e)
	}
	if e := at(31, 2000, 1000); e.done != 1 || e.leftKnown {
		t.Errorf("more than expected: %+v", e)
	}
	rows := a.next(pghaul.Progress{Stage: "rows", Elapsed: 32 * time.Second, Bytes: 2000, Rows: 500, TotalRows: 2000, TotalBytes: 1000})
	if rows.done != 0.25 {
		t.Errorf("many rows: %+v", rows)
	}
	if e := at(33, 2000, 0); e.done != -1 || e.leftKnown {
		t.Errorf("nothing expected: %+v", e)
	}
}

func TestLines(t *testing.T) {
	var b strings.Builder
	l := &lines{w: &b}
	at := func(seconds int, waiting string) {
		p := pghaul.Progress{Table: "public.t", Stage: "rows", Rows: int64(seconds), Elapsed: time.Duration(seconds) * time.Second, Waiting: waiting}
		l.show(p, estimate{done: -1})
	}
	for s := range 12 {
		at(s, "")
	}
	at(12, "target waits for a lock")
	at(13, "target waits for a lock")
	want := "public.t: 5 rows\npublic.t: 10 rows\npublic.t: 12 rows; target waits for a lock\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestObjects(t *testing.T) {
	var b strings.Builder
	o := &objects{w: &b}
	o.show(pghaul.Progress{Table: `public."T"`, Stage: "rows", Rows: 5, TotalRows: 10, Bytes: 50, Elapsed: 2 * time.Second},
		estimate{bytesPerSecond: 25, left: 2 * time.Second, leftKnown: true})
	var got map[string]any
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil || strings.Count(b.String(), "\n") != 1 {
		t.Fatalf("%v: %q", err, b.String())
	}
	for key, want := range map[string]any{"event": "progress", "table": `public."T"`, "stage": "rows", "rows": 5.0, "total_rows": 10.0,
		"bytes": 50.0, "total_bytes": 0.0, "bytes_per_second": 25.0, "elapsed_seconds": 2.0, "left_seconds": 2.0} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
}

// The bar must end, and leave nothing running, whatever was shown.
func TestBar(t *testing.T) {
	for _, shown := range []int64{0, 50, 100, 200} {
		var b strings.Builder
		d := newDisplay("bar", &b)
		d.update(pghaul.Progress{Table: "public.t", Stage: "rows", Rows: shown, Bytes: shown, TotalBytes: 100, Elapsed: time.Second})
		if _, err := d.Write([]byte("a log line\n")); err != nil {
			t.Error(err)
		}
		d.close()
		if !strings.Contains(b.String(), "a log line") {
			t.Errorf("the log line is missing: %q", b.String())
		}
	}
}

func TestModes(t *testing.T) {
	var b strings.Builder
	if _, plain := newDisplay("auto", &b).render.(*lines); !plain {
		t.Error("auto must be plain where there is no terminal")
	}
	quiet := newDisplay("none", &b)
	quiet.update(pghaul.Progress{Elapsed: time.Hour})
	if b.Len() > 0 {
		t.Errorf("none printed %q", b.String())
	}
}
