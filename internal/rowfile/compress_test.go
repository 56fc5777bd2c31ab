package rowfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

func day(n int) time.Time { return time.Date(2020, 1, n, 0, 0, 0, 0, time.UTC) }

func gzipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packers compress in two parts, as programs do that append to a file. bzip2 and some forms of the others are made by the programs themselves.
// Slow are those that only one test takes.
func packers(t *testing.T, slow bool) map[string]func([]byte) []byte {
	t.Helper()
	all := map[string]func([]byte) []byte{}
	library := func(name string, begin func(io.Writer) (io.WriteCloser, error)) {
		all[name] = func(content []byte) []byte {
			var b bytes.Buffer
			for _, part := range [][]byte{content[:len(content)/3], content[len(content)/3:]} {
				w, err := begin(&b)
				if err == nil {
					_, err = w.Write(part)
					err = errors.Join(err, w.Close())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			return b.Bytes()
		}
	}
	library("gzip", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	library("zstd", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	library("lz4", func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil })
	library("xz", func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })
	for _, command := range []string{
		"gzip -9", "zstd -19", "zstd --long=26", "zstd --no-check", "bzip2", "bzip2 -1", "xz", "xz -9 --check=none", "lz4", "lz4 -9 -BD", "lz4 -B4 -BX --no-frame-crc",
	} {
		words := strings.Fields(command)
		if len(words) == 2 && !slow {
			continue
		}
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("%s is not installed", words[0])
			continue
		}
		all["program "+command] = func(content []byte) []byte {
			cmd := exec.Command(words[0], append(words[1:], "-c")...)
			cmd.Stdin = bytes.NewReader(content)
			packed, err := cmd.Output()
			if err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			return packed
		}
	}
	return all
}

// someLines are lines of numbers that compress somewhat.
func someLines(n int) (content []byte, lines []string) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		line := fmt.Sprintf("%d|%x|%s", i, random.Uint64(), strings.Repeat("z", 1+random.IntN(40)))
		lines = append(lines, line)
		content = append(append(content, strings.ReplaceAll(line, "|", ",")...), '\n')
	}
	return content, lines
}

func TestCompression(t *testing.T) {
	content, lines := someLines(15_000)
	for name, pack := range packers(t, true) {
		t.Run(name, func(t *testing.T) {
			packed := pack(content)
			path := fileOf(t, "rows.dat", packed)
			in := opened(t, nil, Layout{Format: CSV, Header: NoHeader}, path)
			if !in.Files()[0].Compressed {
				t.Fatal("it is not recognised")
			}
			rows, blocks, err := drain(t, in, 0, Position{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rows, lines) {
				t.Fatalf("%d rows, want %d equal ones", len(rows), len(lines))
			}
			later := blocks[len(blocks)/2]
			rest, _, err := drain(t, in, 0, later.Begin)
			if err != nil || !slices.Equal(rest, lines[later.Begin.Row:]) {
				t.Fatalf("from %+v: %d rows, error %v", later.Begin, len(rest), err)
			}
			s, err := in.Open(t.Context(), 0, Position{})
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = s.Next()
			}
			if s.Consumed() != int64(len(packed)) {
				t.Errorf("consumed %d of %d bytes", s.Consumed(), len(packed))
			}
			_ = s.Close()
			in = opened(t, bytes.NewReader(packed), Layout{Format: CSV, Header: NoHeader}, "-")
			if rows := allRows(t, in); !slices.Equal(rows, lines) {
				t.Errorf("from standard input: %d rows", len(rows))
			}
		})
	}
}

// TestCutOff cuts compressed files at places of all kinds, ends of blocks and frames among them.
func TestCutOff(t *testing.T) {
	content, lines := someLines(6_000)
	for name, pack := range packers(t, false) {
		t.Run(name, func(t *testing.T) {
			packed := pack(content)
			cuts := []int{10, 11, 20, len(packed) - 1, len(packed) - 3, len(packed) - 4, len(packed) - 5, len(packed) - 8, len(packed) - 12, len(packed) / 2}
			for range 8 {
				cuts = append(cuts, 10+rand.IntN(len(packed)-10))
			}
			for _, at := range cuts {
				rows, err := readBytes(t, packed[:at], CSV)
				if err == nil && !partsEnd(t, rows, lines) {
					t.Fatalf("cut at %d of %d bytes: %d rows and no error", at, len(packed), len(rows))
				}
			}
		})
	}
}

// partsEnd reports whether the cut was at the end of the first part, which nothing tells from a whole file.
func partsEnd(t *testing.T, rows, lines []string) bool {
	t.Helper()
	total, third := 0, 0
	for _, l := range lines {
		total += len(l) + 1
	}
	for _, r := range rows {
		third += len(r) + 1
	}
	return third-total/3 <= 1 && total/3-third <= 1
}

// readBytes opens and reads a file of these bytes.
func readBytes(t *testing.T, content []byte, format Format) ([]string, error) {
	t.Helper()
	in, err := Open(t.Context(), []string{fileOf(t, "f", content)}, nil, Layout{Format: format, Header: NoHeader})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	rows, _, err := drain(t, in, 0, Position{})
	return rows, err
}

func TestDamaged(t *testing.T) {
	content, lines := someLines(6_000)
	for name, pack := range packers(t, false) {
		if strings.Contains(name, "no") { // without checksums damage can pass as other contents
			continue
		}
		t.Run(name, func(t *testing.T) {
			packed := pack(content)
			for range 10 {
				broken := bytes.Clone(packed)
				broken[rand.IntN(len(broken))] ^= byte(1 << rand.IntN(8))
				rows, err := readBytes(t, broken, CSV)
				if err == nil && !slices.Equal(rows, lines) {
					// A header's field that means nothing for the contents may change, such as gzip's time.
					t.Fatalf("%d rows and no error", len(rows))
				}
			}
			_, err := readBytes(t, append(bytes.Clone(packed), "garbage behind the end"...), CSV)
			mustFail(t, err, "damaged")
		})
	}
	packed := gzipped(t, content)
	_, err := readBytes(t, packed[:len(packed)/2], CSV)
	mustFail(t, err, "is cut off", "gzip", "bytes of its contents")
}

// TestMemoryOfWindows: streams that ask for more memory than they may have are refused before they get it.
func TestMemoryOfWindows(t *testing.T) {
	content, _ := someLines(1000)
	for _, command := range []string{"zstd --long=27 --no-content-size", "xz --lzma2=dict=128MiB", "xz --x86 --lzma2"} {
		words := strings.Fields(command)
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("%s is not installed", words[0])
			continue
		}
		cmd := exec.Command(words[0], append(words[1:], "-c")...)
		cmd.Stdin = bytes.NewReader(content)
		packed, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		_, err = readBytes(t, packed, CSV)
		mustFail(t, err, words[0], "pghaul load -")
	}
}

func TestCompressedTwice(t *testing.T) {
	_, err := readBytes(t, gzipped(t, gzipped(t, []byte("1,2\n"))), CSV)
	mustFail(t, err, "compressed twice", "gzip")
}

// TestEarlyClose checks that the goroutine of a stream ends with it.
func TestEarlyClose(t *testing.T) {
	content, _ := someLines(100_000)
	path := fileOf(t, "f.csv.gz", gzipped(t, content))
	in := opened(t, nil, Layout{Format: CSV, Header: NoHeader}, path)
	before := runtime.NumGoroutine()
	for range 8 {
		s, err := in.Open(t.Context(), 0, Position{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		// One that has said its last may still be counted for a moment.
		for tries := 0; runtime.NumGoroutine() > before; tries++ {
			if tries > 1_000_000 {
				t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
			}
			runtime.Gosched()
		}
	}
}
