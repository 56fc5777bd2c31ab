// Package planner chooses how rows are moved: it turns facts about a source and a target, and the user's wish, into a Plan.
//
// Choose is a pure function. It reads no clock, no environment and no server, so the same facts and wish always give the
// same plan. Each method (see Method) says what it requires, which are hard reasons to refuse, and what it costs, in
// estimated seconds. A Plan holds the exact SQL that will be sent, the reasons for it, and every method that was not taken
// with why. Text prints it in the manner of PostgreSQL's EXPLAIN and JSON carries the same.
//
// What a plan says is what is run: the package internal/move takes its statements from the plan and from nowhere else.
package planner
