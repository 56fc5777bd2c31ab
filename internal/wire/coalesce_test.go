package wire

import (
	"bytes"
	"errors"
	"testing"
)

// coalesced is what came out of a Coalescer: frames in the order in which a
// relay would send or handle them.
type coalesced struct {
	sent     []byte  // to the target
	messages []frame // beside CopyData
	places   []int   // payload bytes sent before each message
}

// coalesceAll runs blocks through c as the package tells its callers to.
func coalesceAll(t testing.TB, c *Coalescer, blocks [][]byte, flushEach bool) (out coalesced, err error) {
	t.Helper()
	payload := 0
	send := func() {
		payload += c.Len()
		out.sent = append(out.sent, c.Frame()...)
		c.Reset()
	}
	for _, block := range blocks {
		for len(block) > 0 {
			used, msg, err := c.Push(block)
			if used == 0 && err == nil {
				t.Fatal("the coalescer took nothing")
			}
			block = block[used:]
			if c.Full() || msg.Type != 0 || err != nil {
				send()
			}
			if err != nil {
				return out, err
			}
			if msg.Type != 0 {
				out.messages = append(out.messages, frame{msg.Type, string(msg.Body)})
				out.places = append(out.places, payload)
			}
		}
		if flushEach {
			send()
		}
	}
	send()
	return out, nil
}

// checkCoalesced compares with what the naive decoder says of the stream.
func checkCoalesced(t *testing.T, c *Coalescer, size int, out coalesced, want []frame) {
	t.Helper()
	var payload, gotPayload []byte
	var messages []frame
	var places []int
	rows := int64(0)
	for _, f := range want {
		if f.kind == TypeCopyData {
			payload = append(payload, f.body...)
			rows++
			continue
		}
		messages = append(messages, f)
		places = append(places, len(payload))
	}
	frames, rest := decodeAll(out.sent)
	if len(rest) > 0 {
		t.Fatalf("%d bytes sent that are no frame", len(rest))
	}
	for _, f := range frames {
		if f.kind != TypeCopyData || len(f.body) == 0 || len(f.body) > size {
			t.Fatalf("sent a frame %q with %d bytes", f.kind, len(f.body))
		}
		gotPayload = append(gotPayload, f.body...)
	}
	if !bytes.HasPrefix(gotPayload, payload) {
		t.Fatalf("payload is %q, want %q", gotPayload, payload)
	}
	if c.Idle() && (len(gotPayload) != len(payload) || c.Frames() != rows) {
		t.Fatalf("%d frames, %d bytes; want %d, %d", c.Frames(), len(gotPayload), rows, len(payload))
	}
	if c.Bytes() != int64(len(gotPayload)) {
		t.Fatalf("Bytes is %d, %d were sent", c.Bytes(), len(gotPayload))
	}
	if !equalFrames(out.messages, messages) {
		t.Fatalf("messages are %q, want %q", out.messages, messages)
	}
	for i := range places {
		if out.places[i] != places[i] {
			t.Fatalf("message %d came after %d bytes, want %d", i, out.places[i], places[i])
		}
	}
}

func TestCoalescerEverySplit(t *testing.T) {
	stream := sampleStream()
	want, _ := decodeAll(stream)
	for _, size := range []int{1, 2, 5, 7, 64, 1000} {
		for n := range 40 {
			for _, flush := range []bool{false, true} {
				c := NewCoalescer(size)
				out, err := coalesceAll(t, c, cut(stream, []byte{byte(n)}), flush)
				if err != nil {
					t.Fatalf("size %d, blocks of %d: %v", size, n+1, err)
				}
				checkCoalesced(t, c, size, out, want)
				if !c.Idle() {
					t.Fatalf("size %d, blocks of %d: not idle at the end", size, n+1)
				}
			}
		}
	}
}

func TestCoalescerFrames(t *testing.T) {
	var stream []byte
	for range 100 {
		stream = AppendCopyData(stream, []byte("0123456789"))
	}
	c := NewCoalescer(64)
	out, err := coalesceAll(t, c, [][]byte{stream}, false)
	if err != nil {
		t.Fatal(err)
	}
	frames, _ := decodeAll(out.sent)
	for i, f := range frames {
		if want := 64; i < len(frames)-1 && len(f.body) != want {
			t.Errorf("frame %d has %d bytes, want %d", i, len(f.body), want)
		}
	}
	if len(frames) != 16 || c.Frames() != 100 || c.Bytes() != 1000 {
		t.Errorf("%d frames out, %d in, %d bytes", len(frames), c.Frames(), c.Bytes())
	}
}

func TestCoalescerWaitsForTheFullFrame(t *testing.T) {
	c := NewCoalescer(4)
	block := AppendCopyData(nil, []byte("abcdef"))
	used, msg, err := c.Push(block)
	if used != HeaderSize+4 || msg.Type != 0 || err != nil || !c.Full() {
		t.Fatalf("used %d, %v, %v", used, msg, err)
	}
	if used, _, err := c.Push(block[9:]); used != 0 || !errors.Is(err, ErrFull) {
		t.Fatalf("pushed %d into a full frame: %v", used, err)
	}
	if frame := c.Frame(); string(frame) != "d\x00\x00\x00\x08abcd" {
		t.Fatalf("frame is %q", frame)
	}
	c.Reset()
	if used, _, err := c.Push(block[9:]); used != 2 || err != nil || c.Len() != 2 {
		t.Fatalf("used %d of the rest: %v", used, err)
	}
	if frame := c.Frame(); string(frame) != "d\x00\x00\x00\x06ef" {
		t.Fatalf("frame is %q", frame)
	}
	c.Reset()
	if frame := c.Frame(); frame != nil {
		t.Fatalf("empty frame is %q", frame)
	}
}

func TestCoalescerErrorSticks(t *testing.T) {
	c := NewCoalescer(0)
	good := AppendCopyData(nil, []byte("row"))
	bad := append(bytes.Clone(good), "d\x00\x00\x00\x01"...)
	out, err := coalesceAll(t, c, [][]byte{bad}, false)
	var fe *FrameError
	if !errors.As(err, &fe) || len(out.sent) != len(good) {
		t.Fatalf("error %v, %d bytes sent", err, len(out.sent))
	}
	if _, _, again := c.Push(good); !errors.Is(again, err) {
		t.Errorf("the error does not stick: %v", again)
	}
}

func TestCoalescerMemoryIsBounded(t *testing.T) {
	c := NewCoalescer(0)
	block := make([]byte, 64<<10)
	PutCopyDataHeader(block, MaxBody)
	// The function runs twice, once to warm up: both parts of one 1 GB row.
	allocs := testing.AllocsPerRun(1, func() {
		for sent := 0; sent < 400<<20; {
			for rest := block; len(rest) > 0; {
				used, _, err := c.Push(rest)
				if err != nil {
					t.Fatal(err)
				}
				rest = rest[used:]
				if c.Full() {
					sent += len(c.Frame())
					c.Reset()
				}
			}
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations for one large row", allocs)
	}
	if c.Frames() != 1 {
		t.Errorf("%d frames were begun, want 1", c.Frames())
	}
}

func FuzzCoalescer(f *testing.F) {
	f.Add(sampleStream(), []byte{0, 3, 17}, uint8(9))
	f.Add([]byte("d\x00\x00\x00\x04d\x00\x00\x00\x05x"), []byte{255}, uint8(0))
	f.Add([]byte("E\x7f\xff\xff\xff"), []byte{1}, uint8(3))
	f.Fuzz(func(t *testing.T, stream, sizes []byte, size uint8) {
		c := NewCoalescer(int(size) + 1)
		out, err := coalesceAll(t, c, cut(stream, sizes), len(sizes)%2 == 1)
		want, _ := decodeAll(stream)
		if err != nil {
			want = wholeOnes(t, stream)
		}
		checkCoalesced(t, c, int(size)+1, out, want)
	})
}

// wholeOnes returns the frames that a stream has before its first error.
func wholeOnes(t *testing.T, stream []byte) []frame {
	t.Helper()
	frames, err := scanAll(t, NewScanner(0), [][]byte{stream})
	if err == nil {
		t.Fatal("the coalescer failed where the scanner did not")
	}
	return frames
}

func BenchmarkCoalescer(b *testing.B) {
	for _, bm := range []struct {
		name string
		row  int
	}{{"row=40B", 40}, {"row=1kB", 1000}, {"row=1MB", 1 << 20}} {
		b.Run(bm.name, func(b *testing.B) { benchmarkCoalescer(b, bm.row) })
	}
}

// benchmarkCoalescer pushes blocks of 128 kB, as a socket would give them.
func benchmarkCoalescer(b *testing.B, row int) {
	b.Helper()
	var stream []byte
	payload := bytes.Repeat([]byte("x"), row)
	for len(stream) < 16<<20 {
		stream = AppendCopyData(stream, payload)
	}
	c := NewCoalescer(0)
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		for start := 0; start < len(stream); start += 128 << 10 {
			for block := stream[start:min(start+128<<10, len(stream))]; len(block) > 0; {
				used, _, err := c.Push(block)
				if err != nil {
					b.Fatal(err)
				}
				block = block[used:]
				if c.Full() {
					c.Reset()
				}
			}
		}
	}
	b.ReportMetric(float64(c.Frames())/b.Elapsed().Seconds(), "rows/s")
}
