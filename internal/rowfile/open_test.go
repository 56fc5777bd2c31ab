package rowfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/planner"
)

// fileOf writes a file of a fresh directory.
func fileOf(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t *testing.T, stdin io.Reader, spec Layout, paths ...string) *Input {
	t.Helper()
	in, err := Open(t.Context(), paths, stdin, spec)
	if err != nil {
		t.Fatalf("open %q: %v", paths, err)
	}
	t.Cleanup(func() { _ = in.Close() })
	return in
}

// rowText writes a row so that NULL, values and errors differ.
func rowText(r *Row) string {
	if r.Bad != nil {
		return "!" + r.Bad.State + " " + r.Bad.Message + "|" + r.Bad.Detail
	}
	var b strings.Builder
	for i, f := range r.Fields {
		if i > 0 {
			b.WriteByte('|')
		}
		if f == nil {
			b.WriteString("~")
			continue
		}
		b.Write(f)
	}
	return b.String()
}

// drain reads a stream to its end.
func drain(t *testing.T, in *Input, file int, from Position) (rows []string, blocks []*Block, err error) {
	t.Helper()
	s, err := in.Open(t.Context(), file, from)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	p := in.Parser()
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return rows, blocks, nil
		}
		if err != nil {
			return rows, blocks, err
		}
		if b.Large != nil {
			t.Cleanup(b.Large.Release)
			rows = append(rows, fmt.Sprintf("large %d", b.Large.Size))
		}
		if err := p.Parse(b, func(r *Row) error {
			rows = append(rows, rowText(r))
			return nil
		}); err != nil {
			return rows, blocks, err
		}
		blocks = append(blocks, b)
	}
}

// allRows reads all files.
func allRows(t *testing.T, in *Input) []string {
	t.Helper()
	var all []string
	for i := range in.Files() {
		rows, _, err := drain(t, in, i, Position{})
		if err != nil {
			t.Fatalf("read %q: %v", in.Files()[i].Name, err)
		}
		all = append(all, rows...)
	}
	return all
}

func mustEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// mustFail checks that an error is one for users and that its parts hold certain words.
func mustFail(t *testing.T, err error, words ...string) {
	t.Helper()
	var e *planner.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want a *planner.Error", err)
	}
	text := e.Error() + "\n" + e.Detail + "\n" + e.Hint
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("error lacks %q:\n%s", w, text)
		}
	}
	if strings.HasSuffix(e.Message, ".") || e.Message == "" {
		t.Errorf("message %q", e.Message)
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"b.csv": "3,4\n", "a.csv": "1,2\n", "c.csv": "", ".hidden.csv": "9,9\n", "sub/d.csv": "5,6\n", "odd/[x].csv": "7,8\n", "hollow/.keep": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) []string {
		for i := range names {
			if names[i] != "-" {
				names[i] = filepath.Join(dir, names[i])
			}
		}
		return names
	}
	good := []struct {
		name  string
		paths []string
		want  []string
	}{
		{"files in the order given", at("b.csv", "a.csv"), []string{"3|4", "1|2"}},
		{"directory", []string{dir}, []string{"1|2", "3|4"}},
		{"pattern", at("*.csv"), []string{"1|2", "3|4"}},
		{"pattern over directories", at("*/*.csv"), []string{"7|8", "5|6"}},
		{"a name that could be a pattern", at("odd/[x].csv"), []string{"7|8"}},
		{"an empty file alone", at("c.csv"), nil},
		{"standard input among files", at("a.csv", "-"), []string{"1|2", "x|y"}},
	}
	for _, c := range good {
		t.Run(c.name, func(t *testing.T) {
			in := opened(t, strings.NewReader("x,y\n"), Layout{Header: NoHeader}, c.paths...)
			mustEqual(t, "rows", allRows(t, in), c.want)
		})
	}
	bad := []struct {
		name  string
		paths []string
		words []string
	}{
		{"nothing", nil, []string{"no file is given"}},
		{"a missing file", at("nowhere.csv"), []string{"nowhere.csv", "does not exist", "relative"}},
		{"a pattern without a match", at("*.txt"), []string{"*.txt", "no file matches"}},
		{"only hidden files match", at("hollow/*"), []string{"no file matches"}},
		{"a directory without files", at("hollow"), []string{"hollow", "has no files"}},
		{"a file twice", at("a.csv", "*.csv"), []string{"given twice", "a.csv"}},
		{"standard input twice", []string{"-", "-"}, []string{"given twice"}},
		{"a malformed pattern", at("[a*.csv"), []string{"malformed"}},
	}
	for _, c := range bad {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(t.Context(), c.paths, strings.NewReader("x,y\n"), Layout{})
			mustFail(t, err, c.words...)
		})
	}
}

func TestLayoutsMustAgree(t *testing.T) {
	cases := []struct {
		name, a, b string
		words      []string // empty: they agree
	}{
		{"equal headers", "id,name\n1,x\n", "id,name\n2,y\n", nil},
		{"a header alone", "id,name\n1,x\n", "id,name\n", nil},
		{"other columns", "id,name\n1,x\n", "id,title\n2,y\n", []string{"different columns", `"title"`, "b.csv", "a.csv"}},
		{"a header in one", "1,2\n3,4\n", "id,name\n2,y\n", []string{"different first lines"}},
		{"other delimiters", "id,name\n1,x\n", "id;name\n2;y\n", []string{"different columns"}},
		{"other formats", "id,name\n1,x\n", "{\"id\": 1}\n", []string{"different formats", "CSV", "NDJSON"}},
		{"no rows in one", "id,name\n1,x\n", "", nil},
		{"a box", "id,name\n1,x\n", "PK\x03\x04\x00\x00\x00", []string{"zip", "b.csv", "unzip"}},
		{"no text", "id,name\n1,x\n", "\x7fELF\x00\x00\x00\x00\x00", []string{"b.csv"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, b := fileOf(t, "a.csv", []byte(c.a)), fileOf(t, "b.csv", []byte(c.b))
			in, err := Open(t.Context(), []string{a, b}, nil, Layout{})
			if c.words == nil {
				if err != nil {
					t.Fatal(err)
				}
				mustEqual(t, "names", in.Names(), []string{"id", "name"})
				return
			}
			mustFail(t, err, c.words...)
		})
	}
}

func TestDescribe(t *testing.T) {
	cases := []struct {
		content string
		spec    Layout
		want    string
	}{
		{"id;name\n1;x\n", Layout{}, `CSV with a header, delimiter ";", LF line ends`},
		{"1,x\r\n2,y\r\n", Layout{}, `CSV with no header, delimiter ",", CRLF line ends`},
		{"{\"id\":1}\n", Layout{}, "NDJSON"},
		{string(gzipped(t, []byte("id,name\n1,x\n"))), Layout{}, `CSV with a header, delimiter ",", LF line ends, gzip`},
	}
	for _, c := range cases {
		in := opened(t, nil, c.spec, fileOf(t, "f", []byte(c.content)))
		mustEqual(t, "description", in.Describe(), c.want)
	}
}

func TestIdentity(t *testing.T) {
	path := fileOf(t, "a.csv", []byte("1,2\n"))
	identity := func() string { return opened(t, nil, Layout{}, path).Files()[0].Identity }
	first := identity()
	if first == "" || identity() != first {
		t.Fatalf("identities %q and %q of one file", first, identity())
	}
	other := fileOf(t, "b.csv", []byte("1,2\n"))
	if opened(t, nil, Layout{}, other).Files()[0].Identity == first {
		t.Error("another file of equal contents has the same identity")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("1,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if identity() == first {
		t.Error("other contents of the same size and time have the same identity")
	}
}

// TestChangedWhileRead changes files behind the first block.
func TestChangedWhileRead(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	content := []byte(strings.Repeat(line, 3*BlockSize/len(line)))
	cases := []struct {
		name   string
		packed bool
		change func(path string) error
		word   string
	}{
		{"grown", false, func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString(line)
			return err
		}, "grew"},
		{"shrunk", false, func(path string) error { return os.Truncate(path, 2*BlockSize) }, "shrank"},
		{"rewritten", false, func(path string) error {
			return errors.Join(os.WriteFile(path, content, 0o600), os.Chtimes(path, day(1), day(1)))
		}, "was changed"},
		{"compressed and touched", true, func(path string) error { return os.Chtimes(path, day(1), day(1)) }, "was changed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bytes := content
			if c.packed {
				bytes = gzipped(t, content)
			}
			path := fileOf(t, "f.csv", bytes)
			in := opened(t, nil, Layout{Format: CSV, Header: NoHeader}, path)
			s, err := in.Open(t.Context(), 0, Position{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if !c.packed {
				if _, err := s.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = s.Next()
			}
			mustFail(t, err, "f.csv", c.word)
			if _, again := s.Next(); !errors.Is(again, err) {
				t.Errorf("then %v", again)
			}
			if _, err := in.Open(t.Context(), 0, Position{}); err == nil {
				t.Error("the changed file could be opened again")
			}
		})
	}
}

// endless is an input of lines that does not end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat("1,2\n", 1+len(p)/4))
	return n &^ 3, nil
}

func TestCancelled(t *testing.T) {
	in := opened(t, endless{}, Layout{Format: CSV, Header: NoHeader}, "-")
	ctx, cancel := context.WithCancel(t.Context())
	s, err := in.Open(ctx, 0, Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	cancel()
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}
