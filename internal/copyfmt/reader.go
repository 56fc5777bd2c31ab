package copyfmt

import "io"

// DefaultLimit is the size of a row, in bytes, above which a Reader calls it
// large.
const DefaultLimit = 1 << 20

// Row is one row of a stream. All its bytes are good until the reader's next
// call.
type Row struct {
	// Fields are the decoded values; nil is NULL, an empty value is not nil.
	Fields [][]byte
	// Raw is the row as it came, in text without its line end.
	Raw []byte
	// Large rows have neither Fields nor Raw: they are above the limit. Take
	// them from the reader's LargeRow, or call Next to pass over them.
	Large bool
}

// Reader yields the rows of a stream. It holds at most five times its limit,
// or 64 kB, whatever the stream has. A Reader is for one goroutine.
type Reader interface {
	// Next returns the next row, or io.EOF behind the last. Errors stick:
	// *FormatError, or what the source returned.
	Next() (*Row, error)

	// LargeRow returns the bytes of the large row that Next just returned,
	// as they must stand in a stream of COPY, with the line end it had. It
	// ends with io.EOF at the row's end, and is good until the next Next.
	LargeRow() io.Reader

	// Rows returns how many rows were begun, the current one among them.
	Rows() int64
}

// NewReader returns a reader of a stream of COPY from its start. Each row
// must have the given number of columns; negative means any. A row is large
// above limit bytes, its line end included; 0 means DefaultLimit. Large rows
// are not checked: what is wrong in one is for the server to find.
func NewReader(src io.Reader, binary bool, columns, limit int) Reader {
	if binary {
		return NewBinaryReader(src, columns, limit)
	}
	return NewTextReader(src, columns, limit)
}
