package move

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// VerifyRequest says which tables to compare.
type VerifyRequest struct {
	// Source and Target are connection strings as Request has them. An empty Target means the Source.
	Source, Target string
	// Tables are the pairs that the user named. Patterns are psql patterns of source tables, each compared with the same name.
	Tables   []TablePair
	Patterns []string
	// Level is VerifyHash when empty.
	Level VerifyLevel
	// Connections is how many connections read each side. 0 means half the processors, at least 1 and at most 4.
	Connections int
	// Where is a condition for the rows of both sides, in SQL. Columns are the only ones to compare; nil means all that both sides have.
	Where   string
	Columns []string
	// Logger takes what happens on the way. nil means silence.
	Logger *slog.Logger
}

// Verify compares tables, each server's in one snapshot, and changes nothing. A difference is no error. With an error come the comparisons
// that were finished before it.
func Verify(ctx context.Context, r VerifyRequest) ([]*Comparison, error) {
	if err := onlyServers(r.Source, r.Target); err != nil {
		return nil, err
	}
	if r.Level == NoVerify {
		r.Level = VerifyHash
	}
	if r.Logger == nil {
		r.Logger = slog.New(slog.DiscardHandler)
	}
	v := &verification{request: r, opening: opening{move: &Move{request: Request{Source: r.Source, Target: r.Target, Tables: r.Tables, Patterns: r.Patterns}}}}
	defer v.close()
	pairs, err := v.connect(ctx)
	if err != nil {
		return nil, err
	}
	from, to, err := v.opening.bothFacts(ctx, pairs)
	if err != nil {
		return nil, err
	}
	var done []*Comparison
	for i, n := range pairs {
		c, err := v.compare(ctx, n, from[i], to[i])
		if err != nil {
			return done, err
		}
		r.Logger.Info("compared", "source", c.Source, "target", c.Target, "source_rows", c.SourceRows, "target_rows", c.TargetRows,
			"ranges", c.Ranges, "different", len(c.Different), "seconds", c.Duration.Seconds())
		done = append(done, c)
	}
	return done, nil
}

// verification is a run of Verify.
type verification struct {
	request VerifyRequest
	opening opening
	places  []*place
}

// place is one database that is read in one snapshot. Several tables of a run, or followed foreign tables, can be in the same place.
type place struct {
	key      string // role, user and address
	server   planner.Server
	snapshot string
	names    namePath
	sessions []*session
}

func (v *verification) connect(ctx context.Context) ([]names, error) {
	var err error
	o, r := &v.opening, &v.opening.move.request
	if r.Target == "" {
		r.Target = r.Source
	}
	if o.source, err = connectEnd(ctx, r.Source); err != nil {
		return nil, err
	}
	if o.target, err = connectEnd(ctx, r.Target); err != nil {
		return nil, err
	}
	return o.pairs(ctx)
}

func (v *verification) close() {
	for _, p := range v.places {
		for _, s := range p.sessions {
			s.close()
		}
	}
	v.opening.close()
}

// compare compares one pair.
func (v *verification) compare(ctx context.Context, n names, from, to *found) (*Comparison, error) {
	for _, one := range []struct {
		relation     planner.Relation
		schema, name string
		role         string
	}{{from.relation, n.sourceSchema, n.sourceName, "source"}, {to.relation, n.targetSchema, n.targetName, "target"}} {
		if err := checkComparable(one.relation, sqltext.QuoteQualified(one.schema, one.name), one.role); err != nil {
			return nil, err
		}
	}
	source := side{relation: from.relation, where: v.request.Where}
	target := side{relation: to.relation, where: v.request.Where}
	notes, err := v.pair(&source, &target)
	if err != nil {
		return nil, err
	}
	if source.sessions, err = v.sessions(ctx, "source", from.config, from.server); err != nil {
		return nil, err
	}
	if target.sessions, err = v.sessions(ctx, "target", to.config, to.server); err != nil {
		return nil, err
	}
	if err := v.checkCondition(ctx, &source, &target); err != nil {
		return nil, err
	}
	c, err := compareSides(ctx, source, target, v.request.Level)
	if err != nil {
		return nil, err
	}
	c.Notes = append(notes, c.Notes...)
	return c, nil
}

func checkComparable(r planner.Relation, name, role string) error {
	switch r.Kind {
	case planner.Missing:
		return &planner.Error{Message: fmt.Sprintf("%s table %s does not exist", role, name)}
	case planner.Sequence:
		return &planner.Error{Message: fmt.Sprintf("cannot compare %s: it is a sequence", name)}
	}
	return nil
}

// pair pairs the columns of both sides by name. Those that only one side has are told and not compared.
func (v *verification) pair(source, target *side) (notes []string, err error) {
	wanted := v.request.Columns
	for _, name := range wanted {
		if indexOf(source.relation.Columns, name) < 0 || indexOf(target.relation.Columns, name) < 0 {
			return nil, &planner.Error{Kind: planner.Usage, Message: fmt.Sprintf("column %s is not in both tables", ident(name))}
		}
	}
	for _, c := range source.relation.Columns {
		i := indexOf(target.relation.Columns, c.Name)
		switch {
		case len(wanted) > 0 && !slices.Contains(wanted, c.Name):
		case i < 0:
			notes = append(notes, fmt.Sprintf("Column %s is only in the source and was not compared.", ident(c.Name)))
		default:
			source.columns, target.columns = append(source.columns, c), append(target.columns, target.relation.Columns[i])
		}
	}
	for _, c := range target.relation.Columns {
		if len(wanted) == 0 && indexOf(source.relation.Columns, c.Name) < 0 {
			notes = append(notes, fmt.Sprintf("Column %s is only in the target and was not compared.", ident(c.Name)))
		}
	}
	return notes, nil
}

func indexOf(columns []planner.Column, name string) int {
	return slices.IndexFunc(columns, func(c planner.Column) bool { return c.Name == name })
}

// sessions returns those of a place, which it opens on first use.
func (v *verification) sessions(ctx context.Context, role string, config *pgx.ConnConfig, server planner.Server) ([]*session, error) {
	key := role + " " + config.User + "@" + server.Address
	for _, p := range v.places {
		if p.key == key {
			return p.sessions, nil
		}
	}
	p := &place{key: key, server: server, names: pathFor("", v.request.Where)}
	// Two sides in one database see the same moment of it.
	for _, other := range v.places {
		if catalog.SameDatabase(other.server, server) && !other.server.Pooled && !server.Pooled {
			p.snapshot = other.snapshot
		}
	}
	v.places = append(v.places, p) // also when it fails half-way: close ends what is open
	for range v.connections(server) {
		if err := p.open(ctx, config); err != nil {
			return nil, err
		}
	}
	return p.sessions, nil
}

// connections is the number of sessions for one side. Behind a pooler a snapshot cannot be shared.
func (v *verification) connections(server planner.Server) int {
	n := v.request.Connections
	if n <= 0 {
		n = min(4, max(1, runtime.GOMAXPROCS(0)/2))
	}
	if server.Pooled {
		return 1
	}
	return max(1, min(n, server.FreeConnections/2))
}

// open opens one more session in the place's snapshot, which the first one takes. All text comes as UTF8: names and numbers only.
func (p *place) open(ctx context.Context, config *pgx.ConnConfig) error {
	const encoding = "UTF8"
	s, err := openSession(ctx, config, encoding, p.server.Address)
	if err != nil {
		return err
	}
	p.sessions = append(p.sessions, s)
	if _, err := s.exec(ctx, beginRead(encoding, p.snapshot, p.names)); err != nil {
		return startFailure(p, err)
	}
	if p.snapshot == "" && !p.server.Pooled {
		if p.snapshot, err = s.value(ctx, "SELECT pg_export_snapshot()"); err != nil {
			return startFailure(p, err)
		}
	}
	return nil
}

func startFailure(p *place, err error) error {
	failure := &planner.Error{Message: "could not start reading " + p.server.Address, Cause: err}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return failure
}
