package planner

// Wish is what the user asks for. The zero value asks for the defaults.
type Wish struct {
	Method Method // Auto chooses the cheapest that is not refused
	Format Format
	// Connections is how many pairs of connections may work on the table. 0 chooses by processors and size.
	Connections int
	Fill        Fill
	Create      bool // make the target when it is missing
	Commit      Commit
	// Freeze asks for rows that are frozen on arrival (COPY ... FREEZE); 0 decides: frozen where the table is created or truncated in
	// the same transaction.
	Freeze  Tristate
	Where   string   // a condition over the source's columns, in SQL
	Columns []string // only these, as the user names them; nil means all that can be written

	// BatchSize is the number of rows of one INSERT of method insert. 0 means 1000.
	BatchSize int
	// CopyThreshold: batches of at least that many rows go by COPY. CopyAuto measures, CopyNever never uses COPY.
	CopyThreshold int
	// Returning lists column names or expressions for INSERT ... RETURNING of method insert; their values are counted and dropped.
	Returning string

	OnConflict      OnConflict
	ConflictColumns []string // nil means the primary key
	// NotLogged writes pages that reach no WAL, and AcceptMissing says that standbys, archives and backups may miss the rows (method pages).
	NotLogged     bool
	AcceptMissing bool
	// RangeBytes is the wanted size of one range, heap and TOAST together. 0 chooses by size and connections.
	RangeBytes int64
}

// Values of Wish.CopyThreshold besides a number of rows.
const (
	CopyAuto  = 0
	CopyNever = -1
)

// Tristate is yes, no, or for the planner to decide.
type Tristate int8

// The states of a Tristate.
const (
	Decide Tristate = 0
	Yes    Tristate = 1
	No     Tristate = -1
)

// Fill says what may be in the target before.
type Fill int

// The ways to fill a target.
const (
	// RequireEmpty refuses a target that holds rows.
	RequireEmpty Fill = iota
	// Append adds to what is there.
	Append
	// Truncate empties it in the same transaction.
	Truncate
	// Replace fills a new table beside it and swaps the two.
	Replace
)

// Commit says what is committed together.
type Commit int

// The units of commit.
const (
	// CommitAll: the whole table or nothing.
	CommitAll Commit = iota
	// CommitRange: each range with a record of it, so that an interrupted move can go on.
	CommitRange
)

// OnConflict is what method merge does with a row whose key exists.
type OnConflict int

// The conflict actions.
const (
	NoConflictAction OnConflict = iota
	DoNothing
	DoUpdate
)
