package gateway

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/pghaul/pghaul/planner"
)

// Mode says how far a session's INSERTs may be turned into COPY.
type Mode int

// The modes.
const (
	// Strict acknowledges nothing before the server has taken it. The default.
	Strict Mode = iota
	// Off passes everything as it comes.
	Off
	// Stream answers INSERTs in a transaction block at once and reports a refused row at the block's next other statement.
	Stream
)

var modeNames = []string{Strict: "strict", Off: "off", Stream: "stream"}

// String is the mode as flags and SET pghaul.mode spell it.
func (m Mode) String() string {
	if m < 0 || int(m) >= len(modeNames) {
		return fmt.Sprintf("mode %d", int(m))
	}
	return modeNames[m]
}

// ParseMode reads a mode's name in any case.
func ParseMode(name string) (Mode, error) {
	if i := slices.Index(modeNames, strings.ToLower(name)); i >= 0 {
		return Mode(i), nil
	}
	return 0, complaint(fmt.Sprintf("no such gateway mode: %q", name), `The modes are "strict", "stream" and "off".`, "")
}

const (
	minBuffer     = 8 << 10
	maxBuffer     = 16 << 20
	defaultBuffer = 64 << 10

	defaultStreamIdle   = 50 * time.Millisecond
	defaultDrainTimeout = 30 * time.Second
)

// Config says what a gateway listens to, what stands behind it and how it relays.
type Config struct {
	// Listen are the addresses to accept clients on: "host:port", ":port", or an absolute path for a Unix socket, which is
	// either a directory ("/run/pghaul", port 5432, or "/run/pghaul:6432") or the socket file itself.
	Listen []string

	// Listeners are open sockets to accept clients on, beside Listen: those that systemd hands over. Run closes them.
	Listeners []net.Listener

	// Upstream is the server: "host:port", "host" (port 5432), or an absolute path for a Unix socket, as in Listen.
	Upstream string

	// Mode is what sessions start with; each may choose its own. Defaults to Strict.
	Mode Mode

	// StreamIdle is how long a stream may stay open with no INSERT coming. Defaults to 50 ms.
	StreamIdle time.Duration

	// ReceiveBuffer is the size of the blocks in which clients are read, SendBuffer that for the server, in bytes, from 8 kB
	// to 16 MB. A session holds a block of each only while bytes move. Both default to 64 kB.
	ReceiveBuffer, SendBuffer int

	// TLSCert and TLSKey are PEM files: a certificate chain and its key, for clients that ask for TLS. Reload reads them
	// again. Without them such clients are told that there is no TLS. Default to none.
	TLSCert, TLSKey string

	// UpstreamSSLMode is how the server is reached: disable, allow, prefer, require, verify-ca or verify-full, with libpq's
	// meaning. A Unix socket never has TLS. Defaults to prefer.
	UpstreamSSLMode string

	// UpstreamRootCert is a PEM file with the certificates that may have signed the server's, or "system" for those of the
	// operating system. Needed by verify-ca and verify-full; with require it means verify-ca, as in libpq. Defaults to none.
	UpstreamRootCert string

	// ChannelBinding says what clients do about channel binding: "prefer" is what libpq and most drivers do, "disable" states
	// that all clients have channel_binding=disable, which lets them log in by SCRAM through TLS on both sides with two
	// certificates. Defaults to prefer.
	ChannelBinding string

	// DrainTimeout is how long sessions may go on after Run was told to stop, before they are ended with SQLSTATE 57P01.
	// Negative means no time at all. Defaults to 30 s.
	DrainTimeout time.Duration

	// AdminUsers are the roles that may ask the virtual database pghaul. Default to none.
	AdminUsers []string

	// HTTP is the address of the metrics and the status page: "host:port". Defaults to none.
	HTTP string

	// Version is what the console and the metrics call this program's version. Defaults to "unknown".
	Version string

	// Logger gets what happens to connections. Defaults to slog's own default.
	Logger *slog.Logger
}

func complaint(message, detail, hint string) error {
	return &planner.Error{Kind: planner.Usage, Message: message, Detail: detail, Hint: hint}
}

// withDefaults is a copy of c whose zero values are filled in.
func (c *Config) withDefaults() *Config {
	full := Config{}
	if c != nil {
		full = *c
	}
	fill(&full.StreamIdle, defaultStreamIdle)
	fill(&full.DrainTimeout, defaultDrainTimeout)
	fill(&full.ReceiveBuffer, defaultBuffer)
	fill(&full.SendBuffer, defaultBuffer)
	fill(&full.UpstreamSSLMode, sslPrefer)
	fill(&full.ChannelBinding, bindingPrefer)
	fill(&full.Version, "unknown")
	if full.Logger == nil {
		full.Logger = slog.Default()
	}
	return &full
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate returns all that is wrong with a configuration whose defaults are filled in.
func (c *Config) validate() error {
	var all []error
	add := func(wrong bool, message, detail string) {
		if wrong {
			all = append(all, complaint(message, detail, ""))
		}
	}
	add(len(c.Listen)+len(c.Listeners) == 0, "no address to listen on", "")
	for _, address := range c.Listen {
		_, err := parseAddress(address)
		add(err != nil, fmt.Sprintf("cannot listen on %q", address), reason(err))
	}
	up, err := parseAddress(c.Upstream)
	add(err != nil, fmt.Sprintf("no usable upstream server: %q", c.Upstream), reason(err))
	add(err == nil && slices.ContainsFunc(c.Listen, up.is), "the upstream server is the gateway itself", "")
	add(c.Mode.known() != nil, "no such gateway mode", reason(c.Mode.known()))
	for name, size := range map[string]int{"receive": c.ReceiveBuffer, "send": c.SendBuffer} {
		add(size < minBuffer || size > maxBuffer, fmt.Sprintf("the %s buffer has %d bytes", name, size),
			fmt.Sprintf("It must have from %d to %d bytes.", minBuffer, maxBuffer))
	}
	add(c.StreamIdle < 0, fmt.Sprintf("the stream's idle time is negative (%v)", c.StreamIdle), "")
	add((c.TLSCert == "") != (c.TLSKey == ""), "a TLS certificate and its key go together", "")
	_, _, err = net.SplitHostPort(c.HTTP)
	add(c.HTTP != "" && err != nil, fmt.Sprintf("cannot serve HTTP on %q", c.HTTP), reason(err))
	all = append(all, c.validateUpstreamTLS()...)
	return errors.Join(all...)
}

func (c *Config) validateUpstreamTLS() []error {
	var all []error
	if !slices.Contains(sslModes, c.UpstreamSSLMode) {
		all = append(all, complaint(fmt.Sprintf("no such sslmode for the upstream server: %q", c.UpstreamSSLMode),
			"The modes are "+strings.Join(sslModes, ", ")+".", ""))
	}
	verify := c.UpstreamSSLMode == sslVerifyCA || c.UpstreamSSLMode == sslVerifyFull
	if verify && c.UpstreamRootCert == "" {
		all = append(all, complaint(fmt.Sprintf("sslmode %s needs a root certificate for the upstream server", c.UpstreamSSLMode),
			"", `Name a file, or "system" for the certificates of the operating system.`))
	}
	if c.UpstreamRootCert == rootSystem && c.UpstreamSSLMode != sslVerifyFull {
		all = append(all, complaint("the operating system's root certificates need sslmode verify-full",
			"Anyone can have a certificate that one of them signed; only the host's name tells the server from others.", ""))
	}
	if c.ChannelBinding != bindingPrefer && c.ChannelBinding != bindingDisable {
		all = append(all, complaint(fmt.Sprintf("no such channel binding: %q", c.ChannelBinding),
			`It is "prefer" or "disable".`, ""))
	}
	return all
}

func (m Mode) known() error {
	_, err := ParseMode(m.String())
	return err
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
