package rowfile

import (
	"fmt"

	"github.com/pghaul/pghaul/planner"
)

// parquetParser parses blocks of Parquet files. It goes on where its last block ended when the next one is behind it in the same row group.
type parquetParser struct {
	files []*parquetFile // by number
	rows  parquetRows
	raw   parquetRows // for Raw, which would else lead rows astray
	row   Row
}

// parquetRows reads rows of one row group, all columns side by side.
type parquetRows struct {
	file    *parquetFile
	open    *parquetOpen
	group   int
	readers []*parquetReader
	fields  [][]byte
	text    []byte
}

// Parse implements Parser.
func (p *parquetParser) Parse(b *Block, emit func(*Row) error) error {
	file := p.files[b.File]
	if err := p.rows.seek(file, b.Group, b.Begin.Row); err != nil {
		return parquetError(file, b.Begin.Row, err)
	}
	for number := range b.Count {
		bad, err := p.rows.next()
		if err != nil {
			return parquetError(file, b.Begin.Row+number, err)
		}
		p.row = Row{Fields: p.rows.fields, Span: Span{Line: b.Begin.Line + number, Number: number}, Bad: bad}
		if err := emit(&p.row); err != nil {
			return err
		}
	}
	return nil
}

// parquetError is what a user reads about pages that cannot be read.
func parquetError(file *parquetFile, row int64, cause error) error {
	if own, ok := cause.(*planner.Error); ok { //nolint:errorlint // what is complete already
		return own
	}
	if changed := file.unchanged(); changed != nil {
		return changed
	}
	return &planner.Error{Message: fmt.Sprintf("Parquet %s is damaged: row %d cannot be read", fileWords(file.source.Name), row+1), Cause: cause}
}

// Raw implements Parser: the values of the row as a line of CSV.
func (p *parquetParser) Raw(b *Block, r Span) []byte {
	if err := p.raw.seek(p.files[b.File], b.Group, b.Begin.Row+r.Number); err != nil {
		return nil
	}
	if _, err := p.raw.next(); err != nil {
		return nil
	}
	var line []byte
	for i, field := range p.raw.fields {
		if i > 0 {
			line = append(line, ',')
		}
		if field != nil {
			line = appendQuoted(line, field)
		}
	}
	return append(line, '\n')
}

// appendQuoted writes a field of CSV: in quotes where it needs them, and where it is empty, because without them that would be NULL.
func appendQuoted(line, field []byte) []byte {
	needs := len(field) == 0
	for _, c := range field {
		needs = needs || c == '"' || c == ',' || c == '\n' || c == '\r' || c == ' ' || c == '\\'
	}
	if !needs {
		return append(line, field...)
	}
	line = append(line, '"')
	for _, c := range field {
		if c == '"' {
			line = append(line, '"')
		}
		line = append(line, c)
	}
	return append(line, '"')
}

// LargeFields implements Parser. Rows of Parquet are never large: their pages are in memory as wholes.
func (p *parquetParser) LargeFields(*Block) ([]LargeField, *RowError) { return nil, nil }

// seek goes to a row of the file.
func (s *parquetRows) seek(file *parquetFile, group int, row int64) error {
	if s.file != file {
		s.close()
		open, err := file.use()
		if err != nil {
			return err
		}
		s.file, s.open, s.group = file, open, -1
	}
	row -= s.open.starts[group]
	if s.group != group {
		s.closeColumns()
		s.group = group
		s.fields = make([][]byte, len(s.open.columns))
		s.text = nil
		for i := range s.open.columns {
			r, err := openColumn(s.open, &s.open.columns[i], group, row)
			if r != nil {
				s.readers = append(s.readers, r)
			}
			if err != nil {
				s.group = -1
				return err
			}
		}
		return nil
	}
	for _, r := range s.readers {
		if err := r.reach(row, s.open.indexed(group)); err != nil {
			s.group = -1
			return err
		}
	}
	return nil
}

// reach goes to a row in either direction. Passing over values costs less than finding their page again when there are few of them, or no index.
func (r *parquetReader) reach(row int64, indexed bool) (err error) {
	defer soundly(&err)
	if row < r.row || indexed && row > r.row+parquetBatch {
		return r.seek(row)
	}
	return r.forward(row)
}

// next reads one row into fields.
func (s *parquetRows) next() (bad *RowError, err error) {
	defer func() {
		if err != nil {
			s.group = -1 // Its columns are no longer side by side.
		}
	}()
	defer soundly(&err)
	s.text = s.text[:0]
	for i, r := range s.readers {
		var fault *RowError
		if s.fields[i], s.text, fault, err = r.field(s.text); err != nil {
			return nil, err
		}
		if fault != nil && bad == nil {
			fault.Column, fault.Field = r.column.name, i+1
			bad = fault
		}
	}
	return bad, nil
}

func (s *parquetRows) closeColumns() {
	for _, r := range s.readers {
		r.close()
	}
	s.readers, s.group = nil, -1
}

func (s *parquetRows) close() {
	if s.file != nil {
		s.closeColumns()
		s.file.release()
		s.file = nil
	}
}
