package planner

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

func TestGolden(t *testing.T) {
	for name, given := range goldens() {
		t.Run(name, func(t *testing.T) {
			p, err := Choose(given())
			if err != nil {
				compare(t, name+".txt", threeParts(err))
				return
			}
			compare(t, name+".txt", p.Text())
			data, err := p.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(data) {
				t.Error("not valid JSON")
			}
			if name == "relay" || name == "insert" || name == "commit_range" {
				compare(t, name+".json", string(data)+"\n")
			}
		})
	}
}

func TestGoldenActual(t *testing.T) {
	for _, name := range []string{"insert", "merge"} {
		p := chosen(t, goldens()[name])
		p.Actual = &Actual{Rows: 20000000, Bytes: 1 << 30, Seconds: 12.34, WALBytes: -1, LimitedBy: "target", Duplicates: 4}
		if name == "insert" {
			p.Actual.Statements = []SentStatement{{SQL: p.InsertSQL(p.Ranges[0], 3), Rows: 3, Times: 6666666}, {SQL: p.InsertSQL(p.Ranges[0], 1), Rows: 1, Times: 1}}
		}
		compare(t, name+"_actual.txt", p.Text())
		data, err := p.JSON()
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name+"_actual.json", string(data)+"\n")
	}
}

func chosen(t *testing.T, given golden) *Plan {
	t.Helper()
	f, w := given()
	return mustChoose(t, f, w)
}

func threeParts(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := "ERROR:  " + e.Message + "\n"
	if e.Detail != "" {
		text += "DETAIL:  " + e.Detail + "\n"
	}
	if e.Hint != "" {
		text += "HINT:  " + e.Hint + "\n"
	}
	return text + "kind: " + []string{"failed", "usage", "refused"}[e.Kind] + "\n"
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", file, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return "got  " + x + "\nwant " + y
		}
	}
	return ""
}
