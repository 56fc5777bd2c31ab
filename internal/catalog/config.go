package catalog

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/pghaul/pghaul/planner"
)

const (
	applicationName = "pghaul"

	// dialTimeout bounds the TCP handshake alone: Linux would try for 127 s when nothing answers.
	dialTimeout = 30 * time.Second

	// cancelGrace is how long a server may take to answer a cancelled statement before the connection is cut.
	cancelGrace = 5 * time.Second
)

// Config reads a connection string, a URI or keywords and values as libpq knows them (manual, "Connection Strings"), and
// completes it by the PG* environment variables, the service file and the password file. A cancelled context cancels the
// running statement on the server too. TCP keepalive is on unless the string turns it off.
//
// libpq's hostaddr, keepalives and fallback_application_name are understood; options that only speak of GSS encryption or
// load balancing are ignored; those that would make a connection safer and cannot be kept (requirepeer, sslcrl) are an error.
// Errors are *planner.Error of kind Usage and never carry the string or its password.
func Config(dsn string) (*pgx.ConnConfig, error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	if address := config.RuntimeParams["hostaddr"]; address != "" && strings.HasPrefix(config.Host, "/") {
		if config, err = parse(withHost(dsn, address)); err != nil {
			return nil, err
		}
	}
	if err := useAddresses(config); err != nil {
		return nil, err
	}
	alive, err := takeClientOptions(config)
	if err != nil {
		return nil, err
	}
	if config.Database == "" { // The server would take it so; messages should say which it is.
		config.Database = config.User
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = applicationName
	}
	dialer := net.Dialer{Timeout: config.ConnectTimeout, KeepAliveConfig: alive}
	if dialer.Timeout == 0 {
		dialer.Timeout = dialTimeout
	}
	config.DialFunc = dialer.DialContext
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.StatementCacheCapacity = 0
	config.DescriptionCacheCapacity = 0
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelGrace}
	}
	return config, nil
}

func parse(dsn string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, unreadable(err)
	}
	return config, nil
}

// withHost adds a host to a string that names none. In front of keywords, because a backslash at the end of the last value
// would swallow what follows.
func withHost(dsn, host string) string {
	switch {
	case !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://"):
		return "host=" + quoteValue(host) + " " + dsn
	case strings.Contains(dsn, "?"):
		return dsn + "&host=" + url.QueryEscape(host)
	default:
		return dsn + "?host=" + url.QueryEscape(host)
	}
}

// useAddresses makes hostaddr what is dialled, while host stays the name that certificates are checked against.
func useAddresses(config *pgx.ConnConfig) error {
	text := config.RuntimeParams["hostaddr"]
	delete(config.RuntimeParams, "hostaddr")
	if text == "" {
		return nil
	}
	hosts := hostsOf(config)
	addresses := strings.Split(text, ",")
	if len(addresses) != len(hosts) {
		return usage(fmt.Sprintf("could not match %d hostaddr values to %d hosts", len(addresses), len(hosts)), "")
	}
	known := make(map[string][]string, len(hosts))
	for i, host := range hosts {
		if strings.HasPrefix(host, "/") {
			return usage("hostaddr does not go with a host that is a socket directory", "Name the host or leave it out.")
		}
		if net.ParseIP(addresses[i]) == nil {
			return usage("hostaddr is not an IP address", "A host name belongs into host.")
		}
		known[host] = append(known[host], addresses[i])
	}
	lookup := config.LookupFunc
	config.LookupFunc = func(ctx context.Context, host string) ([]string, error) {
		if found, ok := known[host]; ok {
			return found, nil
		}
		return lookup(ctx, host)
	}
	return nil
}

// hostsOf lists the hosts that config tries; each stands there once or twice, with and without TLS.
func hostsOf(config *pgx.ConnConfig) []string {
	hosts := []string{config.Host}
	port := config.Port
	for _, f := range config.Fallbacks {
		if f.Host != hosts[len(hosts)-1] || f.Port != port {
			hosts = append(hosts, f.Host)
			port = f.Port
		}
	}
	return hosts
}

// ignored are libpq options that change nothing here; pgx would send them to the server, which refuses what it does not know.
var ignored = []string{"gssencmode", "gsslib", "gssdelegation", "load_balance_hosts", "sslcompression", "tcp_user_timeout",
	"sslkeylogfile", "scram_client_key", "scram_server_key", "client_encoding"}

// unsafe are libpq options whose loss would make a connection less safe than was asked for.
var unsafe = []string{"requirepeer", "sslcrl", "sslcrldir", "ssl_min_protocol_version", "ssl_max_protocol_version", "replication"}

// takeClientOptions takes what is meant for libpq out of the parameters for the server.
func takeClientOptions(config *pgx.ConnConfig) (net.KeepAliveConfig, error) {
	params := config.RuntimeParams
	if params["gssencmode"] == "require" {
		return net.KeepAliveConfig{}, usage("gssencmode=require is not supported", "Use sslmode=verify-full.")
	}
	for _, name := range unsafe {
		if _, given := params[name]; given {
			return net.KeepAliveConfig{}, usage("connection option "+name+" is not supported", "Leave it out.")
		}
	}
	for _, name := range ignored {
		delete(params, name)
	}
	if fallback := params["fallback_application_name"]; fallback != "" && params["application_name"] == "" {
		params["application_name"] = fallback
	}
	delete(params, "fallback_application_name")

	// 30 s + 3 * 10 s: a cut network is noticed within a minute, while the kernel's default takes more than two hours.
	alive := net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}
	var complaint error
	number := func(name string, use func(n int)) {
		text, given := params[name]
		delete(params, name)
		if !given || text == "" {
			return
		}
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			complaint = usage("connection option "+name+" is not a number", "")
			return
		}
		use(n)
	}
	number("keepalives", func(n int) { alive.Enable = n != 0 })
	number("keepalives_idle", func(n int) { alive.Idle = seconds(n) })
	number("keepalives_interval", func(n int) { alive.Interval = seconds(n) })
	number("keepalives_count", func(n int) { alive.Count = n })
	return alive, complaint
}

// seconds turns libpq's number into a duration; there 0 means the system's default, which net calls -1.
func seconds(n int) time.Duration {
	if n <= 0 {
		return -1
	}
	return time.Duration(n) * time.Second
}

// quoteValue quotes a value of a keyword string.
func quoteValue(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

func usage(message, hint string) error {
	return &planner.Error{Kind: planner.Usage, Message: message, Hint: hint}
}
