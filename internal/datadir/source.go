package datadir

import (
	"net/url"
	"strings"

	"github.com/pghaul/pghaul/planner"
)

// Scheme begins the name of a data directory where a connection string of a server is expected.
const Scheme = "pgdata:"

// ParseSource reads the name of a data directory, pgdata:DIR?dbname=NAME. DIR is a path as it stands, absolute or not; what follows the last
// question mark is read as in a connection URI, with %XX for special bytes. ok is false for anything that does not begin with pgdata:, such
// as a connection string of a server, and err is then nil. dbname is empty when none is given. The error is of kind planner.Usage.
func ParseSource(source string) (dir, dbname string, ok bool, err error) {
	rest, ok := strings.CutPrefix(source, Scheme)
	if !ok {
		return "", "", false, nil
	}
	refuse := func(message, detail string) (string, string, bool, error) {
		return "", "", true, &planner.Error{Kind: planner.Usage, Message: message, Detail: detail,
			Hint: "Write pgdata:DIR?dbname=NAME, for instance pgdata:/var/lib/postgresql/15/main?dbname=app."}
	}
	dir, query := rest, ""
	if i := strings.LastIndexByte(rest, '?'); i >= 0 {
		dir, query = rest[:i], rest[i+1:]
	}
	if dir == "" {
		return refuse("no data directory is named", "Nothing stands between "+Scheme+" and its end.")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return refuse("cannot read what follows the question mark in "+source, "It is "+query+".")
	}
	for key, each := range values {
		if key != "dbname" {
			return refuse("a data directory has no option "+key, "The only one is dbname.")
		}
		if len(each) > 1 {
			return refuse("a data directory is read for one database at a time", "dbname stands there twice.")
		}
	}
	return dir, values.Get("dbname"), true, nil
}
