package planner

type loadDocument struct {
	Input       string               `json:"input"`
	Files       []string             `json:"files"`
	Columns     []loadColumnDocument `json:"columns"`
	NoBinary    string               `json:"no_binary,omitempty"`
	OnError     string               `json:"on_error"`
	OnDuplicate string               `json:"on_duplicate"`
	CommitEvery int64                `json:"commit_every,omitempty"`
	Savepoints  bool                 `json:"savepoints"`
	Whole       *bool                `json:"staged_whole,omitempty"`
	BatchSize   int                  `json:"batch_size,omitempty"`
	Checks      []checkDocument      `json:"checks,omitempty"`
}

type loadColumnDocument struct {
	Name     string `json:"name"`
	Field    int    `json:"field"` // counted from 1
	From     string `json:"from,omitempty"`
	Type     string `json:"type"`
	NotNull  bool   `json:"null_refused_here"`
	NoBinary string `json:"no_binary,omitempty"`
}

type checkDocument struct {
	State      string `json:"sqlstate"`
	Message    string `json:"message"`
	Constraint string `json:"constraint,omitempty"`
	Column     string `json:"column,omitempty"`
}

func (l *LoadPlan) document() *loadDocument {
	d := &loadDocument{
		Input: l.Input, Files: append([]string{}, l.Files...), Columns: []loadColumnDocument{}, NoBinary: l.NoBinary, OnError: "stop", OnDuplicate: "error",
		CommitEvery: l.CommitEvery, Savepoints: l.Savepoints,
	}
	if l.OnError != StopOnError {
		d.OnError = string(l.OnError)
	}
	if l.OnDuplicate != DuplicateError {
		d.OnDuplicate = string(l.OnDuplicate)
	}
	for _, c := range l.Columns {
		d.Columns = append(d.Columns, loadColumnDocument{Name: c.Name, Field: c.Field + 1, From: c.From, Type: c.Type.SQL, NotNull: c.NotNull, NoBinary: c.NoBinary})
	}
	if l.Stage != nil {
		d.Whole = &l.Stage.Whole
	}
	if l.Batch != nil {
		d.BatchSize = l.Batch.Size
	}
	if l.Check != nil {
		for _, q := range l.Check.Queries {
			d.Checks = append(d.Checks, checkDocument{State: q.State, Message: q.Message, Constraint: q.Constraint, Column: q.Column})
		}
	}
	return d
}
