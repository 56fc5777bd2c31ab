//go:build unix

package rowfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	content, lines := someLines(20_000)
	written := make(chan error)
	go func() { written <- os.WriteFile(path, content, 0) }()
	in := opened(t, nil, Layout{Format: CSV, Header: NoHeader}, path)
	if f := in.Files()[0]; f.Identity != "" || f.Bytes != -1 {
		t.Errorf("a pipe has identity %q and %d bytes", f.Identity, f.Bytes)
	}
	if rows := allRows(t, in); !slices.Equal(rows, lines) {
		t.Errorf("%d rows", len(rows))
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	_, err := in.Open(t.Context(), 0, Position{})
	mustFail(t, err, "a second time", "pipe")
}

// TestPipeWithoutWriter: neither opening nor reading a pipe that nobody writes to holds a cancelled program.
func TestPipeWithoutWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	result := make(chan error)
	go func() {
		_, err := Open(ctx, []string{path}, nil, Layout{})
		result <- err
	}()
	cancel(stop)
	if err := <-result; !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0) // a writer that writes nothing
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel = context.WithCancelCause(t.Context())
	go func() {
		_, err := Open(ctx, []string{path}, nil, Layout{})
		result <- err
	}()
	cancel(stop)
	if err := <-result; !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// TestStuckInput: an input that gives nothing does not hold a cancelled load.
func TestStuckInput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	written := make(chan error, 1)
	go func() {
		_, err := w.WriteString("id,name\n" + strings.Repeat("1,x\n", headSize/4)) // more than a pipe holds
		written <- err
	}()
	in := opened(t, r, Layout{}, "-")
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s, err := in.Open(ctx, 0, Position{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestNotAllowed(t *testing.T) {
	if os.Getuid() == 0 {
		err := openError("f", &os.PathError{Op: "open", Path: "/x", Err: syscall.EACCES})
		mustFail(t, err, `"f"`, "permission denied", "by the user who runs pghaul")
		return
	}
	path := fileOf(t, "f", []byte("1,2\n"))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), []string{path}, nil, Layout{})
	mustFail(t, err, "permission denied", "by the user who runs pghaul")
}
