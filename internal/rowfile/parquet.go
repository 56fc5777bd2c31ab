package rowfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/pghaul/pghaul/planner"
)

// parquetBuffer is how much of a column is read from the file at once, in bytes.
const parquetBuffer = 32 << 10

// parquetFile is a Parquet file that is open while somebody uses it: a stream, and the parsers that are at its blocks. Its pages are in memory as
// wholes, one of each column for each parser; writers make them of 1 MB at most unless a value has more.
type parquetFile struct {
	source  *source
	spooled *scratch // the contents, where the file itself cannot be read anywhere: a stream, or compressed

	lock  sync.Mutex
	users int
	file  *os.File
	open  *parquetOpen
}

// parquetOpen is what is known of an open file.
type parquetOpen struct {
	*parquet.File
	raw     io.ReaderAt
	columns []parquetColumn
	starts  []int64 // the number of rows before each row group
}

// use opens the file, or joins those who have it open. Each use must be ended by release.
func (p *parquetFile) use() (*parquetOpen, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.open == nil {
		if err := p.reopen(); err != nil {
			return nil, err
		}
	}
	p.users++
	return p.open, nil
}

// release ends one use.
func (p *parquetFile) release() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.users--; p.users == 0 {
		p.shut()
	}
}

// end gives everything back, whoever uses it.
func (p *parquetFile) end() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.shut()
	if p.spooled != nil {
		p.spooled.release()
	}
}

func (p *parquetFile) shut() {
	p.open = nil
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
	}
}

func (p *parquetFile) reopen() error {
	if p.spooled != nil {
		open, err := readParquet(p.source.Name, p.spooled, p.spooled.size)
		p.open = open
		return err
	}
	d, err := openDisk(p.source.Name, p.source.path, p.source.was, 0)
	if err != nil {
		return err
	}
	open, err := readParquet(p.source.Name, d.f, d.was.size)
	if err != nil {
		_ = d.Close()
		return err
	}
	p.file, p.open = d.f, open
	return nil
}

// unchanged looks whether the file is still what it was.
func (p *parquetFile) unchanged() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.file == nil {
		return nil
	}
	info, err := p.file.Stat()
	if err != nil {
		return readError(p.source.Name, err)
	}
	return changedSince(p.source.Name, p.source.was, info)
}

// readParquet reads a file's footer.
func readParquet(name string, r io.ReaderAt, size int64) (_ *parquetOpen, err error) {
	damaged := func(cause error) error {
		return &planner.Error{
			Message: "Parquet " + fileWords(name) + " is damaged or cut off", Cause: cause,
			Detail: "Its footer, which the file ends with, cannot be read.",
		}
	}
	// The library takes for granted that a footer's offsets and counts are sound.
	defer func() {
		if r := recover(); r != nil {
			err = damaged(fmt.Errorf("read the footer: %v", r))
		}
	}()
	if size < 12 {
		return nil, damaged(errors.New("it is too short"))
	}
	if err := checkFooter(r, size); err != nil {
		return nil, damaged(err)
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(parquetBuffer))
	if err != nil {
		return nil, damaged(err)
	}
	open := &parquetOpen{File: f, raw: r}
	if open.columns, err = parquetColumns(name, f.Metadata().Schema); err != nil {
		return nil, err
	}
	rows := int64(0)
	for _, group := range f.RowGroups() {
		open.starts = append(open.starts, rows)
		if group.NumRows() < 0 {
			return nil, damaged(fmt.Errorf("a row group has %d rows", group.NumRows()))
		}
		rows += group.NumRows()
	}
	if err := sameTypes(f); err != nil {
		return nil, damaged(err)
	}
	open.starts = append(open.starts, rows)
	return open, nil
}

// sameTypes compares what the schema and the row groups say of the columns: the library goes by the one here, by the other there, and takes the
// compression of the first row group for that of all.
func sameTypes(f *parquet.File) error {
	var leaves []format.SchemaElement
	for _, e := range f.Metadata().Schema {
		if e.Type.Valid {
			leaves = append(leaves, e)
		}
	}
	for i, group := range f.Metadata().RowGroups {
		if len(group.Columns) != len(leaves) {
			return fmt.Errorf("row group %d has %d columns of %d", i, len(group.Columns), len(leaves))
		}
		for j, chunk := range group.Columns {
			if chunk.MetaData.Type != leaves[j].Type.V {
				return fmt.Errorf("column %q has another type in row group %d", leaves[j].Name, i)
			}
			if first := f.Metadata().RowGroups[0].Columns[j].MetaData.Codec; chunk.MetaData.Codec != first {
				return fmt.Errorf("column %q is compressed by %s in row group %d and by %s before", leaves[j].Name, chunk.MetaData.Codec, i, first)
			}
		}
	}
	return nil
}

// rows is the number of rows of the file.
func (o *parquetOpen) rows() int64 { return o.starts[len(o.starts)-1] }

// indexed reports whether a group's columns say where their pages are, so that each row can be found without reading those before it.
func (o *parquetOpen) indexed(group int) bool {
	for _, chunk := range o.Metadata().RowGroups[group].Columns {
		if chunk.OffsetIndexOffset == 0 {
			return false
		}
	}
	return true
}
