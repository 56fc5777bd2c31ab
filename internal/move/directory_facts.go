package move

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// facts describes a table as a catalog reader would describe it to the planner. What is needed to read its rows is kept.
func (d *directory) facts(t *datadir.Table) (*found, error) {
	at := &found{server: d.server(), notes: d.notes()}
	var err error
	if at.relation, err = d.relation(t); err != nil {
		return nil, err
	}
	if virtual := virtualColumns(t); len(virtual) > 0 {
		at.notes = append(at.notes, "virtual generated columns have no values in the files: "+strings.Join(virtual, ", "))
	}
	if t.Kind == 'p' {
		at.relation.Leaves, err = d.leaves(t, 0)
	}
	at.notes = append(at.notes, d.shrunk(&at.relation)...)
	for i := range at.relation.Leaves {
		at.notes = append(at.notes, d.shrunk(&at.relation.Leaves[i].Relation)...)
	}
	return at, err
}

// shrunk tells of a file that is shorter than the server had found it. VACUUM, which shortens files, counts them anew, and so does TRUNCATE.
func (d *directory) shrunk(r *planner.Relation) []string {
	d.lock.Lock()
	t := d.tables[r.OID]
	d.lock.Unlock()
	if t == nil || int64(t.Pages) <= r.Pages {
		return nil
	}
	return []string{fmt.Sprintf("%s has %s and had %d when the server last counted them: the file may have lost its end, with its rows", r.File, number(r.Pages, "block"), t.Pages)}
}

// relation describes one relation, its own rows only.
func (d *directory) relation(t *datadir.Table) (planner.Relation, error) {
	if err := d.db.Describe(t); err != nil {
		return planner.Relation{}, err
	}
	r := planner.Relation{
		Kind: planner.Kind(t.Kind), OID: t.OID, Schema: t.Schema, Name: t.Name, AccessMethod: t.AccessMethod, Rows: -1,
		Unlogged: t.Persistence == 'u', Temporary: t.Persistence == 't', CanSelect: true, SchemaFound: true,
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Generated != 'v' {
			// That it was generated does not matter: its values are in the file as any other's.
			r.Columns = append(r.Columns, planner.Column{Name: c.Name, Type: typeFacts(c.Type, c.TypeName, c.Typmod, 0), NotNull: c.NotNull, CanRead: true})
		}
	}
	if err := d.sequences(t, &r); err != nil || r.Kind == planner.Partitioned {
		return r, err
	}
	if r.Temporary || r.AccessMethod != "heap" {
		return r, nil
	}
	r.File = d.db.Path(t.Tablespace, t.File)
	if err := d.size(t, &r); err != nil {
		return r, err
	}
	if r.Kind == planner.Table && t.HasChildren {
		heirs, err := d.db.Partitions(t)
		if err != nil {
			return r, err
		}
		r.Children = len(heirs)
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	d.tables[t.OID] = t
	return r, nil
}

// size counts the blocks of a table's file. The rows are those of the last ANALYZE, in proportion.
func (d *directory) size(t *datadir.Table, r *planner.Relation) error {
	file, err := d.db.File(t)
	if err != nil {
		return err
	}
	r.Pages = int64(file.Blocks())
	block := int64(d.dir.Control().BlockSize)
	r.HeapBytes = r.Pages * block
	if err := file.Close(); err != nil {
		return err
	}
	switch {
	case r.Pages == 0:
		r.Rows = 0
	case t.Rows >= 0 && t.Pages > 0:
		r.Rows = int64(math.Round(t.Rows / float64(t.Pages) * float64(r.Pages)))
	}
	if t.Toast == nil {
		return nil
	}
	// Its size is for the estimate alone: what is wrong with it is told when its values are read.
	toast := &datadir.Table{Kind: 't', Persistence: t.Persistence, AccessMethod: "heap", File: t.Toast.File, Tablespace: t.Toast.Tablespace}
	if file, err := d.db.File(toast); err == nil {
		r.ToastBytes = int64(file.Blocks()) * block
		return file.Close()
	}
	return nil
}

// mostLevels bounds how deep partitions are nested; a damaged catalog may hold a cycle.
const mostLevels = 64

// leaves are the partitions of a partitioned table that hold rows.
func (d *directory) leaves(t *datadir.Table, level int) ([]planner.Leaf, error) {
	parts, err := d.db.Partitions(t)
	if err != nil {
		return nil, err
	}
	if level > mostLevels {
		return nil, &planner.Error{Message: "the partitions of " + sqltext.QuoteQualified(t.Schema, t.Name) + " contain each other",
			Detail: "The catalog pg_inherits is damaged."}
	}
	var all []planner.Leaf
	for i := range parts {
		part := &parts[i]
		if part.Kind == 'p' {
			nested, err := d.leaves(part, level+1)
			if err != nil {
				return nil, err
			}
			all = append(all, nested...)
			continue
		}
		r := planner.Relation{Kind: planner.Kind(part.Kind), OID: part.OID, Schema: part.Schema, Name: part.Name}
		if part.Kind == 'r' {
			if r, err = d.relation(part); err != nil {
				return nil, err
			}
		}
		all = append(all, planner.Leaf{Relation: r})
	}
	return all, nil
}

// typeFacts describes a type as far as a plan for text needs it: what it is called, and what is below a domain.
func typeFacts(t *datum.Type, sql string, mod int32, depth int) planner.Type {
	of := planner.Type{OID: t.OID, Schema: t.Schema, Name: t.Name, SQL: sql, Mod: mod, Class: planner.TypeClass(t.Kind)}
	inner := func(t *datum.Type) *planner.Type {
		if t == nil || depth >= mostLevels {
			return nil
		}
		of := typeFacts(t, sqltext.QuoteQualified(t.Schema, t.Name), -1, depth+1)
		return &of
	}
	switch {
	case t.Kind == 'd':
		of.Base = inner(t.Base)
	case t.Category == 'A' && t.Element != nil:
		of.Class, of.Elem = planner.Array, inner(t.Element)
	}
	return of
}

func virtualColumns(t *datadir.Table) []string {
	var names []string
	for i := range t.Columns {
		if t.Columns[i].Generated == 'v' {
			names = append(names, sqltext.QuoteIdent(t.Columns[i].Name))
		}
	}
	return names
}

// allFacts describes the tables of the run.
func (d *directory) allFacts(pairs []names) ([]*found, error) {
	all := make([]*found, len(pairs))
	for i, n := range pairs {
		var err error
		if all[i], err = d.facts(n.file); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// number prints a count for messages.
func number(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}
