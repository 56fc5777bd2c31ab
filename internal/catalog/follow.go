package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// maxHops bounds the way from a foreign table to the real one.
const maxHops = 8

// Remote is where a foreign table leads.
type Remote struct {
	// Conn is connected to the server that holds Relation. Nil when that is the caller's own, because the foreign table was not
	// followed. The caller closes it.
	Conn *pgx.Conn
	// Config opens more connections to the same place with ConnectConfig. Nil when Conn is.
	Config *pgx.ConnConfig
	Server planner.Server
	// Relation is the real relation with its columns, keys and sequences named as the foreign table names them (Column.Name; the
	// name in the relation is Column.Remote). Only the columns that the foreign table has are there. Privileges are those that hold
	// at every stop of the way. A column that is not written gets the real table's default, where postgres_fdw would send NULL.
	Relation planner.Relation
	// Notes are whole phrases that say what had to be assumed on the way.
	Notes []string
}

// Follow goes from a foreign table of postgres_fdw to the relation that its rows are in, through server, user mapping, table and
// column options and further foreign tables, at most eight. It returns nil when relation is no foreign table. When it must stay
// one (another wrapper, or one that does something with the rows), the result's Relation.NotFollowed says why.
//
// Errors are *planner.Error: options that the user may not see, a missing user mapping, remote table or column, a server that
// cannot be reached, a cycle.
func Follow(ctx context.Context, c *pgx.Conn, relation planner.Relation, role Role, encoding string) (*Remote, error) {
	if relation.Kind != planner.ForeignTable {
		return nil, nil
	}
	server, err := Server(ctx, c)
	if err != nil {
		return nil, err
	}
	w := &way{role: role, encoding: encoding, first: c, at: c, seen: map[string]bool{}}
	w.remote = Remote{Server: server, Relation: relation}
	for _, col := range relation.Columns {
		w.columns = append(w.columns, wayColumn{name: col.Name, at: col.Name, canRead: true, canWrite: true})
	}
	w.allow = permissions{true, true, true}
	if err := w.walk(ctx); err != nil {
		w.leave(ctx)
		return nil, err
	}
	if w.at != c {
		w.remote.Conn = w.at
	}
	return &w.remote, nil
}

// way is a walk from foreign table to foreign table.
type way struct {
	role     Role
	encoding string
	first    *pgx.Conn // the caller's
	at       *pgx.Conn
	remote   Remote
	path     []planner.Hop
	seen     map[string]bool
	columns  []wayColumn
	allow    permissions
}

type permissions struct{ selects, inserts, truncates bool }

// wayColumn is a column under its first name, and what it is called at the present stop.
type wayColumn struct {
	name, at          string
	canRead, canWrite bool
}

// walk goes on until the present relation is no foreign table or must stay one.
func (w *way) walk(ctx context.Context) error {
	for w.remote.Relation.Kind == planner.ForeignTable {
		f, err := readForeign(ctx, w.at, w.remote.Relation)
		if err != nil {
			return err
		}
		if reason := f.stays(w.remote.Relation, w.role); reason != "" {
			w.remote.Relation.NotFollowed = reason
			if err := w.lookHere(ctx); err != nil {
				return err
			}
			break
		}
		if err := w.pass(f); err != nil {
			return err
		}
		if err := w.cross(ctx, f); err != nil {
			return err
		}
	}
	w.present()
	return nil
}

// lookHere finds out whether a foreign table that stays one is empty, which Read leaves to Follow.
func (w *way) lookHere(ctx context.Context) error {
	relation := &w.remote.Relation
	if w.role != Target || !relation.CanSelect {
		return nil
	}
	err := ask(ctx, w.at, question{sql: emptySQL(*relation), row: func(r pgx.Rows) error { return r.Scan(&relation.Empty) }})
	return failed("look for rows in foreign table "+Name{relation.Schema, relation.Name}.String(), err)
}

// pass notes the foreign table as a stop, and refuses one where the way has been before.
func (w *way) pass(f *foreign) error {
	relation := w.remote.Relation
	identity := strings.Join([]string{w.remote.Server.SystemID, w.remote.Server.StartTime,
		fmt.Sprint(w.remote.Server.DatabaseOID), fmt.Sprint(relation.OID)}, " ")
	w.path = append(w.path, planner.Hop{Server: w.remote.Server.Address, Schema: relation.Schema, Name: relation.Name,
		Foreign: f.server, Wrapper: f.wrapper})
	if w.seen[identity] {
		return &planner.Error{Message: "foreign table " + w.firstName() + " leads back to itself", Detail: w.chain(),
			Hint: "Change the table_name of one of them, or name the real table."}
	}
	if len(w.path) > maxHops {
		return &planner.Error{Message: fmt.Sprintf("foreign table %s leads through more than %d others", w.firstName(), maxHops),
			Detail: w.chain(), Hint: "Name the real table."}
	}
	w.seen[identity] = true
	w.allow.selects = w.allow.selects && relation.CanSelect
	w.allow.inserts = w.allow.inserts && relation.CanInsert
	w.allow.truncates = w.allow.truncates && relation.CanTruncate && !isFalse(f.option("truncatable"))
	return nil
}

func (w *way) firstName() string { return Name{w.path[0].Schema, w.path[0].Name}.String() }

// chain prints the stops.
func (w *way) chain() string {
	stops := make([]string, len(w.path))
	for i, h := range w.path {
		stops[i] = Name{h.Schema, h.Name}.String() + " on " + h.Server
	}
	return "The way is " + strings.Join(stops, " -> ") + "."
}

// cross connects to the foreign server and makes the relation there the present one.
func (w *way) cross(ctx context.Context, f *foreign) error {
	if err := f.checkMapping(); err != nil {
		return err
	}
	config, notes, err := f.connection(w.at)
	if err != nil {
		return f.explain(err)
	}
	next, err := ConnectConfig(ctx, config, w.encoding)
	if err != nil {
		return f.explain(err)
	}
	w.leave(ctx)
	w.at = next
	w.remote.Config = config
	w.remote.Notes = append(w.remote.Notes, notes...)
	if w.remote.Server, err = Server(ctx, next); err != nil {
		return f.explain(err)
	}
	name := f.remoteName()
	before := w.remote.Relation
	relation, err := Read(ctx, next, name.Schema, name.Name, w.role)
	if err != nil {
		return f.explain(err)
	}
	if relation.Kind == planner.Missing {
		return f.explain(&planner.Error{Message: "relation " + name.String() + " does not exist on " + w.remote.Server.Address})
	}
	w.remote.Relation = relation
	return w.rename(f, before, relation)
}

// leave closes the present connection unless it is the caller's.
func (w *way) leave(ctx context.Context) {
	if w.at != w.first {
		_ = w.at.Close(ctx) // nothing was written on it
		w.at = w.first
	}
}

// explain says for which foreign table something was tried.
func (f *foreign) explain(err error) error {
	var e *planner.Error
	if !errors.As(err, &e) {
		return err
	}
	explained := *e
	where := "Foreign table " + f.name.String() + " of foreign server " + sqltext.QuoteIdent(f.server) + " leads there."
	explained.Detail = strings.TrimSpace(e.Detail + " " + where)
	return &explained
}

// rename finds each column of the foreign table in the relation that it stands for.
func (w *way) rename(f *foreign, before, after planner.Relation) error {
	local := columnsByName(before)
	remote := columnsByName(after)
	for i := range w.columns {
		col := &w.columns[i]
		was := local[col.at]
		col.canRead = col.canRead && was.CanRead
		col.canWrite = col.canWrite && was.CanWrite
		if name, ok := f.columnNames[col.at]; ok {
			col.at = name
		}
		if _, ok := remote[col.at]; !ok {
			return f.explain(&planner.Error{
				Message: "column " + sqltext.QuoteIdent(col.at) + " does not exist in " + Name{after.Schema, after.Name}.String() +
					" on " + w.remote.Server.Address,
				Hint: "Correct the foreign table's columns or their column_name options."})
		}
	}
	return nil
}

func columnsByName(relation planner.Relation) map[string]planner.Column {
	m := make(map[string]planner.Column, len(relation.Columns))
	for _, col := range relation.Columns {
		m[col.Name] = col
	}
	return m
}

// present gives the relation at the end the names of the beginning, and the privileges of the whole way.
func (w *way) present() {
	if len(w.path) == 0 {
		return
	}
	relation := &w.remote.Relation
	relation.Path = w.path
	w.dress(relation)
	for i := range relation.Leaves {
		w.dress(&relation.Leaves[i].Relation)
	}
}

func (w *way) dress(relation *planner.Relation) {
	known := columnsByName(*relation)
	first := make(map[string]string, len(w.columns)) // by the name at the end
	columns := make([]planner.Column, 0, len(w.columns))
	for _, col := range w.columns {
		there, ok := known[col.at]
		if !ok {
			continue
		}
		first[col.at] = col.name
		there.Name = col.name
		if col.at != col.name {
			there.Remote = col.at
		}
		there.CanRead = there.CanRead && col.canRead
		there.CanWrite = there.CanWrite && col.canWrite
		columns = append(columns, there)
	}
	relation.Columns = columns
	relation.Keys = renamedKeys(relation.Keys, first)
	sequences := relation.Sequences[:0:0]
	for _, s := range relation.Sequences {
		if name, ok := first[s.Column]; ok {
			s.Column = name
			sequences = append(sequences, s)
		}
	}
	relation.Sequences = sequences
	relation.CanSelect = relation.CanSelect && w.allow.selects
	relation.CanInsert = relation.CanInsert && w.allow.inserts
	relation.CanTruncate = relation.CanTruncate && w.allow.truncates
}

// renamedKeys keeps the keys whose columns the foreign table all has.
func renamedKeys(keys []planner.Key, first map[string]string) []planner.Key {
	kept := keys[:0:0]
next:
	for _, key := range keys {
		names := make([]string, len(key.Columns))
		for i, name := range key.Columns {
			renamed, ok := first[name]
			if !ok {
				continue next
			}
			names[i] = renamed
		}
		key.Columns = names
		kept = append(kept, key)
	}
	return kept
}
