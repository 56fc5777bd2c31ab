package move

import (
	"testing"
	"time"

	"github.com/pghaul/pghaul/planner"
)

func TestCompare(t *testing.T) {
	const us = time.Microsecond
	tests := []struct {
		name           string
		round          int
		copied, perRow time.Duration
		slow           bool
		want           way
	}{
		{"copy far ahead", 0, 1 * us, 50 * us, false, byCopy},
		{"copy a little behind in a small sample", 0, 3 * us, 1 * us, false, byCopy},
		{"copy far behind in a small sample", 0, 9 * us, 1 * us, false, undecided},
		{"far behind again", 1, 9 * us, 1 * us, false, undecided},
		{"and again", 2, 9 * us, 1 * us, false, undecided},
		{"to the last", 3, 9 * us, 1 * us, false, byInsert},
		{"near at last", 3, 105 * us, 100 * us, false, byCopy},
		{"a little behind in a long sample", 0, 130 * us, 100 * us, true, undecided},
		{"far behind in long samples", 1, 400 * us, 100 * us, true, byInsert},
	}
	for _, test := range tests {
		copied := &pace{perRow: test.copied, slow: test.slow}
		if got := compare(test.round, copied, &pace{perRow: test.perRow}); got != test.want {
			t.Errorf("%s: %d, not %d", test.name, got, test.want)
		}
	}
}

func TestPaceKeepsTheBest(t *testing.T) {
	var p pace
	p.add(100, time.Second)
	if !p.slow || p.perRow != 10*time.Millisecond {
		t.Errorf("%+v", p)
	}
	p.add(1000, time.Millisecond)
	p.add(1000, 2*time.Millisecond)
	if p.slow || p.perRow != time.Microsecond {
		t.Errorf("%+v", p)
	}
}

func TestFirstSample(t *testing.T) {
	for _, test := range []struct {
		size   int
		unnest bool
		want   int
	}{{1, true, 16}, {3, true, 15}, {10, true, 40}, {30, true, 90}, {70, false, 70}, {100, true, 100}, {10000, true, 100}, {10000, false, 100}} {
		plan := &planner.Plan{Batch: &planner.BatchPlan{Unnest: test.unnest, UnnestFrom: 2}}
		in := &inserter{worker: &worker{plan: plan}, size: test.size}
		if got := in.firstSample(); got != test.want {
			t.Errorf("size %d unnest %v: %d, not %d", test.size, test.unnest, got, test.want)
		}
	}
}
