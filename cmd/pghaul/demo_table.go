package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pghaul/pghaul"
)

// timing is what one way took. A way whose copy is not equal to the table has an error.
type timing struct {
	runs   []time.Duration
	chosen string
	err    error
}

// median is the middle run, of two the better one.
func (t *timing) median() time.Duration {
	sorted := slices.Sorted(slices.Values(t.runs))
	return sorted[(len(sorted)-1)/2]
}

// measure runs every way of the section, all once before any again, and prints the table. A way that fails is printed with
// its error and does not keep the others from running.
func (s section) measure(ctx context.Context, d *demo, runs int) error {
	timings := make([]timing, len(s.ways))
	for run := range runs {
		for i, w := range s.ways {
			t := &timings[i]
			if t.err != nil {
				continue
			}
			d.status("%s: run %d of %d, way %d of %d", s.title, run+1, runs, i+1, len(s.ways))
			took, chosen, err := s.once(ctx, w)
			if err == nil && run == 0 {
				err = s.verify(ctx, d)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.runs, t.chosen, t.err = append(t.runs, took), chosen, err
		}
	}
	d.status("")
	return s.print(d, timings)
}

// once prepares the target and times one run.
func (s section) once(ctx context.Context, w way) (took time.Duration, chosen string, err error) {
	setup := slices.Concat([]string{"DROP TABLE IF EXISTS " + demoTarget}, w.setup, []string{"CHECKPOINT"})
	if _, err := s.target.Psql(ctx, demoDatabase, setup...); err != nil {
		return 0, "", fmt.Errorf("prepare: %w", err)
	}
	began := time.Now()
	chosen, err = w.run(ctx)
	return time.Since(began), chosen, err
}

// verify compares the copy with the table by the hash of every row.
func (s section) verify(ctx context.Context, d *demo) error {
	found, err := pghaul.Verify(ctx, d.here.URI(demoDatabase), s.target.URI(demoDatabase),
		[]pghaul.Table{{Source: originTable, Target: demoTarget}}, nil)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	for _, c := range found {
		if !c.Equal() {
			return errors.New(comparisonLine(c))
		}
	}
	return nil
}

func (s section) print(d *demo, timings []timing) error {
	width := 0
	for _, w := range s.ways {
		width = max(width, utf8.RuneCountInString(w.name))
	}
	pad := func(text string) string {
		return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
	}
	fmt.Fprintf(d.out, "%s: %s (speed: against the first line)\n\n", s.title, plural(d.rows, "row"))
	d.row("with", pad("by"), "seconds", "rows/s", "speed", "verified", "method")
	d.row("------", strings.Repeat("-", width), "-------", "------", "-----", "--------", "------")
	var failed []error
	for i, w := range s.ways {
		t := &timings[i]
		if t.err != nil {
			d.row(w.tool, pad(w.name), "-", "-", "-", "FAILED", "")
			failed = append(failed, fmt.Errorf("%s: %s %s: %w", s.title, w.tool, w.name, t.err))
			continue
		}
		took := t.median()
		ratio := "-"
		if first := &timings[0]; first.err == nil {
			ratio = fmt.Sprintf("%.2fx", first.median().Seconds()/took.Seconds())
		}
		d.row(w.tool, pad(w.name), fmt.Sprintf("%.2f", took.Seconds()),
			showRate(float64(d.rows)/took.Seconds()), ratio, "equal", t.chosen)
	}
	fmt.Fprintln(d.out)
	return errors.Join(failed...)
}

// row prints one line of a table.
func (d *demo) row(tool, name, seconds, rate, speed, verified, method string) {
	line := fmt.Sprintf("  %-6s  %s  %7s  %8s  %7s  %-8s  %s", tool, name, seconds, rate, speed, verified, method)
	fmt.Fprintln(d.out, strings.TrimRight(line, " "))
}
