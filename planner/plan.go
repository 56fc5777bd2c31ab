package planner

// Plan is a chosen method with everything needed to carry it out, and why.
type Plan struct {
	Method Method
	Format Format // NoFormat ("") for methods whose rows stay in the server

	Source  Place
	Target  Place
	Columns []Pair
	Where   string // Wish.Where, part of what ReadSQL returns
	Atomic  Atomic
	Frozen  bool
	Commit  Commit
	Resumes bool // set by the move: it goes on where an earlier one stopped
	Parts   []Part
	Ranges  []Range
	// Connections is how many pairs of connections work at the same time, at least 1 and at most len(Ranges).
	Connections int

	// Before are the target's statements before the first row and After those behind the last, in order. A step that is not Own belongs to
	// the transaction that makes the rows visible: the writing one, or with Swap one of its own that holds all such steps of After.
	Before []Step
	After  []Step
	// Record notes a finished range in the same transaction as its rows (PerRange). Its parameters: $1 move key, $2 range number, $3 rows.
	Record string
	// Sequences are set when the rows are visible and every step of After is done.
	Sequences []SequenceCopy

	Batch *BatchPlan // method insert
	Merge *MergePlan // method merge
	Pages *PagesPlan // method pages
	Load  *LoadPlan  // of a load

	Reasons  []string      // why this method, format and commit: whole phrases
	Notes    []string      // what the user should know: defaults used, triggers that fire, children left out
	Others   []Alternative // the methods not taken, in listing order
	Estimate Estimate
	Actual   *Actual // after a run with ANALYZE
}

// Place is a relation as a plan prints it.
type Place struct {
	Server   string // Server.Address
	Version  string // Server.VersionText
	Relation string // quoted, qualified; "(query)" for a query
	Kind     Kind
	Path     []Hop
}

// Pair is one column that is moved.
type Pair struct {
	Source Column
	Target Column
	// Exact: the binary form is the same on both sides.
	Exact bool
	// Why says what decided that it is not exact. Empty when it is.
	Why string
}

// Atomic is how the ranges of one table come to be visible together.
type Atomic string

// The ways to commit.
const (
	// OneTransaction: one connection writes, in one transaction.
	OneTransaction Atomic = "one transaction"
	// TwoPhase: each connection prepares its transaction, then all are committed.
	TwoPhase Atomic = "two-phase commit"
	// Swap: a hidden new table is filled, then renamed in the target's place in one transaction.
	Swap Atomic = "new table swapped in"
	// PerRange: each range is committed with a record of it (CommitRange).
	PerRange Atomic = "one transaction per range"
)

// Part is one pair of relations whose rows move together: the tables themselves, or one leaf partition.
type Part struct {
	SourceOID uint32
	Source    string // quoted, qualified, with ONLY where it is needed; or a sub-select in parentheses for a query
	Target    string // quoted, qualified: the relation that COPY or INSERT names
	// Plain: COPY may name the source itself instead of a SELECT from it.
	Plain bool
	// Renamed: Source is a sub-select that gives a foreign table's names to the columns, for the sake of Where.
	Renamed bool
	// File is where the rows of a data directory's relation begin, below the directory. Empty for one of a server.
	File  string
	Pages int64 // of the source, when it is cut by ctid
	Bytes int64
	Rows  int64 // -1 unknown
}

// Range is a part of a table moved as one. FromPage <= ctid block < ToPage; the first range of a part starts at 0 and the last one has
// ToPage 0, which means no upper bound, so that rows beyond the planned size are read too. Both 0: the whole part.
type Range struct {
	Part     int
	FromPage int64
	ToPage   int64
	Bytes    int64 // estimated, heap and TOAST
}

// Step is one statement on the target.
type Step struct {
	SQL string
	// Own: it is committed by itself, outside the transaction that makes the rows visible.
	Own bool
	// Parallel: it may run at the same time as its neighbours that are Parallel too, on other connections (index builds).
	Parallel bool
	// Late: it runs by itself when all tables of the run hold their rows, since it speaks of another table (foreign keys).
	Late bool
	// Undo is the statement that takes an Own step back when the move fails. Empty when there is nothing to take back.
	Undo string
}

// SequenceCopy carries one sequence's state over.
type SequenceCopy struct {
	Read  string // on the source: returns last_value and is_called; the sequence's file where the source is a data directory
	Write string // on the target: setval with $1 and $2
}

// BatchPlan is how method insert writes.
type BatchPlan struct {
	Size          int
	CopyThreshold int // CopyAuto, CopyNever or a number of rows
	Unnest        bool
	// UnnestFrom is the number of rows from which on a batch takes one array for each column ($1 is the first column's) instead of one
	// parameter for each value; see Arrays.
	UnnestFrom int
	Returning  string
	Conflict   string // the whole ON CONFLICT clause, empty for none
	// NoCopy says why COPY cannot be used; empty when it can.
	NoCopy string
	// NoUnnest says which column keeps unnest from being used; empty when it can be.
	NoUnnest string
}

// Arrays reports whether the INSERT of a batch of that many rows takes arrays.
func (b *BatchPlan) Arrays(rows int) bool { return b.Unnest && rows >= b.UnnestFrom }

// MergePlan is how method merge writes.
type MergePlan struct {
	Staging string // quoted name of the temporary table
	Create  string // its CREATE
	Write   string // COPY into it
	// Count counts the input rows that share their key with another input row. Empty when a key of the source rules that out.
	Count string
	// CountAfter: Count is sent behind Merge and only when that took fewer rows than were staged, as it leaves out all but one of the rows
	// that share a key.
	CountAfter bool
	Merge      string // the INSERT ... SELECT ... ON CONFLICT
	// Plain is sent in place of Merge when Count has found no shared key: it saves a sort of all rows. Empty when Merge sorts nothing.
	Plain string
}

// Alternative is a method that was not taken.
type Alternative struct {
	Method Method
	// Refused says why it cannot be used. Empty when it only costs more.
	Refused string
	// Factor is its estimated time divided by the chosen one's, and Why what makes it so.
	Factor float64
	Why    string
}

// Estimate is what a method is thought to take. Rows is -1 when unknown.
type Estimate struct {
	Rows     int64
	Bytes    int64 // read from the source
	Seconds  float64
	WALBytes int64 // written by the target
}

// Actual is what a move took.
type Actual struct {
	Rows      int64
	Bytes     int64 // payload moved
	Seconds   float64
	WALBytes  int64 // written by the target's whole server meanwhile, -1 when not known
	LimitedBy string
	// Statements are the statements sent for each size of batch, with counts, as sent (method insert).
	Statements []SentStatement
	Duplicates int64 // rows of the input that shared a key with another (method merge)
}

// SentStatement is one text that was sent, how often and for how many rows each time.
type SentStatement struct {
	SQL   string
	Rows  int // rows of one batch; 0 for a COPY, which takes any number
	Times int64
}
