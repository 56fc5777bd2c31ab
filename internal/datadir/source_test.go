package datadir

import (
	"errors"
	"testing"

	"github.com/pghaul/pghaul/planner"
)

func TestParseSource(t *testing.T) {
	for _, c := range []struct {
		source, dir, dbname string
		ok, fails           bool
	}{
		{source: "postgres://host/app"},
		{source: "host=pgdata: dbname=x"},
		{source: ""},
		{source: "pgdata:/srv/data?dbname=app", dir: "/srv/data", dbname: "app", ok: true},
		{source: "pgdata:data", dir: "data", ok: true},
		{source: "pgdata:/srv/data?", dir: "/srv/data", ok: true},
		{source: "pgdata:/what?/data?dbname=my%20app", dir: "/what?/data", dbname: "my app", ok: true},
		{source: "pgdata:/srv/data?dbname=a%26b%3f", dir: "/srv/data", dbname: "a&b?", ok: true},
		{source: "pgdata:", ok: true, fails: true},
		{source: "pgdata:?dbname=app", ok: true, fails: true},
		{source: "pgdata:/srv/data?user=me", ok: true, fails: true},
		{source: "pgdata:/srv/data?dbname=a&dbname=b", ok: true, fails: true},
		{source: "pgdata:/srv/data?dbname=%zz", ok: true, fails: true},
	} {
		dir, dbname, ok, err := ParseSource(c.source)
		if dir != c.dir || dbname != c.dbname || ok != c.ok || (err != nil) != c.fails {
			t.Errorf("%q: got %q, %q, %v, %v", c.source, dir, dbname, ok, err)
		}
		var told *planner.Error
		if err != nil && (!errors.As(err, &told) || told.Kind != planner.Usage || told.Hint == "") {
			t.Errorf("%q: not an error of usage with a hint: %v", c.source, err)
		}
	}
}
