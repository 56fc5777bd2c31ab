package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestDemo(t *testing.T) {
	// Without a server's programs this would test the message about them only.
	clustertest.Server(t)
	o := haul(t, "demo", "--rows", "3000", "--runs", "1")
	o.is(t, 0)
	for _, want := range []string{"pghaul copy --analyze", "actual", "Inside one database: 3,000 rows", "To another server: 3,000 rows",
		"--on-conflict update", "CREATE TABLE AS", "COPY binary | COPY binary"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is missing in:\n%s", want, o.out)
		}
	}
	if strings.Contains(o.out, "FAILED") {
		t.Error(o.out)
	}
	if n := len(regexp.MustCompile(`(?m)^  (psql|pghaul) .* equal\b.*$`).FindAllString(o.out, -1)); n < 20 {
		t.Errorf("%d ways are equal, want at least 20:\n%s", n, o.out)
	}
}
