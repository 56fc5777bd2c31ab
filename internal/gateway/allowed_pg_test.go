package gateway

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestAllowedTellsTheMatrix(t *testing.T) {
	tests := []struct {
		identity, secured, same bool
		binding, want           string
	}{
		{false, false, false, bindingPrefer, "there is no tls-cert"},
		{false, true, false, bindingPrefer, "there is no tls-cert"},
		{true, false, false, bindingPrefer, "the server's side has no TLS"},
		{true, true, true, bindingPrefer, "with channel binding too"},
		{true, true, false, bindingPrefer, "none that knows channel binding"},
		{true, true, false, bindingDisable, "only with channel_binding=disable"},
	}
	for _, tt := range tests {
		g := &Gateway{config: &Config{ChannelBinding: tt.binding}}
		if got := g.secureClients(tt.identity, tt.secured, tt.same); !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %s", tt, got)
		}
	}
	if bareClients(true) == bareClients(false) {
		t.Error("the same for both")
	}
}

func TestAllowedAsksTheServer(t *testing.T) {
	g, err := New(&Config{Listen: []string{":0"}, Upstream: socketOf(t, clustertest.Server(t))})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := g.Allowed(t.Context())
	if err != nil || len(lines) != 4 || !strings.Contains(lines[0], "is reached without TLS") {
		t.Errorf("%v, %q", err, lines)
	}
	g, err = New(&Config{Listen: []string{":0"}, Upstream: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Allowed(t.Context()); err == nil {
		t.Error("no server, no error")
	}
}
