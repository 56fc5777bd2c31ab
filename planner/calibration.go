package planner

// rate is what one stream of a method was measured to do on a machine of two processors with PostgreSQL 15, server and client on it. Only
// the proportions between methods are used to choose; absolute times differ from machine to machine.
//
// The table measured has 20 million rows (bigint, date, integer, varchar(10)) in 1149 MB. The part that goes by bytes comes from rows of
// 1 MB (binary COPY about 250 MB/s, text COPY of bytea 106 MB/s), the part that goes by rows makes up the rest of the time measured.
type rate struct {
	bytes float64 // per second
	row   float64 // seconds
	wal   float64 // bytes of WAL for each row beside those of the stored row
}

var (
	relayBinary  = rate{bytes: 250e6, row: 150e-9, wal: -20} // 7.5-7.8 s; a page of rows is one WAL record
	relayText    = rate{bytes: 110e6, row: 180e-9, wal: -20} // 11-18 s
	insertSelect = rate{bytes: 150e6, row: 555e-9, wal: 28}  // 18.8 s; each row is a WAL record
	createAs     = rate{bytes: 250e6, row: 330e-9, wal: 28}  // 11.2 s
	unlogged     = rate{bytes: 55e6, row: 175e-9, wal: 28}   // 8.1 s for the rows, 16.5 s for SET LOGGED
	// Statements of 1000 rows put 0.78 million rows (int, text) a second, of one row 10 553: about 90 microseconds a statement.
	insertBatch   = rate{bytes: 150e6, row: 1000e-9, wal: 28}
	batchOverhead = 90e-6
	// INSERT ... SELECT DISTINCT ON ... ON CONFLICT of 2 million rows with a primary key: 7.6 s; the sort alone 1.0 s.
	mergeFromStage = rate{bytes: 250e6, row: 500e-9 + conflictProbe, wal: 100}
)

// Pages of the same table: 0.7 to 0.9 s where nothing is logged, 1.9 + 4.2 s with the VACUUM that logs them.
const (
	pagesUnlogged = 1.4e9 // bytes per second
	pagesLogged   = 190e6
)

// conflictProbe is what ON CONFLICT adds to each row, beside the upkeep of the index that it looks into.
const conflictProbe = 2700e-9

// An index of 2 million rows, measured in the same way: 0.65 (ascending keys) to 1.36 microseconds (random keys) and 70 bytes of WAL for
// a row when it is kept up, 0.43 microseconds and about 20 bytes when it is built afterwards.
const (
	indexKept     = 1000e-9
	indexKeptWAL  = 70
	indexBuilt    = 430e-9
	indexBuiltWAL = 20
)

// start is the time that any method takes before its first row: two round trips and a transaction.
const start = 5e-3

// guessedRows and guessedBytes stand in for a source of unknown size, such as a view, when methods are compared.
const (
	guessedRows  = 1e6
	guessedBytes = 100e6
)

// bytesPerRow turns a size into a number of rows when statistics are missing.
const bytesPerRow = 100
