package move

import (
	"context"
	"log/slog"
	"runtime"
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// LoadRequest says what to load, and into which table.
type LoadRequest struct {
	// Target is a connection string as Request has it, and Into the table's name as typed.
	Target string
	Into   string
	Rows   rowfile.Rows
	Wish   planner.LoadWish
	Reject RejectFiles
	// Definition makes the table when it is missing and Wish.Create asks for it.
	Columns []NewColumn
	// OnRefused hears of each refused row. nil hears nothing.
	OnRefused func(Refusal)
	// StallTimeout, MaxRate, OnWait and Logger are as in Request.
	StallTimeout time.Duration
	MaxRate      int64
	OnWait       func(lock string)
	Logger       *slog.Logger
}

// NewColumn is a column of a table that is made for the rows.
type NewColumn struct {
	Name string
	Type string // in SQL
}

// OpenLoad connects to the target, reads its facts and plans the load. It changes nothing on the server. The caller closes the Move.
func OpenLoad(ctx context.Context, r LoadRequest) (*Move, error) {
	m := &Move{sites: map[string]*site{}, logger: r.Logger, request: Request{
		Target: r.Target, StallTimeout: r.StallTimeout, MaxRate: r.MaxRate, OnWait: r.OnWait,
		Wish: planner.Wish{Fill: r.Wish.Fill, Create: r.Wish.Create, Method: r.Wish.Method, NotLogged: r.Wish.NotLogged, AcceptMissing: r.Wish.AcceptMissing},
	}}
	if m.logger == nil {
		m.logger = slog.New(slog.DiscardHandler)
	}
	o := opening{move: m}
	defer o.close()
	if err := o.openLoad(ctx, &r); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (o *opening) openLoad(ctx context.Context, r *LoadRequest) error {
	var err error
	if o.target, err = connectEnd(ctx, r.Target); err != nil {
		return err
	}
	halt := o.watchLocks(ctx)
	defer halt()
	schema, name, err := o.targetName(ctx, r.Into, "")
	if err != nil {
		return err
	}
	found, err := o.target.findAll(ctx, []catalog.Name{{Schema: schema, Name: name}}, catalog.Target)
	if err != nil {
		return err
	}
	return o.planLoad(ctx, r, found[0])
}

// planLoad plans the load into the table that was found.
func (o *opening) planLoad(ctx context.Context, r *LoadRequest, to *found) error {
	m := o.move
	l := &load{
		rows: r.Rows, files: r.Rows.Files(), wish: r.Wish, reject: r.Reject, heard: r.OnRefused, relation: to.relation.Name,
		target: sqltext.QuoteQualified(to.relation.Schema, to.relation.Name), settings: encode.Settings{Version: to.server.Version / 10000, UTC: true},
	}
	t := &table{load: l, gauge: newGauge(m.limiter()), encoding: endEncoding}
	l.stage = &t.stage
	m.tables = []*table{t}
	facts, err := o.loadFacts(ctx, r, l, to)
	if err != nil {
		return err
	}
	t.facts = planner.Facts{TargetServer: to.server, Target: to.relation}
	t.source, t.target = newSite(nil, planner.Server{FreeConnections: unbounded}), m.siteOf("target", to.config, to.server)
	if err := t.findLoad(ctx, l, facts); err != nil {
		return err
	}
	if t.plan, err = planner.ChooseLoad(*facts, r.Wish); err != nil {
		return err
	}
	l.plan = t.plan.Load
	if t.plan.Resumes {
		l.goOn()
	} else {
		l.before = planner.RecordedLoad{}
	}
	if rows, of := l.rows.(interface{ planned(*load) }); of {
		rows.planned(l)
	}
	t.plan.Notes = append(t.plan.Notes, to.notes...)
	return nil
}

// loadFacts gathers what the planner wants to know.
func (o *opening) loadFacts(ctx context.Context, r *LoadRequest, l *load, to *found) (*planner.LoadFacts, error) {
	f := &planner.LoadFacts{
		TargetServer: to.server, Target: to.relation, Processors: runtime.GOMAXPROCS(0),
		Input: r.Rows.Describe(), Fields: r.Rows.Names(), Width: r.Rows.Width(), NoEncoder: map[string]string{},
	}
	for _, file := range l.files {
		f.Files = append(f.Files, file.Name)
		if file.Bytes < 0 || f.Bytes < 0 {
			f.Bytes = -1
		} else {
			f.Bytes += file.Bytes
		}
	}
	for i := range to.relation.Columns {
		c := &to.relation.Columns[i]
		if t := encodedType(&c.Type); t == nil || encode.For(t, l.settings) == nil {
			f.NoEncoder[c.Name] = "type " + c.Type.SQL + " is read by the server alone"
		}
	}
	if to.relation.Kind == planner.Missing {
		if r.Wish.Create {
			f.Definition = newTable(to.relation.Schema, to.relation.Name, r.Columns)
		}
		return f, nil
	}
	var err error
	if r.Wish.OnError == planner.SetRowsAside {
		f.Checks, err = o.checks(ctx, to)
	}
	return f, err
}
