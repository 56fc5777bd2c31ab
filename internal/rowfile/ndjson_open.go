package rowfile

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/pghaul/pghaul/planner"
)

// settleNDJSON finds the columns of a file: those of the target when they are known, else the keys of its first rows in the order in which they come.
func settleNDJSON(ctx context.Context, s *source, l *Layout) error {
	l.Header = NoHeader
	if l.Encoding != "" && l.Encoding != utf8Name {
		return usage(fmt.Sprintf("NDJSON is always in UTF8, not in %s", l.Encoding), "Leave --encoding out.")
	}
	// The first row may be longer than what is looked at of other files.
	for size := 2 * headSize; !s.whole && bytes.IndexByte(s.head, '\n') < 0 && size <= LargeRow; size *= 2 {
		if err := s.look(ctx, size); err != nil {
			return err
		}
	}
	head := bytes.TrimPrefix(s.head, utf8BOM)
	if rest := bytes.TrimLeft(head, " \t\r\n"); len(rest) > 0 && rest[0] == '[' {
		return &planner.Error{
			Message: "this is one JSON array, not NDJSON, which has one object on each line",
			Hint:    "Turn it into lines: jq -c '.[]' FILE | pghaul load - --format ndjson.",
		}
	}
	for range l.Skip {
		_, head, _ = bytes.Cut(head, []byte("\n"))
	}
	names, err := keysOf(head, s.whole)
	if err != nil {
		return err
	}
	if l.Names = names; l.Columns != nil {
		l.Names = append([]string(nil), l.Columns...)
	}
	l.Width = len(l.Names)
	return nil
}

// keysOf lists the keys of the objects that text holds. A last line that is cut off gives those that it has.
func keysOf(text []byte, whole bool) ([]string, error) {
	var names []string
	known := map[string]bool{}
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n') + 1
		cutOff := end == 0 && !whole
		if end == 0 {
			end = len(text)
		}
		keys := lineKeys(text[:end])
		text = text[end:]
		if cutOff && len(names) > 0 {
			break
		}
		for _, key := range keys {
			if !known[key] {
				known[key] = true
				names = append(names, key)
			}
		}
		if cutOff {
			break
		}
	}
	if len(names) == 0 {
		return nil, &planner.Error{
			Message: "the first rows have no JSON object with a key, so that the columns are not known",
			Hint:    "Is this NDJSON, one object on each line? If so, name the columns with --columns.",
		}
	}
	return names, nil
}

// lineKeys lists the keys of one line as far as it is an object.
func lineKeys(line []byte) (keys []string) {
	s := newJSONStream(bytes.NewReader(line), 0, int64(len(line)))
	_ = s.members(func(key string) *RowError {
		keys = append(keys, key)
		if fault := s.value(); fault != nil {
			return syntaxFault(fault)
		}
		return nil
	})
	return keys
}

func openNDJSON(c *contents, name string, file int, l *Layout, from Position) (Stream, error) {
	var rest []byte
	if from.Line == 0 {
		var err error
		if from, rest, err = skipLines(c, l.Skip); err != nil {
			return nil, err
		}
	}
	f := newFeed(c, name, file, lineEnds{}, from, rowsLeft(l.Limit, from.Row))
	f.rest = rest
	return f, nil
}

// settleBinary checks the header of COPY binary.
func settleBinary(s *source, l *Layout) error {
	l.Header = NoHeader
	length, width, err := binaryStart(s.head)
	if err != nil {
		return &planner.Error{Message: err.Error(), Hint: "Write the file with COPY ... TO ... (FORMAT binary)."}
	}
	l.Width, l.Lead = width, bytes.Clone(s.head[:length])
	return nil
}

func openBinary(c *contents, s *source, file int, l *Layout, from Position) (Stream, error) {
	if from.Line == 0 {
		length := int64(len(l.Lead))
		if _, err := io.CopyN(io.Discard, c, length); err != nil {
			return nil, readError(s.Name, err)
		}
		from = Position{Offset: length, Line: 1}
		if l.Skip > 0 {
			return newFeed(c, s.Name, file, binaryEnds{}, from, l.Skip).drop(l.Limit)
		}
	}
	return newFeed(c, s.Name, file, binaryEnds{}, from, rowsLeft(l.Limit, from.Row)), nil
}

// drop reads the rows up to the limit, and goes on behind them with another one.
func (f *feed) drop(limit int64) (Stream, error) {
	for {
		b, err := f.Next()
		if err == io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
			break
		}
		if err != nil {
			return nil, err
		}
		if b.Large != nil {
			b.Large.Release()
		}
	}
	f.pos.Row = 0
	after := newFeed(f.contents, f.name, f.file, f.ends, f.pos, rowsLeft(limit, 0))
	after.rest, after.err = f.rest, f.err
	return after, nil
}
