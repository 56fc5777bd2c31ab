package move

import (
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/planner"
)

// copyPlace is what the context of a server's error says of the COPY that it ended (copyfromparse.c and copyfrom.c, CopyFromErrorCallback).
type copyPlace struct {
	line  int64 // of COPY's input, 0 when none is named
	value bool  // a value was being read, and nothing came between: no function of a trigger or a default
	// blurred: the row stands in the line or in front of it. Rows are stored up to 1000 at a time, and one that is too large for its page is
	// noticed then (54000); so is an index entry that is too large, whose line is named, but nothing tells the two apart.
	blurred bool
	tail    string // what follows the line's number
	around  string // the context in front of it: the functions that were running
}

// placeOf looks for the line of COPY to a relation. The context is in the server's language, but the relation and the number are not; all
// translations that PostgreSQL has begin with COPY and the relation, but for the Japanese and the Korean.
func placeOf(e *pgconn.PgError, relation string) copyPlace {
	for _, head := range []string{"COPY " + relation + ", ", relation + "\u306eCOPY\u3001", relation + " \ubcf5\uc0ac, "} {
		for from := 0; from < len(e.Where); from++ {
			at := strings.Index(e.Where[from:], head)
			if at < 0 {
				break
			}
			if from += at; from > 0 && e.Where[from-1] != '\n' { // It stands in the text of something.
				continue
			}
			p := placeIn(e.Where[from+len(head):], from == 0, e.Code)
			p.around = strings.TrimSuffix(e.Where[:from], "\n")
			return p
		}
	}
	return copyPlace{}
}

func placeIn(rest string, inner bool, state string) copyPlace {
	at := strings.IndexAny(rest, "0123456789")
	if at < 0 {
		return copyPlace{}
	}
	p := copyPlace{blurred: state == stateLimitExceeded}
	for ; at < len(rest) && rest[at] >= '0' && rest[at] <= '9'; at++ {
		p.line = p.line*10 + int64(rest[at]-'0')
	}
	p.tail, _, _ = strings.Cut(rest[at:], "\n")
	words, _, _ := strings.Cut(p.tail, ":")
	p.value = inner && strings.ContainsAny(words, ",\u3001")
	return p
}

// Conditions whose class does not tell what they are about: program_limit_exceeded and internal_error.
const (
	stateLimitExceeded = "54000"
	stateInternal      = "XX000"
)

// column is the column whose value the server was reading: it stands behind the word for it, and before a colon or the end.
func (p copyPlace) column(columns []planner.LoadColumn) string {
	rest, is := strings.CutPrefix(p.tail, ", ")
	if !is {
		rest = strings.TrimPrefix(p.tail, "\u3001")
	}
	word, rest, _ := strings.Cut(rest, " ")
	if strings.HasSuffix(word, ":") { // The whole line follows.
		return ""
	}
	for i := range columns {
		if behind, is := strings.CutPrefix(rest, columns[i].Name); is && (behind == "" || strings.HasPrefix(strings.TrimLeft(behind, " \u00a0"), ":")) {
			return columns[i].Name
		}
	}
	return ""
}

// aboutRow reports whether a server's error is about a row that it was sent, so that the others can go without it.
func (p copyPlace) aboutRow(e *pgconn.PgError) bool {
	if len(e.Code) != 5 {
		return false
	}
	switch e.Code[:2] {
	case "22", "23", "44", "P0":
		return true
	case "42", "3F":
		// What is mostly said of a statement, but by types like regclass and tsquery of a value; and by policies of row-level security (execMain.c),
		// which share their SQLSTATE with a missing privilege.
		return p.value || e.Code == stateNoPrivilege && e.Routine == "ExecWithCheckOptions"
	case "XX": // Types of extensions, such as hstore before 16, say it of a value.
		return p.value && e.Code == stateInternal
	case "0A", "2F", "38", "39": // A function that fails.
		return p.line > 0
	}
	return e.Code == stateLimitExceeded
}

// refusedBy is the row error that a server's error stands for.
func (l *load) refusedBy(e *pgconn.PgError, at copyPlace) *rowfile.RowError {
	column := e.ColumnName
	if column == "" {
		column = at.column(l.plan.Columns)
	}
	return &rowfile.RowError{Column: column, State: e.Code, Message: e.Message, Detail: e.Detail, Hint: e.Hint}
}
