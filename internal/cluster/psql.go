//go:build unix

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNoPsql means that there is no psql beside the server's programs or in PATH.
var ErrNoPsql = errors.New("psql is not installed")

// Psql runs psql on a database of the server, each statement as a -c of its own, and returns what it prints, unaligned and
// without headers. The first statement that fails ends it; the error carries what psql said.
func (s *Server) Psql(ctx context.Context, db string, statements ...string) (string, error) {
	cmd, err := s.psql(ctx, db, statements...)
	if err != nil {
		return "", err
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", psqlFailed(ctx, err, &said)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// PsqlPipe runs two psql joined by a pipe of the operating system, as a shell does: read on a database of from, its output
// into the first COPY FROM STDIN of write on a database of to.
func PsqlPipe(ctx context.Context, from *Server, fromDB, read string, to *Server, toDB string, write ...string) error {
	reader, err := from.psql(ctx, fromDB, read)
	if err != nil {
		return err
	}
	writer, err := to.psql(ctx, toDB, write...)
	if err != nil {
		return err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	var readerSaid, writerSaid bytes.Buffer
	reader.Stdout, reader.Stderr = in, &readerSaid
	writer.Stdin, writer.Stderr = out, &writerSaid
	readerErr, writerErr := reader.Start(), writer.Start()
	// The children have their own ends by now; with ours open too the writer would never see the end of the rows.
	closed := errors.Join(in.Close(), out.Close())
	if readerErr == nil {
		readerErr = reader.Wait()
	}
	if writerErr == nil {
		writerErr = writer.Wait()
	}
	return errors.Join(psqlFailed(ctx, readerErr, &readerSaid), psqlFailed(ctx, writerErr, &writerSaid), closed)
}

// psql prepares a psql that ends with ctx.
func (s *Server) psql(ctx context.Context, db string, statements ...string) (*exec.Cmd, error) {
	program := filepath.Join(s.binaries.Dir, "psql")
	if _, err := exec.LookPath(program); err != nil {
		if program, err = exec.LookPath("psql"); err != nil {
			return nil, ErrNoPsql
		}
	}
	args := []string{"-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", s.URI(db)}
	for _, statement := range statements {
		args = append(args, "-c", statement)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	s.account.apply(cmd)
	return cmd, nil
}

func psqlFailed(ctx context.Context, err error, said *bytes.Buffer) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("run psql: %w", ctx.Err())
	default:
		return fmt.Errorf("run psql: %w: %s", err, strings.TrimSpace(said.String()))
	}
}
