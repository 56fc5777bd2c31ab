package rowfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"

	"github.com/pghaul/pghaul/planner"
)

// packing is how a file's contents are compressed: by a program's name, "" for not at all.
type packing string

const (
	plain      packing = ""
	packedGzip packing = "gzip"
	packedZstd packing = "zstd"
	packedBzip packing = "bzip2"
	packedXz   packing = "xz"
	packedLz4  packing = "lz4"
)

// maxWindow bounds what a decompressor keeps of a stream's past, in bytes, so that memory stays bounded: zstd -20 --ultra wants 32 MB, xz -9 64 MB.
const maxWindow = 64 << 20

// rawBuffer is how much of a compressed file is read at once.
const rawBuffer = 64 << 10

// packings are the forms known, by their first bytes: RFC 1952, RFC 8878, bzip2's block magic, the .xz and LZ4 frame formats. A bzip2 file has
// the magic of a block, or that of the end, behind its four letters, which alone might begin a text.
var packings = []struct {
	magic string
	is    packing
}{
	{"\x1f\x8b\x08", packedGzip},
	{"\x28\xb5\x2f\xfd", packedZstd},
	{"\xfd7zXZ\x00", packedXz},
	{"\x04\x22\x4d\x18", packedLz4},
}

// packingOf tells by a file's first bytes how it is compressed.
func packingOf(head []byte) packing {
	for _, p := range packings {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return p.is
		}
	}
	if len(head) >= 10 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9' {
		if block := string(head[4:10]); block == "1AY&SY" || block == "\x17\x72\x45\x38\x50\x90" {
			return packedBzip
		}
	}
	// zstd (pzstd, and files made seekable) and lz4 share the frames to be skipped; zstd writes them in front.
	if len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18" {
		return packedZstd
	}
	return plain
}

// boxes are forms that hold rows, but not as one stream of them, with how to get at it.
var boxes = []struct {
	magic, name, hint string
	at                int
}{
	{"PK\x03\x04", "a zip archive", "Pipe its contents in: unzip -p FILE | pghaul load -.", 0},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "Pipe its contents in: 7z x -so FILE | pghaul load -.", 0},
	{"Rar!\x1a\x07", "a RAR archive", "Unpack it first.", 0},
	{"ustar", "a tar archive", "Unpack it first, or pipe one of its files in: tar -xOf FILE MEMBER | pghaul load -.", 257},
	{"\x1f\x9d", "compressed by compress(1)", "Pipe its contents in: gzip -dc FILE | pghaul load -.", 0},
	{"LZIP\x01", "compressed by lzip", "Pipe its contents in: lzip -dc FILE | pghaul load -.", 0},
	{"\x02\x21\x4c\x18", "of the old lz4 format", "Pipe its contents in: lz4 -dc FILE | pghaul load -.", 0},
	{"\xff\x06\x00\x00sNaPpY", "compressed by snappy", "Decompress it first.", 0},
	{"SQLite format 3\x00", "an SQLite database", "Write its rows out first: sqlite3 -csv -header FILE 'SELECT * FROM t'.", 0},
	{"PGDMP", "a dump in pg_dump's custom format", "Restore it with pg_restore.", 0},
	{"ORC", "an ORC file", "Convert it to Parquet or CSV first.", 0},
	{"Obj\x01", "an Avro file", "Convert it to Parquet or NDJSON first.", 0},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word file", "Save it as CSV first.", 0},
}

// refuseBox returns an error for contents that are known not to be rows.
func refuseBox(name string, head []byte) error {
	for _, b := range boxes {
		if len(head) < b.at || !bytes.HasPrefix(head[b.at:], []byte(b.magic)) {
			continue
		}
		// A text may begin with these letters; what follows them in such a file is no text.
		if len(b.magic) <= 5 && bytes.IndexByte(head[:min(len(head), 512)], 0) < 0 {
			continue
		}
		return &planner.Error{Message: fmt.Sprintf("%s is %s, which holds no rows that can be read here", fileWords(name), b.name), Hint: b.hint}
	}
	return nil
}

// decompressor reads the contents of what is compressed. Its Close gives memory back and never fails.
type decompressor struct {
	io.Reader
	release func()
}

// wholeReader turns an end that comes too early into an error, for decoders that do not tell it from the real one.
type wholeReader struct {
	io.Reader
	whole func() bool
}

// Read implements io.Reader.
func (w *wholeReader) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err == io.EOF && !w.whole() {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// newDecompressor begins to decompress src.
func newDecompressor(p packing, src io.Reader) (decompressor, error) {
	in := bufio.NewReaderSize(src, rawBuffer)
	none := func() {}
	switch p {
	case packedGzip:
		r, err := gzip.NewReader(in)
		return decompressor{r, none}, err
	case packedZstd:
		// One goroutine decodes, the pump's: more of them would only be in the way of the parsers.
		r, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return decompressor{nil, none}, err
		}
		return decompressor{r, r.Close}, nil
	case packedBzip:
		return decompressor{bzip2.NewReader(in), none}, nil
	case packedXz:
		if head, err := in.Peek(xzHead); err == nil {
			if err := checkXz(head); err != nil {
				return decompressor{nil, none}, err
			}
		}
		ends := &xzEnds{src: in}
		r, err := xz.NewReader(bufio.NewReaderSize(ends, rawBuffer))
		return decompressor{&wholeReader{r, ends.whole}, none}, err
	case packedLz4:
		ends := &lz4Ends{src: in}
		return decompressor{&wholeReader{lz4.NewReader(ends), ends.whole}, none}, nil
	}
	return decompressor{in, none}, nil
}

// errWindow says that a stream wants more memory than it may have.
var errWindow = errors.New("its window is too large")

// unpackError is what a user reads about compressed data that cannot be read on. at is the offset in the decompressed contents.
func unpackError(name string, p packing, at int64, cause error) error {
	if own := (*planner.Error)(nil); errors.As(cause, &own) {
		return own
	}
	e := &planner.Error{Cause: cause}
	where := fmt.Sprintf("The error is behind byte %d of the decompressed contents.", at)
	switch {
	case errors.Is(cause, io.ErrUnexpectedEOF), errors.Is(cause, io.EOF):
		e.Message = fmt.Sprintf("%s is cut off: its %s data ends too early", fileWords(name), p)
		e.Detail = fmt.Sprintf("%d bytes of its contents could be decompressed.", at)
		e.Hint = "Get the file again; nothing of a cut file should be trusted."
		e.Cause = io.ErrUnexpectedEOF
	case errors.Is(cause, errWindow), errors.Is(cause, zstd.ErrWindowSizeExceeded), errors.Is(cause, zstd.ErrDecoderSizeExceeded):
		e.Message = fmt.Sprintf("%s was compressed with a window above %d MB, which would take as much memory to read", fileWords(name), maxWindow>>20)
		e.Detail = where
		e.Hint = "Let its own program decompress it: zstd -dc --long=31 FILE | pghaul load -, or xz -dc FILE | pghaul load -."
	case errors.Is(cause, errXzFilter):
		e.Message = fmt.Sprintf("%s was compressed with xz filters that cannot be read here", fileWords(name))
		e.Hint = "Let xz decompress it: xz -dc FILE | pghaul load -."
	default:
		e.Message = fmt.Sprintf("%s is damaged: its %s data cannot be decompressed", fileWords(name), p)
		e.Detail = where
	}
	return e
}
