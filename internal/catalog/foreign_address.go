package catalog

import (
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// passedOn are the options of a foreign server and its user mapping that say how to connect. All others steer postgres_fdw
// itself (manual, "postgres_fdw"), or name what is always ours: client_encoding and application_name.
var passedOn = []string{"host", "hostaddr", "port", "dbname", "user", "password", "service", "options", "connect_timeout",
	"sslmode", "sslcert", "sslkey", "sslpassword", "sslrootcert", "sslcertmode", "sslnegotiation", "sslsni", "sslcrl", "sslcrldir",
	"ssl_min_protocol_version", "ssl_max_protocol_version", "requirepeer", "require_auth", "channel_binding", "gssencmode",
	"krbsrvname", "target_session_attrs", "keepalives", "keepalives_idle", "keepalives_interval", "keepalives_count",
	"min_protocol_version", "max_protocol_version"}

// connection returns the configuration with which the foreign server is reached from here, and what had to be assumed for it.
// base is where the server that holds the foreign table was reached: its own notion of "here" is that machine.
//
// The environment of this process is not the server's, so what libpq would take from there is set: above all, our PGPASSWORD
// must not be sent to a host that somebody else has named.
func (f *foreign) connection(base *pgx.Conn) (*pgx.ConnConfig, []string, error) {
	options := map[string]string{}
	for _, name := range passedOn {
		if v := f.either(name); v != "" {
			options[name] = v
		}
	}
	var notes []string
	if options["service"] == "" {
		if options["user"] == "" {
			options["user"] = f.firstRole
			notes = append(notes, "foreign server "+sqltext.QuoteIdent(f.server)+" names no user: "+
				sqltext.QuoteIdent(f.firstRole)+" is used")
		}
		setDefault(options, "dbname", options["user"])
		setDefault(options, "port", "5432")
		setDefault(options, "host", "")
		setDefault(options, "password", "")
	}
	setDefault(options, "sslmode", "prefer")
	setDefault(options, "target_session_attrs", "any")
	setDefault(options, "options", "")
	if host, remote := machineOf(base); remote && relocate(options, host) {
		notes = append(notes, "foreign server "+sqltext.QuoteIdent(f.server)+" is on the machine of its database server: host "+
			host+" is used")
	}
	config, err := Config(keywords(options))
	if err != nil {
		return nil, nil, err
	}
	if config.RuntimeParams["options"] == "" {
		delete(config.RuntimeParams, "options")
	}
	return config, notes, nil
}

func setDefault(options map[string]string, name, value string) {
	if _, given := options[name]; !given {
		options[name] = value
	}
}

// keywords writes a connection string.
func keywords(options map[string]string) string {
	names := make([]string, 0, len(options))
	for name := range options {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name + "=" + quoteValue(options[name]) + " ")
	}
	return b.String()
}

// machineOf is the host that c reached, and whether that is another machine than this one.
func machineOf(c *pgx.Conn) (host string, remote bool) {
	host = c.Config().Host
	if len(hostsOf(c.Config())) > 1 {
		host, _, _ = net.SplitHostPort(c.PgConn().Conn().RemoteAddr().String())
	}
	return host, !isHere(host)
}

// relocate replaces each host that means the server's own machine, and reports whether there was one.
func relocate(options map[string]string, machine string) bool {
	if _, given := options["host"]; !given && options["service"] != "" {
		return false // the service file says
	}
	if address := options["hostaddr"]; address != "" {
		if !isHere(address) {
			return false
		}
		delete(options, "hostaddr")
		options["host"] = machine
		return true
	}
	hosts := strings.Split(options["host"], ",")
	changed := false
	for i, h := range hosts {
		if isHere(h) {
			hosts[i] = machine
			changed = true
		}
	}
	options["host"] = strings.Join(hosts, ",")
	return changed
}

// isHere reports whether a host means the machine on which it is used: none, a socket's directory, or a loopback address.
func isHere(host string) bool {
	if host == "" || host[0] == '/' || host[0] == '@' || strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
