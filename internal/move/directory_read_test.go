package move

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/wire"
)

// TestFramer gathers rows of all sizes into frames: no byte and no row gets lost, no frame is larger than it should be or empty.
func TestFramer(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, sizes := range [][]int{
		{}, {1}, {wire.FrameSize - 1}, {wire.FrameSize}, {wire.FrameSize + 1}, {wire.FrameSize - 1, 1}, {wire.FrameSize - 1, 2, wire.FrameSize},
		{5 * wire.FrameSize, 3, 10<<20 + 17, 1}, random.Perm(3000), {0, 0, 0},
	} {
		var want, got []byte
		rows, frames := int64(0), 0
		f := framer{put: func(frame []byte, n int64) error {
			payload := len(frame) - wire.HeaderSize
			if frame[0] != wire.TypeCopyData || int(binary.BigEndian.Uint32(frame[1:])) != payload+4 || payload < 1 || payload > wire.FrameSize {
				t.Fatalf("a frame of %d bytes with header % x", len(frame), frame[:wire.HeaderSize])
			}
			got = append(got, frame[wire.HeaderSize:]...)
			rows += n
			frames++
			return nil
		}}
		f.renew()
		for i, size := range sizes {
			row := bytes.Repeat([]byte{byte(i)}, size)
			want = append(want, row...)
			f.buffer = append(f.buffer, row...)
			if err := f.ended(); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.flush(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) || f.total != int64(len(sizes)) || len(want) > 0 && rows != f.total {
			t.Errorf("%d rows: %d bytes in %d frames, want %d bytes; told %d rows", len(sizes), len(got), frames, len(want), rows)
		}
		if frames > len(want)/wire.FrameSize+1+len(sizes)/1000 && len(sizes) < 10 {
			t.Errorf("%d frames for %d bytes", frames, len(want))
		}
	}
}

func TestFramerStops(t *testing.T) {
	stop := errors.New("enough")
	f := framer{put: func([]byte, int64) error { return stop }}
	f.renew()
	f.buffer = append(f.buffer, make([]byte, 2*wire.FrameSize)...)
	if err := f.ended(); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestDamageCounts(t *testing.T) {
	var d Damage
	for i, c := range []struct {
		at   datadir.Damage
		want string
	}{
		{datadir.Damage{Block: 3, Line: 7, Cause: errors.New("torn")}, "1 damaged row"},
		{datadir.Damage{Block: 4, Cause: errors.New("bad")}, "1 damaged block and 1 damaged row"},
		{datadir.Damage{Block: 5, Cause: &datadir.Gap{Block: 5, Blocks: 9, Reason: "no file"}}, "10 damaged blocks and 1 damaged row"},
	} {
		d.add("base/1/2", c.at)
		if got := d.String(); got != c.want || len(d.First) != i+1 {
			t.Errorf("got %q, %q, want %q", got, d.First, c.want)
		}
	}
	for range 100 {
		d.add("f", datadir.Damage{Line: 1, Cause: errors.New("x")})
	}
	if d.Rows != 101 || len(d.First) != mostFaults || d.First[0] != "base/1/2: block 3, line 7: torn" {
		t.Errorf("%d rows, %d places: %q", d.Rows, len(d.First), d.First[0])
	}
	blocks := Damage{Blocks: 2}
	if blocks.String() != "2 damaged blocks" {
		t.Error(blocks.String())
	}
}
