package move

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

// explain makes one message of why a table was not moved: which table, which range, on which side, what the server said, and what to do.
func (r *run) explain(t *table, err error) error {
	if err == nil {
		return nil
	}
	if t.load != nil {
		return r.explainLoad(t, err)
	}
	if told := headline(err); told != nil {
		return told
	}
	message := "cannot copy " + t.name()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &planner.Error{Message: "the copy of " + t.name() + " was cancelled", Cause: err}
	}
	e := &planner.Error{Message: message, Detail: t.place(err), Cause: &brief{text: bare(err).Error(), err: err}}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		e.Hint = hintFor(pg, onSource(err))
		var step *stepError
		if hint := stepHints[pg.Code]; hint != "" && pg.Hint == "" && errors.As(err, &step) {
			e.Hint = hint
		}
		e.Cause = &brief{text: pg.Message, err: err}
	} else if connectionLost(err) {
		e.Hint = "The server or the network went away. Run the same command again when it is back."
	}
	return e
}

// headline returns the message that is in err already. Where errors are joined the first one counts: the others came of it.
func headline(err error) *planner.Error {
	for err != nil {
		switch e := err.(type) { //nolint:errorlint // this walks the chain itself
		case *planner.Error:
			return e
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			err = e.Unwrap()[0]
		default:
			return nil
		}
	}
	return nil
}

// brief is an error whose place is told elsewhere.
type brief struct {
	text string
	err  error
}

func (b *brief) Error() string { return b.text }

func (b *brief) Unwrap() error { return b.err }

// bare takes off what place tells.
func bare(err error) error {
	for {
		switch e := err.(type) { //nolint:errorlint // Only the outermost layers are meant, one after the other.
		case *rangeError:
			err = e.err
		case *rowError:
			err = e.err
		case *sideError:
			err = e.err
		case interface{ Unwrap() []error }: // What was joined behind came of the first.
			first := e.Unwrap()[0]
			if !placed(first) {
				return err
			}
			err = first
		default:
			return err
		}
	}
}

// placed reports whether err itself is one of those that place tells.
func placed(err error) bool {
	switch err.(type) { //nolint:errorlint // Only the outermost layer is meant.
	case *rangeError, *rowError, *sideError:
		return true
	}
	return false
}

// place says in which range and row and on which side an error arose, as a sentence, or "" when that is not known.
func (t *table) place(err error) string {
	var parts []string
	var in *rangeError
	if errors.As(err, &in) && len(t.plan.Ranges) > 1 {
		text := fmt.Sprintf("range %d of %d", in.index+1, len(t.plan.Ranges))
		if r := t.plan.Ranges[in.index]; r.FromPage != 0 || r.ToPage != 0 {
			text += fmt.Sprintf(" (blocks from %d of %s)", r.FromPage, t.plan.Parts[r.Part].Source)
		}
		parts = append(parts, text)
	}
	var row *rowError
	if errors.As(err, &row) && row.place() != "" {
		parts = append(parts, row.place())
	}
	var side *sideError
	if errors.As(err, &side) {
		server := t.plan.Target.Server
		if side.side == "source" {
			server = t.plan.Source.Server
		}
		parts = append(parts, "on the "+side.side+" "+server)
	}
	var step *stepError
	if errors.As(err, &step) {
		parts = append(parts, "in the statement "+firstLine([]byte(step.step.SQL)))
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// hints tell what to do about errors whose remedy is known, by SQLSTATE; the class alone where the whole class has one.
var hints = map[string]string{
	"53100":       "The disk of the server is full. Nothing was kept; make room and run the same command again.",
	"53300":       "The server has no connection left. Use fewer with --jobs.",
	"53200":       "The server is out of memory.",
	"22021":       "The source holds bytes that are no text in the target's encoding. Repair them in the source, or copy into a database of the same encoding.",
	"22P05":       "The target's encoding lacks this character. Copy into a UTF8 database, or leave the column out with --columns.",
	"42501":       "Grant the role what it lacks, or connect as another one.",
	"23505":       "The row named above exists in the target already, or twice in the source. See --on-conflict.",
	"23503":       "Copy the table that the foreign key points to first, or both in one command.",
	"57P01":       "The server was shut down. Run the same command again when it is back.",
	"57P02":       "The server crashed. Run the same command again when it is back.",
	"55P03":       "Another session holds a lock. Run the same command again when it has ended.",
	"40P01":       "The server broke a deadlock. Use --jobs 1, or see that nobody else writes to the target.",
	"22P03":       "Use --format text.",
	stateReadOnly: "The target only lets itself be read. Connect to the primary.",
	"23":          "The row named above breaks a constraint of the target. Leave such rows out with --where.",
	"22":          "The target's type does not take this value. Leave such rows out with --where, or the column with --columns.",
}

const hintDefinition = "What the definition of a table uses must be on the target first: functions, types, extensions, schemas, other tables."

// stepHints are for statements that make or change tables, by SQLSTATE.
var stepHints = map[string]string{
	stateDuplicateTable: "A partition, sequence or index of the new table would have that name. Give the target a schema of its own, or make the table yourself.",
	stateUndefinedTable: hintDefinition, stateUndefinedObject: hintDefinition, stateUndefinedFunction: hintDefinition, stateUndefinedSchema: hintDefinition,
}

func hintFor(pg *pgconn.PgError, source bool) string {
	if pg.Hint != "" || len(pg.Code) != 5 {
		return pg.Hint
	}
	if source && pg.Code == stateReadOnly {
		return "The source is only read. Leave out what writes or locks rows, such as FOR UPDATE or nextval()."
	}
	if hint, ok := hints[pg.Code]; ok {
		return hint
	}
	if source && pg.Code[:2] == "22" {
		return "The source cannot compute this value. Leave such rows out with --where, or the column with --columns."
	}
	return hints[pg.Code[:2]]
}

// onSource reports whether it was the source's server that failed.
func onSource(err error) bool {
	var side *sideError
	return errors.As(err, &side) && side.side == "source"
}
