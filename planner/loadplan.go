package planner

// LoadFacts is what is known before rows are loaded into a table.
type LoadFacts struct {
	TargetServer Server
	// Target has the columns of a missing table too, as Definition makes them; with none its rows go as text.
	Target     Relation
	Processors int
	// Input describes the rows in one phrase; Files are their names with their sizes; Bytes is their size together, -1 when unknown.
	Input string
	Files []string
	Bytes int64
	// Fields are the names of the rows' fields in order; nil when the rows have none, and then Width is their number (0: unknown).
	Fields []string
	Width  int
	// NoEncoder says, by name of a target column, why its values have no exact binary form here.
	NoEncoder map[string]string
	// Session are the statements by which a transaction reads values as the role's own sessions do.
	Session []string
	// Definition makes the missing target (LoadWish.Create), from columns inferred of the rows.
	Definition *Definition
	// Checks are what the target holds rows to; see Check.
	Checks []Check
	// Recorded is what an interrupted load of the same files has committed, nil for none; Unfinished are the other records of pghaul.load for
	// this table, whose Source is their files. They are wanted where Fill is Truncate or Replace too, since rows that are removed are not loaded any more.
	Recorded   *RecordedLoad
	Unfinished []Unfinished
	// Deferred are the indexes that pghaul.deferred_index holds for the target: an interrupted load has dropped and not yet built them.
	Deferred []DeferredIndex
	// Pages is set where Method asks for method pages; its Source is not looked at, and Blocked also names columns whose type pages cannot be made of.
	Pages *PageFacts
}

// DeferredIndex is one row of pghaul.deferred_index.
type DeferredIndex struct {
	Name       string // of the index, without schema
	Definition string // the statements that build it again, in order, with what belongs to it
}

// Check is one condition that a table holds rows to and that one statement can test for many rows.
type Check struct {
	Name string // of the constraint
	Kind CheckKind
	// Expression is true or NULL for good rows, over the columns of the table (CHECK, and the partitions' bounds together).
	Expression string
	// Columns are those of a key or a foreign key, the column of NOT NULL, and all that Expression speaks of.
	Columns    []string
	References string   // the other table, quoted and qualified, of a foreign key; with ONLY where the rows of its children do not count
	Referenced []string // its columns
	// MatchFull: a foreign key MATCH FULL.
	MatchFull bool
	// Operators are the equality operators of a key's or foreign key's columns, schema-qualified for OPERATOR(); on their left stands the column
	// of the table that is referenced, or of the one with the key.
	Operators []string
	// NullsEqual: a unique key with NULLS NOT DISTINCT.
	NullsEqual bool
}

// CheckKind is pg_constraint.contype, with 'n' for NOT NULL and 'b' for the bounds of partitions.
type CheckKind byte

// The kinds of Check.
const (
	CheckExpression CheckKind = 'c'
	CheckNotNull    CheckKind = 'n'
	CheckForeign    CheckKind = 'f'
	CheckUnique     CheckKind = 'u'
	CheckBounds     CheckKind = 'b'
)

// LoadWish is what the user of a load asked for. The zero value asks for nothing special.
type LoadWish struct {
	Method      Method // Auto, Relay, Insert, Merge or Pages
	Format      Format
	Connections int  // 0 chooses
	Ordered     bool // rows arrive in the order of the files, which keeps to one connection
	Fill        Fill
	Create      bool
	Freeze      Tristate
	// Columns are the target's columns that the fields go to, in the fields' order; an empty name drops the field. nil goes by the fields'
	// names, or by the order of the target's columns.
	Columns []string
	Set     []SetColumn

	OnError OnError
	// MaxErrors is how many refused rows end the load, -1 for no limit; MaxPercent the same in per cent of the rows read, 0 for no limit.
	MaxErrors  int64
	MaxPercent float64

	OnDuplicate     OnDuplicate
	ConflictColumns []string
	// CommitEvery is the number of rows after which the load commits, with a record of it; 0 commits once.
	CommitEvery              int64
	BatchSize                int  // of method insert
	DeferIndexes             bool // drop the indexes of a table that holds rows and build them anew afterwards
	Analyze                  Tristate
	Triggers                 Tristate // No: session_replication_role replica, so that no trigger and no foreign key fires
	NotLogged, AcceptMissing bool
}

// SetColumn gives a column the value of an expression over the input's fields.
type SetColumn struct {
	Column     string
	Expression string
}

// OnError says what happens to a row that cannot be loaded.
type OnError string

// The ways.
const (
	StopOnError  OnError = ""
	SetRowsAside OnError = "set-aside"
)

// OnDuplicate says what happens to a row whose key the table, or an earlier row of the input, has already.
type OnDuplicate string

// The ways. An error is one as OnError says. Skip and KeepOld keep the row that came first, KeepNew and Update the one that came last;
// KeepOld also writes the dropped rows to the reject file. Update changes the loaded columns of the old row, KeepNew puts the new row in its
// place, so that columns that are not loaded get their defaults.
const (
	DuplicateError   OnDuplicate = ""
	DuplicateSkip    OnDuplicate = "skip"
	DuplicateUpdate  OnDuplicate = "update"
	DuplicateKeepNew OnDuplicate = "keep-new"
	DuplicateKeepOld OnDuplicate = "keep-old"
)

// LoadPlan is what a plan says about a load besides what all plans say. Plan.Before, After, Atomic, Connections and Frozen hold as in a copy;
// Plan.Columns is empty. Plan.Parts has one part, whose Target is the relation that rows are written to, and Plan.Ranges one range for each
// connection, without bounds: the connections share the input.
type LoadPlan struct {
	Input string
	Files []string
	// Relation is what COPY and the messages of the server call the relation that is written, without schema: the target, or a new table that is
	// swapped in.
	Relation string
	// Begin are sent at the start of each transaction that writes rows, before the steps of Plan.Before that belong to it.
	Begin []string
	// Columns are what is sent for each row, in order.
	Columns []LoadColumn
	// CopyText and CopyBinary write rows: to the target, or with Stage to the staging table. NoBinary says why batches are text; empty when
	// they are binary but for single values that only the server can read.
	CopyText, CopyBinary string
	NoBinary             string
	OnError              OnError
	OnDuplicate          OnDuplicate
	CommitEvery          int64
	// Savepoints: batches stand in subtransactions, so that a refused row costs its batch and not the load.
	Savepoints bool
	Stage      *StagePlan
	Check      *CheckPlan
	// Record notes how far a load has come, in the transaction of the rows before it: $1 key, $2 position as JSON, $3 rows loaded, $4 rows refused, $5 the
	// position that was recorded before, or NULL. No row is changed where that does not stand there any more.
	Record string
	Batch  *LoadBatch // method insert
}

// LoadColumn is one column as it is sent.
type LoadColumn struct {
	Name  string // in the target or the staging table
	Field int    // of the input, counted from 0
	From  string // the field's name, empty when it has none
	Type  Type
	// NotNull: NULL is refused before it is sent, with the server's words for Relation and Name.
	NotNull bool
	// NoBinary says why its values have no exact binary form here; empty when they have.
	NoBinary string
}

// StagePlan is how rows reach the target through a temporary table, whose first column "pghaul.row" (bigint) numbers the rows of a batch
// from 1 and is sent before the others.
type StagePlan struct {
	Create string
	// Duplicates lists the rows that Merge will not take because of their keys: returns the number, and "input" when another row of the input has
	// the key, "table" when a row in the table has it. Empty when only their number is asked for, which is that of the staged rows less Merge's count.
	Duplicates string
	// Merge moves the rows of a batch; its count is that of the rows inserted or updated.
	Merge string
	Reset string // empties the table for the next batch
	// Whole: the input is staged whole and merged once. Else batch by batch.
	Whole bool
}

// CheckPlan finds the refused rows of a batch at once: the batch is copied into a temporary table with their numbers in its first column, and each
// query takes the rows out of it that one check refuses and returns their numbers. The queries are sent in order, since a row that one takes out
// is no duplicate for the next. A query can fail where an expression fails on a row: it then tells nothing about the others.
type CheckPlan struct {
	Create               string
	CopyText, CopyBinary string
	Queries              []CheckQuery
	Reset                string
}

// CheckQuery is one check of a CheckPlan.
type CheckQuery struct {
	SQL string // returns the numbers of refused rows, as bigint
	// What the server would have said.
	State, Message, Constraint, Column string
	// Doubtful: a row in front of each has the same key, and keeps it out unless it is refused itself for what no query finds.
	Doubtful bool
}

// LoadBatch is how method insert writes: prepared INSERTs of Size rows, sent with their values as text parameters.
type LoadBatch struct {
	Size int
	// Head and Tail enclose the rows ($1, $2), ...
	Head, Tail string
}

// RecordedLoad is how far an interrupted load came.
type RecordedLoad struct {
	Key           string
	Position      string // as it was recorded
	Rows, Refused int64
}
