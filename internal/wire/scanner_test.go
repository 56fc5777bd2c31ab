package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// frame is a message as the naive decoder sees it.
type frame struct {
	kind byte
	body string
}

// decodeAll is the oracle: it needs the whole stream at once and stops at
// what is not a frame, or not a whole one.
func decodeAll(stream []byte) (frames []frame, rest []byte) {
	for len(stream) >= 5 {
		n := int64(binary.BigEndian.Uint32(stream[1:])) + 1
		if n < 5 || n > int64(len(stream)) || stream[0] <= ' ' || stream[0] > '~' {
			break
		}
		frames = append(frames, frame{stream[0], string(stream[5:n])})
		stream = stream[n:]
	}
	return frames, stream
}

// cut splits a stream into blocks whose sizes are given by sizes, over and
// over.
func cut(stream, sizes []byte) (blocks [][]byte) {
	for i := 0; len(stream) > 0; i++ {
		n := len(stream)
		if len(sizes) > 0 {
			n = min(n, int(sizes[i%len(sizes)])+1)
		}
		blocks = append(blocks, stream[:n])
		stream = stream[n:]
	}
	return blocks
}

// scanAll puts the scanner's events together again.
func scanAll(t *testing.T, s *Scanner, blocks [][]byte) ([]frame, error) {
	t.Helper()
	var frames []frame
	var body []byte
	for _, block := range blocks {
		for len(block) > 0 {
			used, ev, err := s.Next(block)
			if err != nil {
				return frames, err
			}
			if used == 0 {
				t.Fatal("the scanner took nothing")
			}
			block = block[used:]
			if ev.Type == 0 {
				continue
			}
			if ev.First != (body == nil) {
				t.Fatalf("First is %v after %d bytes", ev.First, len(body))
			}
			body = append(body, ev.Body...)
			if body == nil {
				body = []byte{}
			}
			if ev.Last {
				if len(body) != ev.Length {
					t.Fatalf("Length is %d, body has %d", ev.Length, len(body))
				}
				frames = append(frames, frame{ev.Type, string(body)})
				body = nil
			}
		}
	}
	return frames, nil
}

func sampleStream() []byte {
	var b []byte
	b = AppendHeader(b, TypeCopyOut, 3)
	b = append(b, 0, 0, 0)
	b = AppendCopyData(b, []byte("1\tone\n"))
	b = AppendCopyData(b, nil)
	b = AppendHeader(b, TypeNotice, 4)
	b = append(b, "abc\x00"...)
	b = AppendCopyData(b, bytes.Repeat([]byte("x"), 300))
	b = AppendCopyData(b, []byte("2\t\\N\n"))
	b = AppendCopyDone(b)
	return b
}

func TestScannerEverySplit(t *testing.T) {
	stream := sampleStream()
	want, _ := decodeAll(stream)
	for size := range 64 {
		s := NewScanner(0)
		got, err := scanAll(t, s, cut(stream, []byte{byte(size)}))
		if err != nil {
			t.Fatalf("blocks of %d: %v", size+1, err)
		}
		if !equalFrames(got, want) {
			t.Fatalf("blocks of %d: got %q, want %q", size+1, got, want)
		}
		if !s.Idle() {
			t.Errorf("blocks of %d: not idle at the end", size+1)
		}
	}
}

func TestScannerDoesNotCopy(t *testing.T) {
	block := AppendCopyData(nil, []byte("hello"))
	_, ev, err := NewScanner(0).Next(block)
	if err != nil || string(ev.Body) != "hello" {
		t.Fatalf("event %+v, %v", ev, err)
	}
	block[HeaderSize] = 'j'
	if string(ev.Body) != "jello" {
		t.Error("the payload is a copy")
	}
}

func TestScannerRefuses(t *testing.T) {
	tests := []struct {
		name  string
		bytes []byte
		limit int
	}{
		{"length 0", []byte("d\x00\x00\x00\x00"), 0},
		{"length 3", []byte("d\x00\x00\x00\x03"), 0},
		{"negative length", []byte("d\xff\xff\xff\xff"), 0},
		{"over 1 GB", []byte("d\x40\x00\x00\x04"), 0},
		{"no type", []byte("\x00\x00\x00\x00\x04"), 0},
		{"not ASCII", []byte("\x80\x00\x00\x00\x04"), 0},
		{"over the limit", []byte("E\x00\x00\x00\x0f"), 10},
		{"over the usual limit", []byte("E\x00\x10\x00\x05"), 0},
	}
	for _, tt := range tests {
		s := NewScanner(tt.limit)
		_, _, err := s.Next(tt.bytes)
		var fe *FrameError
		if !errors.As(err, &fe) {
			t.Errorf("%s: error is %v", tt.name, err)
			continue
		}
		if _, _, again := s.Next(AppendCopyDone(nil)); !errors.Is(again, err) {
			t.Errorf("%s: the error does not stick: %v", tt.name, again)
		}
		if s.Idle() {
			t.Errorf("%s: idle after an error", tt.name)
		}
	}
}

func TestScannerTakesTheLargest(t *testing.T) {
	s := NewScanner(10)
	if _, _, err := s.Next([]byte("d\x40\x00\x00\x03")); err != nil {
		t.Errorf("CopyData of 1 GB - 1: %v", err)
	}
	s = NewScanner(10, TypeDataRow)
	used, ev, err := s.Next([]byte("D\x00\x00\x01\x00abc"))
	if err != nil || used != 8 || ev.Length != 252 || !ev.First || ev.Last {
		t.Errorf("streamed DataRow: %d %+v %v", used, ev, err)
	}
	s = NewScanner(10)
	if _, _, err := s.Next([]byte("E\x00\x00\x00\x0e")); err != nil {
		t.Errorf("message of just the limit: %v", err)
	}
}

func FuzzScanner(f *testing.F) {
	f.Add(sampleStream(), []byte{0, 3, 17})
	f.Add([]byte("d\xff\xff\xff\xff"), []byte{1})
	f.Add([]byte("d\x00\x00\x00\x04d"), []byte{0})
	f.Fuzz(func(t *testing.T, stream, sizes []byte) {
		s := NewScanner(1000)
		got, err := scanAll(t, s, cut(stream, sizes))
		want, rest := decodeAll(stream)
		if err == nil && !equalFrames(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
		if err == nil && s.Idle() != (len(rest) == 0) {
			t.Fatalf("idle is %v with %d bytes left", s.Idle(), len(rest))
		}
		if err != nil && (len(got) > len(want) || !equalFrames(got, want[:len(got)])) {
			t.Fatalf("got %q before the error, want a start of %q", got, want)
		}
	})
}

func equalFrames(a, b []frame) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
