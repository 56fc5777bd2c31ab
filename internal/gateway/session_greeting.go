package gateway

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/pghaul/pghaul/internal/wire"
)

const (
	// greetingLimit is the largest message that the greeting looks at, in bytes. Those that matter have a few dozen.
	greetingLimit = 8 << 10

	authenticationSASL = 10 // AuthenticationRequest's code that lists the mechanisms
	bindingSuffix      = "-PLUS"
)

// greeting is back's hook up to the first ReadyForQuery. It passes everything but a list of SASL mechanisms that the client
// could not take. The hook of acceleration sees what it passes.
type greeting struct{ session *session }

func (g *greeting) wants(kind byte, length int) verdict {
	own := kind == wire.TypeAuthentication || kind == wire.TypeBackendKeyData || kind == wire.TypeReadyForQuery
	if own && length <= greetingLimit {
		return whole
	}
	if inner := g.session.hooks.back; inner != nil {
		return inner.wants(kind, length)
	}
	return pass
}

func (g *greeting) take(message []byte) (bool, error) {
	s := g.session
	body := message[wire.HeaderSize:]
	inner := s.hooks.back
	switch message[0] {
	case wire.TypeAuthentication:
		if list, ok := withoutBinding(body); ok && s.serverTLS && !s.clientTLS {
			return false, s.toClient.send(append(wire.AppendHeader(nil, wire.TypeAuthentication, len(list)), list...))
		}
	case wire.TypeBackendKeyData:
		s.gateway.remember(s, string(body))
	case wire.TypeReadyForQuery:
		s.ready.Store(true)
		s.toClient.hook = inner
	}
	if inner != nil && inner.wants(message[0], len(body)) == whole {
		return inner.take(message)
	}
	return true, nil
}

func (g *greeting) quiet() error {
	if inner := g.session.hooks.back; inner != nil {
		return inner.quiet()
	}
	return nil
}

// withoutBinding takes the mechanisms with channel binding from the body of AuthenticationSASL. A server offers them because
// its own connection has TLS; a client without TLS of its own takes that for an attack and refuses to log in. ok is false
// where there is nothing to take, or nothing would be left.
func withoutBinding(body []byte) (list []byte, ok bool) {
	if len(body) < 4 || binary.BigEndian.Uint32(body) != authenticationSASL {
		return nil, false
	}
	list = append(list, body[:4]...)
	kept, taken := 0, 0
	for rest := body[4:]; len(rest) > 0 && rest[0] != 0; {
		name, after, ended := bytes.Cut(rest, []byte{0})
		if !ended {
			return nil, false
		}
		rest = after
		if strings.HasSuffix(string(name), bindingSuffix) {
			taken++
			continue
		}
		kept++
		list = append(append(list, name...), 0)
	}
	return append(list, 0), kept > 0 && taken > 0
}
