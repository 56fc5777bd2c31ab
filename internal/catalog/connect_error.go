package catalog

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

// unreadable explains a connection string that cannot be parsed. The parser's own error quotes the string, which in a broken
// one can be the password, so only file errors, which come after parsing, are passed on.
func unreadable(err error) error {
	e := &planner.Error{Kind: planner.Usage, Message: "could not read the connection string",
		Hint: "Write postgres://user@host:port/database or host=... port=... dbname=...; in a URI, the signs : / ? # [ ] @ % " +
			"of a password must be percent-encoded."}
	var file *fs.PathError
	if errors.As(err, &file) {
		e.Message = "could not read a file that the connection string or environment names"
		e.Hint = ""
		e.Cause = file
		return e
	}
	if why, value := complaint(err); why != "" {
		e.Detail = why
		if value {
			e.Hint = ""
		}
	}
	return e
}

// complaint is what the parser says in its own words, where those hold nothing of the string. value tells that the string could be read and
// one of its values is wrong.
func complaint(err error) (why string, value bool) {
	var refused *pgconn.ParseConfigError
	if !errors.As(err, &refused) {
		return "", false
	}
	bare := *refused
	bare.ConnString = ""
	text := strings.TrimPrefix(bare.Error(), "cannot parse ``: ")
	for _, own := range []struct {
		begin, say string
		value      bool
	}{
		{"failed to read service", "The service is not in the service file.", true},
		{"failed to configure TLS", "sslmode or another TLS parameter is wrong.", true},
		{"invalid port", "The port is not a number from 1 to 65535.", false},
		{"invalid connect_timeout", "connect_timeout is not a number of seconds.", true},
		{"could not match", "There are more or fewer ports than hosts.", true},
		{"unknown target_session_attrs", "target_session_attrs has a value that is not known.", true},
	} {
		if strings.HasPrefix(text, own.begin) {
			return own.say, own.value
		}
	}
	return "", false
}

// unreachable turns what connecting ended with into a message with place and hint.
func unreachable(config *pgx.ConnConfig, err error) error {
	if ctxErr := contextError(err); ctxErr != nil {
		return ctxErr
	}
	return &planner.Error{
		Message: "could not connect to " + places(config) + ", database " + cmp.Or(config.Database, config.User) + ", as " + config.User,
		Hint:    connectHint(config, err),
		Cause:   withoutConfig(err),
	}
}

func contextError(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return nil
}

func places(config *pgx.ConnConfig) string {
	seen := []string{hostPort(config.Host, config.Port)}
	for _, f := range config.Fallbacks {
		if p := hostPort(f.Host, f.Port); p != seen[len(seen)-1] {
			seen = append(seen, p)
		}
	}
	return strings.Join(seen, ", ")
}

// connectCause is an error on one line that keeps its chain.
type connectCause struct{ error }

// Error joins the lines that several attempts left. With sslmode=prefer two attempts mostly fail for one reason.
func (c connectCause) Error() string {
	var told []string
	for line := range strings.Lines(c.error.Error()) {
		line = strings.TrimSpace(line)
		if !slices.ContainsFunc(told, func(before string) bool { return strings.HasSuffix(before, line) }) {
			told = append(told, line)
		}
	}
	return strings.Join(told, "; ")
}

// Unwrap returns the error whose lines were joined.
func (c connectCause) Unwrap() error { return c.error }

// withoutConfig takes off pgx's outer error, because that one carries the whole configuration with its password, and picks
// the server's answer when there is one: with sslmode=prefer every failure stands there twice.
func withoutConfig(err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return answer
	}
	var outer *pgconn.ConnectError
	if errors.As(err, &outer) {
		err = outer.Unwrap()
	}
	return connectCause{err}
}

// connectHints are hints by SQLSTATE (manual, "PostgreSQL Error Codes").
var connectHints = map[string]string{
	"28P01": "Check user and password; a password can come from PGPASSWORD, the password file or the connection string.",
	"28000": "Check the user's name and the server's pg_hba.conf.",
	"3D000": "Check the name of the database.",
	"53300": "Use fewer connections or raise max_connections on the server.",
	"57P03": "The server is starting or stopping; try again.",
	"42501": "The user lacks the CONNECT privilege on the database.",
	"08P01": "Check that a PostgreSQL server listens there and takes the parameters of the connection string.",
	"42704": "A parameter of the connection string is not known to the server.",
}

func connectHint(config *pgx.ConnConfig, err error) string {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return connectHints[answer.Code]
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return "Check the name of the host."
	}
	if isTLS(err) || tlsOnly(config) && !isNetwork(err) && !pgconn.Timeout(err) {
		return "Check sslmode, sslrootcert and the server's certificate."
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) {
		return "Check host and port, and that the server runs and listens there."
	}
	if isNetwork(err) || pgconn.Timeout(err) {
		return "Check host and port, the network and its firewalls."
	}
	return ""
}

func isNetwork(err error) bool {
	var operation *net.OpError
	return errors.As(err, &operation)
}

func isTLS(err error) bool {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verification *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid) ||
		errors.As(err, &verification) || errors.As(err, &header) || errors.As(err, &alert)
}

// tlsOnly: no attempt may go without TLS.
func tlsOnly(config *pgx.ConnConfig) bool {
	if config.TLSConfig == nil {
		return false
	}
	for _, f := range config.Fallbacks {
		if f.TLSConfig == nil {
			return false
		}
	}
	return true
}
