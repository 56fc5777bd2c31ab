package gateway

import (
	"context"
	"fmt"
)

// Allowed says in sentences which clients can log in, given the certificates and what the server answers now: the part of
// the TLS matrix that holds here. The error is that of Check, or that the server cannot be reached.
func (g *Gateway) Allowed(ctx context.Context) ([]string, error) {
	conn, secured, err := g.dial(ctx, g.wishes()[0])
	if err != nil {
		return nil, fmt.Errorf("connect to the upstream server %s: %w", g.upstream, err)
	}
	id := g.identity.Load()
	e, ok := conn.(*encrypted)
	same := ok && id != nil && sameCertificate(id, e.ConnectionState())
	if err := conn.Close(); err != nil && !secured {
		// After TLS the server may have hung up first, which is no matter.
		return nil, fmt.Errorf("close the connection to the upstream server: %w", err)
	}
	leg := "without TLS"
	if secured {
		leg = "over TLS"
	}
	lines := []string{fmt.Sprintf("The server %s is reached %s.", g.upstream, leg)}
	lines = append(lines, bareClients(secured))
	lines = append(lines, g.secureClients(id != nil, secured, same))
	lines = append(lines, "Nobody logs in by cert, peer or ident: these methods look at the socket, which is the gateway's.")
	return lines, g.Check(ctx)
}

func bareClients(secured bool) string {
	if secured {
		return "Clients without TLS: any password method; channel_binding=require fails, and the server's offer of it is kept from them."
	}
	return "Clients without TLS: any password method; channel_binding=require fails, as without a gateway."
}

func (g *Gateway) secureClients(hasIdentity, secured, same bool) string {
	switch {
	case !hasIdentity:
		return "Clients with sslmode=require or stricter: refused, for there is no tls-cert. sslmode=prefer goes on without TLS."
	case !secured:
		return "Clients with TLS: any password method; channel_binding=require fails, for the server's side has no TLS."
	case same:
		return "Clients with TLS: any password method, with channel binding too: the gateway has the server's own certificate."
	case g.config.ChannelBinding == bindingDisable:
		return "Clients with TLS: by SCRAM only with channel_binding=disable, as channel-binding=disable states that they have."
	}
	return "Clients with TLS: by SCRAM none that knows channel binding, for the gateway's certificate is not the server's."
}
