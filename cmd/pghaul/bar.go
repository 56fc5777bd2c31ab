package main

import (
	"io"
	"sync/atomic"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/pghaul/pghaul"
)

// barScale is the length of the bar in steps: parts of the whole are known as fractions only.
const barScale = 10000

// bar shows one progress bar on a terminal and takes it away at the end.
type bar struct {
	container *mpb.Progress
	line      *mpb.Bar
	state     atomic.Pointer[barState]
}

type barState struct {
	name, words string
}

func newBar(stderr io.Writer) *bar {
	b := &bar{}
	b.state.Store(&barState{name: "starting"})
	b.container = mpb.New(mpb.WithOutput(stderr), mpb.WithWidth(30), mpb.WithAutoRefresh())
	b.line = b.container.New(barScale, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return b.state.Load().name + " " })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + b.state.Load().words })),
		mpb.BarRemoveOnComplete(),
	)
	return b
}

func (b *bar) show(p pghaul.Progress, e estimate) {
	name := p.Table
	if name == "" {
		name = "pghaul"
	}
	b.state.Store(&barState{name: name, words: describe(p, e)})
	// The last step is left to close, which takes the bar away.
	b.line.SetCurrent(int64(max(e.done, 0) * (barScale - 1)))
}

func (b *bar) Write(text []byte) (int, error) { return b.container.Write(text) }

func (b *bar) close() {
	b.line.Abort(true)
	b.container.Wait()
}
