package gateway

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics makes Prometheus' numbers from the counters at each scrape. Names that come from clients are in its labels; their
// number is bounded by maxTables and maxReasons.
type metrics struct {
	gateway *Gateway
	health  *health
}

// describe makes a description; all names begin with pghaul_gateway_.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pghaul_gateway_"+name, help, labels, nil)
}

var (
	infoMetric     = describe("info", "The gateway's version and the mode that sessions start with; always 1.", "version", "mode")
	startMetric    = describe("start_time_seconds", "When the gateway started, in seconds since 1970.")
	upMetric       = describe("upstream_up", "1 when the upstream server takes connections.")
	acceptedMetric = describe("connections_accepted_total", "Connections of clients that were accepted.")
	refusedMetric  = describe("connections_refused_total", "Connections that the gateway turned away, or for which it could not reach the server.")
	openMetric     = describe("sessions_open", "Sessions that are open, by mode.", "mode")
	copyingMetric  = describe("sessions_copying", "Sessions in which a COPY of the gateway is open.")
	sessionsMetric = describe("sessions_total", "Connections that came as far as a server connection.")
	lostMetric     = describe("sessions_lost_total", "Sessions that broke off without either side closing them in order.")
	cancelsMetric  = describe("cancel_requests_total", "Cancel requests.")
	bytesMetric    = describe("bytes_total", "Bytes of sessions, by the side they were received from or sent to.", "direction")

	insertsMetric  = describe("inserts_total", "INSERTs seen: taken in another form, or passed as they came.", "result")
	takenMetric    = describe("table_inserts_taken_total", "INSERTs that went in another form.", "database", "schema", "table", "form")
	rowsMetric     = describe("table_rows_taken_total", "Rows of INSERTs that went in another form.", "database", "schema", "table", "form")
	unitsMetric    = describe("table_statements_sent_total", "Statements sent in place of INSERTs.", "database", "schema", "table", "form")
	passedMetric   = describe("table_inserts_passed_total", "INSERTs that went as they came, by reason.", "database", "schema", "table", "reason")
	replayedMetric = describe("table_inserts_replayed_total", "INSERTs sent as they came after another form had failed.", "database", "schema", "table")
)

// registry holds these metrics, and those of the process and of Go's runtime.
func (m *metrics) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(m, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Describe sends all descriptions.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		infoMetric, startMetric, upMetric, acceptedMetric, refusedMetric, openMetric, copyingMetric, sessionsMetric, lostMetric,
		cancelsMetric, bytesMetric, insertsMetric, takenMetric, rowsMetric, unitsMetric, passedMetric, replayedMetric,
	} {
		to <- d
	}
}

// Collect sends all numbers.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		send(prometheus.CounterValue, d, float64(n), labels...)
	}
	config := m.gateway.config
	shot, traffic := m.gateway.Stats(), m.gateway.Traffic()
	send(prometheus.GaugeValue, infoMetric, 1, config.Version, config.Mode.String())
	send(prometheus.GaugeValue, startMetric, float64(shot.Started.UnixMilli())/1000)
	up := 1.0
	// A scrape has no context of its own here; the dial is bounded by itself.
	if m.health.upstream(context.Background()) != nil {
		up = 0
	}
	send(prometheus.GaugeValue, upMetric, up)
	count(acceptedMetric, traffic.Accepted)
	count(refusedMetric, traffic.Refused)
	count(sessionsMetric, traffic.Sessions)
	count(lostMetric, traffic.Lost)
	count(cancelsMetric, traffic.Cancels)
	modes, copying := map[string]int{Strict.String(): 0, Off.String(): 0, Stream.String(): 0}, 0
	for i := range shot.Sessions {
		modes[shot.Sessions[i].Mode]++
		if shot.Sessions[i].Copying {
			copying++
		}
	}
	for mode, n := range modes {
		send(prometheus.GaugeValue, openMetric, float64(n), mode)
	}
	send(prometheus.GaugeValue, copyingMetric, float64(copying))
	count(bytesMetric, shot.Total.Received, "from_clients")
	count(bytesMetric, shot.Total.Sent, "to_clients")
	count(insertsMetric, shot.Total.Taken, "taken")
	count(insertsMetric, shot.Total.Inserts-shot.Total.Taken, "passed")
	for i := range shot.Tables {
		shot.Tables[i].collect(count)
	}
}

func (t *TableView) collect(count func(d *prometheus.Desc, n int64, labels ...string)) {
	for _, f := range t.Forms {
		form := f.Form.String()
		count(takenMetric, f.Inserts, t.Database, t.Schema, t.Table, form)
		count(rowsMetric, f.Rows, t.Database, t.Schema, t.Table, form)
		count(unitsMetric, f.Units, t.Database, t.Schema, t.Table, form)
	}
	for reason, n := range t.Passed {
		count(passedMetric, n, t.Database, t.Schema, t.Table, reason)
	}
	count(replayedMetric, t.Replayed, t.Database, t.Schema, t.Table)
}
