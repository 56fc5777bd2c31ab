package move

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/planner"
)

// statement is an INSERT that the target has prepared.
type statement struct {
	name   string
	sql    string
	arrays []arrayType // of its parameters; empty when they are single values
}

// batches is what method insert keeps for one worker: its prepared statements, the record of what was sent, and which of COPY and
// INSERT has proved faster.
type batches struct {
	part     int                   // that the statements are for
	bySize   map[int]*statement    // by rows
	prepared map[string]*statement // by text
	record   []planner.SentStatement
	place    map[sentKey]int // index into record
	way      way
	limit    int   // rows of a batch that batchBytes allows; 0 while it has not been met
	returned int64 // rows that RETURNING gave back
	staged   bool  // method merge has made its staging table
}

type sentKey struct {
	sql  string
	rows int
}

func newBatches() *batches {
	return &batches{bySize: map[int]*statement{}, prepared: map[string]*statement{}, place: map[sentKey]int{}}
}

// sent returns each statement that was sent, for each number of rows, in order of first use.
func (b *batches) sent() []planner.SentStatement {
	if b == nil {
		return nil
	}
	return b.record
}

// note records that sql was sent once for the given number of rows.
func (b *batches) note(sql string, rows int) {
	key := sentKey{sql, rows}
	at, known := b.place[key]
	if !known {
		at = len(b.record)
		b.place[key] = at
		b.record = append(b.record, planner.SentStatement{SQL: sql, Rows: rows})
	}
	b.record[at].Times++
}

// ready returns the statement for batches of the given number of rows when it is prepared already, else nil.
func (b *batches) ready(r planner.Range, rows int) *statement {
	if b.part != r.Part {
		return nil
	}
	return b.bySize[rows]
}

// prepare returns the statement for batches of the given number of rows, prepared on the target. The session must not be taken over.
func (b *batches) prepare(ctx context.Context, w *worker, r planner.Range, rows int) (*statement, error) {
	if st := b.ready(r, rows); st != nil {
		return st, nil
	}
	kept := keptBy(w.dst)
	if b.part != r.Part || kept.owner != b {
		if err := b.giveUp(ctx, w.dst); err != nil {
			return nil, err
		}
		kept.owner, b.part = b, r.Part
	}
	sql := w.plan.InsertSQL(r, rows)
	st := b.prepared[sql]
	if st == nil {
		st = &statement{name: kept.name(), sql: sql}
		oids, err := w.dst.prepare(ctx, st.name, sql)
		if err != nil {
			return nil, fmt.Errorf("prepare the INSERT of %d rows: %w", rows, err)
		}
		if st.arrays, err = parameterArrays(ctx, w, oids, rows); err != nil {
			return nil, err
		}
		b.prepared[sql] = st
	}
	b.bySize[rows] = st
	return st, nil
}

// giveUp takes the prepared statements off the server. Behind a pooler this comes with the end of each range: the next transaction may
// meet another server process, and another client this one.
func (b *batches) giveUp(ctx context.Context, s *session) error {
	clear(b.prepared)
	clear(b.bySize)
	return keptBy(s).forget(ctx, s)
}

// kept are the statements that a connection has prepared. They outlive the worker that uses the connection now.
type kept struct {
	owner *batches
	names []string
	named int
	mark  string // tells the names from those that a failed run has left in a pooler's server process
}

// keptKey is kept's place in pgconn's data of the connection.
const keptKey = "pghaul prepared inserts"

func keptBy(s *session) *kept {
	data := s.conn.CustomData()
	k, found := data[keptKey].(*kept)
	if !found {
		k = &kept{mark: strconv.FormatUint(rand.Uint64(), 36)}
		data[keptKey] = k
	}
	return k
}

// name returns a name that the connection has not used yet, and notes it.
func (k *kept) name() string {
	k.named++
	name := "pghaul_insert_" + k.mark + "_" + strconv.Itoa(k.named)
	k.names = append(k.names, name)
	return name
}

// forget gives the statements up: those of a table with a thousand partitions would fill the server's memory.
func (k *kept) forget(ctx context.Context, s *session) error {
	if len(k.names) == 0 {
		return nil
	}
	if _, err := s.exec(ctx, "DEALLOCATE "+strings.Join(k.names, "; DEALLOCATE ")); err != nil {
		return fmt.Errorf("give up prepared statements: %w", err)
	}
	k.names = nil
	return nil
}

// prepare prepares sql and returns the types of its parameters. When ctx ends first, the server is told to cancel.
func (s *session) prepare(ctx context.Context, name, sql string) ([]uint32, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	halt := watch(ctx, s)
	description, err := s.conn.Prepare(context.Background(), name, sql, nil)
	halt()
	if err != nil {
		return nil, because(context.Cause(ctx), err)
	}
	return description.ParamOIDs, nil
}

// parameterArrays returns the array types of a statement's parameters when it takes an array for each column, and nothing when it
// takes single values.
func parameterArrays(ctx context.Context, w *worker, oids []uint32, rows int) ([]arrayType, error) {
	want := len(w.plan.Columns)
	arrays := w.plan.Batch.Arrays(rows) && want > 0
	if !arrays {
		want *= rows
	}
	if len(oids) != want {
		return nil, fmt.Errorf("the INSERT of %d rows has %d parameters instead of %d", rows, len(oids), want)
	}
	if !arrays {
		return nil, nil
	}
	if types, known := builtInArrays(w.plan.Columns); known {
		return types, nil
	}
	return lookUpArrays(ctx, w.dst, oids)
}

// boxOID is the one type of PostgreSQL's own whose arrays have another delimiter than the comma, a semicolon (pg_type.dat).
const boxOID = 603

// builtInArrays is lookUpArrays without asking, where no column has a type that somebody made.
func builtInArrays(columns []planner.Pair) (types []arrayType, known bool) {
	for i := range columns {
		t := &columns[i].Target.Type
		if !t.BuiltIn() {
			return nil, false
		}
		delimiter := byte(',')
		if t.OID == boxOID {
			delimiter = ';'
		}
		types = append(types, arrayType{elem: t.OID, delimiter: delimiter})
	}
	return types, true
}

// lookUpArrays asks the server for the elements of array types.
func lookUpArrays(ctx context.Context, s *session, oids []uint32) ([]arrayType, error) {
	list := make([]string, len(oids))
	for i, oid := range oids {
		list[i] = strconv.FormatUint(uint64(oid), 10)
	}
	// Point and name have elements too, but a fixed length: they are no arrays.
	found, err := s.table(ctx, `SELECT e.oid, e.typdelim FROM pg_catalog.unnest('{`+strings.Join(list, ",")+`}'::pg_catalog.oid[])
 WITH ORDINALITY AS p(oid, place) JOIN pg_catalog.pg_type AS a ON a.oid OPERATOR(pg_catalog.=) p.oid
 JOIN pg_catalog.pg_type AS e ON e.oid OPERATOR(pg_catalog.=) a.typelem AND a.typlen OPERATOR(pg_catalog.=) (-1)
 ORDER BY p.place`)
	if err != nil {
		return nil, fmt.Errorf("look up the types of the parameters: %w", err)
	}
	if len(found) != len(oids) {
		return nil, fmt.Errorf("%d of the %d parameters of the INSERT are arrays", len(found), len(oids))
	}
	types := make([]arrayType, len(found))
	for i, row := range found {
		oid, err := strconv.ParseUint(row[0], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("read the type of parameter %d: %w", i+1, err)
		}
		types[i] = arrayType{elem: uint32(oid), delimiter: row[1][0]}
	}
	return types, nil
}
