package rowfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetBatch is how many values are taken from a page at once.
const parquetBatch = 256

// parquetReader reads the values of one column in one row group, row by row.
type parquetReader struct {
	column *parquetColumn
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	batch  [parquetBatch]parquet.Value
	at, n  int
	row    int64 // in the group: the one that comes next
}

// openColumn begins at a row of a group.
func openColumn(o *parquetOpen, column *parquetColumn, group int, row int64) (r *parquetReader, err error) {
	defer soundly(&err)
	if meta := &o.Metadata().RowGroups[group].Columns[column.leaf]; meta.MetaData.Codec == format.Lz4Raw {
		if err := checkLZ4(o.raw, meta); err != nil {
			return nil, err
		}
	}
	chunk := o.RowGroups()[group].ColumnChunks()[column.leaf]
	// Pages are found by the index only if it was read before.
	if _, err := chunk.OffsetIndex(); err != nil && !errors.Is(err, parquet.ErrMissingOffsetIndex) {
		return nil, err
	}
	r = &parquetReader{column: column, pages: chunk.Pages()}
	if row > 0 {
		err = r.seek(row)
	}
	return r, err
}

// soundly turns a panic of the library, which trusts what pages say of themselves, into an error.
func soundly(err *error) {
	if r := recover(); r != nil { //nolint:revive // it is deferred by all who call it
		*err = fmt.Errorf("read a page: %v", r)
	}
}

// seek goes to a row.
func (r *parquetReader) seek(row int64) error {
	r.drop()
	r.row, r.at, r.n = row, 0, 0
	return r.pages.SeekToRow(row)
}

// forward goes to a row that is not behind.
func (r *parquetReader) forward(row int64) (err error) {
	defer soundly(&err)
	for r.row < row {
		v, err := r.peek()
		if err != nil {
			return err
		}
		if v == nil {
			return r.short()
		}
		for r.at++; r.column.list; r.at++ {
			if v, err = r.peek(); err != nil {
				return err
			}
			if v == nil || v.RepetitionLevel() == 0 {
				break
			}
		}
		r.row++
	}
	return nil
}

func (r *parquetReader) short() error {
	return fmt.Errorf("column %q has only %d values: %w", r.column.name, r.row, io.ErrUnexpectedEOF)
}

// peek returns the next value, nil at the end of the group. It is good until the peek behind it.
func (r *parquetReader) peek() (_ *parquet.Value, err error) {
	defer soundly(&err)
	for r.at == r.n {
		if r.values == nil {
			if r.page, err = r.pages.ReadPage(); err != nil {
				if err == io.EOF { //nolint:errorlint // the bare io.EOF alone is the end
					return nil, nil
				}
				return nil, err
			}
			r.values = r.page.Values()
		}
		n, err := r.values.ReadValues(r.batch[:])
		r.at, r.n = 0, n
		if err == io.EOF && n == 0 { //nolint:errorlint // as above
			r.drop()
		} else if err != nil && err != io.EOF { //nolint:errorlint // as above
			return nil, err
		} else if n == 0 {
			return nil, io.ErrNoProgress
		}
	}
	return &r.batch[r.at], nil
}

// drop gives the page back.
func (r *parquetReader) drop() {
	if r.page != nil {
		parquet.Release(r.page)
	}
	r.page, r.values = nil, nil
}

// close ends the reading.
func (r *parquetReader) close() {
	r.drop()
	_ = r.pages.Close()
}

// field returns the next row's text, nil for NULL, which is good until the next call, or a part of text, to which it may have appended.
func (r *parquetReader) field(text []byte) (field, grown []byte, bad *RowError, err error) {
	v, err := r.peek()
	if err != nil {
		return nil, text, nil, err
	}
	if v == nil {
		return nil, text, nil, r.short()
	}
	r.row++
	if r.column.list {
		return r.list(text)
	}
	r.at++
	switch {
	case v.IsNull():
		return nil, text, nil, nil
	case r.column.kind.text:
		value := parquetBytes(v)
		if value == nil {
			value = []byte{}
		}
		return value, text, badText(value), nil
	}
	begin := len(text)
	text = r.column.kind.append(text, v)
	return text[begin:len(text):len(text)], text, nil, nil
}

func badText(value []byte) *RowError {
	if isASCII(value) && !hasNUL(value) {
		return nil
	}
	return badUTF8(value, len(value))
}

func hasNUL(value []byte) bool {
	for _, c := range value {
		if c == 0 {
			return true
		}
	}
	return false
}

// list appends the next row's list as an array of the server.
func (r *parquetReader) list(text []byte) (field, grown []byte, bad *RowError, err error) {
	begin := len(text)
	text = append(text, '{')
	isNull := false
	for first := true; ; first = false {
		v, err := r.peek()
		if err != nil {
			return nil, text, nil, err
		}
		if v == nil || !first && v.RepetitionLevel() == 0 {
			break
		}
		r.at++
		level := v.DefinitionLevel()
		switch {
		case first && level < r.column.present:
			isNull = true
			continue
		case first && level < r.column.filled:
			continue
		case !first:
			text = append(text, ',')
		}
		if level < r.column.full {
			text = append(text, "NULL"...)
			continue
		}
		var fault *RowError
		if text, fault = r.element(text, v); fault != nil {
			bad = fault
		}
	}
	if isNull {
		return nil, text[:begin], bad, nil
	}
	text = append(text, '}')
	return text[begin:len(text):len(text)], text, bad, nil
}

func (r *parquetReader) element(text []byte, v *parquet.Value) (_ []byte, bad *RowError) {
	begin := len(text)
	if r.column.kind.text {
		bad = badText(parquetBytes(v))
		text = append(text, parquetBytes(v)...)
	} else {
		text = r.column.kind.append(text, v)
	}
	if r.column.kind.quoted {
		text = quoteElement(text, begin)
	}
	return text, bad
}
