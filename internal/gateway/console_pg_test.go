package gateway

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// psqlOn asks a database by psql and returns what it prints.
func psqlOn(t *testing.T, g *Gateway, database, user string, commands ...string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(addressOf(g))
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-X", "-At", "-h", host, "-p", port, "-U", user, "-d", database}
	for _, c := range commands {
		args = append(args, "-c", c)
	}
	out, err := exec.Command("psql", args...).CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}

func TestConsoleByPsql(t *testing.T) {
	uri := clustertest.Database(t)
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t)), AdminUsers: []string{"postgres"}, Version: "1.2"})
	clustertest.Query(t, through(t, g, uri), "SELECT 1")
	got := psqlOn(t, g, "pghaul", "postgres", "show version", "SHOW STATS;", "SHOW SESSIONS; SHOW TABLES", "SHOW CONFIG", "help")
	for _, want := range []string{"pghaul 1.2 (go", "\nsessions|1\n", "\nmode|strict\n", "\nadmin-users|postgres\n", "SHOW TABLES|what became"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "WARNING") || strings.Contains(got, "ERROR") {
		t.Error(got)
	}
	if got := psqlOn(t, g, "pghaul", "postgres", "TABLE pg_class"); !strings.Contains(got, "ERROR:  the console of pghaul has no command") {
		t.Error(got)
	}
	if got := psqlOn(t, g, "pghaul", "intruder", "SHOW VERSION"); !strings.Contains(got, `FATAL:  no access to the console of pghaul for role "intruder"`) {
		t.Error(got)
	}
}

func TestConsoleByADriver(t *testing.T) {
	g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t)), AdminUsers: []string{"postgres"}})
	uri := through(t, g, clustertest.OnDatabase(t, clustertest.Server(t).URI("postgres"), "pghaul"))
	if got := clustertest.Query(t, uri, "SHOW TABLES"); got != "" {
		t.Errorf("got %q", got)
	}
	if got := clustertest.Query(t, uri, "SHOW STATS"); !strings.Contains(got, "connections_accepted|2") {
		t.Errorf("got %q", got)
	}
}

func TestSessionsAreListed(t *testing.T) {
	uri := clustertest.Database(t)
	var g *Gateway
	// Before start's own cleanup in the text, so after it in time: the gateway has ended.
	t.Cleanup(func() {
		if shot := g.Stats(); len(shot.Sessions) != 0 || shot.Total.Sent == 0 {
			t.Errorf("%d sessions are left, %+v", len(shot.Sessions), shot.Total)
		}
	})
	g = start(t, &Config{Upstream: socketOf(t, clustertest.Server(t)), AdminUsers: []string{"postgres"}, Mode: Stream})
	name := clustertest.Query(t, uri, "SELECT current_database()")
	// psql asks the console while its own session is open.
	host, port, err := net.SplitHostPort(addressOf(g))
	if err != nil {
		t.Fatal(err)
	}
	inner := `\! psql -XAt -h ` + host + ` -p ` + port + ` -U postgres -d pghaul -c 'SHOW SESSIONS'`
	got := strings.Split(strings.TrimSpace(psqlOn(t, g, name, "postgres", inner)), "|")
	if len(got) != 14 || got[2] != "postgres" || got[3] != name || got[4] != "psql" || got[5] != "f" || got[7] != "stream" || got[10] == "0" {
		t.Errorf("got %q", got)
	}
}
