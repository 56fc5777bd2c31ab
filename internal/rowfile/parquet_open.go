package rowfile

import (
	"bytes"
	"context"
	"io"

	"github.com/pghaul/pghaul/planner"
)

// settleParquet reads a file's footer for its columns. What is not a file that can be read anywhere is kept in a temporary one first.
func settleParquet(ctx context.Context, s *source, l *Layout) (_ *parquetFile, err error) {
	l.Header = NoHeader
	if !bytes.HasPrefix(s.head, []byte("PAR1")) {
		message := "this is no Parquet file"
		if bytes.HasPrefix(s.head, []byte("PARE")) {
			message = "this Parquet file is encrypted"
		}
		return nil, &planner.Error{Message: message}
	}
	p := &parquetFile{source: s}
	if s.once != nil || s.packing != plain {
		if p.spooled, err = spoolContents(ctx, s); err != nil {
			return nil, err
		}
	}
	open, err := p.use()
	if err != nil {
		p.end()
		return nil, err
	}
	defer p.release()
	l.Names = make([]string, len(open.columns))
	seen := map[string]bool{}
	for i, c := range open.columns {
		if seen[c.name] {
			p.spooledEnd()
			return nil, twice(c.name)
		}
		seen[c.name] = true
		l.Names[i] = c.name
	}
	l.Width = len(l.Names)
	return p, nil
}

func (p *parquetFile) spooledEnd() {
	if p.spooled != nil {
		p.spooled.release()
	}
}

func twice(name string) error {
	return &planner.Error{Message: "it has two columns of the name \"" + name + "\"", Hint: "Write the file with one of them renamed."}
}

func spoolContents(ctx context.Context, s *source) (*scratch, error) {
	c, err := s.open(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer c.close()
	to, err := newScratch()
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyBuffer(to, struct{ io.Reader }{c}, make([]byte, BlockSize)); err != nil {
		to.release()
		return nil, err
	}
	return to, nil
}
