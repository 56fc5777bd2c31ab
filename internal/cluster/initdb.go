//go:build unix

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// initialize runs initdb and writes the settings.
func (s *Server) initialize(ctx context.Context) error {
	locales := []string{s.options.Locale}
	if s.options.Locale == "" {
		// Systems without C.UTF-8 (older RPM ones, macOS) have C, which sorts the same way.
		locales = []string{"C.UTF-8", "C"}
	}
	encoding := s.options.Encoding
	if encoding == "" {
		encoding = "UTF8"
	}
	var err error
	for _, locale := range locales {
		if err = s.initdb(ctx, locale, encoding); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return s.configure()
}

func (s *Server) initdb(ctx context.Context, locale, encoding string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.binaries.Dir, "initdb"), "--pgdata", s.data, "--no-sync",
		"--auth", "trust", "--username", Superuser, "--locale", locale, "--encoding", encoding)
	s.account.apply(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("run initdb of PostgreSQL %d: %w\n%s", s.binaries.Version, err, tail(out))
	}
	return nil
}

// configure appends the settings to postgresql.conf: the last of several lines wins.
func (s *Server) configure() error {
	settings := map[string]string{
		"fsync":                      "off",
		"dynamic_shared_memory_type": "mmap", // inside the data directory: a killed server leaves nothing in /dev/shm
		"lc_messages":                "C",
	}
	for name, value := range s.options.Settings {
		settings[name] = value
	}
	text := []byte("\n# pghaul\n")
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		text = append(text, name+" = "+quoteSetting(settings[name])+"\n"...)
	}
	f, err := os.OpenFile(filepath.Join(s.data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if _, err := f.Write(text); err != nil {
		f.Close()
		return fmt.Errorf("write settings: %w", err)
	}
	return f.Close()
}

// quoteSetting quotes a value as guc-file.l reads it: in single quotes, those and backslashes doubled.
func quoteSetting(value string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(value) + "'"
}

// tail is the end of a log, as much as helps in an error message.
func tail(log []byte) string {
	const lines = 20
	log = bytes.TrimRight(log, "\n")
	at := len(log)
	for range lines {
		if at = bytes.LastIndexByte(log[:at], '\n'); at < 0 {
			break
		}
	}
	return string(log[at+1:])
}
