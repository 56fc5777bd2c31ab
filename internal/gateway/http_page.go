package gateway

import (
	"bytes"
	"crypto/rand"
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"
)

//go:embed http_page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"count": pageCount, "bytes": pageBytes, "age": pageAge, "share": pageShare,
}).Parse(pageText))

// pageSessions and pageTables bound the page; the console and the metrics have all of them.
const (
	pageSessions = 100
	pageTables   = 200
)

// statusPage shows what the gateway does. It needs nothing from elsewhere; a small script of its own renews it every two
// seconds, and without scripts the browser loads it again.
type statusPage struct {
	gateway  *Gateway
	health   *health
	draining <-chan struct{}
}

// pageView is what the template shows.
type pageView struct {
	Nonce, Version, Upstream, Mode, State string
	Healthy                               bool
	Uptime                                time.Duration
	Open                                  int64
	Total                                 Counts
	Passed                                int64
	Sessions                              []SessionView
	Tables                                []tableRow
	MoreSessions, MoreTables              int
	Now                                   time.Time
}

type tableRow struct {
	TableView
	Inserts, Rows, PassedInserts int64
}

// Name is the table as SQL names it, without quotes.
func (t *tableRow) Name() string {
	switch {
	case t.Table == "":
		return "(table not known)"
	case t.Schema == "":
		return t.Table
	}
	return t.Schema + "." + t.Table
}

// ServeHTTP writes the page.
func (p *statusPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := p.view(r)
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		p.gateway.log.ErrorContext(r.Context(), "cannot write the status page", "error", err)
		http.Error(w, "the page cannot be written", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", fmt.Sprintf(
		"default-src 'none'; style-src 'nonce-%s'; script-src 'nonce-%s'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		v.Nonce, v.Nonce))
	// A reader that is gone wants nothing.
	_, _ = b.WriteTo(w)
}

func (p *statusPage) view(r *http.Request) *pageView {
	g := p.gateway
	shot, state := g.Stats(), p.health.state(r.Context(), p.draining)
	v := &pageView{
		Nonce: rand.Text(), Version: g.config.Version, Upstream: g.upstream.String(), Mode: g.config.Mode.String(),
		State: state, Healthy: state == healthy,
		Uptime: time.Since(shot.Started), Open: int64(len(shot.Sessions)), Total: shot.Total,
		Passed: shot.Total.Inserts - shot.Total.Taken, Sessions: shot.Sessions, Now: time.Now(),
	}
	for _, t := range shot.Tables {
		row := tableRow{TableView: t, PassedInserts: t.PassedTotal()}
		row.Inserts, row.Rows = t.TakenTotal()
		v.Tables = append(v.Tables, row)
	}
	if n := len(v.Sessions) - pageSessions; n > 0 {
		v.Sessions, v.MoreSessions = v.Sessions[n:], n
	}
	if n := len(v.Tables) - pageTables; n > 0 {
		v.Tables, v.MoreTables = v.Tables[:pageTables], n
	}
	return v
}

// pageCount has its thousands apart.
func pageCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

func pageBytes(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB"}
	x, i := float64(n), 0
	for x >= 1024 && i < len(units)-1 {
		x, i = x/1024, i+1
	}
	if i == 0 || x >= 100 {
		return fmt.Sprintf("%.0f %s", x, units[i])
	}
	return fmt.Sprintf("%.1f %s", x, units[i])
}

func pageAge(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// pageShare is part of a whole in percent, 0 of nothing.
func pageShare(part, other int64) int64 {
	if part+other == 0 {
		return 0
	}
	return 100 * part / (part + other)
}
