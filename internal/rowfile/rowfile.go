// Package rowfile reads rows from files: CSV, tab-separated and COPY text, COPY binary, fixed width, NDJSON and Parquet, compressed or not,
// and writes the files that refused rows go to.
//
// Model: Open looks at all files and settles their layout. Each file is a stream; its Stream cuts the content into blocks of whole rows, which
// costs little, and Parsers take the blocks apart, on as many goroutines as there are. A block knows where it came from, so that each row has
// a file, a line and a byte offset.
//
// Limits: a row above LargeRow comes by itself, spooled to a file without a name, and is never in memory as a whole.
package rowfile

import (
	"context"
	"io"
)

// BlockSize is the usual size of a block, in bytes.
const BlockSize = 256 << 10

// LargeRow is the size of a row, in bytes, above which it is handed out as a stream.
const LargeRow = 8 << 20

// Rows is what rows are read from: files, or rows that a program hands over. Its methods may be called from several goroutines.
type Rows interface {
	// Names are the columns that the rows say they have, in the order of the fields; nil when they say nothing.
	Names() []string
	// Width is the number of fields of a row, 0 when it is not known before they are read.
	Width() int
	// Files describe the streams, in the order in which they are to be read.
	Files() []File
	// Open opens a stream at a position that a Block of the same file had behind it, or at its start. The context bounds the stream.
	Open(ctx context.Context, file int, from Position) (Stream, error)
	// Parser returns a parser for one goroutine.
	Parser() Parser
	// Describe says what the rows are in one phrase, such as "CSV with a header, delimiter ',', gzip".
	Describe() string
}

// File is one stream of rows.
type File struct {
	Name string // as messages call it: the path as it was given, "standard input"
	// Bytes is the size on disk, -1 when it is not known.
	Bytes int64
	// Identity tells the file from any other, and from itself with other contents: device, inode, size, time of change, and a hash of its first
	// and last bytes. Empty for a stream that cannot be read again.
	Identity   string
	Format     Format
	Compressed bool
}

// Format is the form of a file's rows.
type Format string

// The formats.
const (
	AutoFormat Format = ""
	CSV        Format = "csv"
	TSV        Format = "tsv"    // CSV whose delimiter is a tab
	Text       Format = "text"   // of COPY
	Binary     Format = "binary" // of COPY
	Fixed      Format = "fixed"
	NDJSON     Format = "ndjson"
	Parquet    Format = "parquet"
	Given      Format = "rows" // handed over by a program
)

// Position is a place between two rows of a stream.
type Position struct {
	Offset int64 `json:"offset"` // of the next row's first byte in the decompressed contents; a row number for Parquet
	Line   int64 `json:"line"`   // the next row's first line, counted from 1; 0 at the start of a file, before its header
	Row    int64 `json:"row"`    // rows before it in this file
}

// Stream yields the blocks of one file in order.
type Stream interface {
	// Next returns the next block, or io.EOF behind the last. It belongs to the caller until Release. Errors are *planner.Error with the
	// file and the line, and stick.
	Next() (*Block, error)
	// Consumed is how many bytes of the file on disk have been read, for progress. It may be called from another goroutine.
	Consumed() int64
	Close() error
}

// Block is a run of whole rows of one file.
type Block struct {
	File  int
	Begin Position
	Data  []byte
	// Next is where the block behind it begins.
	Next Position
	// Large is set when the block is one row above LargeRow; Data is then empty.
	Large *Large
	// Group and Count say which rows of a Parquet file these are: of row group Group from Begin.Row on.
	Group int
	Count int64

	ends LineEnd // of the file's lines, for its parser
	wide bool    // Data was UTF-16
}

// Offset is that of a row's first byte in the decompressed contents.
func (b *Block) Offset(s Span) int64 {
	if b.wide {
		return b.Begin.Offset + utf16Size(b.Data[:s.Start])
	}
	return b.Begin.Offset + int64(s.Start)
}

// Large is a row that is too large for memory.
type Large struct {
	// Raw is the row as it stands in the file, line end included, and can be read again and again.
	Raw  io.ReaderAt
	Size int64
	// Release gives the spool file's space back.
	Release func()
}

// Parser takes blocks apart.
type Parser interface {
	// Parse calls emit for each row of the block in order. The Row and its fields are good until emit returns. An error of emit ends the
	// parsing and is returned.
	Parse(b *Block, emit func(*Row) error) error
	// Field opens a field of a large row, decoded; nil for NULL. It is for blocks whose Large is set, after Measure.
	LargeFields(b *Block) ([]LargeField, *RowError)
	// Raw returns the row as the file has it, so that it can be mended and loaded again; of a Parquet row its values as a line of CSV.
	Raw(b *Block, r Span) []byte
}

// LargeField is one field of a large row.
type LargeField struct {
	Null bool
	// Size is the number of bytes that Open's reader yields.
	Size int64
	Open func() io.Reader
}

// Row is one row of a block.
type Row struct {
	// Fields are the values as text, decoded and in UTF-8 without NUL bytes; nil is NULL. With Binary they are payloads of COPY binary.
	Fields [][]byte
	Binary bool
	Span
	// Bad is why the row cannot be used: its syntax, its number of fields, its encoding. Fields is then not to be used.
	Bad *RowError
}

// Span is where a row stands in its block.
type Span struct {
	Start, End int   // of its bytes in Block.Data, line end included
	Line       int64 // of its first line in the file, counted from 1
	Number     int64 // in its block, counted from 0
}

// RowError is why a row was refused.
type RowError struct {
	Column  string // its name, empty when none in particular is at fault
	Field   int    // counted from 1; 0 when none
	State   string // SQLSTATE
	Message string
	Detail  string
	Hint    string
}

// Error returns the message.
func (e *RowError) Error() string { return e.Message }

// Release gives the block's memory back.
func (b *Block) Release() {}
