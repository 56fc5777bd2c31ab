package rowfile

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/planner"
)

// Input is the files of one load. It implements Rows.
type Input struct {
	sources   []*source
	parquet   []*parquetFile // of the sources, when that is their format
	layout    Layout
	names     []string
	width     int
	arrays    []byte
	documents []bool
}

var _ Rows = (*Input)(nil)

// Open finds the files that paths stand for, looks at all of them and settles their layout. A path is a file, a directory, which stands for the
// files in it, a pattern, or "-" for standard input; pipes and devices are read once. spec is what the user said of the layout, the zero value for
// nothing. Files without contents are taken as such without rows, whatever the layout. The context bounds this call alone.
//
// Errors are *planner.Error: a file that is missing, not allowed to be read, or given twice; contents that are no rows; files of different layouts.
func Open(ctx context.Context, paths []string, stdin io.Reader, spec Layout) (*Input, error) {
	found, err := expand(paths)
	if err != nil {
		return nil, err
	}
	in := &Input{layout: spec}
	for _, n := range found {
		s, err := openSource(ctx, n, stdin)
		if err == nil {
			in.sources = append(in.sources, s)
			err = in.settle(ctx, s, spec)
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			_ = in.Close()
			return nil, err
		}
	}
	if err := in.fallBack(spec); err != nil {
		_ = in.Close()
		return nil, err
	}
	return in, nil
}

// Close ends what is open: streams that are read once, and Parquet files that parsers were at. Nothing of the input may be used afterwards.
func (in *Input) Close() error {
	for _, p := range in.parquet {
		if p != nil {
			p.end()
		}
	}
	for _, s := range in.sources {
		if s.once != nil {
			s.once.close()
		}
	}
	return nil
}

// settle finds the layout of one file. That of the first with contents is the layout of all.
func (in *Input) settle(ctx context.Context, s *source, spec Layout) error {
	in.parquet = append(in.parquet, nil)
	if s.empty = len(s.head) == 0; s.empty {
		return nil
	}
	first := in.first()
	if first != nil && first != s {
		spec = likeFirst(spec, &first.layout, s.head)
	}
	l, err := sniff(s.head, s.whole, spec)
	if err != nil {
		return inFile(s.Name, err)
	}
	switch l.Format {
	case NDJSON:
		err = settleNDJSON(ctx, s, &l)
	case Binary:
		err = settleBinary(s, &l)
	case Parquet:
		in.parquet[len(in.parquet)-1], err = settleParquet(ctx, s, &l)
	}
	if err != nil {
		return inFile(s.Name, err)
	}
	s.layout, s.Format = l, l.Format
	if s.once == nil {
		s.head = nil // There may be many files.
	}
	if first == s {
		in.layout, in.names, in.width = l, l.Names, l.Width
		return nil
	}
	if err := sameLayout(first, s); err != nil {
		return err
	}
	if l.Format == NDJSON && spec.Columns == nil {
		in.join(l.Names)
	}
	return nil
}

// first is the first file with contents.
func (in *Input) first() *source {
	i := slices.IndexFunc(in.sources, func(s *source) bool { return !s.empty })
	if i < 0 {
		return nil
	}
	return in.sources[i]
}

// likeFirst says of a further file what the first has shown, where its own first bytes may be too few to show it.
func likeFirst(spec Layout, first *Layout, head []byte) Layout {
	if formatOf(head) != AutoFormat {
		return spec
	}
	if spec.Header == AutoHeader && first.hasHeader() {
		spec.Header = first.Header
	}
	if first.isCSV() && spec.Delimiter == 0 && first.Width > 1 {
		spec.Delimiter = first.Delimiter
	}
	if first.Format == Text { // Without a backslash it looks like CSV, and is the same.
		spec.Format = Text
	}
	return spec
}

// join adds the keys that other NDJSON files have.
func (in *Input) join(names []string) {
	for _, name := range names {
		if !slices.Contains(in.names, name) {
			in.names = append(slices.Clip(in.names), name)
		}
	}
	in.width = len(in.names)
}

// inFile puts a file's name in front of what was found wrong in it.
func inFile(name string, err error) error {
	own, ok := err.(*planner.Error) //nolint:errorlint // a wrapped one has its place already
	if !ok || strings.Contains(own.Message, name) {
		return err
	}
	named := *own
	if own.Kind != planner.Usage {
		named.Message = fileWords(name) + ": " + own.Message
	}
	return &named
}

// sameLayout refuses two files whose rows cannot be loaded by one set of rules.
func sameLayout(a, b *source) error {
	x, y := &a.layout, &b.layout
	differ := func(what, ofA, ofB string) error {
		return &planner.Error{
			Message: fmt.Sprintf("files %q and %q have different %s", a.Name, b.Name, what),
			Detail:  fmt.Sprintf("The first has %s, the second %s.", ofA, ofB),
			Hint:    "Load them in two runs, or say what all files have: see --format, --delimiter, --header and --columns.",
		}
	}
	switch {
	case x.Format != y.Format:
		return differ("formats", formatWords[x.Format], formatWords[y.Format])
	case x.Format == NDJSON:
		return nil
	case x.isCSV() && x.Delimiter != y.Delimiter && x.Width > 1 && y.Width > 1:
		return differ("delimiters", delimiterWords(x.Delimiter), delimiterWords(y.Delimiter))
	case x.Encoding != y.Encoding:
		return differ("encodings", x.Encoding, y.Encoding)
	case x.hasHeader() != y.hasHeader():
		return differ("first lines", headerWords(x), headerWords(y))
	case !slices.Equal(x.Names, y.Names):
		return differ("columns", quotedNames(x.Names), quotedNames(y.Names))
	case x.Format == Binary && x.Width != y.Width && x.Width > 0 && y.Width > 0:
		return differ("numbers of columns", fmt.Sprint(x.Width), fmt.Sprint(y.Width))
	}
	return nil
}

// fallBack gives a layout to files without contents.
func (in *Input) fallBack(spec Layout) error {
	if in.first() == nil {
		if spec.Format == AutoFormat {
			spec.Format = CSV
		}
		if spec.Format != NDJSON && spec.Format != Binary && spec.Format != Parquet {
			l, err := sniff(nil, true, spec)
			if err != nil {
				return err
			}
			spec = l
		}
		in.layout = spec
	}
	for _, s := range in.sources {
		if s.empty {
			s.layout = in.layout
			s.Format = in.layout.Format
		}
	}
	return nil
}

// Names implements Rows.
func (in *Input) Names() []string { return in.names }

// Width implements Rows.
func (in *Input) Width() int { return in.width }

// Layout is what was settled; Lead and Ends are those of the first file.
func (in *Input) Layout() Layout { return in.layout }

// Files implements Rows.
func (in *Input) Files() []File {
	files := make([]File, len(in.sources))
	for i, s := range in.sources {
		files[i] = s.File
	}
	return files
}

// SetColumns says which column each field goes to; see Layout.SetColumns. It counts for parsers that are made afterwards.
func (in *Input) SetColumns(names []string) {
	in.layout.SetColumns(names)
	for _, s := range in.sources {
		s.layout.SetColumns(names)
	}
}

// SetArrays says which fields go to array columns, by the character that stands between the elements of their type: ',' for all but box's ';'. 0 is
// for other columns. JSON arrays of NDJSON become arrays of the server in those fields, and JSON text in all others. It counts for parsers that are
// made afterwards.
func (in *Input) SetArrays(delimiters []byte) { in.arrays = slices.Clone(delimiters) }

// SetDocuments says which fields go to columns of json and jsonb, or of arrays of them: a JSON string of NDJSON is a document of its own there, with
// its quotes, as json_populate_record has it (populate_scalar in jsonfuncs.c). It counts for parsers that are made afterwards.
func (in *Input) SetDocuments(fields []bool) { in.documents = slices.Clone(fields) }

// Open implements Rows.
func (in *Input) Open(ctx context.Context, file int, from Position) (Stream, error) {
	s := in.sources[file]
	if s.empty {
		return noRows{}, s.stillThere()
	}
	if p := in.parquet[file]; p != nil {
		return newParquetStream(ctx, p, file, from, s.layout.Skip, s.layout.Limit)
	}
	c, err := s.open(ctx, from.Offset)
	if err != nil {
		return nil, err
	}
	stream, err := s.stream(c, file, from)
	if err != nil {
		c.close()
		return nil, err
	}
	return stream, nil
}

// stream cuts contents into blocks.
func (s *source) stream(c *contents, file int, from Position) (Stream, error) {
	l := &s.layout
	switch l.Format {
	case NDJSON:
		return openNDJSON(c, s.Name, file, l, from)
	case Binary:
		return openBinary(c, s, file, l, from)
	}
	return &textStream{newCutter(c, file, s.Name, l, from), c}, nil
}

// Parser implements Rows.
func (in *Input) Parser() Parser {
	switch in.layout.Format {
	case NDJSON:
		p := newNDJSONParser(in.names, in.arrays)
		p.documents = in.documents
		return p
	case Binary:
		return &binaryParser{width: in.width}
	case Parquet:
		return &parquetParser{files: in.parquet}
	}
	return newTextParser(&in.layout)
}

// textStream is a cutter with what it reads from.
type textStream struct {
	*cutter
	from *contents
}

// Consumed implements Stream.
func (t *textStream) Consumed() int64 { return t.from.consumed() }

// Close implements Stream.
func (t *textStream) Close() error {
	t.from.close()
	return nil
}

// noRows is the stream of a file without contents.
type noRows struct{}

// Next implements Stream.
func (noRows) Next() (*Block, error) { return nil, io.EOF }

// Consumed implements Stream.
func (noRows) Consumed() int64 { return 0 }

// Close implements Stream.
func (noRows) Close() error { return nil }
