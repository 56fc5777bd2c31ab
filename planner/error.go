package planner

import "strings"

// ErrorKind tells what an Error means for the caller, and for the program's exit code.
type ErrorKind int

// The kinds of Error.
const (
	// Failed is an operation that did not succeed: exit code 1.
	Failed ErrorKind = iota
	// Usage is a wish that makes no sense whatever the servers hold: exit code 2.
	Usage
	// Refused is a method or option that cannot be used on these tables: exit code 4.
	Refused
	// SetAside is an operation that was done but for rows that could not be: exit code 3.
	SetAside
)

// Error is a failure in the three parts that PostgreSQL's own messages have. Message is one line without a final period;
// Detail and Hint are whole sentences or empty. Cause, when set, is the error underneath, often a *pgconn.PgError whose
// SQLSTATE and fields stay readable through errors.As.
type Error struct {
	Kind    ErrorKind
	Message string
	Detail  string
	Hint    string
	Cause   error
}

// Error returns the message, followed by the cause's text where the message does not already end with it.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	cause := e.Cause.Error()
	if strings.HasSuffix(e.Message, cause) {
		return e.Message
	}
	return e.Message + ": " + cause
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

func failed(message, detail, hint string) *Error {
	return &Error{Kind: Failed, Message: message, Detail: detail, Hint: hint}
}

func refusal(message, detail, hint string) *Error {
	return &Error{Kind: Refused, Message: message, Detail: detail, Hint: hint}
}
