package rowfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// The library allocates what a damaged file asks for: a list of the footer by the length that it claims, and a page of LZ4 doubled until it can be
// decompressed, which is never. Either ends the program, so both are looked at before.

var errFooter = errors.New("the footer is no Thrift structure")

// checkFooter reads a file's footer as a structure of Thrift's compact protocol and checks that no list claims more elements than there are bytes.
func checkFooter(r io.ReaderAt, size int64) error {
	var end [8]byte
	if n, err := r.ReadAt(end[:], size-int64(len(end))); n < len(end) {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-12 {
		return errFooter
	}
	footer := make([]byte, length)
	if n, err := r.ReadAt(footer, size-int64(len(end))-length); n < len(footer) {
		return err
	}
	s := thriftSkim{b: footer}
	s.structure(0)
	if s.failed {
		return errFooter
	}
	return nil
}

// thriftSkim passes over Thrift's compact protocol (Thrift Compact protocol encoding).
type thriftSkim struct {
	b      []byte
	failed bool
}

func (s *thriftSkim) take(n uint64) []byte {
	if s.failed = s.failed || n > uint64(len(s.b)); s.failed {
		s.b = nil
		return []byte{0}
	}
	taken := s.b[:n]
	s.b = s.b[n:]
	return taken
}

func (s *thriftSkim) number() uint64 {
	v, n := binary.Uvarint(s.b)
	if n <= 0 {
		s.failed = true
		return 0
	}
	s.b = s.b[n:]
	return v
}

func (s *thriftSkim) structure(depth int) {
	for !s.failed {
		head := s.take(1)[0]
		if head == 0 {
			return
		}
		if head>>4 == 0 {
			s.number() // the field's number, where it is not near the last one
		}
		s.value(head&0x0f, depth, false)
	}
}

// value passes over a value of a type. A boolean of a structure's field is in the field's head.
func (s *thriftSkim) value(kind byte, depth int, inList bool) {
	if depth > maxParquetDepth {
		s.failed = true
	}
	if s.failed {
		return
	}
	switch kind {
	case 1, 2: // true, false
		if inList {
			s.take(1)
		}
	case 3: // a byte
		s.take(1)
	case 4, 5, 6: // integers
		s.number()
	case 7: // a double
		s.take(8)
	case 8: // bytes
		s.take(s.number())
	case 9, 10: // a list, a set
		head := s.take(1)[0]
		count := uint64(head >> 4)
		if count == 0x0f {
			count = s.number()
		}
		if s.failed = s.failed || count > uint64(len(s.b)); s.failed {
			return
		}
		for range count {
			s.value(head&0x0f, depth+1, true)
		}
	case 12:
		s.structure(depth + 1)
	default: // a map too: the format has none
		s.failed = true
	}
}

// checkLZ4 decompresses the pages of a column chunk of codec LZ4_RAW, to see that they can be.
func checkLZ4(r io.ReaderAt, chunk *format.ColumnChunk) error {
	begin := chunk.MetaData.DataPageOffset
	if dictionary := chunk.MetaData.DictionaryPageOffset; dictionary > 0 {
		begin = min(begin, dictionary)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(r, begin, chunk.MetaData.TotalCompressedSize), parquetBuffer)
	var protocol thrift.CompactProtocol
	decoder := thrift.NewDecoder(protocol.NewReader(in))
	var packed, page []byte
	for {
		if _, err := in.Peek(1); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		header := new(format.PageHeader)
		if err := decoder.Decode(header); err != nil {
			return err
		}
		size, full := int(header.CompressedPageSize), int(header.UncompressedPageSize)
		// A byte of LZ4 stands for 255 at most.
		if size < 0 || full < 0 || full/256 > size || int64(size) > chunk.MetaData.TotalCompressedSize {
			return fmt.Errorf("a page claims to have %d bytes in %d", full, size)
		}
		packed, page = sized(packed, size), sized(page, full)
		if _, err := io.ReadFull(in, packed); err != nil {
			return err
		}
		levels := 0 // which version 2 keeps in front, and does not compress
		if v2 := header.DataPageHeaderV2; v2.Valid {
			levels = int(v2.V.RepetitionLevelsByteLength) + int(v2.V.DefinitionLevelsByteLength)
			if levels < 0 || levels > min(size, full) {
				return fmt.Errorf("a page claims to have %d bytes of levels", levels)
			}
		}
		stored := header.DataPageHeaderV2.Valid && header.DataPageHeaderV2.V.IsCompressed.Valid && !header.DataPageHeaderV2.V.IsCompressed.V
		if size == levels || stored {
			continue
		}
		if _, err := lz4.UncompressBlock(packed[levels:], page[levels:]); err != nil {
			return fmt.Errorf("decompress a page: %w", err)
		}
	}
}

func sized(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
