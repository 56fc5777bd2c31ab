package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestVerify(t *testing.T) {
	source, target := pair(t)
	for _, uri := range []string{source, target} {
		clustertest.Exec(t, uri, makeItems, fillItems, "CREATE TABLE other AS TABLE items")
	}
	run := func(args ...string) outcome {
		return haul(t, append([]string{"verify", "--source", source, "--target", target}, args...)...)
	}
	has := func(o outcome, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(o.out, want) {
				t.Errorf("%q is missing in:\n%s\n%s", want, o.out, o.errors)
			}
		}
	}

	o := run("items", "-t", "oth*")
	o.is(t, 0)
	has(o, "public.items: equal by hash, 1,000 rows", "public.other: equal by hash")
	clustertest.Exec(t, target, "UPDATE items SET name = 'changed' WHERE id = 77", "DELETE FROM other WHERE id = 5")
	o = run("items", "other")
	o.is(t, 1, "ERROR:  2 of 2 tables differ")
	has(o, "public.items: not equal by hash", "id=77", "public.other: not equal", "1,000 rows in the source and 999 rows in the target")
	o = run("--level", "count", "items")
	o.is(t, 0)
	has(o, "equal by count")
	run("--where", "id <> 77", "items").is(t, 0)
	run("--columns", "id, price", "items").is(t, 0)
	o = run("--quiet", "items")
	o.is(t, 1)
	if o.out != "" {
		t.Errorf("--quiet printed %q", o.out)
	}
	var got []struct {
		Equal      bool
		Source     string
		SourceRows int64 `json:"source_rows"`
		Different  []map[string]any
	}
	o = run("--output", "json", "items")
	o.is(t, 1)
	if err := json.Unmarshal([]byte(o.out), &got); err != nil || len(got) != 1 || got[0].Equal || got[0].SourceRows != 1000 || len(got[0].Different) != 1 {
		t.Errorf("%v: %s", err, o.out)
	}
	run("nowhere").is(t, 1, "ERROR:  ", "nowhere")
}
