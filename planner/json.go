package planner

import "encoding/json"

// JSON prints the plan as one JSON object with all that Text has, sizes in bytes and times in seconds. Unknown numbers are null.
func (p *Plan) JSON() ([]byte, error) {
	return json.MarshalIndent(p.document(), "", "  ")
}

type planDocument struct {
	Method      Method              `json:"method"`
	Format      Format              `json:"format,omitempty"`
	Source      placeDocument       `json:"source"`
	Target      placeDocument       `json:"target"`
	Columns     []columnDocument    `json:"columns"`
	Where       string              `json:"where,omitempty"`
	Commit      Atomic              `json:"commit"`
	Frozen      bool                `json:"frozen"`
	Resumes     bool                `json:"resumes"`
	Connections int                 `json:"connections"`
	Ranges      []rangeDocument     `json:"ranges"`
	Before      []stepDocument      `json:"before"`
	Statements  []statementDocument `json:"statements"`
	After       []stepDocument      `json:"after"`
	Record      string              `json:"record,omitempty"`
	Sequences   []sequenceDocument  `json:"sequences"`
	Batch       *batchDocument      `json:"batch,omitempty"`
	Load        *loadDocument       `json:"load,omitempty"`
	Reasons     []string            `json:"reasons"`
	Notes       []string            `json:"notes"`
	Others      []otherDocument     `json:"others"`
	Estimate    amountDocument      `json:"estimate"`
	Actual      *actualDocument     `json:"actual,omitempty"`
}

type placeDocument struct {
	Relation string        `json:"relation"`
	Kind     string        `json:"kind"`
	Server   string        `json:"server"`
	Version  string        `json:"version"`
	Followed []hopDocument `json:"followed,omitempty"`
}

type hopDocument struct {
	Relation string `json:"relation"`
	Server   string `json:"server"`
	Foreign  string `json:"foreign_server"`
	Wrapper  string `json:"wrapper"`
}

type columnDocument struct {
	Source     string `json:"source"`
	Target     string `json:"target"`
	SourceType string `json:"source_type"`
	TargetType string `json:"target_type"`
	Exact      bool   `json:"binary_exact"`
	Why        string `json:"why,omitempty"`
}

type rangeDocument struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	FromPage int64  `json:"from_page"`
	ToPage   *int64 `json:"to_page"`
	Bytes    int64  `json:"bytes"`
}

type stepDocument struct {
	SQL      string `json:"sql"`
	Own      bool   `json:"committed_by_itself"`
	Parallel bool   `json:"side_by_side"`
	Late     bool   `json:"after_all_tables"`
	Undo     string `json:"undo,omitempty"`
}

type statementDocument struct {
	Label string `json:"label"`
	SQL   string `json:"sql"`
	Rows  int    `json:"rows,omitempty"`
	Times int64  `json:"times,omitempty"`
}

type sequenceDocument struct {
	Read  string `json:"read"`
	Write string `json:"write"`
}

type batchDocument struct {
	Size          int    `json:"size"`
	CopyThreshold int    `json:"copy_threshold"`
	Arrays        bool   `json:"arrays"`
	NoCopy        string `json:"no_copy,omitempty"`
	NoArrays      string `json:"no_arrays,omitempty"`
}

type otherDocument struct {
	Method  Method   `json:"method"`
	Refused string   `json:"refused,omitempty"`
	Factor  *float64 `json:"factor,omitempty"`
	Why     string   `json:"why,omitempty"`
}

type amountDocument struct {
	Rows    *int64  `json:"rows"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	WAL     *int64  `json:"wal_bytes"`
}

type actualDocument struct {
	amountDocument
	LimitedBy  string              `json:"limited_by,omitempty"`
	Duplicates int64               `json:"duplicates"`
	Statements []statementDocument `json:"statements,omitempty"`
}

func (p *Plan) document() planDocument {
	d := planDocument{
		Method: p.Method, Format: p.Format, Source: p.Source.document(), Target: p.Target.document(), Columns: p.columnDocuments(), Where: p.Where,
		Commit: p.Atomic, Frozen: p.Frozen, Resumes: p.Resumes, Connections: p.Connections, Ranges: p.rangeDocuments(),
		Before: stepDocuments(p.Before), After: stepDocuments(p.After), Record: p.Record,
		Statements: []statementDocument{}, Sequences: []sequenceDocument{}, Others: []otherDocument{},
		Reasons: append([]string{}, p.Reasons...), Notes: append([]string{}, p.Notes...),
		Estimate: amountDocument{Rows: known(p.Estimate.Rows), Bytes: p.Estimate.Bytes, Seconds: p.Estimate.Seconds, WAL: known(p.Estimate.WALBytes)},
	}
	for _, s := range p.Statements() {
		d.Statements = append(d.Statements, statementDocument{Label: s.Label, SQL: s.SQL})
	}
	for _, q := range p.Sequences {
		d.Sequences = append(d.Sequences, sequenceDocument(q))
	}
	for _, o := range p.Others {
		other := otherDocument{Method: o.Method, Refused: o.Refused, Why: o.Why}
		if o.Refused == "" {
			other.Factor = &o.Factor
		}
		d.Others = append(d.Others, other)
	}
	if b := p.Batch; b != nil {
		d.Batch = &batchDocument{Size: b.Size, CopyThreshold: b.CopyThreshold, Arrays: b.Arrays(b.Size), NoCopy: b.NoCopy, NoArrays: b.NoUnnest}
	}
	if p.Load != nil {
		d.Load = p.Load.document()
	}
	if p.Actual != nil {
		d.Actual = p.Actual.document()
	}
	return d
}

// known is nil for the -1 that stands for an unknown number.
func known(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

func (p *Place) document() placeDocument {
	d := placeDocument{Relation: p.Relation, Kind: kindName(p.Kind), Server: p.Server, Version: p.Version}
	for _, h := range p.Path {
		d.Followed = append(d.Followed, hopDocument{Relation: h.relation(), Server: h.Server, Foreign: h.Foreign, Wrapper: h.Wrapper})
	}
	return d
}

func (p *Plan) columnDocuments() []columnDocument {
	all := make([]columnDocument, len(p.Columns))
	for i, c := range p.Columns {
		all[i] = columnDocument{
			Source: c.Source.RealName(), Target: c.Target.RealName(), SourceType: c.Source.Type.SQL, TargetType: c.Target.Type.SQL, Exact: c.Exact, Why: c.Why,
		}
	}
	return all
}

func (p *Plan) rangeDocuments() []rangeDocument {
	all := make([]rangeDocument, len(p.Ranges))
	for i, r := range p.Ranges {
		part := &p.Parts[r.Part]
		all[i] = rangeDocument{Source: part.Source, Target: part.Target, FromPage: r.FromPage, Bytes: r.Bytes}
		if r.ToPage > 0 {
			all[i].ToPage = &p.Ranges[i].ToPage
		}
	}
	return all
}

func stepDocuments(steps []Step) []stepDocument {
	all := make([]stepDocument, len(steps))
	for i, s := range steps {
		all[i] = stepDocument(s)
	}
	return all
}

func (a *Actual) document() *actualDocument {
	d := &actualDocument{
		amountDocument: amountDocument{Rows: known(a.Rows), Bytes: a.Bytes, Seconds: a.Seconds, WAL: known(a.WALBytes)},
		LimitedBy:      a.LimitedBy, Duplicates: a.Duplicates,
	}
	for _, s := range a.Statements {
		d.Statements = append(d.Statements, statementDocument{Label: "sent", SQL: s.SQL, Rows: s.Rows, Times: s.Times})
	}
	return d
}
