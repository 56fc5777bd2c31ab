package move

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/planner"
)

// planners is how many tables are planned side by side. Each may ask the servers a few questions.
const planners = 4

// planAll reads the facts of all tables at once, both sides at the same time, and plans every table. The error is that of the first table
// which cannot be moved.
func (o *opening) planAll(ctx context.Context, pairs []names) error {
	from, to, err := o.bothFacts(ctx, pairs)
	if err != nil {
		return err
	}
	m := o.move
	o.keepEnds()
	limit := m.limiter()
	m.tables = make([]*table, len(pairs))
	for i := range pairs {
		m.tables[i] = &table{number: i, gauge: newGauge(limit)}
	}
	if err := sideBySide(m.tables, func(t *table) error { return o.survey(ctx, t, from[t.number], to[t.number]) }); err != nil {
		return err
	}
	if err := o.defineAll(ctx, pairs); err != nil {
		return err
	}
	linkTruncated(m.tables, m.request.Wish)
	return sideBySide(m.tables, func(t *table) error {
		return o.plan(ctx, t, slices.Concat(from[t.number].notes, to[t.number].notes))
	})
}

// sideBySide does the same for several tables at a time and returns the error of the first table that has one.
func sideBySide(tables []*table, do func(*table) error) error {
	failed := make([]error, len(tables))
	var group errgroup.Group
	group.SetLimit(planners)
	for i, t := range tables {
		group.Go(func() error {
			failed[i] = do(t)
			return nil
		})
	}
	_ = group.Wait() // Each failure stands in its table's place.
	return cmp.Or(failed...)
}

// survey notes what is known of one table, and what an interrupted run has left of it.
func (o *opening) survey(ctx context.Context, t *table, from, to *found) error {
	m, f := o.move, &t.facts
	f.Processors = runtime.GOMAXPROCS(0)
	f.SourceServer, f.Source = from.server, from.relation
	f.TargetServer, f.Target = to.server, to.relation
	f.SameServer = catalog.SameServer(f.SourceServer, f.TargetServer)
	f.SameDatabase = catalog.SameDatabase(f.SourceServer, f.TargetServer)
	t.encoding = catalog.Encoding(f.SourceServer, f.TargetServer)
	t.source = m.siteOf("source", from.config, f.SourceServer)
	if d := o.source.directory; d != nil {
		t.encoding = d.encoding(f.TargetServer)
	}
	t.target = m.siteOf("target", to.config, f.TargetServer)
	if err := t.findRecords(ctx, m.request.Wish); err != nil {
		return err
	}
	return t.findPages(ctx, m.request.Wish)
}

// plan chooses the plan of one table by its facts and what else is to be asked about it.
func (o *opening) plan(ctx context.Context, t *table, notes []string) error {
	m := o.move
	var err error
	if t.plan, err = planner.Choose(t.facts, m.request.Wish); err != nil {
		return err
	}
	if err := t.checkCondition(ctx, m.request.Wish.Where); err != nil {
		return err
	}
	if err := verifiable(t, m.request); err != nil {
		return err
	}
	t.plan.Notes = append(t.plan.Notes, notes...)
	return nil
}

// bothFacts reads both sides at once, each by its own connection. The source's error comes first.
func (o *opening) bothFacts(ctx context.Context, pairs []names) (from, to []*found, err error) {
	var failed error
	read := make(chan struct{})
	go func() {
		defer close(read)
		wanted := make([]catalog.Name, len(pairs))
		for i, n := range pairs {
			wanted[i] = catalog.Name{Schema: n.targetSchema, Name: n.targetName}
		}
		to, failed = o.target.findAll(ctx, wanted, catalog.Target)
	}()
	from, err = o.sourceFacts(ctx, pairs)
	<-read
	return from, to, cmp.Or(err, failed)
}

// sourceFacts reads the source relations. A query comes alone.
func (o *opening) sourceFacts(ctx context.Context, pairs []names) ([]*found, error) {
	if d := o.source.directory; d != nil {
		return d.allFacts(pairs)
	}
	if len(pairs) == 1 && pairs[0].query != "" {
		at := &found{config: o.source.conn.Config(), server: o.source.server}
		var err error
		at.relation, err = catalog.ReadQuery(ctx, o.source.conn, pairs[0].query)
		return []*found{at}, err
	}
	wanted := make([]catalog.Name, len(pairs))
	for i, n := range pairs {
		wanted[i] = catalog.Name{Schema: n.sourceSchema, Name: n.sourceName}
	}
	return o.source.findAll(ctx, wanted, catalog.Source)
}

// found is a relation with the way to it.
type found struct {
	config   *pgx.ConnConfig
	server   planner.Server
	relation planner.Relation
	notes    []string
}

// findAll reads relations, and where one is a foreign table what stands behind it.
func (e end) findAll(ctx context.Context, wanted []catalog.Name, role catalog.Role) ([]*found, error) {
	relations, err := catalog.ReadAll(ctx, e.conn, wanted, role)
	if err != nil {
		return nil, err
	}
	all := make([]*found, len(relations))
	for i := range relations {
		if all[i], err = e.follow(ctx, relations[i], role); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// follow goes to where the rows of a relation are.
func (e end) follow(ctx context.Context, relation planner.Relation, role catalog.Role) (*found, error) {
	at := &found{config: e.conn.Config(), server: e.server, relation: relation}
	remote, err := catalog.Follow(ctx, e.conn, relation, role, "")
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
