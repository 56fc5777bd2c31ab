package move

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

// libpqVariables are the environment variables for parameters of a connection string (manual, "Environment Variables" of libpq). A parameter
// that has none does not change which database is reached, but for sslpassword.
var libpqVariables = map[string]string{
	"host": "PGHOST", "hostaddr": "PGHOSTADDR", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER", "password": "PGPASSWORD",
	"passfile": "PGPASSFILE", "service": "PGSERVICE", "servicefile": "PGSERVICEFILE", "connect_timeout": "PGCONNECT_TIMEOUT",
	"sslmode": "PGSSLMODE", "sslnegotiation": "PGSSLNEGOTIATION", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY",
	"sslrootcert": "PGSSLROOTCERT", "sslcrl": "PGSSLCRL", "sslcrldir": "PGSSLCRLDIR", "sslsni": "PGSSLSNI",
	"sslcertmode": "PGSSLCERTMODE", "requirepeer": "PGREQUIREPEER", "ssl_min_protocol_version": "PGSSLMINPROTOCOLVERSION",
	"ssl_max_protocol_version": "PGSSLMAXPROTOCOLVERSION", "gssencmode": "PGGSSENCMODE", "krbsrvname": "PGKRBSRVNAME",
	"gsslib": "PGGSSLIB", "channel_binding": "PGCHANNELBINDING", "require_auth": "PGREQUIREAUTH",
	"target_session_attrs": "PGTARGETSESSIONATTRS", "options": "PGOPTIONS",
}

// libpqEnvironment gives the parameters of a connection as NAME=value. Those that its string leaves open are completed by the program's own
// environment, as those of pghaul are; who logs in where is as pghaul has found out.
func libpqEnvironment(config *pgx.ConnConfig) ([]string, error) {
	parameters, err := dsnParameters(config.ConnString())
	if err != nil {
		return nil, err
	}
	parameters["user"], parameters["password"], parameters["dbname"] = config.User, config.Password, config.Database
	several := slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.Host != config.Host || f.Port != config.Port })
	if !several {
		parameters["host"], parameters["port"] = config.Host, strconv.Itoa(int(config.Port))
		if _, given := parameters["hostaddr"]; !given {
			parameters["hostaddr"] = "" // not that of the environment, which pghaul does not know
		}
	}
	var environment []string
	for name, value := range parameters {
		if variable := libpqVariables[name]; variable != "" {
			environment = append(environment, variable+"="+value)
		}
	}
	slices.Sort(environment)
	return environment, nil
}

// dsnParameters reads a URI or keywords and values (manual, "Connection Strings").
func dsnParameters(dsn string) (map[string]string, error) {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		return uriParameters(dsn)
	}
	return keywordParameters(dsn)
}

func unreadableDSN() error {
	// The string itself may hold a password.
	return &planner.Error{Kind: planner.Usage, Message: "could not read the connection string"}
}

// uriParameters cuts the URI itself, because net/url knows neither several hosts nor a percent sign in one.
func uriParameters(uri string) (map[string]string, error) {
	parameters := map[string]string{}
	_, rest, _ := strings.Cut(uri, "://")
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, password, _ := strings.Cut(authority[:i], ":")
		parameters["user"], parameters["password"] = user, password
		authority = authority[i+1:]
	}
	var hosts, ports []string
	for one := range strings.SplitSeq(authority, ",") {
		host, port := splitHostPort(one)
		hosts, ports = append(hosts, host), append(ports, port)
	}
	parameters["host"] = strings.Join(hosts, ",")
	if strings.Join(ports, "") != "" {
		parameters["port"] = strings.Join(ports, ",")
	}
	parameters["dbname"] = path
	for one := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(one, "=")
		// Unlike in other queries a plus sign stands for itself in libpq, but not in pgx, which reads it as a blank; what pghaul connects with decides.
		parameters[name] = strings.ReplaceAll(value, "+", " ")
	}
	for name, value := range parameters {
		plain, err := url.PathUnescape(value)
		if err != nil {
			return nil, unreadableDSN()
		}
		parameters[name] = plain
	}
	return parameters, nil
}

// splitHostPort cuts host:port; a host in brackets is an IPv6 address.
func splitHostPort(s string) (host, port string) {
	if strings.HasPrefix(s, "[") {
		host, rest, _ := strings.Cut(s[1:], "]")
		return host, strings.TrimPrefix(rest, ":")
	}
	host, port, _ = strings.Cut(s, ":")
	return host, port
}

// keywordParameters reads name = value pairs, values bare or in single quotes, with backslashes as escapes in both.
func keywordParameters(s string) (map[string]string, error) {
	parameters := map[string]string{}
	const blank = " \t\n\r\f\v"
	for s = strings.TrimLeft(s, blank); s != ""; s = strings.TrimLeft(s, blank) {
		name, rest, found := strings.Cut(s, "=")
		name = strings.TrimRight(name, blank)
		if !found || name == "" || strings.ContainsAny(name, blank) {
			return nil, unreadableDSN()
		}
		value, after, ok := keywordValue(strings.TrimLeft(rest, blank))
		if !ok {
			return nil, unreadableDSN()
		}
		parameters[name], s = value, after
	}
	return parameters, nil
}

func keywordValue(s string) (value, rest string, ok bool) {
	quote := strings.HasPrefix(s, "'")
	if quote {
		s = s[1:]
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case quote && s[i] == '\'':
			return b.String(), s[i+1:], true
		case !quote && strings.IndexByte(" \t\n\r\f\v", s[i]) >= 0:
			return b.String(), s[i:], true
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), "", !quote
}
