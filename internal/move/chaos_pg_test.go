package move

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// Names of the variables by which the test binary tells its child, which is to be killed, what to move.
const (
	chaosProtocol = "PGHAUL_CHAOS_PROTOCOL"
	chaosSource   = "PGHAUL_CHAOS_SOURCE"
	chaosTarget   = "PGHAUL_CHAOS_TARGET"
)

// TestChaosChild is what the child runs. In the parent there is nothing for it to do.
func TestChaosChild(t *testing.T) {
	name := os.Getenv(chaosProtocol)
	if name == "" {
		return
	}
	for _, p := range protocols {
		if p.name == name {
			if _, err := attempt(context.Background(), onePair(os.Getenv(chaosSource), os.Getenv(chaosTarget), "t", "t", p.wish)); err != nil {
				t.Fatal(spelled(err))
			}
		}
	}
}

// victim runs the arena's move in a child process and returns what it said, and whether it ended well.
func (a *arena) victim(t *testing.T, killAt int64) (said string, ended bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChaosChild$", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), chaosProtocol+"="+a.name, chaosSource+"="+a.request.Source, chaosTarget+"="+a.request.Target)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	a.sourceLine.arm(fault{})
	a.destLine.arm(fault{})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.destLine.arm(fault{callAt: killAt, call: func() { _ = cmd.Process.Kill() }})
	err := cmd.Wait()
	return out.String(), err == nil
}

// TestKilledMoveGoesOn kills ranged copies over and over, each time running it again, until all rows are there.
func TestKilledMoveGoesOn(t *testing.T) {
	t.Parallel()
	const seed = 20
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	a := newArena(t, protocols[len(protocols)-1], 15000)
	if a.name != "range" {
		t.Fatal("the last protocol is not that of ranges")
	}
	a.request.Wish.RangeBytes = 24 * oneRange
	a.reset(t)
	if said, ok := a.victim(t, 0); !ok {
		t.Fatalf("undisturbed: %s", said)
	}
	total := a.destLine.count()
	a.reset(t)
	copies, interrupted := 0, 0
	for kills := 0; kills < 50; {
		said, ok := a.victim(t, 1+random.Int64N(total/2))
		if ok = ok || strings.HasPrefix(said, "PASS"); !ok && said == "" {
			// Every other time the next run meets what the server still does for the killed one.
			if kills++; kills%2 == 0 {
				continue
			}
			sessionsGone(t, a.target)
		}
		switch found := a.outcome(t); {
		case !ok && said == "" && found == "some ranges":
			interrupted++
		case !ok && said == "" && (found == "as before" || found == "complete"):
		case !ok && found == "complete" && strings.Contains(said, "not empty"):
			// It was killed between its end and that of its process.
			a.reset(t)
		case !ok:
			t.Fatalf("kill %d, %s: %s", kills, found, said)
		case found != "complete":
			t.Fatalf("a copy that ended well left %s", found)
		default:
			copies++
			clean(t, a.target)
			if left := clustertest.Query(t, a.target, "SELECT (SELECT count(*) FROM pghaul.move) + (SELECT count(*) FROM pghaul.done_range)"); left != "0" {
				t.Errorf("%s records are left", left)
			}
			a.reset(t)
		}
	}
	if copies == 0 || interrupted < 10 {
		t.Errorf("%d copies were completed, %d kills left some ranges: the kills came too early", copies, interrupted)
	}
}

// TestKilledMoveIsSettled kills copies that commit all at once. The next run must find the target as before or complete.
func TestKilledMoveIsSettled(t *testing.T) {
	t.Parallel()
	for _, p := range protocols {
		if p.partial {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(30, 31))
			a := newArena(t, p, 2000)
			a.reset(t)
			if said, ok := a.victim(t, 0); !ok {
				t.Fatalf("undisturbed: %s", said)
			}
			total := a.destLine.count()
			for i, at := range positions(random, total, 9) {
				a.reset(t)
				said, ok := a.victim(t, at)
				if !ok && said != "" && !strings.HasPrefix(said, "PASS") {
					t.Fatalf("kill %d: %s", i, said)
				}
				a.settled(t, fmt.Sprintf("kill %d at byte %d", i, at))
				if t.Failed() {
					return
				}
			}
		})
	}
}

// settled runs the move again after a kill. What the killed one left may become visible by that: then it is complete.
func (a *arena) settled(t *testing.T, when string) {
	t.Helper()
	a.destLine.arm(fault{})
	ctx, cancel := context.WithTimeout(context.Background(), attemptLimit)
	defer cancel()
	if _, err := attempt(ctx, a.request); err != nil && !strings.Contains(err.Error(), "not empty") {
		t.Errorf("%s: the next run: %s", when, spelled(err))
	}
	if found := a.outcome(t); found != "complete" {
		t.Errorf("%s: the next run left %s", when, found)
	}
	if left := leftovers(t, a.target); left != "" {
		t.Errorf("%s: the next run left behind %s", when, left)
	}
}
