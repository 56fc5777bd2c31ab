package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/pghaul/pghaul"
)

var progressModes = []string{"auto", "bar", "plain", "json", "none"}

// display shows the progress of a copy on standard error. Its Write puts log lines between the progress.
type display struct {
	interval time.Duration
	render   renderer
	pace     pace
}

// renderer is one way to show progress.
type renderer interface {
	io.Writer
	show(p pghaul.Progress, pace estimate)
	close()
}

func newDisplay(mode string, stderr io.Writer) *display {
	if mode == "auto" {
		mode = "plain"
		if isTerminal(stderr) {
			mode = "bar"
		}
	}
	switch mode {
	case "bar":
		return &display{interval: 200 * time.Millisecond, render: newBar(stderr)}
	case "plain":
		return &display{interval: time.Second, render: &lines{w: stderr}}
	case "json":
		return &display{interval: time.Second, render: &objects{w: stderr}}
	default:
		return &display{interval: time.Second, render: &silence{w: stderr}}
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (d *display) update(p pghaul.Progress)       { d.render.show(p, d.pace.next(p)) }
func (d *display) Write(text []byte) (int, error) { return d.render.Write(text) }
func (d *display) close()                         { d.render.close() }

// newLogger logs to w in slog's text form.
func newLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// estimate is what the progress so far lets one expect.
type estimate struct {
	bytesPerSecond, rowsPerSecond float64
	done                          float64 // part of the whole, 0 to 1; -1 when not known
	left                          time.Duration
	leftKnown                     bool
}

// pace computes rates over the last seconds, so that they follow a change, and the time left from the whole so far.
type pace struct {
	seen []pghaul.Progress
}

const paceWindow = 10 * time.Second

// manyRows is from when on rows tell better how much is done: the payload of narrow rows is about half of what they take on
// disk, and that of compressed ones a multiple. A few rows may differ in size by all of the table.
const manyRows = 1000

func (a *pace) next(p pghaul.Progress) estimate {
	a.seen = append(a.seen, p)
	for len(a.seen) > 2 && p.Elapsed-a.seen[0].Elapsed > paceWindow {
		a.seen = a.seen[1:]
	}
	e := estimate{done: -1}
	first := a.seen[0]
	seconds := (p.Elapsed - first.Elapsed).Seconds()
	if seconds <= 0 {
		first, seconds = pghaul.Progress{}, p.Elapsed.Seconds()
	}
	if seconds > 0 {
		e.bytesPerSecond = float64(p.Bytes-first.Bytes) / seconds
		e.rowsPerSecond = float64(p.Rows-first.Rows) / seconds
	}
	switch {
	case p.TotalRows >= manyRows:
		e.done = min(1, float64(p.Rows)/float64(p.TotalRows))
	case p.TotalBytes > 0:
		e.done = min(1, float64(p.Bytes)/float64(p.TotalBytes))
	}
	if e.done > 0.01 && e.done < 1 && p.Stage == "rows" {
		e.left = time.Duration(float64(p.Elapsed) * (1 - e.done) / e.done)
		e.leftKnown = true
	}
	return e
}

// describe is the progress in words, without the table's name.
func describe(p pghaul.Progress, e estimate) string {
	text := "planning"
	if p.Stage != "plan" {
		text = describeRows(p, e)
	}
	if p.Waiting != "" {
		text += "; " + p.Waiting
	}
	return text
}

func describeRows(p pghaul.Progress, e estimate) string {
	text := plural(p.Rows, "row")
	if p.Bytes > 0 {
		text += fmt.Sprintf(", %s, %s/s", showBytes(float64(p.Bytes)), showBytes(e.bytesPerSecond))
	}
	if e.rowsPerSecond >= 1 {
		text += fmt.Sprintf(", %s rows/s", showRate(e.rowsPerSecond))
	}
	if p.Stage != "rows" && p.Stage != "" {
		text += ", " + stageText(p.Stage)
	}
	if e.leftKnown {
		text += fmt.Sprintf(", %.0f %%, %s left", e.done*100, showTime(e.left.Round(time.Second)))
	}
	return text
}

func stageText(stage string) string {
	switch stage {
	case "indexes":
		return "building indexes"
	case "verify":
		return "verifying"
	case "commit":
		return "committing"
	default:
		return stage
	}
}

// lines prints a line every five seconds, and at once when a wait for a lock begins or the stage changes.
type lines struct {
	mu      sync.Mutex
	w       io.Writer
	printed time.Duration
	stage   string
	waiting string
}

const lineInterval = 5 * time.Second

func (l *lines) show(p pghaul.Progress, e estimate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := p.Waiting != l.waiting || (p.Stage != l.stage && p.Elapsed > lineInterval)
	if !changed && p.Elapsed-l.printed < lineInterval {
		return
	}
	l.printed, l.stage, l.waiting = p.Elapsed, p.Stage, p.Waiting
	name := p.Table
	if name == "" {
		name = "pghaul"
	}
	fmt.Fprintf(l.w, "%s: %s\n", name, describe(p, e))
}

func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(text)
}

func (l *lines) close() {}

// objects prints a JSON object a line, every second.
type objects struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *objects) show(p pghaul.Progress, e estimate) {
	line := struct {
		Event string `json:"event"`
		pghaul.Progress
		BytesPerSecond float64  `json:"bytes_per_second"`
		RowsPerSecond  float64  `json:"rows_per_second"`
		Elapsed        float64  `json:"elapsed_seconds"`
		Left           *float64 `json:"left_seconds,omitempty"`
	}{"progress", p, e.bytesPerSecond, e.rowsPerSecond, p.Elapsed.Seconds(), nil}
	if e.leftKnown {
		left := e.left.Seconds()
		line.Left = &left
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	// Progress that cannot be written, for instance into a closed pipe, is no reason to end a copy.
	_ = json.NewEncoder(o.w).Encode(line)
}

func (o *objects) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(text)
}

func (o *objects) close() {}

// silence shows nothing but log lines.
type silence struct{ w io.Writer }

func (s *silence) show(pghaul.Progress, estimate) {}
func (s *silence) Write(text []byte) (int, error) { return s.w.Write(text) }
func (s *silence) close()                         {}
