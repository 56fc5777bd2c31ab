package planner

import (
	"slices"

	"github.com/pghaul/pghaul/internal/sqltext"
)

const (
	usualBatch = 1000
	// mostParameters is what a Bind message can count (manual, "Message Formats").
	mostParameters = 65535
	// unnestFrom is where one array for each column was measured to become faster than one parameter for each value.
	unnestFrom = 100
)

// insertWay sends prepared INSERT statements of many rows each.
func insertWay() way {
	return way{
		method: Insert,
		refuse: func(s *situation) string {
			switch {
			case s.wish.OnConflict != NoConflictAction && s.target.Rules && s.target.Kind != View:
				return "ON CONFLICT cannot be used on a table with rules"
			case s.wish.OnConflict == DoUpdate || len(s.wish.ConflictColumns) > 0:
				_, why := s.conflictKey()
				return why
			case s.wish.Commit == CommitRange && s.target.RowSecurity:
				return "--commit range cannot be used on a target with row-level security"
			case s.wish.Freeze == Yes:
				return "INSERT cannot freeze rows"
			}
			return ""
		},
		cost: func(s *situation, l *layout) cost {
			c := s.streamCost(insertBatch, l)
			rows, _ := s.amount()
			each := batchOverhead / float64(s.batchSize())
			if s.wish.OnConflict != NoConflictAction {
				each += conflictProbe
			}
			c.seconds += rows * each / s.speedUp(l.connections)
			return c
		},
		finish: func(s *situation, p *Plan) { p.Batch = s.batch(p) },
		why:    "rows are parsed and sent again as parameters of INSERT",
	}
}

func (s *situation) batchSize() int {
	if s.wish.BatchSize > 0 {
		return s.wish.BatchSize
	}
	return usualBatch
}

func (s *situation) batch(p *Plan) *BatchPlan {
	b := &BatchPlan{
		Size: s.batchSize(), CopyThreshold: s.wish.CopyThreshold, Returning: s.wish.Returning, Conflict: s.conflictClause(),
		NoCopy: s.batchCopyBlock(), NoUnnest: s.unnestBlock(), UnnestFrom: unnestFrom,
	}
	b.Unnest = b.NoUnnest == "" && len(p.Columns) > 0
	if n := len(p.Columns); n > 0 {
		if most := mostParameters / n; b.Unnest {
			b.UnnestFrom = min(b.UnnestFrom, most+1)
		} else if b.Size > most {
			b.Size = most
			p.Notes = append(p.Notes, "a batch has fewer rows than asked for: a statement takes 65535 parameters, one for each value")
		}
	}
	if s.wish.OnConflict == DoUpdate && b.Size > 1 {
		p.Notes = append(p.Notes, "two rows of one batch with the same key are an error of the server; method merge takes the last")
	}
	return b
}

// batchCopyBlock says why no batch may go by COPY.
func (s *situation) batchCopyBlock() string {
	switch {
	case s.wish.Returning != "":
		return "COPY has no RETURNING"
	case s.wish.OnConflict != NoConflictAction:
		return "COPY has no ON CONFLICT"
	}
	return s.copyBlock()
}

// unnestBlock names the first column whose array unnest would take apart too far: an array of arrays is one array, with no end but its last
// element (manual, "Array Functions").
func (s *situation) unnestBlock() string {
	for _, p := range s.pairs {
		t := baseType(&p.Target.Type)
		what := ""
		switch {
		case t.Class == Array || t.Elem != nil:
			what = "an array"
		case t.Class == Pseudo:
			what = "of a pseudo-type"
		case slices.Contains([]string{"int2vector", "oidvector"}, t.Name) && t.BuiltIn():
			what = "an array"
		}
		if what != "" {
			return "column " + sqltext.QuoteIdent(p.Target.Name) + " is " + what
		}
	}
	return ""
}
