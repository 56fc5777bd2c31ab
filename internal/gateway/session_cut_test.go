package gateway

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pghaul/pghaul/internal/wire"
)

// choosy passes, takes and drops messages by their type: w is gathered and passes, t is taken and answered by a longer
// one, x vanishes.
type choosy struct {
	cutter *cutter
	seen   []string
	quiets int
}

func (c *choosy) wants(kind byte, _ int) verdict {
	switch kind {
	case 'w', 't':
		return whole
	case 'x':
		return drop
	}
	return pass
}

func (c *choosy) take(message []byte) (bool, error) {
	c.seen = append(c.seen, string(message))
	if message[0] == 'w' {
		return true, nil
	}
	return false, c.cutter.send(replacement(message))
}

func (c *choosy) quiet() error {
	c.quiets++
	return nil
}

func replacement(message []byte) []byte { return fmt.Appendf(nil, "<%d>", len(message)) }

func message(kind byte, body string) []byte {
	return append(wire.AppendHeader(nil, kind, len(body)), body...)
}

// feedAll feeds stream in blocks of at most n bytes, as a direction does.
func feedAll(t testing.TB, c *cutter, stream []byte, n int) (rest []byte) {
	t.Helper()
	for len(stream) > 0 {
		k := min(len(stream), n)
		b := slices.Concat(rest, stream[:k])
		stream = stream[k:]
		var err error
		if rest, err = c.feed(b); err != nil {
			t.Fatal(err)
		}
		rest = bytes.Clone(rest)
	}
	return rest
}

func TestCutterCutsAnywhere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		var stream, want []byte
		var seen []string
		for range random.IntN(20) {
			m := message("pwtx"[random.IntN(4)], string(bytes.Repeat([]byte{'b'}, random.IntN(30))))
			stream = append(stream, m...)
			switch m[0] {
			case 'p':
				want = append(want, m...)
			case 'w':
				want = append(want, m...)
				seen = append(seen, string(m))
			case 't':
				want = append(want, replacement(m)...)
				seen = append(seen, string(m))
			}
		}
		for _, n := range []int{1, 2, 3, 7, 1 + random.IntN(100), 1 << 20} {
			var got []byte
			c := &cutter{out: func(b []byte) error { got = append(got, b...); return nil }}
			h := &choosy{cutter: c}
			c.hook = h
			rest := feedAll(t, c, stream, n)
			if !bytes.Equal(got, want) || len(rest) > 0 || fmt.Sprint(h.seen) != fmt.Sprint(seen) {
				t.Fatalf("round %d, blocks of %d: %q became %q (left %q, seen %q), want %q", round, n, stream, got, rest, h.seen, want)
			}
			if !c.border() {
				t.Fatalf("round %d: no border at the end", round)
			}
		}
	}
}

func TestCutterPassesInOneWrite(t *testing.T) {
	var writes [][]byte
	c := &cutter{out: func(b []byte) error { writes = append(writes, bytes.Clone(b)); return nil }}
	h := &choosy{cutter: c}
	c.hook = h
	stream := bytes.Join([][]byte{message('p', "1"), message('w', "22"), message('p', "")}, nil)
	feedAll(t, c, stream, 1<<20)
	if len(writes) != 1 || !bytes.Equal(writes[0], stream) || h.quiets != 1 {
		t.Errorf("got %q, quiet %d times", writes, h.quiets)
	}
}

func TestCutterBorder(t *testing.T) {
	for _, hook := range []hook{nil, &choosy{}} {
		c := &cutter{hook: hook, out: func([]byte) error { return nil }}
		m := message('p', "body")
		for i := range m {
			rest, err := c.feed(m[:i+1])
			if i+1 < wire.HeaderSize {
				// Nothing of a header that is cut off has gone on.
				if err != nil || len(rest) != i+1 || !c.border() {
					t.Errorf("%d bytes: rest %q, %v, border %v", i+1, rest, err, c.border())
				}
				continue
			}
			if want := i+1 == len(m); c.border() != want {
				t.Errorf("%d bytes: border %v", i+1, c.border())
			}
			c.left = 0
		}
	}
}

func TestCutterPassesWhatIsNoFrame(t *testing.T) {
	tests := []struct{ name, stream string }{
		{"control character", "\x00\x00\x00\x00\x05abc"},
		{"short length", "Q\x00\x00\x00\x03abc"},
		{"negative length", "Q\xff\xff\xff\xffabc"},
		{"text", "GET / HTTP/1.0\r\n\r\n"},
		{"after a message", string(message('p', "x")) + "\x80bad frame"},
	}
	for _, tt := range tests {
		for _, n := range []int{1, 6, 100} {
			var got []byte
			c := &cutter{out: func(b []byte) error { got = append(got, b...); return nil }}
			c.hook = &choosy{cutter: c}
			rest := feedAll(t, c, []byte(tt.stream), n)
			if string(got)+string(rest) != tt.stream {
				t.Errorf("%s, blocks of %d: got %q and %q", tt.name, n, got, rest)
			}
		}
	}
}

func FuzzCutter(f *testing.F) {
	f.Add([]byte("Q\x00\x00\x00\x05\x00"), 3)
	f.Add(message('t', "abc"), 1)
	f.Add([]byte("d\x00\x00\x00\x04w\x00\x00\x00\x06ab\xff"), 2)
	f.Fuzz(func(t *testing.T, stream []byte, n int) {
		if n < 1 || n > 1<<16 {
			n = 1
		}
		collect := func(n int) (string, string) {
			var got []byte
			c := &cutter{out: func(b []byte) error { got = append(got, b...); return nil }}
			c.hook = &bounded{choosy{cutter: c}}
			rest := feedAll(t, c, stream, n)
			return string(got), string(rest)
		}
		got, rest := collect(n)
		all, allRest := collect(len(stream) + 1)
		if got != all || rest != allRest {
			t.Errorf("in blocks of %d: %q, %q; at once: %q, %q", n, got, rest, all, allRest)
		}
	})
}

// bounded lets pass what is long, as every hook must.
type bounded struct{ choosy }

func (b *bounded) wants(kind byte, length int) verdict {
	if length > 1<<16 {
		return pass
	}
	return b.choosy.wants(kind, length)
}

func TestIntakeKeepsWhatIsUnread(t *testing.T) {
	address := scripted(t, func(e *end) { e.send([]byte("0123456789")) })
	pool := newBlockPool(minBuffer)
	for _, portable := range []bool{false, true} {
		e := dialled(t, "tcp", address)
		in := newIntake(e.Conn, pool)
		if portable {
			in.raw, in.probe = nil, make([]byte, probeSize)
		}
		var all []byte
		for {
			b, err := in.next()
			if err != nil {
				all = append(all, b...)
				break
			}
			keep := min(3, len(b))
			all = append(all, b[:len(b)-keep]...)
			in.unread(b[len(b)-keep:])
			in.done()
		}
		if string(all) != "0123456789" {
			t.Errorf("portable %v: got %q", portable, all)
		}
	}
}
