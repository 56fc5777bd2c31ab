package pghaul_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/pghaul/pghaul"

// layers is the house: a package imports from the layers above its own in this list (below it in the picture), never from
// its own or a later one. "." is the root package.
var layers = [][]string{
	{"planner", "internal/copyfmt", "internal/sqltext", "internal/wire", "internal/heap", "internal/datum", "internal/encode"},
	{"internal/catalog", "internal/datadir", "internal/rowfile"},
	{"internal/move"},
	{".", "internal/gateway", "internal/fleet"},
	{"internal/bench"},
	{"cmd/pghaul"},
}

// aside are packages outside the layers, with those that may import them; test files may import them all.
var aside = map[string][]string{
	"internal/cluster":     {"internal/bench", "cmd/pghaul", "internal/clustertest"},
	"internal/clustertest": {},
}

// sideways are the exceptions within a layer: the planner writes the SQL it plans, so it quotes names.
var sideways = map[string][]string{"planner": {"internal/sqltext"}}

// owners says who may import an outside module or a package of the standard library that is not for everyone. The longest
// matching prefix counts. An owner is a package, or a file pattern when it holds ".go". Test files are free. A module without
// an entry fails.
var owners = map[string][]string{
	"github.com/jackc/pgx":       {"internal/catalog", "internal/move", "internal/fleet", "internal/bench", "internal/clustertest", "cmd/pghaul"},
	"github.com/riverqueue":      {"internal/fleet"},
	"github.com/parquet-go":      {"internal/rowfile"},
	"github.com/klauspost":       {"internal/rowfile"},
	"github.com/ulikunitz/xz":    {"internal/rowfile"},
	"github.com/pierrec/lz4":     {"internal/rowfile", "internal/heap"},
	"github.com/spf13":           {"cmd/pghaul"},
	"github.com/vbauerster/mpb":  {"cmd/pghaul"},
	"github.com/prometheus":      {"internal/gateway"},
	"go.yaml.in/yaml":            {"cmd/pghaul"},
	"golang.org/x/term":          {"cmd/pghaul"},
	"golang.org/x/sync":          {"internal/catalog", "internal/datadir", "internal/rowfile", "internal/move", ".", "internal/gateway", "internal/fleet", "internal/bench"},
	"golang.org/x/text":          {"internal/rowfile"},
	"golang.org/x/time":          {"internal/move"},
	"golang.org/x/sys":           {"internal/cluster", "cmd/pghaul/yield_linux*.go"},
	"github.com/google/go-cmp":   {},
	"os/exec":                    {"internal/cluster", "internal/move/pgdump.go"},
	"os/signal":                  {"internal/clustertest", "cmd/pghaul"},
	"html/template":              {"internal/bench", "internal/gateway"},
	"testing":                    {"internal/clustertest"},
	"flag":                       {},
	"log":                        {},
	"unsafe":                     {},
	module + "/internal/cluster": {"internal/bench", "cmd/pghaul/demo*.go", "internal/clustertest"},
}

// impure are the imports that layer 0 may not have, by prefix. net/url and net/netip only parse.
var impure = []string{"context", "net", "os", "sync", "log", "syscall", "runtime", "golang.org/x/", "github.com/jackc"}

var pureNet = []string{"net/url", "net/netip"}

// clock are the functions of package time that read or wait for the clock.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// surroundings are what a library must not touch: its caller owns them.
var surroundings = map[string][]string{
	"os":  {"Stdin", "Stdout", "Stderr", "Args", "Exit", "Getenv", "LookupEnv", "Environ", "Setenv"},
	"fmt": {"Print", "Println", "Printf"},
}

// outgoing are the packages that may touch the surroundings.
var outgoing = []string{"cmd/pghaul", "internal/cluster", "internal/clustertest"}

const (
	fileCap, testFileCap, functionCap, pageCap = 500, 800, 80, 250
)

// vagueWords say no idea in any name, vagueNames as the whole of one: conformance_types is about the types of columns.
var (
	vagueWords = []string{"util", "utils", "common", "helper", "helpers", "manager", "impl", "misc"}
	vagueNames = []string{"types", "model", "models", "base"}
)

var lineCitation = regexp.MustCompile(`\b\w+\.(go|c|h|y|l|sql|md):\d+|\b\w+\.(go|c|h|y|l)\b,? lines? \d+`)

// houseFile is one Go file of the repository.
type houseFile struct {
	path   string // slash-separated, from the root of the repository
	dir    string
	lines  int
	test   bool
	syntax *ast.File
	set    *token.FileSet
}

func parseHouseFile(name string, text []byte) (*houseFile, error) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &houseFile{
		path: name, dir: path.Dir(name), lines: bytes.Count(text, []byte("\n")),
		test: strings.HasSuffix(name, "_test.go"), syntax: syntax, set: set,
	}, nil
}

// repositoryFiles lists the files with an extension, apart from those of tests' data and hidden directories.
func repositoryFiles(t *testing.T, extension string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "bin") {
			return filepath.SkipDir
		}
		if !entry.IsDir() && strings.HasSuffix(base, extension) {
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func houseFiles(t *testing.T) []*houseFile {
	t.Helper()
	var files []*houseFile
	for _, name := range repositoryFiles(t, ".go") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parseHouseFile(name, text)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		t.Fatal("found no Go files")
	}
	return files
}

func (f *houseFile) imports() []string {
	var list []string
	for _, spec := range f.syntax.Imports {
		// The parser accepts quoted strings only.
		name, _ := strconv.Unquote(spec.Path.Value)
		list = append(list, name)
	}
	return list
}

// localImport turns an import path of this module into a directory.
func localImport(name string) (dir string, ok bool) {
	if name == module {
		return ".", true
	}
	return strings.CutPrefix(name, module+"/")
}

func layerOf(dir string) int {
	return slices.IndexFunc(layers, func(packages []string) bool { return slices.Contains(packages, dir) })
}

// houseRules are the rules on one file; each returns its complaints.
var houseRules = map[string]func(*houseFile) []string{
	"Layers":       layersRule,
	"Owners":       ownersRule,
	"Purity":       purityRule,
	"Surroundings": surroundingsRule,
	"Caps":         capsRule,
	"Names":        namesRule,
	"Docstrings":   docstringsRule,
	"Tests":        testsRule,
	"Comments":     commentsRule,
	"Errors":       errorsRule,
}

func layersRule(f *houseFile) []string {
	own := layerOf(f.dir)
	_, isAside := aside[f.dir]
	if own < 0 && !isAside {
		return []string{f.dir + " is in no layer: give it a place in the table of house_test.go, and say why in the commit"}
	}
	if f.test {
		return nil
	}
	var complaints []string
	for _, name := range f.imports() {
		dir, ok := localImport(name)
		if !ok {
			continue
		}
		importers, toAside := aside[dir]
		switch {
		case toAside && !slices.Contains(importers, f.dir):
			complaints = append(complaints, fmt.Sprintf("imports %s, which is for test files and %v", dir, importers))
		case toAside || slices.Contains(sideways[f.dir], dir):
		case isAside:
			complaints = append(complaints, fmt.Sprintf("imports %s: %s stands outside the layers and uses none", dir, f.dir))
		case layerOf(dir) >= own:
			complaints = append(complaints, fmt.Sprintf("imports %s of layer %d into layer %d: imports go downward only",
				dir, layerOf(dir), own))
		}
	}
	return complaints
}

func ownersRule(f *houseFile) []string {
	if f.test {
		return nil
	}
	var complaints []string
	for _, name := range f.imports() {
		key := longestPrefix(name, slices.Collect(maps.Keys(owners)))
		_, local := localImport(name)
		switch {
		case key == "" && !local && strings.Contains(strings.Split(name, "/")[0], "."):
			complaints = append(complaints, "imports "+name+", a module without an owner in house_test.go")
		case key != "" && !slices.ContainsFunc(owners[key], f.isOwner):
			complaints = append(complaints, fmt.Sprintf("imports %s, which only %v may", name, owners[key]))
		}
	}
	return complaints
}

func (f *houseFile) isOwner(owner string) bool {
	if strings.HasSuffix(owner, ".go") {
		match, err := path.Match(owner, f.path)
		return match && err == nil
	}
	return owner == f.dir
}

// longestPrefix is the longest of the prefixes that ends at a slash of name, or at its end.
func longestPrefix(name string, prefixes []string) string {
	longest := ""
	for _, p := range prefixes {
		if (name == p || strings.HasPrefix(name, strings.TrimSuffix(p, "/")+"/")) && len(p) > len(longest) {
			longest = p
		}
	}
	// Standard packages are meant by themselves: log is not log/slog.
	if !strings.Contains(longest, ".") && longest != name {
		return ""
	}
	return longest
}

func purityRule(f *houseFile) []string {
	if f.test || layerOf(f.dir) != 0 {
		return nil
	}
	var complaints []string
	for _, name := range f.imports() {
		for _, p := range impure {
			if (name == p || strings.HasPrefix(name, strings.TrimSuffix(p, "/")+"/")) && !slices.Contains(pureNet, name) {
				complaints = append(complaints, "imports "+name+": layer 0 is pure, take what it gives as a value")
			}
		}
	}
	for _, use := range f.uses("time", clock) {
		complaints = append(complaints, use+": layer 0 is pure, take the time as a value")
	}
	return complaints
}

// uses finds mentions of pkg.Name for the names given. It goes by the package's usual name, which nobody here changes.
func (f *houseFile) uses(pkg string, names []string) []string {
	var found []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok || !slices.Contains(names, selector.Sel.Name) {
			return true
		}
		if id, ok := selector.X.(*ast.Ident); ok && id.Name == pkg {
			found = append(found, fmt.Sprintf("line %d uses %s.%s", f.line(n), pkg, selector.Sel.Name))
		}
		return true
	})
	return found
}

func (f *houseFile) line(n ast.Node) int { return f.set.Position(n.Pos()).Line }

func surroundingsRule(f *houseFile) []string {
	if f.test || slices.Contains(outgoing, f.dir) {
		return nil
	}
	var complaints []string
	for _, pkg := range slices.Sorted(maps.Keys(surroundings)) {
		for _, use := range f.uses(pkg, surroundings[pkg]) {
			complaints = append(complaints, use+": a library leaves that to its caller")
		}
	}
	return complaints
}

func capsRule(f *houseFile) []string {
	var complaints []string
	limit := fileCap
	if f.test {
		limit = testFileCap
	}
	if f.lines > limit {
		complaints = append(complaints, fmt.Sprintf("%d lines, the cap is %d: split it by idea", f.lines, limit))
	}
	for _, decl := range f.syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := f.set.Position(fn.End()).Line - f.line(fn) + 1; n > functionCap {
			complaints = append(complaints, fmt.Sprintf("function %s has %d lines, the cap is %d", fn.Name.Name, n, functionCap))
		}
	}
	return complaints
}

func namesRule(f *houseFile) []string {
	var complaints []string
	stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test")
	stem = strings.TrimSuffix(stem, "_pg")
	names := append(strings.Split(f.dir, "/"), stem)
	words := append(strings.Split(stem, "_"), names...)
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		if slices.Contains(vagueWords, word) || slices.Contains(vagueNames, word) && slices.Contains(names, word) {
			complaints = append(complaints, fmt.Sprintf("%q in the name says no idea: name the file by what it does", word))
		}
	}
	if strings.HasPrefix(stem, f.syntax.Name.Name+"_") {
		complaints = append(complaints, "the file's name repeats the package's")
	}
	for _, decl := range f.syntax.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		rest, isGet := strings.CutPrefix(fn.Name.Name, "Get")
		if isGet && rest != "" && ast.IsExported(rest) {
			complaints = append(complaints, fn.Name.Name+": drop the Get")
		}
	}
	return complaints
}

func docstringsRule(f *houseFile) []string {
	if f.test {
		return nil
	}
	var complaints []string
	missing := func(name string) {
		complaints = append(complaints, name+" has no docstring: say what it means, its units and errors")
	}
	for _, decl := range f.syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) && d.Doc == nil {
				missing(d.Name.Name)
			}
		case *ast.GenDecl:
			for _, name := range undocumented(d) {
				missing(name)
			}
		}
	}
	return complaints
}

// exportedReceiver is true of functions too.
func exportedReceiver(fn *ast.FuncDecl) bool {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return true
	}
	receiver := fn.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.IsExported()
		default:
			return true
		}
	}
}

// undocumented lists exported names of a declaration without comment. A comment on a group of constants or variables serves
// all of them; a type needs its own, and so does each field of an Options struct.
func undocumented(d *ast.GenDecl) []string {
	var names []string
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || len(d.Specs) > 1) {
				names = append(names, s.Name.Name)
			}
			if st, ok := s.Type.(*ast.StructType); ok && s.Name.IsExported() && strings.HasSuffix(s.Name.Name, "Options") {
				names = append(names, undocumentedFields(s.Name.Name, st)...)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

func undocumentedFields(of string, st *ast.StructType) []string {
	var names []string
	for _, field := range st.Fields.List {
		for _, name := range field.Names {
			if name.IsExported() && field.Doc == nil && field.Comment == nil {
				names = append(names, of+"."+name.Name)
			}
		}
	}
	return names
}

// testsRule keeps tests honest: they run all, wait for events instead of sleeping, and name those that need a server.
func testsRule(f *houseFile) []string {
	if !f.test {
		return nil
	}
	var complaints []string
	for _, t := range []string{"t", "b", "tb", "f"} {
		for _, use := range f.uses(t, []string{"Skip", "Skipf", "SkipNow"}) {
			complaints = append(complaints, use+": a test that cannot run fails")
		}
	}
	for _, use := range f.uses("time", []string{"Sleep"}) {
		complaints = append(complaints, use+": wait for the event itself")
	}
	if slices.Contains(f.imports(), module+"/internal/clustertest") && !strings.HasSuffix(f.path, "_pg_test.go") {
		complaints = append(complaints, "needs a server, so its name ends in _pg_test.go")
	}
	return complaints
}

var leftover = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func commentsRule(f *houseFile) []string {
	var complaints []string
	for _, group := range f.syntax.Comments {
		text := group.Text()
		if found := lineCitation.FindString(text); found != "" {
			complaints = append(complaints, fmt.Sprintf("cites %q: line numbers change, name the function", found))
		}
		if found := leftover.FindString(text); found != "" {
			complaints = append(complaints, fmt.Sprintf("line %d: %s: finish it or say what is limited", f.line(group), found))
		}
	}
	return complaints
}

// errorsRule finds decisions by the text of an error. Tests judge messages, of course.
func errorsRule(f *houseFile) []string {
	if f.test {
		return nil
	}
	var complaints []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		fn, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Contains", "HasPrefix", "HasSuffix", "EqualFold", "MatchString"}, fn.Sel.Name) {
			return true
		}
		if inner, ok := call.Args[0].(*ast.CallExpr); ok && len(inner.Args) == 0 {
			if sel, ok := inner.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Error" {
				complaints = append(complaints, fmt.Sprintf("line %d judges an error by its text: use SQLSTATE, errors.Is or errors.As", f.line(n)))
			}
		}
		return true
	})
	return complaints
}

func TestHouse(t *testing.T) {
	files := houseFiles(t)
	for _, name := range slices.Sorted(maps.Keys(houseRules)) {
		t.Run(name, func(t *testing.T) {
			for _, f := range files {
				for _, complaint := range houseRules[name](f) {
					t.Errorf("%s: %s", f.path, complaint)
				}
			}
		})
	}
}

func TestHousePackageComments(t *testing.T) {
	comments := map[string]string{}
	for _, f := range houseFiles(t) {
		if f.test {
			continue
		}
		comments[f.dir] += f.syntax.Doc.Text()
	}
	for _, dir := range slices.Sorted(maps.Keys(comments)) {
		if comments[dir] == "" {
			t.Errorf("%s has no package comment: say what it does, its model and its limits", dir)
		}
	}
}

func TestHousePages(t *testing.T) {
	for _, name := range repositoryFiles(t, ".md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); strings.HasPrefix(name, "docs/") && n > pageCap {
			t.Errorf("%s: %d lines, the cap is %d: split the page", name, n, pageCap)
		}
		if found := lineCitation.Find(text); found != nil {
			t.Errorf("%s cites %q: line numbers change, name the function", name, found)
		}
	}
}

func TestHouseRulesBite(t *testing.T) {
	long := strings.Repeat("\n", 501)
	tests := []struct{ rule, path, text, want string }{
		{"Layers", "internal/unknown/x.go", "package unknown", "is in no layer"},
		{"Layers", "internal/wire/x.go", `package wire; import "github.com/pghaul/pghaul/internal/move"`, "downward only"},
		{"Layers", "internal/wire/x.go", `package wire; import "github.com/pghaul/pghaul/internal/sqltext"`, "downward only"},
		{"Layers", "planner/x.go", `package planner; import "github.com/pghaul/pghaul/internal/sqltext"`, ""},
		{"Layers", "internal/move/x.go", `package move; import "github.com/pghaul/pghaul"`, "imports . of layer 3"},
		{"Layers", "internal/move/x.go", `package move; import "github.com/pghaul/pghaul/internal/cluster"`, "for test files"},
		{"Layers", "internal/cluster/x.go", `package cluster; import "github.com/pghaul/pghaul/planner"`, "uses none"},
		{"Owners", "internal/gateway/x.go", `package gateway; import "github.com/riverqueue/river"`, "only [internal/fleet] may"},
		{"Owners", "internal/fleet/x.go", `package fleet; import "github.com/riverqueue/river"`, ""},
		{"Owners", "internal/move/x.go", `package move; import "example.org/new"`, "without an owner"},
		{"Owners", "internal/move/relay.go", `package move; import "os/exec"`, "only ["},
		{"Owners", "internal/move/pgdump.go", `package move; import "os/exec"`, ""},
		{"Owners", "internal/move/x.go", `package move; import "log/slog"`, ""},
		{"Owners", "cmd/pghaul/copy.go", `package main; import "github.com/pghaul/pghaul/internal/cluster"`, "only ["},
		{"Owners", "cmd/pghaul/demo.go", `package main; import "github.com/pghaul/pghaul/internal/cluster"`, ""},
		{"Purity", "planner/x.go", `package planner; import "net"`, "is pure"},
		{"Purity", "planner/x.go", `package planner; import "sync/atomic"`, "is pure"},
		{"Purity", "planner/x.go", `package planner; import "net/url"`, ""},
		{"Purity", "planner/x.go", "package planner; import \"time\"\nvar x = time.Now()", "line 2 uses time.Now"},
		{"Purity", "planner/x.go", "package planner; import \"time\"\nvar x = time.Second", ""},
		{"Surroundings", "x.go", `package pghaul; var x = os.Getenv("A")`, "uses os.Getenv"},
		{"Surroundings", "cmd/pghaul/x.go", `package main; var x = os.Getenv("A")`, ""},
		{"Caps", "x.go", "package pghaul" + long, "the cap is 500"},
		{"Caps", "x_test.go", "package pghaul" + long, ""},
		{"Caps", "x.go", "package pghaul\nfunc f() {" + long[:80] + "}", "function f has 81 lines"},
		{"Caps", "x.go", "package pghaul\nfunc f() {" + long[:79] + "}", ""},
		{"Names", "internal/move/row_util_test.go", "package move", `"util" in the name`},
		{"Names", "internal/move/types.go", "package move", `"types" in the name`},
		{"Names", "internal/move/conformance_types_pg_test.go", "package move", ""},
		{"Names", "internal/move/move_relay.go", "package move", "repeats the package's"},
		{"Names", "internal/move/relay.go", "package move; func GetRow() {}", "drop the Get"},
		{"Names", "internal/move/relay.go", "package move; func Getting() {}", ""},
		{"Docstrings", "x.go", "package pghaul; func F() {}", "F has no docstring"},
		{"Docstrings", "x.go", "package pghaul; func (r *row) F() {}", ""},
		{"Docstrings", "x.go", "package pghaul; const A = 1", "A has no docstring"},
		{"Docstrings", "x.go", "package pghaul\n// Both.\nconst (\nA = 1\nB = 2\n)", ""},
		{"Docstrings", "x.go", "package pghaul\n// O is.\ntype CopyOptions struct { Jobs int }", "CopyOptions.Jobs has no"},
		{"Tests", "x_test.go", `package pghaul; func f() { t.Skip("x") }`, "fails"},
		{"Tests", "x_test.go", `package pghaul; func f() { time.Sleep(1) }`, "wait for the event"},
		{"Tests", "x_test.go", `package pghaul; import "github.com/pghaul/pghaul/internal/clustertest"`, "_pg_test.go"},
		{"Comments", "x.go", "package pghaul\n// See copy.c:" + "123.", "line numbers change"},
		{"Comments", "x.go", "package pghaul\n// TO" + "DO: more", "finish it"},
		{"Errors", "x.go", `package pghaul; var x = strings.Contains(err.Error(), "closed")`, "by its text"},
	}
	for _, tt := range tests {
		f, err := parseHouseFile(tt.path, []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(houseRules[tt.rule](f), "; ")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s of %s, %.60q: got %q, want %q", tt.rule, tt.path, tt.text, got, tt.want)
		}
	}
}
