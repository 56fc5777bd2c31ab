package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// webPatience bounds a request of the HTTP side from its first byte to the answer's last.
	webPatience = 30 * time.Second

	webHeader  = 16 << 10
	dialProbe  = 2 * time.Second
	healthTime = time.Second // how long an answer about the upstream server is given again
)

// health knows whether the upstream server takes connections. Many who ask at once share one attempt.
type health struct {
	address address

	mu    sync.Mutex
	asked time.Time
	err   error
}

// upstream connects to the server and hangs up before the first byte, which the server does not log.
func (h *health) upstream(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.asked) < healthTime {
		return h.err
	}
	// Who asked first may hang up; the others want an answer all the same.
	dialer := net.Dialer{Timeout: dialProbe}
	conn, err := dialer.DialContext(context.WithoutCancel(ctx), h.address.network, h.address.String())
	if err == nil {
		err = conn.Close()
	}
	h.asked, h.err = time.Now(), err
	return err
}

// startHTTP serves metrics, health and the status page, when they are asked for, until stop is called. They stay while the
// gateway drains: from the end of ctx on it says so.
func (g *Gateway) startHTTP(ctx context.Context) (stop func(), err error) {
	if g.config.HTTP == "" {
		return func() {}, nil
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", g.config.HTTP)
	if err != nil {
		return nil, fmt.Errorf("listen on %s for HTTP: %w", g.config.HTTP, err)
	}
	g.log.InfoContext(ctx, "serving metrics and status", "address", l.Addr().String())
	server := &http.Server{
		Handler:     g.handler(ctx.Done()),
		ReadTimeout: webPatience, WriteTimeout: webPatience, IdleTimeout: 2 * webPatience, MaxHeaderBytes: webHeader,
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			g.log.ErrorContext(ctx, "no more metrics and status", "error", err)
		}
	})
	return func() {
		server.Close()
		serving.Wait()
	}, nil
}

// handler answers the HTTP side's requests. draining is closed when the gateway accepts no more.
func (g *Gateway) handler(draining <-chan struct{}) http.Handler {
	h := &health{address: g.upstream}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor((&metrics{gateway: g, health: h}).registry(), promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		state := h.state(r.Context(), draining)
		if state != healthy {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(w, state)
	})
	page := &statusPage{gateway: g, health: h, draining: draining}
	mux.Handle("GET /{$}", page)
	return mux
}

const healthy = "ok"

// state is what /healthz says. The error itself is for the log: it may tell names that are nobody's business.
func (h *health) state(ctx context.Context, draining <-chan struct{}) string {
	select {
	case <-draining:
		return "draining"
	default:
	}
	if h.upstream(ctx) != nil {
		return "the upstream server takes no connections"
	}
	return healthy
}
