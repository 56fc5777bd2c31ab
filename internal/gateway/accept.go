package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// socketMode lets every user of the machine connect, as PostgreSQL's unix_socket_permissions does by default: who may
	// log in is the server's decision.
	socketMode = 0o777

	firstPause, longestPause = 5 * time.Millisecond, time.Second
)

// listen opens all addresses, or none.
func (g *Gateway) listen(ctx context.Context) ([]net.Listener, error) {
	open := append([]net.Listener(nil), g.config.Listeners...)
	for _, text := range g.config.Listen {
		l, err := listenOn(ctx, text)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("listen on %s: %w", text, err), closeAll(open))
		}
		open = append(open, l)
	}
	return open, nil
}

func listenOn(ctx context.Context, text string) (net.Listener, error) {
	a, err := parseAddress(text)
	if err != nil {
		return nil, err
	}
	if a.network == "unix" {
		if err := removeStale(ctx, a.host); err != nil {
			return nil, err
		}
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, a.network, a.String())
	if err != nil || a.network != "unix" {
		return l, err
	}
	if err := os.Chmod(a.host, socketMode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// removeStale removes the socket file of a process that was killed. One that still answers stays, and listening fails.
func removeStale(ctx context.Context, file string) error {
	info, err := os.Lstat(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%s exists and is no socket", file)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", file)
	if err == nil {
		return errors.Join(fmt.Errorf("%s is in use", file), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(file)
}

// accept takes connections until the listener is closed. While descriptors are short it pauses: the connections wait in the
// kernel until others have ended.
func (g *Gateway) accept(ctx, life context.Context, l net.Listener, serving *sync.WaitGroup) error {
	pause := firstPause
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = firstPause
			g.counters.accepted.Add(1)
			serving.Go(func() { g.serve(life, conn) })
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the listener was closed to end this
		case passing(err):
			g.log.Warn("cannot accept a connection just now", "error", err)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return nil
			}
			pause = min(2*pause, longestPause)
		default:
			return fmt.Errorf("accept on %s: %w", l.Addr(), err)
		}
	}
}

// passing tells whether accepting may work again later.
func passing(err error) bool {
	for _, errno := range []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.ECONNRESET,
		syscall.EPERM, syscall.EPROTO, syscall.EINTR,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
