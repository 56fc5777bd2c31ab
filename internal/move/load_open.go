package move

import (
	"context"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// LoadRequest says what to load, and into which table.
type LoadRequest struct {
	// Target is a connection string as Request has it, and Into the table's name as typed.
	Target string
	Into   string
	// Open opens the rows, once the names of the target's columns are known; nil for a table that is missing. The columns that it returns are those
	// of a table that is made for the rows, asked for by create.
	Open   func(ctx context.Context, columns []string, create bool) (rowfile.Rows, []NewColumn, error)
	Wish   planner.LoadWish
	Reject RejectFiles
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
		wish: r.Wish, reject: r.Reject, heard: r.OnRefused, relation: to.relation.Name,
		target: sqltext.QuoteQualified(to.relation.Schema, to.relation.Name),
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
	l.at = t.target
	if err := t.findLoad(ctx, l, facts); err != nil {
		return err
	}
	if err := t.findRowPages(ctx, l, facts); err != nil {
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
	if err := l.tellRows(); err != nil {
		return err
	}
	t.plan.Notes = append(t.plan.Notes, to.notes...)
	return nil
}

// loadFacts gathers what the planner wants to know.
func (o *opening) loadFacts(ctx context.Context, r *LoadRequest, l *load, to *found) (*planner.LoadFacts, error) {
	made, err := l.openRows(ctx, r, to)
	if err != nil {
		return nil, err
	}
	f := &planner.LoadFacts{
		TargetServer: to.server, Target: to.relation, Processors: runtime.GOMAXPROCS(0),
		Input: l.rows.Describe(), Fields: l.rows.Names(), Width: l.rows.Width(), NoEncoder: map[string]string{},
	}
	for _, file := range l.files {
		f.Files = append(f.Files, file.Name)
		if file.Bytes < 0 || f.Bytes < 0 {
			f.Bytes = -1
		} else {
			f.Bytes += file.Bytes
		}
	}
	if to.relation.Kind == planner.Missing && r.Wish.Create {
		f.Definition = newTable(to.relation.Schema, to.relation.Name, made)
		if f.Target.Columns, err = o.newColumns(ctx, made); err != nil {
			return nil, err
		}
	}
	return f, o.targetFacts(ctx, to, l, f)
}

// openRows opens the input. It returns the columns of a table that is made for it.
func (l *load) openRows(ctx context.Context, r *LoadRequest, to *found) ([]NewColumn, error) {
	var names []string
	for _, c := range to.relation.Columns {
		if !c.Generated {
			names = append(names, c.Name)
		}
	}
	rows, made, err := r.Open(ctx, names, r.Wish.Create && to.relation.Kind == planner.Missing)
	if err != nil {
		return nil, err
	}
	l.rows, l.files = rows, rows.Files()
	if files, is := rows.(*rowfile.Input); is && files.Layout().Header == rowfile.MatchHeader {
		if r.Wish.Columns != nil {
			names = r.Wish.Columns
		}
		return made, rowfile.CheckHeader(rows.Names(), names)
	}
	return made, nil
}

// tellRows tells the input which columns its fields go to.
func (l *load) tellRows() error {
	width := max(l.rows.Width(), len(l.rows.Names()))
	for _, c := range l.plan.Columns {
		width = max(width, c.Field+1)
	}
	names, arrays, documents := make([]string, width), make([]byte, width), make([]bool, width)
	for _, c := range l.plan.Columns {
		names[c.Field] = c.Name
		if t := encodedType(&c.Type); t != nil {
			arrays[c.Field] = t.Delim
			documents[c.Field] = isDocument(t)
		}
	}
	switch rows := l.rows.(type) {
	case *rowfile.Input:
		layout := rows.Layout()
		if err := layout.CheckForced(names); err != nil {
			return err
		}
		rows.SetColumns(names)
		rows.SetArrays(arrays)
		rows.SetDocuments(documents)
	case *given:
		rows.planned(l)
	}
	return nil
}

// close ends what the input holds open.
func (l *load) close() {
	if closer, is := l.rows.(io.Closer); is {
		_ = closer.Close() // It was only read.
	}
}
