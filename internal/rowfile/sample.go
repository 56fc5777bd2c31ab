package rowfile

import (
	"context"
	"errors"
	"io"
)

// sampleRows calls each with the first rows of the files, at most limit of them, rows that cannot be parsed left out. Streams that are read once are
// kept as far as they were read for it, in a temporary file.
func (in *Input) sampleRows(ctx context.Context, limit int, parser Parser, each func(*Row)) error {
	left := limit
	for i, s := range in.sources {
		if left <= 0 {
			return nil
		}
		if s.empty {
			continue
		}
		stream, err := in.sampleStream(ctx, i)
		if err != nil {
			return err
		}
		err = sampleStream(stream, parser, &left, each)
		_ = stream.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func sampleStream(stream Stream, parser Parser, left *int, each func(*Row)) error {
	for {
		b, err := stream.Next()
		if err == io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
			return nil
		}
		if err != nil {
			return err
		}
		if b.Large != nil {
			b.Large.Release()
			continue
		}
		err = parser.Parse(b, func(r *Row) error {
			if r.Bad == nil {
				each(r)
			}
			if *left--; *left <= 0 {
				return errEnough
			}
			return nil
		})
		b.Release()
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sampleStream opens a file so that it can be opened again.
func (in *Input) sampleStream(ctx context.Context, file int) (Stream, error) {
	s := in.sources[file]
	if s.once == nil {
		return in.Open(ctx, file, Position{})
	}
	c, err := s.once.record(ctx, s.Name)
	if err != nil {
		return nil, err
	}
	return s.stream(c, file, Position{})
}

// record reads a stream from its start and keeps what is read of it.
func (o *once) record(ctx context.Context, name string) (*contents, error) {
	if o.taken {
		return nil, readTwice(name)
	}
	if o.spool == nil {
		spool, err := newScratch()
		if err != nil {
			return nil, err
		}
		o.spool = spool
	}
	stop := context.AfterFunc(ctx, func() { o.pump.halt(context.Cause(ctx)) })
	kept := io.MultiReader(&consumedBytes{left: o.head}, o.spool.reader())
	return &contents{io.MultiReader(kept, io.TeeReader(o.pump, o.spool)), o.raw.consumed, func() { stop() }}, nil
}
