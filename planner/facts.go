package planner

// Facts is everything that Choose knows about the world: one source relation and one target relation, each on its server.
// Foreign tables have been followed already: Source and Target are the real relations, and their Path tells the way there.
type Facts struct {
	SourceServer Server
	TargetServer Server
	Source       Relation
	Target       Relation

	// SameServer: both servers are one database cluster (equal system identifier and start time).
	SameServer bool
	// SameDatabase: both connections reach the same database of the same server.
	SameDatabase bool
	// Processors is the number of processors that the client may use, for the number of connections.
	Processors int
	// Definition says how to make the target when it is missing and Wish.Create asks for it.
	Definition *Definition
	// Recorded holds what an interrupted move of the same source into the same target has committed range by range.
	Recorded *Recorded
	// Unfinished are interrupted moves into the same target that differ in source, condition or columns.
	Unfinished []Unfinished
	// TruncatedWith are the other targets of the run that foreign keys tie to this one: all are emptied by one statement, in the
	// transaction that fills them. TruncatedBy is the target, quoted and qualified, whose plan holds that statement. Only for Wish.Fill
	// Truncate.
	TruncatedWith []Place
	TruncatedBy   string
	// Pages is set where Wish.Method asks for method pages.
	Pages *PageFacts
}

// Definition is how to make a missing target after the source's likeness.
type Definition struct {
	From string // what made it, for instance "pg_dump 15.20", or "LIKE"
	// Schema and Name are the name that Before gives the new table.
	Schema, Name string
	Before       []string // statements before the rows
	Indexes      []string // statements after the rows that may run side by side; they name the final table
	After        []string // statements after those, in order
	ForeignKeys  []string // statements for when all tables of the run are in place
	// Inherits are the tables, by quoted qualified name, that must be there before it, since it inherits from them.
	Inherits []string
	// Uses are the sequences that defaults use and no column of the table owns.
	Uses []UsedSequence
}

// UsedSequence is a sequence that must be there before the table.
type UsedSequence struct {
	Schema, Name string // on the source
	Target       string // quoted and qualified, on the target
	SQL          string // makes it unless it is there; empty when it was there already
}

// Recorded is the record of an interrupted move with CommitRange.
type Recorded struct {
	Ranges []Range // the cut that the first run made
	Done   []bool  // for each range, whether its rows are in the target
	Rows   int64   // how many rows the done ranges hold together
	Key    string  // the move's key in pghaul.move
}

// Unfinished is the record of an interrupted move that is not this one.
type Unfinished struct {
	Key     string // in pghaul.move
	Source  string // server and relation, as people know them
	Where   string
	Columns []string
	Rows    int64 // how many rows it has put into the target
}

// Server is what one connection tells about its server.
type Server struct {
	Address string // host:port/database as people know it; never a password
	// Directory is the path of the data directory that is read where no server runs. Empty for a server.
	Directory   string
	Version     int    // server_version_num, for instance 150020
	VersionText string // server_version, for instance 15.20
	SystemID    string // pg_control_system().system_identifier, empty when it may not be read
	StartTime   string // pg_postmaster_start_time(), as text
	Database    string
	DatabaseOID uint32
	Encoding    string // server_encoding, for instance UTF8
	User        string
	Superuser   bool
	Standby     bool   // pg_is_in_recovery()
	Pooled      bool   // the backend's process is not the one that the start-up packet named: a pooler stands between
	WALLevel    string // wal_level
	// FreePrepared is max_prepared_transactions less those that stand prepared now.
	FreePrepared int
	// FreeConnections is max_connections less the reserved ones less those open now.
	FreeConnections int
}

// Kind is what sort of relation a Relation is: PostgreSQL's pg_class.relkind, with 'q' for a query and 0 for one that does not exist.
type Kind byte

// The kinds of relation.
const (
	Missing      Kind = 0
	Table        Kind = 'r'
	Partitioned  Kind = 'p'
	View         Kind = 'v'
	MatView      Kind = 'm'
	ForeignTable Kind = 'f'
	Sequence     Kind = 'S'
	Query        Kind = 'q'

	// What follows holds no rows of its own to be copied.

	Index            Kind = 'i'
	PartitionedIndex Kind = 'I'
	ToastTable       Kind = 't'
	CompositeType    Kind = 'c'
)

// Relation is a table, or anything that is read or written like one.
type Relation struct {
	Kind   Kind
	OID    uint32
	Schema string
	Name   string
	Query  string // the SELECT, for Kind Query
	File   string // the first segment below the data directory, such as base/5/16400; only of a relation in a data directory
	Of     string // the table, quoted and qualified, that an index, a TOAST table or a sequence belongs to; empty when none

	Unlogged     bool
	Temporary    bool
	AccessMethod string // pg_am.amname, "heap" for ordinary tables; empty where there is none
	Owner        string

	Columns []Column // live columns in attnum order; never dropped ones
	Keys    []Key    // primary key first, then other valid, immediate, unconditional unique keys over plain columns

	// Pages is the exact number of 8 kB blocks of the main fork now, 0 for relations without storage.
	Pages int64
	// HeapBytes is the size of the main fork, ToastBytes that of its TOAST table with its index. Both in bytes.
	HeapBytes  int64
	ToastBytes int64
	// Rows is pg_class.reltuples scaled to Pages, an estimate; -1 when the server has none.
	Rows int64
	// Empty: a look found no row (targets only).
	Empty bool

	Leaves   []Leaf // of a partitioned table, in bound order, nested ones resolved
	Children int    // plain inheritance children, whose rows are theirs and not this table's
	Indexes  int

	Rules       bool // an INSERT rule, or for a view no way to insert but triggers
	RowSecurity bool // row security applies to the connected user
	Triggers    []Trigger

	CanSelect   bool
	ColumnsOnly bool // the SELECT privilege is on columns and not on the table: ctid cannot be read
	CanInsert   bool
	CanTruncate bool
	IsOwner     bool // the connected user owns it, or is a member of the owner, or is superuser
	CanCreate   bool // the connected user may create tables in Schema
	SchemaFound bool // Schema exists

	// Rebuild says how to make a new table in this one's place (targets that are tables only).
	Rebuild *Rebuild
	// Path lists the foreign tables that were followed, first the one that the user named. Empty for a local relation.
	Path []Hop
	// NotFollowed says why a foreign table stayed one, for instance "it has row triggers". Empty otherwise.
	NotFollowed string
	// Sequences are those that feed the columns: of serial and identity columns, and those that defaults use.
	Sequences []OwnedSequence
}

// Leaf is one leaf partition: a relation with storage of its own, or a foreign table.
type Leaf struct {
	Relation
	// Bound is the partition's bound with those of its ancestors, as pg_get_expr prints them, joined by " / ". Equal text on two
	// servers means equal bounds only where KeyDef is equal too.
	Bound string
	// KeyDef is the partition keys of its ancestors, as pg_get_partkeydef prints them, joined by " / ".
	KeyDef string
}

// Key is a primary or unique key.
type Key struct {
	Name    string
	Primary bool
	Columns []string // as Column.Name
	// Deterministic: it holds values to be equal only where they are so byte by byte, as far as collations go.
	Deterministic bool
}

// Trigger is an enabled user trigger that fires on INSERT.
type Trigger struct {
	Name   string
	Row    bool // else per statement
	Before bool // BEFORE or INSTEAD OF; else AFTER
	// Constraint triggers of foreign keys are not listed; ForeignKeys in Rebuild holds those.
}

// Hop is one foreign table on the way to the real relation.
type Hop struct {
	Server  string // the server that holds the foreign table, as Server.Address
	Schema  string
	Name    string
	Foreign string // name of the foreign server object
	Wrapper string // name of its foreign-data wrapper
}

// OwnedSequence is a sequence that belongs to a column, or that the column's default uses.
type OwnedSequence struct {
	Column string // as Column.Name
	Schema string
	Name   string
	Used   bool   // the default takes its values, but no column of the table owns it: other tables may use it too
	File   string // below the data directory, of a sequence in one
	Denied bool   // the connected user may not read the state of one that is Used, or on a target not set it
}

// Rebuild is what is needed to put a new table in an existing one's place: everything that CREATE TABLE ... (LIKE ... INCLUDING
// ALL EXCLUDING INDEXES) leaves out, and what stands in the way.
type Rebuild struct {
	// Blockers are whole phrases that say why the table cannot be replaced, such as `view public.v reads it`. Empty when it can.
	Blockers []string
	Indexes  []IndexDef
	// ForeignKeys are the table's own, as "CONSTRAINT name FOREIGN KEY ...".
	ForeignKeys []string
	// After are statements, each with %s where the new table's quoted qualified name goes, that carry over triggers, privileges, owner,
	// replica identity, clustering, publications, row security and comments.
	After []string
	// ReferencedBy are tables whose foreign keys point here; they block a replacement and TRUNCATE.
	ReferencedBy []string
}

// IndexDef is an index, split where the table's name stands.
type IndexDef struct {
	Name       string
	Unique     bool
	Method     string // from USING on: "USING btree (id) WHERE ..."
	Constraint string // "PRIMARY KEY" or "UNIQUE" with its deferrability when a constraint owns the index; "EXCLUDE ..." whole definition
	// ConstraintName is the constraint's name, empty when there is none.
	ConstraintName string
	Comment        string
	Clustered      bool
	ReplicaIdent   bool
}
