package gateway

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestExplain(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (id int, test text)", `CREATE TABLE "R r" (id int, a int[])`, "CREATE TABLE u (id int)",
		"CREATE RULE u AS ON INSERT TO u DO ALSO NOTHING")
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t))})
	c := connectRaw(t, through(t, g, uri), "")
	tests := []struct{ before, sql, want string }{
		{"", literals("t", 5000, plainRow), "Gateway: COPY public.t (id, test) FROM STDIN (FORMAT binary)"},
		{"", literals("t", 500, plainRow), "Gateway: INSERT INTO public.t (id, test) SELECT * FROM unnest($1::integer[], $2::text[])"},
		{"", "INSERT INTO t VALUES (1, 'x')", "Gateway: passed: small"},
		{"", "INSERT INTO t VALUES (1, 'x') RETURNING id", "Gateway: passed: RETURNING"},
		{"", literals("u", 500, func(int) string { return "(1)" }), "Gateway: passed: rules"},
		{"SET pghaul.mode TO stream", "INSERT INTO t VALUES (1, 'x')", "Gateway: passed: small"},
		{"BEGIN", "INSERT INTO t VALUES (1, 'x')", "Gateway: COPY public.t (id, test) FROM STDIN (FORMAT binary)"},
		{"SAVEPOINT x", `INSERT INTO "R r" (a) VALUES ('{1}')`, `Gateway: COPY public.\"R r\" (a) FROM STDIN"`},
		{"ROLLBACK", "INSERT INTO t VALUES (1, 'x')", "Gateway: passed: small"},
	}
	for _, test := range tests {
		if test.before != "" {
			c.says(simple(test.before))
		}
		c.says(simple("EXPLAIN (COSTS off) "+test.sql), `"`+"\\x00\\x01\\x00\\x00\\x00", test.want, `EXPLAIN\x00`)
	}
	c.says(simple("SET pghaul.mode = 'off'"))
	c.send(simple("EXPLAIN INSERT INTO t VALUES (1, 'x')"))
	if got := c.read(1); strings.Contains(got, "Gateway") {
		t.Errorf("off: %s", got)
	}
	c.says(simple("EXPLAIN INSERT INTO missing VALUES (1)"), "C42P01")
	c.says(simple("SELECT 17"), `17"`)
}

func TestModes(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE TABLE t (a int, b text)")
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t)), Mode: Off})
	rows := simple(literals("t", 200, plainRow))
	tests := []struct {
		options string
		before  []string
		taken   int64
		mode    string
	}{
		{"", nil, 0, "off"},
		{"", []string{"SET pghaul.mode = 'strict'"}, 1, "strict"},
		{"", []string{"SET SESSION pghaul.mode TO stream"}, 1, "stream"},
		{"", []string{"BEGIN", "SET LOCAL pghaul.mode TO stream", "COMMIT"}, 0, "off"},
		{"", []string{"BEGIN", "SET pghaul.mode TO stream", "ROLLBACK"}, 0, "off"},
		{"-c pghaul.mode=stream", nil, 1, "stream"},
		{"--pghaul.mode=strict -c work_mem=1MB", []string{"SET pghaul.mode = off"}, 0, "off"},
		{"-cpghaul.mode=strict", []string{"SET pghaul.mode = off", "RESET pghaul.mode"}, 1, "strict"},
		{"-c pghaul.mode=strict", []string{"SET pghaul.mode = 'what'"}, 0, "off"},
		{"-c pghaul.mode=strict", []string{"SET pghaul.mode = off", "DISCARD ALL"}, 1, "strict"},
	}
	for _, test := range tests {
		c := connectRaw(t, through(t, g, uri), test.options)
		for _, sql := range test.before {
			c.says(simple(sql))
		}
		before := g.Stats().Total.Taken
		c.says(rows, `C "INSERT 0 200\x00"`)
		sessions := g.Stats().Sessions
		if got := g.Stats().Total.Taken - before; got != test.taken {
			t.Errorf("%q %q: %d taken, want %d", test.options, test.before, got, test.taken)
		}
		if got := sessions[len(sessions)-1].Mode; got != test.mode {
			t.Errorf("%q %q: mode %s, want %s", test.options, test.before, got, test.mode)
		}
		c.conn.Close()
	}
}
