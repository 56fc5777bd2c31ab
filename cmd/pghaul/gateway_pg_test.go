package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// gatewayProcess is a pghaul gateway whose log is read line by line.
type gatewayProcess struct {
	t   *testing.T
	cmd *exec.Cmd
	log *bufio.Reader
}

func startGateway(t *testing.T, cmd *exec.Cmd) *gatewayProcess {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	return &gatewayProcess{t: t, cmd: cmd, log: bufio.NewReader(stderr)}
}

// until reads the log up to a message, and returns its attribute of that name.
func (p *gatewayProcess) until(message, attribute string) string {
	p.t.Helper()
	var seen []string
	for {
		line, err := p.log.ReadString('\n')
		if err != nil {
			p.t.Fatalf("the log ended before %q: %v: %s", message, err, strings.Join(seen, ""))
		}
		seen = append(seen, line)
		var entry map[string]any
		if json.Unmarshal([]byte(line), &entry) == nil && strings.Contains(entry["msg"].(string), message) {
			text, _ := entry[attribute].(string)
			return text
		}
	}
}

// end sends a signal and returns the exit code.
func (p *gatewayProcess) end(sig os.Signal) int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Fatal(err)
	}
	p.until("draining", "")
	if _, err := io.Copy(io.Discard, p.log); err != nil {
		p.t.Error(err)
	}
	// The exit code tells.
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// upstream is the directory of the test server's socket, as --upstream takes it, and a database on it.
func upstream(t *testing.T) (address, uri string) {
	t.Helper()
	s := clustertest.Server(t)
	return s.SocketDir() + ":" + portOf(t, s.URI("postgres")), clustertest.Database(t)
}

func portOf(t *testing.T, uri string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("port")
}

// by is a database's address through a gateway on TCP.
func by(t *testing.T, uri, address string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", host)
	q.Set("port", port)
	u.RawQuery = q.Encode()
	return u.String()
}

func TestGatewayServesReloadsAndDrains(t *testing.T) {
	server, uri := upstream(t)
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte("listen: 127.0.0.1:0\nlog-format: json\ndrain-timeout: 0\nadmin-users: [postgres]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startGateway(t, command([]string{"PGHAUL_GATEWAY_UPSTREAM=" + server}, "gateway", "--config", file))
	address := p.until("listening", "address")
	if got := clustertest.Query(t, by(t, uri, address), "SELECT 6 * 7"); got != "42" {
		t.Errorf("got %s", got)
	}
	console := by(t, clustertest.OnDatabase(t, uri, "pghaul"), address)
	if got := clustertest.Query(t, console, "SHOW CONFIG"); !strings.Contains(got, "upstream|"+server) || !strings.Contains(got, "drain-timeout|0s") {
		t.Errorf("got %s", got)
	}
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.until("read the certificates again", "")
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestGatewayTakesSocketsOfSystemd(t *testing.T) {
	server, uri := upstream(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	// As systemd does, the variable names the process itself: the shell becomes it.
	pghaul := command([]string{"LISTEN_FDS=1"}, "gateway", "--upstream", server, "--log-format", "json")
	cmd := exec.Command("sh", slices.Concat([]string{"-c", `LISTEN_PID=$$ exec "$@"`, "sh"}, pghaul.Args)...)
	cmd.Env, cmd.ExtraFiles = pghaul.Env, []*os.File{f}
	p := startGateway(t, cmd)
	f.Close()
	l.Close()
	if got := p.until("listening", "address"); got != address {
		t.Errorf("listens on %s, want %s", got, address)
	}
	if got := clustertest.Query(t, by(t, uri, address), "SELECT 1"); got != "1" {
		t.Errorf("got %s", got)
	}
	if code := p.end(os.Interrupt); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestGatewaySocketsOfAnotherProcessAreLeft(t *testing.T) {
	finish(t, command([]string{"LISTEN_FDS=1", "LISTEN_PID=1"}, "gateway", "--upstream", "h")).is(t, 2, "no address to listen on")
}

func TestGatewaySocketThatIsNone(t *testing.T) {
	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$@"`, "sh", os.Args[0], "gateway", "--upstream", "h")
	cmd.Env = append(os.Environ(), roleVariable+"=1", "LISTEN_FDS=1")
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd.ExtraFiles = []*os.File{f}
	finish(t, cmd).is(t, 1, "take over descriptor 3 as a listening socket")
	cmd = exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$@"`, "sh", os.Args[0], "gateway", "--upstream", "h")
	cmd.Env = append(os.Environ(), roleVariable+"=1", "LISTEN_FDS=many")
	finish(t, cmd).is(t, 1, `LISTEN_FDS is "many"`)
}

func TestGatewayCheck(t *testing.T) {
	server, _ := upstream(t)
	o := haul(t, "gateway", "--listen", ":6432", "--upstream", server, "--check")
	o.is(t, 0)
	for _, want := range []string{"is reached without TLS", "Clients without TLS: any password method", "there is no tls-cert", "cert, peer or ident", "The settings are valid."} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is missing in\n%s", want, o.out)
		}
	}
	haul(t, "gateway", "--listen", ":6432", "--upstream", t.TempDir(), "--check").is(t, 1, "connect to the upstream server")
}

func TestGatewayUsage(t *testing.T) {
	haul(t, "gateway").is(t, 2, "no address to listen on", "no usable upstream server")
	haul(t, "gateway", "x").is(t, 2, "takes no arguments: x")
	haul(t, "gateway", "--listen", ":0", "--upstream", "h", "--mode", "fast").is(t, 2, "choose one of strict, stream, off")
	haul(t, "gateway", "--listen", ":0", "--upstream", "h", "--send-buffer", "1kB").is(t, 2, "from 8192 to 16777216 bytes")
	haul(t, "gateway", "--listen", ":0", "--upstream", "h", "--tls-cert", "x").is(t, 2, "go together")
	if o := haul(t, "gateway", "--help"); o.code != 0 || !strings.Contains(o.out, "--stream-idle") || !strings.Contains(o.out, "ALTER SERVER") {
		t.Errorf("help: %d\n%s", o.code, o.out)
	}
}
