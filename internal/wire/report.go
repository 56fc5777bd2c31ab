package wire

import "strconv"

// Report is an error or a notice of a server, with every field the protocol
// has (manual, "Error and Notice Message Fields"). As an error it has the
// method SQLState, by which errors of several sources can be told apart.
type Report struct {
	Severity         string // S, in the server's language
	SeverityPlain    string // V: ERROR, FATAL, PANIC, WARNING, NOTICE, DEBUG, INFO, LOG; never translated
	Code             string // C, the SQLSTATE
	Message          string // M
	Detail           string // D
	Hint             string // H
	Position         int    // P, in characters from 1; 0 when absent
	InternalPosition int    // p, the same in InternalQuery
	InternalQuery    string // q
	Where            string // W
	Schema           string // s
	Table            string // t
	Column           string // c
	DataType         string // d
	Constraint       string // n
	File             string // F, in the server's source, as its R and L
	Line             int    // L
	Routine          string // R
}

// Error returns severity, message and SQLSTATE in one line.
func (r *Report) Error() string {
	return r.Severity + ": " + r.Message + " (SQLSTATE " + r.Code + ")"
}

// SQLState returns the five characters of the error's class and code.
func (r *Report) SQLState() string { return r.Code }

// Fatal reports whether the server closes the connection after this.
func (r *Report) Fatal() bool {
	return r.SeverityPlain == "FATAL" || r.SeverityPlain == "PANIC"
}

// ParseReport reads the body of ErrorResponse and of NoticeResponse, which
// are the same. Fields of unknown type are passed over, as the protocol asks.
// The error is a *BodyError.
func ParseReport(msg []byte) (*Report, error) {
	b := body{kind: TypeError, rest: msg}
	r := &Report{}
	for {
		field := b.byte("end of its fields")
		if field == 0 {
			break
		}
		r.set(field, b.string("end of a field"))
	}
	if err := b.end(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Report) set(field byte, value string) {
	if text := r.text(field); text != nil {
		*text = value
		return
	}
	number := r.number(field)
	if number == nil {
		return
	}
	// A number that cannot be read is of less use than the rest of the
	// report: leave it absent.
	if n, err := strconv.Atoi(value); err == nil {
		*number = n
	}
}

func (r *Report) number(field byte) *int {
	switch field {
	case 'P':
		return &r.Position
	case 'p':
		return &r.InternalPosition
	case 'L':
		return &r.Line
	}
	return nil
}

func (r *Report) text(field byte) *string {
	switch field {
	case 'S':
		return &r.Severity
	case 'V':
		return &r.SeverityPlain
	case 'C':
		return &r.Code
	case 'M':
		return &r.Message
	case 'D':
		return &r.Detail
	case 'H':
		return &r.Hint
	case 'q':
		return &r.InternalQuery
	case 'W':
		return &r.Where
	case 's':
		return &r.Schema
	case 't':
		return &r.Table
	case 'c':
		return &r.Column
	case 'd':
		return &r.DataType
	case 'n':
		return &r.Constraint
	case 'F':
		return &r.File
	case 'R':
		return &r.Routine
	}
	return nil
}
