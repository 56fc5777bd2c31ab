package move

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// Open connects to both servers, reads the facts and plans every table. It changes nothing on any server. The caller closes the Move.
func Open(ctx context.Context, request Request) (*Move, error) {
	m := &Move{request: request, sites: map[string]*site{}, logger: request.Logger}
	if m.logger == nil {
		m.logger = slog.New(slog.DiscardHandler)
	}
	o := opening{move: m}
	defer o.close()
	if err := o.open(ctx); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// opening holds the connections over which facts are read.
type opening struct {
	move           *Move
	source, target end
}

// endEncoding is the client_encoding in which facts are read.
const endEncoding = "UTF8"

// end is one side as the user named it, before foreign tables are followed. A data directory has no connection.
type end struct {
	conn      *pgx.Conn
	server    planner.Server
	directory *directory
}

func (o *opening) open(ctx context.Context) error {
	var err error
	r := &o.move.request
	if o.source, err = directoryEnd(r); err != nil {
		return err
	}
	if o.move.directory = o.source.directory; o.move.directory == nil {
		if r.Target == "" {
			r.Target = r.Source
		}
		if o.source, err = connectEnd(ctx, r.Source); err != nil {
			return err
		}
	}
	if o.target, err = connectEnd(ctx, r.Target); err != nil {
		return err
	}
	halt := o.watchLocks(ctx)
	defer halt()
	pairs, err := o.pairs(ctx)
	if err != nil {
		return err
	}
	if err := o.planAll(ctx, pairs); err != nil {
		return err
	}
	return o.move.checkTargets()
}

func connectEnd(ctx context.Context, dsn string) (end, error) {
	c, err := catalog.Connect(ctx, dsn, endEncoding)
	if err != nil {
		return end{}, err
	}
	server, err := catalog.Server(ctx, c)
	if err != nil {
		_ = c.Close(ctx)
		return end{}, err
	}
	return end{conn: c, server: server}, nil
}

// keepEnds gives the ends' connections, which have told all facts, to the sites that will move rows over some. To connect again would cost
// 5 to 10 ms each: a new backend, and its caches to be filled again.
func (o *opening) keepEnds() {
	if o.source.directory != nil {
		if o.source.directory.encoding(o.target.server) == endEncoding {
			o.move.keep("target", &o.target)
		}
		return
	}
	if catalog.Encoding(o.source.server, o.target.server) == endEncoding {
		o.move.keep("source", &o.source)
		o.move.keep("target", &o.target)
	}
}

func (m *Move) keep(role string, e *end) {
	m.siteOf(role, e.conn.Config(), e.server).adopt(endEncoding, e.conn.PgConn())
	e.conn = nil
}

func (o *opening) close() {
	for _, e := range []end{o.source, o.target} {
		if e.conn != nil {
			_ = e.conn.Close(context.Background())
		}
	}
}

// names is one table to move, by resolved names.
type names struct {
	query                    string
	file                     *datadir.Table // of a data directory
	sourceSchema, sourceName string
	targetSchema, targetName string
}

// pairs resolves what the user named.
func (o *opening) pairs(ctx context.Context) ([]names, error) {
	r := o.move.request
	if d := o.source.directory; d != nil {
		return o.filePairs(ctx, d)
	}
	var pairs []names
	for _, t := range r.Tables {
		schema, name, err := catalog.Resolve(ctx, o.source.conn, t.Source)
		if err != nil {
			return nil, err
		}
		n := names{sourceSchema: schema, sourceName: name, targetSchema: schema, targetName: name}
		if t.Target != "" {
			if n.targetSchema, n.targetName, err = o.targetName(ctx, t.Target, schema); err != nil {
				return nil, err
			}
		}
		pairs = append(pairs, n)
	}
	if len(r.Patterns) > 0 {
		listed, err := catalog.List(ctx, o.source.conn, r.Patterns)
		if err != nil {
			return nil, err
		}
		for _, l := range listed {
			pairs = append(pairs, names{sourceSchema: l.Schema, sourceName: l.Name, targetSchema: l.Schema, targetName: l.Name})
		}
	}
	if r.Query != "" {
		schema, name, err := o.targetName(ctx, r.QueryInto, "")
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, names{query: r.Query, targetSchema: schema, targetName: name})
	}
	return pairs, nil
}

// targetName resolves a target's name. One that does not exist and has no schema is taken to stand in the source's schema, or in public.
func (o *opening) targetName(ctx context.Context, typed, schema string) (string, string, error) {
	givenSchema, name, err := sqltext.ParseQualified(typed)
	if err != nil {
		return "", "", &planner.Error{Kind: planner.Usage, Message: "cannot read the table name " + typed, Cause: err}
	}
	if givenSchema != "" {
		return givenSchema, name, nil
	}
	if foundSchema, foundName, err := catalog.Resolve(ctx, o.target.conn, typed); err == nil {
		return foundSchema, foundName, nil
	}
	if schema == "" {
		schema = "public"
	}
	return schema, name, nil
}

// siteOf returns the site for a connection, one for all tables of the same side.
func (m *Move) siteOf(role string, config *pgx.ConnConfig, server planner.Server) *site {
	key := role + " " + server.Address
	if config != nil { // A data directory has none.
		key = role + " " + config.User + "@" + server.Address
	}
	m.opened.Lock()
	defer m.opened.Unlock()
	if m.sites[key] == nil {
		m.sites[key] = newSite(config, server)
		if config == nil {
			m.sites[key].directory = m.directory
		}
	}
	return m.sites[key]
}

// checkTargets refuses two sources for one target.
func (m *Move) checkTargets() error {
	seen := map[string]string{}
	for _, t := range m.tables {
		key := t.plan.Target.Server + " " + t.plan.Target.Relation
		if other, twice := seen[key]; twice {
			return &planner.Error{Kind: planner.Usage, Message: "two sources for one target",
				Detail: other + " and " + t.plan.Source.Relation + " would both be copied to " + t.plan.Target.Relation + ".",
				Hint:   "Copy them one after the other, the second with --append."}
		}
		seen[key] = t.plan.Source.Relation
	}
	return nil
}
