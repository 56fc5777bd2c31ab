package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
)

// alpn is PostgreSQL's protocol name in TLS (manual, "SSL Session Encryption").
const alpn = "postgresql"

// identity is what clients see over TLS.
type identity struct {
	config *tls.Config
	leaf   []byte // DER of the gateway's own certificate
}

// readIdentity reads certificate and key; nil when the gateway has none.
func readIdentity(c *Config) (*identity, error) {
	if c.TLSCert == "" {
		return nil, nil //nolint:nilnil // no identity is a valid one
	}
	certificate, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("read the TLS certificate %s and its key %s: %w", c.TLSCert, c.TLSKey, err)
	}
	return &identity{leaf: certificate.Certificate[0], config: &tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   tls.VersionTLS12, // ssl_min_protocol_version's default
		NextProtos:   []string{alpn},
		// Records grow slowly otherwise, and each costs a system call.
		DynamicRecordSizingDisabled: true,
	}}, nil
}

// handshake makes conn a TLS connection. A client that begins with it directly has to name the protocol: without that, a
// server of another protocol could be made to answer (manual, "SSL Session Encryption").
func (id *identity) handshake(ctx context.Context, conn net.Conn, direct bool) (net.Conn, error) {
	r := &records{Conn: conn}
	c := tls.Server(r, id.config)
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if direct && c.ConnectionState().NegotiatedProtocol != alpn {
		return nil, errors.New("direct TLS without the protocol's name (ALPN)")
	}
	return &encrypted{Conn: c, records: r}, nil
}

// trust is how the server is known over TLS.
type trust struct{ config *tls.Config }

// readTrust makes the client's side of TLS as sslmode asks for; nil where TLS is never used.
func readTrust(c *Config, upstream address) (*trust, error) {
	if c.UpstreamSSLMode == sslDisable || upstream.network == "unix" {
		return nil, nil //nolint:nilnil // no TLS is a valid choice
	}
	config := &tls.Config{
		MinVersion:                  tls.VersionTLS12,
		NextProtos:                  []string{alpn},
		DynamicRecordSizingDisabled: true,
		// Each mode verifies as much as libpq does, in VerifyConnection.
		InsecureSkipVerify: true,
	}
	if net.ParseIP(upstream.host) == nil {
		config.ServerName = upstream.host
	}
	if c.UpstreamSSLMode == sslAllow || c.UpstreamSSLMode == sslPrefer || c.UpstreamRootCert == "" {
		return &trust{config: config}, nil
	}
	roots, err := readRoots(c.UpstreamRootCert)
	if err != nil {
		return nil, err
	}
	name := ""
	if c.UpstreamSSLMode == sslVerifyFull {
		name = upstream.host
	}
	config.VerifyConnection = func(state tls.ConnectionState) error { return verify(state, roots, name) }
	return &trust{config: config}, nil
}

func readRoots(file string) (*x509.CertPool, error) {
	if file == rootSystem {
		roots, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("read the operating system's root certificates: %w", err)
		}
		return roots, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the upstream server's root certificate: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read the upstream server's root certificate: %s holds no certificate", file)
	}
	return roots, nil
}

// verify checks the server's chain, and its name unless that is empty.
func verify(state tls.ConnectionState, roots *x509.CertPool, name string) error {
	others := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		others.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: others, DNSName: name})
	return err
}

// handshake makes conn a TLS connection to the server.
func (t *trust) handshake(ctx context.Context, conn net.Conn) (net.Conn, error) {
	r := &records{Conn: conn}
	c := tls.Client(r, t.config)
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return &encrypted{Conn: c, records: r}, nil
}
