package move

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// stateSyntaxError is what a condition gets that is none (manual, "PostgreSQL Error Codes").
const stateSyntaxError = "42601"

// checkCondition asks the source's server whether the condition of the wish can be used, before anything is done because of it.
func (t *table) checkCondition(ctx context.Context, where string) error {
	if where == "" || len(t.plan.Parts) == 0 {
		return nil
	}
	s, err := t.source.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	if _, err = s.exec(ctx, beginRead(t.encoding, "", pathFor("", where))); err == nil {
		err = askCondition(ctx, s, "source "+t.plan.Source.Relation, t.plan.Parts[0].Source, where)
	}
	if _, ended := s.exec(ctx, "ROLLBACK"); err == nil {
		err = ended
	}
	if err != nil {
		t.source.drop(s)
		return err
	}
	t.source.give(t.encoding, s)
	return nil
}

// checkCondition asks the servers of both sides.
func (v *verification) checkCondition(ctx context.Context, source, target *side) error {
	if v.request.Where == "" {
		return nil
	}
	for _, one := range []struct {
		role string
		side *side
	}{{"source", source}, {"target", target}} {
		r := one.side.relation
		from := sqltext.QuoteQualified(r.Schema, r.Name)
		if r.Kind == planner.Query {
			from = "(" + r.Query + "\n) AS q"
		}
		if err := askCondition(ctx, one.side.sessions[0], one.role+" "+from, from, v.request.Where); err != nil {
			return err
		}
	}
	return nil
}

// askCondition has the server parse the condition with parentheses around it and without. Either alone lets something through: "a) OR (b"
// closes the parentheses and would take rows of one range into each, "a LIMIT 1" is good only without them.
func askCondition(ctx context.Context, s *session, what, from, where string) error {
	for _, form := range []string{"SELECT 1 FROM %s WHERE (%s\n)", "SELECT 1 FROM %s WHERE %s\n"} {
		described, err := s.conn.Prepare(ctx, "", fmt.Sprintf(form, from, where), nil)
		if err != nil {
			return conditionRefused(ctx, what, err)
		}
		if len(described.ParamOIDs) > 0 {
			return &planner.Error{Kind: planner.Usage, Message: "the condition of --where has parameters",
				Hint: "Write the values into the condition."}
		}
	}
	return nil
}

func conditionRefused(ctx context.Context, what string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return fmt.Errorf("check the condition: %w", err)
	}
	e := &planner.Error{Message: "cannot use --where on " + what, Detail: answer.Detail, Hint: answer.Hint,
		Cause: &brief{text: answer.Message, err: err}}
	switch answer.Code {
	case stateUndefinedTable: // The partitions of a partitioned table are read one by one, each by its own name.
		e.Hint = "Write the columns without the name of their table."
	case stateSyntaxError:
		e.Kind = planner.Usage
		e.Hint = "Give one SQL condition over the columns, such as: id > 100 AND name <> ''."
	}
	return e
}
