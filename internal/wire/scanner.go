package wire

// Event is a message or a piece of one, found by Scanner.
type Event struct {
	Type   byte   // 0: the block ended before anything could be told
	Length int    // bytes in the whole body
	Body   []byte // the whole body, or for a streamed type a piece of it
	First  bool   // Body is the start of its message
	Last   bool   // Body is the end of its message
}

// Scanner finds frames in blocks of any size. Bodies of streamed types come
// out in pieces, as they lie in the blocks, and are never gathered; other
// messages come out whole.
//
// The first error sticks: after it the place in the stream is lost. A Scanner
// is for one goroutine.
type Scanner struct {
	stream [256]bool
	limit  int

	header [HeaderSize]byte
	filled int // bytes of header gathered; HeaderSize: inside a body
	length int
	left   int
	whole  []byte // start of a message that an earlier block cut
	err    error
}

// NewScanner returns a scanner at a message's start that streams the given
// types, or CopyData when none is given. Messages of other types are errors
// above limit bytes; 0 means MessageLimit.
func NewScanner(limit int, stream ...byte) *Scanner {
	if limit <= 0 {
		limit = MessageLimit
	}
	s := &Scanner{limit: limit}
	if len(stream) == 0 {
		stream = []byte{TypeCopyData}
	}
	for _, t := range stream {
		s.stream[t] = true
	}
	return s
}

// Next consumes used bytes from the start of block and returns at most one
// event. Call it again with block[used:] until that is empty: a message
// without a body comes out with its header's last byte, so an empty block
// never hides an event. The event's body points into block or into
// the scanner, and is good until the next call.
//
// The error is a *FrameError: no valid header, or a message over the limit.
func (s *Scanner) Next(block []byte) (used int, ev Event, err error) {
	if s.err != nil {
		return 0, Event{}, s.err
	}
	if s.filled < HeaderSize {
		n := copy(s.header[s.filled:], block)
		s.filled += n
		used = n
		if s.filled < HeaderSize {
			return used, Event{}, nil
		}
		if err := s.begin(); err != nil {
			s.err = err
			return used, Event{}, err
		}
	}
	n, ev := s.body(block[used:])
	return used + n, ev, nil
}

// Idle reports whether the scanner stands between two messages: the stream
// may end here.
func (s *Scanner) Idle() bool { return s.err == nil && s.filled == 0 }

// inside reports the type of the message whose body comes next, if the header
// is complete.
func (s *Scanner) inside() (kind byte, ok bool) {
	return s.header[0], s.filled == HeaderSize
}

// headerLeft returns how many bytes of a header are to come.
func (s *Scanner) headerLeft() int { return HeaderSize - s.filled }

// begin looks at a complete header.
func (s *Scanner) begin() error {
	kind, length, err := readHeader(s.header[:])
	if err != nil {
		return err
	}
	if length > s.limit && !s.stream[kind] {
		return &FrameError{Type: kind, Length: uint32(length + 4), Limit: s.limit}
	}
	s.length, s.left = length, length
	s.whole = s.whole[:0]
	return nil
}

// body takes what block has of the current body.
func (s *Scanner) body(block []byte) (used int, ev Event) {
	kind := s.header[0]
	used = min(s.left, len(block))
	piece := block[:used:used]
	first := s.left == s.length
	s.left -= used
	last := s.left == 0
	if last {
		s.filled = 0
	}
	if s.stream[kind] {
		if used == 0 && !last {
			return 0, Event{}
		}
		return used, Event{Type: kind, Length: s.length, Body: piece, First: first, Last: last}
	}
	if !first || !last {
		s.whole = append(s.whole, piece...)
		piece = s.whole
	}
	if !last {
		return used, Event{}
	}
	return used, Event{Type: kind, Length: s.length, Body: piece, First: true, Last: true}
}
