package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// parts are the pairs of relations whose rows move together: the tables themselves, or the leaves of a partitioned source. target is
// the quoted name of what is written.
func (s *situation) parts(target string, columns []Pair) []Part {
	if s.source.Kind == Partitioned && len(s.source.Leaves) > 0 && s.leafBlock() == "" {
		parts := make([]Part, len(s.source.Leaves))
		for i := range s.source.Leaves {
			leaf := &s.source.Leaves[i]
			parts[i] = s.part(&leaf.Relation, target, columns)
			if to := s.twin(leaf); to != nil && target == s.targetName {
				parts[i].Target = relationName(to)
			}
		}
		return parts
	}
	part := s.part(s.source, target, columns)
	part.Rows, part.Bytes = s.rows, s.bytes
	return []Part{part}
}

// part describes one relation that is read.
func (s *situation) part(r *Relation, target string, columns []Pair) Part {
	p := Part{SourceOID: r.OID, Source: relationName(r), Target: target, File: r.File, Bytes: r.HeapBytes + r.ToastBytes, Rows: r.Rows}
	ordinary := r.Kind == Table
	// Foreign tables read the rows of children too, as postgres_fdw does; ctid ranges then cover each child's pages alike.
	family := r.Children > 0
	if ordinary && family && len(s.source.Path) == 0 {
		p.Source = "ONLY " + p.Source
	}
	// A role with privileges on columns only may not read ctid.
	if (ordinary || r.Kind == MatView) && r.AccessMethod == "heap" && !r.ColumnsOnly {
		p.Pages = r.Pages
	}
	generated := slices.ContainsFunc(columns, func(c Pair) bool { return c.Source.Generated })
	p.Plain = ordinary && !generated && s.wish.Where == "" && (!family || len(s.source.Path) == 0)
	if r.Kind == Query {
		p.Source = "(" + guarded(trimQuery(r.Query)) + ") AS source"
	}
	if s.renames() {
		p.Source, p.Renamed = s.renamed(p.Source, p.Pages > 0), true
	}
	return p
}

// trimQuery drops what would end the sub-select too early.
func trimQuery(q string) string { return strings.TrimRight(q, "; \t\r\n") }

// guarded ends the line, so that a comment at the end of what the user wrote does not swallow what follows.
func guarded(sql string) string {
	if strings.Contains(sql, "--") {
		return sql + "\n"
	}
	return sql
}

// renames reports whether the user's condition speaks of names that the relation does not have.
func (s *situation) renames() bool {
	if s.wish.Where == "" || len(s.source.Path) == 0 {
		return false
	}
	return s.source.Name != s.source.Path[0].Name ||
		slices.ContainsFunc(s.source.Columns, func(c Column) bool { return c.RealName() != c.Name })
}

// renamed wraps the relation in a sub-select with the foreign table's names. The server pulls it up, so that TID ranges still work.
func (s *situation) renamed(from string, ctid bool) string {
	var items []string
	if ctid {
		items = append(items, "ctid")
	}
	for _, c := range s.source.Columns {
		item := sqltext.QuoteIdent(c.RealName())
		if c.RealName() != c.Name {
			item += " AS " + sqltext.QuoteIdent(c.Name)
		}
		items = append(items, item)
	}
	return "(SELECT " + strings.Join(items, ", ") + " FROM " + from + ") AS " + sqltext.QuoteIdent(s.source.Path[0].Name)
}

// leafBlock says why the leaves of a partitioned source cannot be read one by one.
func (s *situation) leafBlock() string {
	for i := range s.source.Leaves {
		leaf := &s.source.Leaves[i]
		if leaf.RowSecurity {
			return "partition " + relationName(&leaf.Relation) + " has row-level security of its own"
		}
		if leaf.CanSelect {
			continue
		}
		for _, p := range s.pairs {
			if c := realColumn(leaf.Columns, p.Source.RealName()); c == nil || !c.CanRead {
				return "partition " + relationName(&leaf.Relation) + " may not be read by itself"
			}
		}
	}
	return ""
}

func realColumn(columns []Column, name string) *Column {
	for i := range columns {
		if columns[i].RealName() == name {
			return &columns[i]
		}
	}
	return nil
}

// twin is the target's leaf that takes exactly the rows of the source's leaf, or nil when they must go through the root.
func (s *situation) twin(leaf *Leaf) *Relation {
	if s.target.Kind != Partitioned || s.twinBlock(leaf.KeyDef) != "" {
		return nil
	}
	for i := range s.target.Leaves {
		to := &s.target.Leaves[i]
		if to.Bound == leaf.Bound && to.KeyDef == leaf.KeyDef && s.direct(to) {
			return &to.Relation
		}
	}
	return nil
}

// twinBlock says why equal bounds may not mean equal rows.
func (s *situation) twinBlock(keyDef string) string {
	if s.facts.SameDatabase {
		return ""
	}
	if strings.Contains(keyDef, "HASH") {
		// hashenum and others hash identifiers, and text is hashed by its bytes (hashfunc.c).
		if s.facts.SourceServer.Encoding != s.facts.TargetServer.Encoding {
			return "text hashes differ between encodings"
		}
		for _, p := range s.pairs {
			if p.Source.Type.OID != p.Target.Type.OID || !p.Source.Type.BuiltIn() || objectAlias(p.Source.Type.Name) {
				return "hashes of " + p.Source.Type.SQL + " may differ between databases"
			}
		}
	}
	if strings.Contains(keyDef, "RANGE") {
		for _, p := range s.pairs {
			if collated(&p.Source.Type) && strings.Contains(keyDef, p.Source.RealName()) {
				return fmt.Sprintf("the order of %s depends on the database's collation", p.Source.Name)
			}
		}
	}
	return ""
}

// collated reports whether the order of values may depend on a collation; anything not built in is taken to.
func collated(t *Type) bool {
	if !t.BuiltIn() {
		return true
	}
	return slices.Contains([]string{"text", "varchar", "bpchar", "name"}, t.Name)
}

// direct reports whether writing the leaf itself does all that writing through the root would do.
func (s *situation) direct(leaf *Leaf) bool {
	r := &leaf.Relation
	if r.Kind != Table || r.RowSecurity || r.Rules || !leafInsert(r, s.pairs) || statementTriggers(s.target) || statementTriggers(r) {
		return false
	}
	// A row that comes through the root gets the root's defaults, which the leaf need not have.
	for _, c := range s.target.Columns {
		moved := slices.ContainsFunc(s.pairs, func(p Pair) bool { return p.Target.Name == c.Name })
		if !moved && !c.Generated && (c.HasDefault || c.Identity != 0) {
			return false
		}
	}
	// A foreign table need not show all columns of the root.
	if len(s.target.Path) > 0 && len(r.Columns) > len(s.pairs) {
		return false
	}
	for _, p := range s.pairs {
		c := realColumn(r.Columns, p.Target.RealName())
		if c == nil || c.Type.OID != p.Target.Type.OID || c.Type.Mod != p.Target.Type.Mod {
			return false
		}
	}
	return true
}

func leafInsert(r *Relation, pairs []Pair) bool {
	for _, p := range pairs {
		c := realColumn(r.Columns, p.Target.RealName())
		if c == nil || !c.CanWrite && !r.CanInsert {
			return false
		}
	}
	return len(pairs) > 0 || r.CanInsert
}

func statementTriggers(r *Relation) bool {
	return slices.ContainsFunc(r.Triggers, func(t Trigger) bool { return !t.Row })
}
