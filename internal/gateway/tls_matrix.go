package gateway

import (
	"bytes"
	"context"
	"crypto/tls"

	"github.com/pghaul/pghaul/planner"
)

const (
	bindingPrefer  = "prefer"
	bindingDisable = "disable"
)

// Check asks the server for TLS and refuses what the pair of certificates makes impossible: with TLS on both sides and two
// certificates, no client that knows channel binding can log in by SCRAM. The client binds its proof to the certificate it
// sees, the gateway's, and the server to its own. A server that cannot be reached now refuses nothing; the log says so.
func (g *Gateway) Check(ctx context.Context) error {
	id := g.identity.Load()
	w := g.wishes()[0]
	if id == nil || w == plain || g.config.ChannelBinding == bindingDisable {
		return nil
	}
	conn, secured, err := g.dial(ctx, w)
	if err != nil {
		g.log.Warn("cannot ask the upstream server whether its certificate is the gateway's", "error", err)
		return nil
	}
	defer conn.Close()
	e, ok := conn.(*encrypted)
	if !secured || !ok || sameCertificate(id, e.ConnectionState()) {
		return nil
	}
	return &planner.Error{
		Kind:    planner.Refused,
		Message: "clients could not log in through TLS on both sides with two different certificates",
		Detail: "SCRAM binds a login to the certificate that the client sees; the server would find the gateway's where it expects " +
			"its own. libpq and most drivers use channel binding wherever there is TLS.",
		Hint: "Give the gateway the server's own certificate and key, reach the server by a Unix socket or with upstream-sslmode=disable, " +
			"leave TLS off for clients, or set channel_binding=disable in all clients and say so with channel-binding=disable.",
	}
}

func sameCertificate(id *identity, state tls.ConnectionState) bool {
	return len(state.PeerCertificates) > 0 && bytes.Equal(state.PeerCertificates[0].Raw, id.leaf)
}
