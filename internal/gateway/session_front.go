package gateway

import (
	"errors"
	"fmt"
	"io"
)

// front carries the client's bytes to the server.
func (s *session) front() error {
	in := newIntake(s.client, s.gateway.toServer)
	defer in.close()
	for {
		b, err := in.next()
		if err != nil {
			return s.frontEnd(b, err)
		}
		if s.serverGone.Load() {
			in.done()
			continue
		}
		s.fromClient.Add(int64(len(b)))
		rest, err := s.toServer.feed(b)
		s.fromClient.Add(-int64(len(rest)))
		in.unread(rest)
		in.done()
		if err != nil && !s.outlived(err) {
			return err
		}
	}
}

// outlived tells whether the error of a write to the server is to be left to back: the server has closed, and may have said
// why. Front then only keeps the client's socket empty. Any other error is that of a hook, and ends the session.
func (s *session) outlived(err error) bool {
	if isFrom(err, toTheServer) {
		s.serverGone.Store(true)
		return true
	}
	s.abort()
	return false
}

// frontEnd passes the client's end on: an end of file as one, after what is left of a header, and all else as a closed
// connection.
func (s *session) frontEnd(rest []byte, err error) error {
	if s.serverGone.Load() {
		return nil
	}
	if !errors.Is(err, io.EOF) {
		s.server.Close()
		return fmt.Errorf("read the client: %w", err)
	}
	if len(rest) > 0 {
		// The server says so itself when it cannot take them.
		_ = s.writeServer(rest)
	}
	if err := closeWrite(s.server); err != nil {
		s.server.Close()
	}
	return nil
}
