package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

// The exit codes.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitSetAside  = 3
	exitRefused   = 4
	exitCancelled = 130 // 128 + SIGINT, as shells report it
)

// message is an error in the parts that psql prints.
type message struct {
	Message    string `json:"message"`
	Detail     string `json:"detail,omitempty"`
	Hint       string `json:"hint,omitempty"`
	Context    string `json:"context,omitempty"`
	SQLState   string `json:"sqlstate,omitempty"`
	Schema     string `json:"schema,omitempty"`
	Table      string `json:"table,omitempty"`
	Column     string `json:"column,omitempty"`
	Type       string `json:"type,omitempty"`
	Constraint string `json:"constraint,omitempty"`
}

// newMessage takes an error apart. What pghaul says of it comes first, what the server said is added where it is more.
func newMessage(err error) message {
	var m message
	m.Message = err.Error()
	var own *planner.Error
	if errors.As(err, &own) {
		m.Detail, m.Hint = own.Detail, own.Hint
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		// The driver's text repeats the severity and the SQLSTATE, which stand in lines of their own here.
		m.Message = strings.Replace(m.Message, server.Error(), server.Message, 1)
		m.Detail = join(m.Detail, server.Detail)
		m.Hint = join(m.Hint, server.Hint)
		m.Context, m.SQLState = server.Where, server.Code
		m.Schema, m.Table, m.Column = server.SchemaName, server.TableName, server.ColumnName
		m.Type, m.Constraint = server.DataTypeName, server.ConstraintName
	}
	return m
}

func join(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "" || strings.Contains(a, b):
		return a
	default:
		return a + "\n" + b
	}
}

func (m message) print(w io.Writer, severity string) {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s:  %s\n", name, text)
		}
	}
	line(severity, m.Message)
	line("DETAIL", m.Detail)
	line("HINT", m.Hint)
	line("CONTEXT", m.Context)
	line("SCHEMA NAME", m.Schema)
	line("TABLE NAME", m.Table)
	line("COLUMN NAME", m.Column)
	line("DATATYPE NAME", m.Type)
	line("CONSTRAINT NAME", m.Constraint)
	line("SQLSTATE", m.SQLState)
}

// printError prints every part of a joined error as a message of its own. Of many tables that were cancelled one is enough:
// what was kept of each is told elsewhere.
func printError(w io.Writer, err error, cancelled bool) {
	told := false
	for _, part := range split(err) {
		if cancelled && errors.Is(part, context.Canceled) {
			if !told {
				message{Message: "cancelled"}.print(w, "ERROR")
			}
			told = true
			continue
		}
		newMessage(part).print(w, severity(part))
	}
}

// severity is the word in front of a message.
func severity(err error) string {
	var own *planner.Error
	if errors.As(err, &own) && own.Kind == planner.SetAside {
		return "WARNING"
	}
	return "ERROR"
}

// split takes a joined error apart, and leaves errors alone that merely have several causes.
func split(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var parts []error
	var texts []string
	for _, e := range joined.Unwrap() {
		parts = append(parts, split(e)...)
		texts = append(texts, e.Error())
	}
	if strings.Join(texts, "\n") != err.Error() {
		return []error{err}
	}
	return parts
}

// exitCode is the code for an error: that of the gravest part where there are several.
func exitCode(err error, cancelled bool) int {
	if err == nil {
		return exitDone
	}
	if cancelled && errors.Is(err, context.Canceled) {
		return exitCancelled
	}
	seen := map[planner.ErrorKind]bool{}
	for _, part := range split(err) {
		kind := planner.Failed
		var own *planner.Error
		if errors.As(part, &own) {
			kind = own.Kind
		}
		seen[kind] = true
	}
	switch {
	case seen[planner.Usage]:
		return exitUsage
	case seen[planner.Failed]:
		return exitFailed
	case seen[planner.SetAside] && !seen[planner.Refused]:
		return exitSetAside
	default:
		return exitRefused
	}
}
