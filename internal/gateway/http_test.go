package gateway

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// listening is the address of a socket that is open until the test ends.
func listening(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// counted is a gateway that does not run, whose counters hold something.
func counted(t *testing.T, upstream string) *Gateway {
	t.Helper()
	g, err := New(&Config{Listen: []string{"127.0.0.1:0"}, Upstream: upstream, Version: "1.2"})
	if err != nil {
		t.Fatal(err)
	}
	c := g.stats.Open(Origin{Client: "10.0.0.1:5000", User: "app", Database: "shop", Application: `<b>"x"`, Mode: "stream"})
	c.Taken(c.Table("public", "orders"), FormCopyBinary, 10, 12345)
	c.Passed(c.Table("public", "orders"), "RETURNING")
	c.Passed(c.Table("public", "<script>alert(1)</script>"), "ON CONFLICT")
	c.Passed(c.Table("s", "bad\xff"), "cast")
	c.Passed(c.Table("s", "bad\xfe"), "cast")
	c.Passed(c.Table("", ""), "several statements")
	return g
}

func ask(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func TestHealth(t *testing.T) {
	open, draining := make(chan struct{}), make(chan struct{})
	close(draining)
	tests := []struct {
		name, upstream string
		draining       chan struct{}
		code           int
		text           string
	}{
		{"reachable", listening(t), open, 200, "ok\n"},
		{"unreachable", "127.0.0.1:1", open, 503, "the upstream server takes no connections\n"},
		{"no socket file", t.TempDir(), open, 503, "the upstream server takes no connections\n"},
		{"draining", listening(t), draining, 503, "draining\n"},
	}
	for _, tt := range tests {
		w := ask(counted(t, tt.upstream).handler(tt.draining), "GET", "/healthz")
		if w.Code != tt.code || w.Body.String() != tt.text {
			t.Errorf("%s: %d %q, want %d %q", tt.name, w.Code, w.Body, tt.code, tt.text)
		}
	}
}

func TestHealthIsAskedOnceASecond(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &health{address: address{network: "tcp", host: "127.0.0.1", port: l.Addr().String()[len("127.0.0.1:"):]}}
	if err := h.upstream(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := h.upstream(t.Context()); err != nil {
		t.Errorf("asked again at once: %v", err)
	}
	h.asked = h.asked.Add(-2 * healthTime)
	if h.upstream(t.Context()) == nil {
		t.Error("not asked again after its time")
	}
}

func TestMetrics(t *testing.T) {
	g := counted(t, listening(t))
	text := ask(g.handler(nil), "GET", "/metrics").Body.String()
	for _, want := range []string{
		`pghaul_gateway_info{mode="strict",version="1.2"} 1`,
		`pghaul_gateway_upstream_up 1`,
		`pghaul_gateway_sessions_open{mode="stream"} 1`,
		`pghaul_gateway_inserts_total{result="taken"} 10`,
		`pghaul_gateway_inserts_total{result="passed"} 5`,
		`pghaul_gateway_table_rows_taken_total{database="shop",form="copy_binary",schema="public",table="orders"} 12345`,
		`pghaul_gateway_table_inserts_taken_total{database="shop",form="copy_binary",schema="public",table="orders"} 10`,
		`pghaul_gateway_table_statements_sent_total{database="shop",form="copy_binary",schema="public",table="orders"} 1`,
		`pghaul_gateway_table_inserts_passed_total{database="shop",reason="RETURNING",schema="public",table="orders"} 1`,
		`pghaul_gateway_table_inserts_passed_total{database="shop",reason="cast",schema="s",table="bad"} 2`,
		`pghaul_gateway_table_inserts_passed_total{database="",reason="several statements",schema="",table=""} 1`,
		"go_goroutines ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, regexp.MustCompile(`(?m)^(#|go_|process_).*\n`).ReplaceAllString(text, ""))
		}
	}
	m := &metrics{gateway: g, health: &health{address: g.upstream}}
	families, err := m.registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "pghaul_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestStatusPage(t *testing.T) {
	w := ask(counted(t, "127.0.0.1:1").handler(nil), "GET", "/")
	page := w.Body.String()
	for _, want := range []string{
		"<!doctype html>", "viewport", "prefers-color-scheme: dark", "public.orders", "copy_binary", "12\u202f345", "RETURNING 1",
		"&lt;script&gt;alert(1)&lt;/script&gt;", "(table not known)", "the upstream server takes no connections", "10.0.0.1:5000",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, never := range []string{"<script>alert", "http:", "https:", "//", `<b>"x"`, "style=\""} {
		if strings.Contains(page, never) {
			t.Errorf("the page holds %q", never)
		}
	}
	policy := w.Header().Get("Content-Security-Policy")
	nonce := regexp.MustCompile(`script-src 'nonce-([A-Z0-9]{20,})'`).FindStringSubmatch(policy)
	if len(nonce) != 2 || strings.Count(page, `nonce="`+nonce[1]+`"`) != 2 || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("policy %s", policy)
	}
	if again := ask(counted(t, "127.0.0.1:1").handler(nil), "GET", "/").Header().Get("Content-Security-Policy"); again == policy {
		t.Error("the nonce is used twice")
	}
}

func TestStatusPageIsBounded(t *testing.T) {
	g := counted(t, "127.0.0.1:1")
	for range pageSessions + 50 {
		c := open(g.stats, "u", "d")
		for i := range pageTables + 50 {
			c.Table("s", "t"+pageCount(int64(i)))
		}
	}
	page := ask(g.handler(nil), "GET", "/").Body.String()
	if n := strings.Count(page, "<tr>"); n != pageSessions+pageTables+2 {
		t.Errorf("%d rows", n)
	}
	if !strings.Contains(page, "and 51 older ones") || !strings.Contains(page, "and 54 more") {
		t.Error("the page does not say that there is more")
	}
}

func TestHTTPTakesOnlyWhatItKnows(t *testing.T) {
	h := counted(t, "127.0.0.1:1").handler(nil)
	for path, want := range map[string]int{"GET /x": 404, "GET /metrics/x": 404, "POST /": 405, "PUT /metrics": 405, "DELETE /healthz": 405} {
		method, path, _ := strings.Cut(path, " ")
		if w := ask(h, method, path); w.Code != want {
			t.Errorf("%s %s: %d, want %d", method, path, w.Code, want)
		}
	}
}

func TestHTTPServesWhileTheGatewayRuns(t *testing.T) {
	address := listening(t)
	if _, err := New(&Config{Listen: []string{":0"}, Upstream: "h", HTTP: "9187"}); err == nil {
		t.Error("an address without a port is taken")
	}
	g, err := New(&Config{Listen: []string{"127.0.0.1:0"}, Upstream: "127.0.0.1:1", HTTP: address})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Run(t.Context()); err == nil {
		t.Error("an address in use is taken")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = free.Addr().String()
	free.Close()
	start(t, &Config{Upstream: "127.0.0.1:1", HTTP: address})
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), "pghaul_gateway_upstream_up 0") {
		t.Errorf("%v: %.200s", err, text)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestPageNumbers(t *testing.T) {
	got := []string{pageCount(0), pageCount(999), pageCount(1000), pageCount(1234567), pageBytes(0), pageBytes(1023), pageBytes(1536), pageBytes(200 << 20), pageBytes(1 << 62),
		pageAge(59e9), pageAge(60e9), pageAge(3700e9), pageAge(72 * 3600e9)}
	want := []string{"0", "999", "1\u202f000", "1\u202f234\u202f567", "0 B", "1023 B", "1.5 kB", "200 MB", "4096 PB", "59 s", "1 min", "1 h 1 min", "3 days"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if pageShare(0, 0) != 0 || pageShare(1, 3) != 25 || pageShare(5, 0) != 100 {
		t.Error("shares")
	}
}
