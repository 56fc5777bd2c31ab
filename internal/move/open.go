package move

import (
	"cmp"
	"context"
	"log/slog"
	"runtime"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/catalog"
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

// end is one side as the user named it, before foreign tables are followed.
type end struct {
	conn   *pgx.Conn
	server planner.Server
}

func (o *opening) open(ctx context.Context) error {
	var err error
	r := &o.move.request
	if r.Target == "" {
		r.Target = r.Source
	}
	if o.source, err = connectEnd(ctx, r.Source); err != nil {
		return err
	}
	if o.target, err = connectEnd(ctx, r.Target); err != nil {
		return err
	}
	defer o.watchLocks(ctx)()
	pairs, err := o.pairs(ctx)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		if err := o.plan(ctx, p); err != nil {
			return err
		}
	}
	return o.move.checkTargets()
}

func connectEnd(ctx context.Context, dsn string) (end, error) {
	c, err := catalog.Connect(ctx, dsn, "")
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
	sourceSchema, sourceName string
	targetSchema, targetName string
}

// pairs resolves what the user named.
func (o *opening) pairs(ctx context.Context) ([]names, error) {
	r := o.move.request
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

// plan reads the facts of one table and chooses its plan.
func (o *opening) plan(ctx context.Context, n names) error {
	m := o.move
	t := &table{number: len(m.tables), gauge: newGauge(m.limiter())}
	f := &t.facts
	f.Processors = runtime.GOMAXPROCS(0)
	from, to, err := o.bothFacts(ctx, n)
	if err != nil {
		return err
	}
	f.SourceServer, f.Source = from.server, from.relation
	f.TargetServer, f.Target = to.server, to.relation
	f.SameServer = catalog.SameServer(f.SourceServer, f.TargetServer)
	f.SameDatabase = catalog.SameDatabase(f.SourceServer, f.TargetServer)
	t.encoding = catalog.Encoding(f.SourceServer, f.TargetServer)
	t.source = m.siteOf("source", from.config, f.SourceServer)
	t.target = m.siteOf("target", to.config, f.TargetServer)
	if err := t.findRecord(ctx, m.request.Wish); err != nil {
		return err
	}
	if err := o.define(ctx, t, n); err != nil {
		return err
	}
	if t.plan, err = planner.Choose(*f, m.request.Wish); err != nil {
		return err
	}
	if err := t.checkCondition(ctx, m.request.Wish.Where); err != nil {
		return err
	}
	if err := verifiable(t, m.request); err != nil {
		return err
	}
	t.plan.Notes = append(append(t.plan.Notes, from.notes...), to.notes...)
	m.tables = append(m.tables, t)
	return nil
}

// bothFacts reads both sides at once, each by its own connection. The source's error comes first.
func (o *opening) bothFacts(ctx context.Context, n names) (from, to *found, err error) {
	var failed error
	read := make(chan struct{})
	go func() {
		defer close(read)
		to, failed = o.target.find(ctx, n.targetSchema, n.targetName, catalog.Target)
	}()
	from, err = o.sourceFacts(ctx, n)
	<-read
	return from, to, cmp.Or(err, failed)
}

// sourceFacts reads the source relation, following foreign tables, and returns how to connect to where it really is.
func (o *opening) sourceFacts(ctx context.Context, n names) (*found, error) {
	if n.query != "" {
		at := &found{config: o.source.conn.Config(), server: o.source.server}
		var err error
		at.relation, err = catalog.ReadQuery(ctx, o.source.conn, n.query)
		return at, err
	}
	return o.source.find(ctx, n.sourceSchema, n.sourceName, catalog.Source)
}

// found is a relation with the way to it.
type found struct {
	config   *pgx.ConnConfig
	server   planner.Server
	relation planner.Relation
	notes    []string
}

// find reads a relation, and where it is a foreign table what stands behind it.
func (e end) find(ctx context.Context, schema, name string, role catalog.Role) (*found, error) {
	at := &found{config: e.conn.Config(), server: e.server}
	var err error
	if at.relation, err = catalog.Read(ctx, e.conn, schema, name, role); err != nil {
		return nil, err
	}
	remote, err := catalog.Follow(ctx, e.conn, at.relation, role, "")
	if err != nil || remote == nil {
		return at, err
	}
	at.relation, at.server, at.notes = remote.Relation, remote.Server, remote.Notes
	if remote.Conn == nil {
		return at, nil
	}
	at.config = remote.Config
	return at, remote.Conn.Close(ctx)
}

// define finds out how to make a missing target, when that is wished. One that an interrupted move has made may lack its foreign keys.
func (o *opening) define(ctx context.Context, t *table, n names) error {
	r, f := o.move.request, &t.facts
	makes := r.Wish.Create || r.Wish.Method == planner.Unlogged
	if f.Target.Kind != planner.Missing && (f.Recorded == nil || r.Wish.Commit != planner.CommitRange) || !makes || f.Source.Kind == planner.Missing {
		return nil
	}
	var err error
	switch {
	case f.SameDatabase && f.Source.Kind == planner.Table:
		f.Definition = likeDefinition(f.Source, n.targetSchema, n.targetName)
	case f.Source.Kind != planner.Query:
		f.Definition, err = definition(ctx, r.PgDump, t.source.config, f.SourceServer, f.Source, n.targetSchema, n.targetName)
	}
	return err
}

// findRecord looks for what an interrupted run of the same move has left in the target.
func (t *table) findRecord(ctx context.Context, wish planner.Wish) error {
	t.key = moveKey(t, wish)
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	if t.facts.Recorded, err = readRecord(ctx, s, t.key); err != nil {
		t.target.drop(s)
		return err
	}
	t.target.give(t.encoding, s)
	return nil
}

// siteOf returns the site for a connection, one for all tables of the same side.
func (m *Move) siteOf(role string, config *pgx.ConnConfig, server planner.Server) *site {
	key := role + " " + config.User + "@" + server.Address
	if m.sites[key] == nil {
		m.sites[key] = newSite(config, server)
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
