package move

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pghaul/pghaul/internal/copyfmt"
)

// spoolPiece is how much of a large row is in memory at a time.
const spoolPiece = 64 << 10

// errTornRow says that a large row is not what its format says.
var errTornRow = errors.New("a row of the source's COPY stream is damaged")

// spool is one row on its way into a Bind message, in a file without a name: the message says its length before its content, and the
// lengths of decoded values are known only at their ends.
type spool struct {
	file    *os.File
	out     *bufio.Writer
	size    int64 // bytes written
	params  int
	binary  bool
	arrays  []arrayType // when each value must be an array of one
	lengths []length
}

// length is one that was not known when its place was passed.
type length struct {
	at    int64
	value int64
}

// newSpool makes the file. Nothing of it is left when the process dies.
func newSpool(arrays []arrayType, binaryFormat bool) (*spool, error) {
	file, err := os.CreateTemp("", "pghaul-row-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &spool{file: file, out: bufio.NewWriterSize(file, spoolPiece), binary: binaryFormat, arrays: arrays}, nil
}

// close gives the file's space back.
func (s *spool) close() error { return s.file.Close() }

// fill takes a raw row of a COPY stream.
func (s *spool) fill(row io.Reader) error {
	in := bufio.NewReaderSize(row, spoolPiece)
	take := s.fillText
	if s.binary {
		take = s.fillBinary
	}
	if err := take(in); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	for _, l := range s.lengths {
		if _, err := s.file.WriteAt(binary.BigEndian.AppendUint32(nil, uint32(l.value)), l.at); err != nil {
			return err
		}
	}
	return nil
}

// send gives the values to write, piece by piece.
func (s *spool) send(write func(piece []byte) error) error {
	from := io.NewSectionReader(s.file, 0, s.size)
	piece := make([]byte, spoolPiece)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			if err := write(piece[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// put appends to the file. The writer keeps its first error until Flush.
func (s *spool) put(p []byte) {
	n, _ := s.out.Write(p)
	s.size += int64(n)
}

// putInt appends an int32.
func (s *spool) putInt(v int32) { s.put(binary.BigEndian.AppendUint32(nil, uint32(v))) }

// fillBinary takes a binary row: a count, then each value behind its length.
func (s *spool) fillBinary(in *bufio.Reader) error {
	var number [4]byte
	if _, err := io.ReadFull(in, number[:2]); err != nil {
		return fmt.Errorf("%w: %w", errTornRow, err)
	}
	s.params = int(binary.BigEndian.Uint16(number[:2]))
	for i := range s.params {
		if _, err := io.ReadFull(in, number[:]); err != nil {
			return fmt.Errorf("%w: %w", errTornRow, err)
		}
		size := int32(binary.BigEndian.Uint32(number[:]))
		if size < -1 {
			return fmt.Errorf("%w: a length of %d", errTornRow, size)
		}
		if len(s.arrays) > 0 {
			var head [arrayHeadSize]byte
			putArrayHead(head[:], s.arrays[i].elem, 1, size < 0)
			s.putInt(arrayHeadSize + 4 + max(size, 0))
			s.put(head[:])
		}
		s.putInt(size)
		n, err := io.CopyN(s.out, in, int64(max(size, 0)))
		s.size += n
		if err != nil {
			return err
		}
	}
	return nil
}

// fillText takes a text row, decoding it.
func (s *spool) fillText(in *bufio.Reader) error {
	for {
		end, err := s.textField(in)
		if err != nil {
			return err
		}
		s.params++
		if end == '\n' {
			return nil
		}
	}
}

// textField takes one field and returns the byte that ends it.
func (s *spool) textField(in *bufio.Reader) (end byte, err error) {
	head, err := in.Peek(3)
	if len(head) >= 3 && copyfmt.IsTextNull(head[:2]) && (head[2] == '\t' || head[2] == '\n') {
		if len(s.arrays) > 0 {
			s.putInt(int32(len("{NULL}")))
			s.put([]byte("{NULL}"))
		} else {
			s.putInt(-1)
		}
		_, err := in.Discard(3)
		return head[2], err
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	at := s.size
	s.putInt(0)
	if len(s.arrays) > 0 {
		s.put([]byte(`{"`))
	}
	end, err = s.textValue(in)
	if len(s.arrays) > 0 {
		s.put([]byte(`"}`))
	}
	s.lengths = append(s.lengths, length{at: at, value: s.size - at - 4})
	return end, err
}

// textValue takes the decoded bytes of a field up to the tab or line feed behind it.
func (s *spool) textValue(in *bufio.Reader) (end byte, err error) {
	var value, quoted []byte
	for {
		if _, err := in.Peek(2); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		block, _ := in.Peek(in.Buffered())
		n := bytes.IndexAny(block, "\t\n")
		ended := n >= 0
		if !ended {
			// A server writes escapes of two bytes only: a backslash at the end waits for its second one.
			n = len(block) - trailingBackslash(block)
		}
		if n == 0 && !ended {
			return 0, fmt.Errorf("%w: %w", errTornRow, io.ErrUnexpectedEOF)
		}
		value = copyfmt.AppendUnescaped(value[:0], block[:n])
		if len(s.arrays) > 0 {
			quoted = appendArrayEscaped(quoted[:0], value)
			s.put(quoted)
		} else {
			s.put(value)
		}
		if ended {
			end = block[n]
			n++
		}
		if _, err := in.Discard(n); err != nil || ended {
			return end, err
		}
	}
}

// trailingBackslash returns 1 when p ends with a backslash that escapes what follows p, else 0.
func trailingBackslash(p []byte) int {
	n := 0
	for n < len(p) && p[len(p)-1-n] == '\\' {
		n++
	}
	return n % 2
}
