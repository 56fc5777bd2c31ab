package move

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

// refusedRow is the error of a load that ends at a row that was refused before it was sent.
func (l *load) refusedRow(p *piece, bad badRow) error {
	return &planner.Error{
		Message: "cannot load " + l.name() + " into " + l.target,
		Detail:  where(l.place(p, bad.span), bad.why.Column, bad.why.Detail),
		Hint:    refusalHint(bad.why.State, bad.why.Hint),
		// As the server would have said it, so that callers can decide by SQLSTATE.
		Cause: &pgconn.PgError{Severity: "ERROR", Code: bad.why.State, Message: bad.why.Message, ColumnName: bad.why.Column},
	}
}

// refusedAt is the error of a load that ends at an error of the server. Where the server names the row, so does this.
func (l *load) refusedAt(sent *trail, c *copying, err error) error {
	side := &sideError{side: "target", err: err}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return side
	}
	at := placeOf(pg, c.name)
	if !at.aboutRow(pg) {
		return side
	}
	why := l.refusedBy(pg, at)
	e := &planner.Error{
		Message: "cannot load " + l.name() + " into " + l.target,
		Hint:    refusalHint(pg.Code, pg.Hint),
		Cause:   &brief{text: pg.Message, err: err},
	}
	place := ""
	if at.line > 0 {
		if p, n := sent.find(c.first - 1 + at.line); p != nil {
			place = l.place(p, p.spans(l, []int{n})[0])
		}
	}
	if place != "" { // COPY's own line counts from where this COPY began, and would contradict that of the file.
		told := *pg
		told.Where = at.around
		e.Cause = &brief{text: pg.Message, err: &told}
	}
	if place != "" && at.blurred {
		place = "at or shortly before " + place
	}
	e.Detail = where(place, why.Column, why.Detail)
	return e
}

// where is the detail of a refused row.
func where(place, column, detail string) string {
	var parts []string
	if column != "" {
		column = "column \"" + column + "\""
	}
	switch {
	case place != "" && column != "":
		parts = append(parts, upperFirst(column)+inWord(place)+place+".")
	case place != "":
		parts = append(parts, upperFirst(place)+".")
	case column != "":
		parts = append(parts, upperFirst(column)+".")
	}
	if detail != "" {
		parts = append(parts, detail)
	}
	return strings.Join(parts, " ")
}

// inWord stands between a column and its place.
func inWord(place string) string {
	if strings.HasPrefix(place, "at ") {
		return " "
	}
	return " in "
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// refusalHint says what to do about a refused row.
func refusalHint(state, given string) string {
	switch {
	case given != "":
		return given
	case state == stateUniqueViolation:
		return "Use --on-duplicate to skip such rows or to let them replace the old ones, or --on-error set-aside to put them into a file."
	case state == stateWrongFields:
		return "See --explain for how the file is read. Use --on-error set-aside to load the other rows."
	}
	return "Use --on-error set-aside to load the other rows, and --reject FILE to keep those that are refused."
}

// stateWrongFields is bad_copy_file_format.
const stateWrongFields = "22P04"

// explainLoad makes one message of why a load failed.
func (r *run) explainLoad(t *table, err error) error {
	if told := headline(err); told != nil {
		return told
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &planner.Error{Message: "the load of " + t.name() + " was cancelled", Cause: err}
	}
	e := &planner.Error{Message: "cannot load " + t.load.name() + " into " + t.load.target, Detail: t.place(err), Cause: &brief{text: bare(err).Error(), err: err}}
	var pg *pgconn.PgError
	switch {
	case errors.As(err, &pg):
		e.Hint = loadHints[pg.Code]
		if e.Hint == "" {
			e.Hint = pg.Hint
		}
		if e.Hint == "" && t.load.wish.OnError == planner.StopOnError && placeOf(pg, "").aboutRow(pg) {
			e.Hint = "The server does not say which row it means: --on-error set-aside with --reject-reasons FILE finds it, and loads the others."
		}
		e.Cause = &brief{text: pg.Message, err: err}
	case connectionLost(err):
		e.Hint = "The server or the network went away. Run the same command again when it is back."
	}
	return e
}

// loadHints tell what to do about errors that are about no row, by SQLSTATE.
var loadHints = map[string]string{
	"53100":       "The disk of the server is full. Make room and run the same command again.",
	"53200":       "The server is out of memory.",
	"42501":       "Grant the role what it lacks, or connect as another one.",
	"57P01":       "The server was shut down. Run the same command again when it is back.",
	"57P02":       "The server crashed. Run the same command again when it is back.",
	"55P03":       "Another session holds a lock. Run the same command again when it has ended.",
	"40P01":       "The server broke a deadlock. See that nobody else writes to the target, and run the same command again.",
	stateReadOnly: "The target only lets itself be read. Connect to the primary.",
}
