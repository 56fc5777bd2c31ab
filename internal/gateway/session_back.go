package gateway

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// errFinished says that the session was told to finish, and has.
var errFinished = errors.New("ended by the gateway's stop")

// back carries the server's bytes to the client.
func (s *session) back() error {
	in := newIntake(s.server, s.gateway.toClient)
	defer in.close()
	in.unread(s.early)
	for {
		b, err := in.next()
		if errors.Is(err, os.ErrDeadlineExceeded) && s.finishing.Load() {
			// In the middle of a message it looks again after each block.
			s.server.SetReadDeadline(time.Time{})
		} else if err != nil {
			return s.backEnd(b, err)
		} else if err := s.backFeed(in, b); err != nil {
			return err
		}
		if s.finishing.Load() && s.toClient.border() {
			return s.farewell()
		}
	}
}

func (s *session) backFeed(in *intake, b []byte) error {
	s.fromServer.Add(int64(len(b)))
	rest, err := s.toClient.feed(b)
	s.fromServer.Add(-int64(len(rest)))
	in.unread(rest)
	in.done()
	return err
}

// farewell ends a session as the server does when it is shut down.
func (s *session) farewell() error {
	if err := s.say(fatalError(adminShutdown, "terminating connection due to administrator command")); err != nil {
		return err
	}
	return errFinished
}

// backEnd passes on what is left of a header, and tells whether the server has closed in order.
func (s *session) backEnd(rest []byte, err error) error {
	if len(rest) > 0 {
		if err := s.say(rest); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(err, net.ErrClosed):
		return nil // by front, which knows why
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read the server: %w", err)
	case len(rest) > 0 || !s.toClient.border() && !s.toClient.lost:
		return errors.New("the server closed in the middle of a message")
	}
	return nil
}
