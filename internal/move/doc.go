// Package move carries out plans: it owns the connections, the transactions and the goroutines that move rows.
//
// Model: Open connects, reads facts, and plans every table, changing nothing. Run then takes one snapshot of the source for all
// tables, hands each range of each table to a pair of connections (a worker), and commits the ranges of a table together in the way
// that its plan says. A method is a carrier: a function that moves one range over one worker. Everything else (ranges, commit,
// cancel, stall watchdog, progress) is the same for all methods.
//
// Rows pass through as blocks of the socket. Only method insert looks into rows, since it has to count them.
//
// Limits: a table's own commit is atomic, a run over several tables is not. Memory is a few hundred kilobytes for each connection,
// whatever the size of a row.
package move
