package move

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

// explain makes one message of why a table was not moved: which table, which range, on which side, what the server said, and what to do.
func (r *run) explain(t *table, err error) error {
	if err == nil {
		return nil
	}
	if told := headline(err); told != nil {
		return told
	}
	message := "cannot copy " + t.name()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &planner.Error{Message: "the copy of " + t.name() + " was cancelled", Cause: err}
	}
	e := &planner.Error{Message: message, Detail: t.place(err), Cause: err}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		e.Hint = hintFor(pg)
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

// place says where in the table and on which side an error arose.
func (t *table) place(err error) string {
	var side *sideError
	var in *rangeError
	where := ""
	if errors.As(err, &in) && len(t.plan.Ranges) > 1 {
		part := t.plan.Ranges[in.index]
		where = fmt.Sprintf("Range %d of %d", in.index+1, len(t.plan.Ranges))
		if part.FromPage != 0 || part.ToPage != 0 {
			where += fmt.Sprintf(" (blocks from %d of %s)", part.FromPage, t.plan.Parts[part.Part].Source)
		}
	}
	if errors.As(err, &side) {
		server := t.plan.Target.Server
		if side.side == "source" {
			server = t.plan.Source.Server
		}
		if where != "" {
			where += ", "
		}
		where += "on the " + side.side + " " + server
	}
	if where == "" {
		return ""
	}
	return "Failed " + where + "."
}

// hints tell what to do about errors whose remedy is known, by SQLSTATE; the class alone where the whole class has one.
var hints = map[string]string{
	"53100": "The disk of the server is full. Nothing was kept; make room and run the same command again.",
	"53300": "The server has no connection left. Use fewer with --jobs.",
	"53200": "The server is out of memory.",
	"22021": "The source holds bytes that are no text in the target's encoding. Repair them in the source, or copy into a database of the same encoding.",
	"22P05": "The target's encoding lacks this character. Copy into a UTF8 database, or leave the column out with --columns.",
	"42501": "Grant the role what it lacks, or connect as another one.",
	"23505": "The row named above exists in the target already, or twice in the source. See --on-conflict.",
	"23503": "Copy the table that the foreign key points to first, or both in one command.",
	"57P01": "The server was shut down. Run the same command again when it is back.",
	"57P02": "The server crashed. Run the same command again when it is back.",
	"55P03": "Another session holds a lock. Run the same command again when it has ended.",
	"40P01": "The server broke a deadlock. Use --jobs 1, or see that nobody else writes to the target.",
	"22P03": "Use --format text.",
	"25006": "The target only lets itself be read. Connect to the primary.",
	"23":    "The row named above breaks a constraint of the target. Leave such rows out with --where.",
	"22":    "The target's type does not take this value. Leave such rows out with --where, or the column with --columns.",
}

func hintFor(pg *pgconn.PgError) string {
	if pg.Hint != "" || len(pg.Code) != 5 {
		return pg.Hint
	}
	if hint, ok := hints[pg.Code]; ok {
		return hint
	}
	return hints[pg.Code[:2]]
}
