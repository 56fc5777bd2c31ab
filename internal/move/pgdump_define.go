package move

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// defineAll finds out how to make the missing targets of the run, when that is wished. A target that an interrupted move has made may lack
// its foreign keys.
func (o *opening) defineAll(ctx context.Context, pairs []names) error {
	r := o.move.request
	if !r.Wish.Create && r.Wish.Method != planner.Unlogged {
		return nil
	}
	var made []*table
	var wants []want
	for i, t := range o.move.tables {
		f := &t.facts
		lacks := f.Target.Kind == planner.Missing || f.Recorded != nil && r.Wish.Commit == planner.CommitRange
		if !lacks || f.Source.Kind == planner.Missing || f.Source.Kind == planner.Query {
			continue
		}
		if t.source.directory != nil {
			f.Definition = columnsDefinition(f.Source, pairs[i].targetSchema, pairs[i].targetName)
			continue
		}
		made = append(made, t)
		wants = append(wants, want{source: f.Source, schema: pairs[i].targetSchema, name: pairs[i].targetName, beside: f.SameDatabase})
	}
	if len(made) == 0 {
		return nil
	}
	// pg_dump is asked about relations of the source itself, never of servers behind foreign tables.
	at := made[max(0, slices.IndexFunc(made, func(t *table) bool { return dumpable(t.facts.Source) }))]
	all, err := definitions(ctx, r.PgDump, at.source.config, at.facts.SourceServer, wants)
	if err != nil {
		return err
	}
	for i, t := range made {
		t.facts.Definition = all[i]
		if err := t.findUsed(ctx); err != nil {
			return err
		}
	}
	return nil
}

// findUsed looks which of the sequences that the new table's defaults use are there, and so need not be made.
func (t *table) findUsed(ctx context.Context) error {
	uses := t.facts.Definition.Uses
	if len(uses) == 0 {
		return nil
	}
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return err
	}
	for i := range uses {
		found, err := s.value(ctx, "SELECT pg_catalog.to_regclass("+quoted(uses[i].Target)+") IS NOT NULL")
		if err != nil {
			t.target.drop(s)
			return fmt.Errorf("look for sequence %s: %w", uses[i].Target, err)
		}
		if found == "t" {
			uses[i].SQL = ""
		}
	}
	t.target.give(t.encoding, s)
	return nil
}

// want is a target to be made: the source that it is made after, and its name.
type want struct {
	source       planner.Relation
	schema, name string
	beside       bool // in the source's own database
}

// definitions finds out how to make targets after relations of one source. pg_dump is asked once about all tables that need it, with their
// partitions. dumpPath is the program, or empty to look for one that is new enough for the server. What belongs to a table and stands in its
// schema (partitions, sequences, indexes) goes to the new schema under its old name. Beside the source, where that name is taken, it gets
// one of its own. What is no table is made as one with the same columns.
//
// Owners, privileges, security labels, tablespaces and memberships in publications are left out, because the target server may not know the
// roles and names in them; so are types, functions and extensions that the tables use. Statements after the rows that build an index stand
// in Indexes, so that they can run side by side.
func definitions(ctx context.Context, dumpPath string, config *pgx.ConnConfig, server planner.Server, wants []want) ([]*planner.Definition, error) {
	all := make([]*planner.Definition, len(wants))
	var dumped []*dumping
	for i, w := range wants {
		switch {
		case !dumpable(w.source):
			all[i] = columnsDefinition(w.source, w.schema, w.name)
		case w.beside && w.source.Kind == planner.Table:
			all[i] = likeDefinition(w.source, w.schema, w.name)
		default:
			d := &dumping{from: tableKey{w.source.Schema, w.source.Name}, to: tableKey{w.schema, w.name}, beside: w.beside,
				definition: &planner.Definition{Schema: w.schema, Name: w.name}}
			all[i] = d.definition
			dumped = append(dumped, d)
		}
	}
	if len(dumped) == 0 {
		return all, nil
	}
	dump, err := findPgDump(ctx, dumpPath, server)
	if err != nil {
		return nil, err
	}
	if err := lookUp(ctx, config, dumped); err != nil {
		return nil, err
	}
	if err := dump.ask(ctx, config, dumped); err != nil {
		return nil, err
	}
	run := renamedByAll(dumped)
	for _, d := range dumped {
		d.definition.From = "pg_dump " + dump.version
		d.finish(renamer{own: d.renamed, run: run})
	}
	return all, nil
}

// dumping is one table on its way from pg_dump's output to a definition.
type dumping struct {
	from, to      tableKey
	beside        bool
	definition    *planner.Definition
	tables        []dumpedTable // the table itself, then its partitions
	parts         []tableKey    // the indexes and sequences that belong to them
	renamed       renaming      // of what belongs to it
	kin           dumpedKin
	used          []usedSequence
	before, after []dumpStatement
}

// usedSequence is a sequence that a default uses, and the statement that makes it.
type usedSequence struct {
	key tableKey
	sql string
}

// finish sorts the statements and gives everything its new name.
func (d *dumping) finish(renamed renamer) {
	sortDump(d.definition, d.tables, d.before, d.after)
	for _, statements := range [][]string{d.definition.Before, d.definition.Indexes, d.definition.After, d.definition.ForeignKeys} {
		for i := range statements {
			statements[i] = renamed.apply(statements[i])
		}
	}
	d.definition.After = append(d.definition.After, d.kin.statements(d, renamed)...)
	for _, u := range d.used {
		to, _ := renamed.of(u.key)
		d.definition.Uses = append(d.definition.Uses, planner.UsedSequence{Schema: u.key.schema, Name: u.key.name, Target: to.quoted(),
			SQL: renamed.apply(u.sql)})
	}
	for _, parent := range d.kin.parents {
		to, _ := renamed.of(parent)
		d.definition.Inherits = append(d.definition.Inherits, to.quoted())
	}
}

// renamedByAll is what the tables rename of their own, for the sake of the others: foreign keys and parents are to be those of the run. What
// one renames otherwise than another, or keeps, is left out.
func renamedByAll(dumped []*dumping) renaming {
	all := renaming{}
	for _, d := range dumped {
		for old, to := range d.renamed {
			if other, twice := all[old]; twice && other != to {
				to = old
			}
			all[old] = to
		}
	}
	if len(all) == 0 {
		return all
	}
	for _, d := range dumped {
		for _, key := range d.members() {
			if _, renamed := d.renamed[key]; !renamed {
				delete(all, key)
			}
		}
	}
	return all
}

// members are the table, its partitions, and what belongs to them.
func (d *dumping) members() []tableKey {
	keys := make([]tableKey, 0, len(d.tables)+len(d.parts))
	for _, t := range d.tables {
		keys = append(keys, t.tableKey)
	}
	return append(keys, d.parts...)
}

// rename settles the new name of a relation that belongs to the table.
func (d *dumping) rename(key tableKey, taken map[string]bool) {
	to := d.to
	if key != d.from {
		to = d.newName(key, taken)
	}
	if to != key {
		d.renamed[key] = to
	}
}

// newName is the name of something that belongs to the table. taken are those that others of its kind have.
func (d *dumping) newName(key tableKey, taken map[string]bool) tableKey {
	to := key
	if key.schema == d.from.schema {
		to.schema = d.to.schema
	}
	if d.beside && to == key {
		taken[key.name] = true
		to.name = ownName(key.name, d.from.name, d.to.name, taken)
	}
	return to
}

// quoted is the name as SQL has it.
func (k tableKey) quoted() string { return sqltext.QuoteQualified(k.schema, k.name) }

// unknownStatement is an error for what pg_dump should not have printed.
func unknownStatement(sql string) error {
	return &planner.Error{Message: "pg_dump printed a statement that belongs to no table it was asked about",
		Detail: fmt.Sprintf("It begins with %s.", strings.TrimSpace(firstLine([]byte(sql)))),
		Hint:   "Create the target tables yourself, and copy without asking for them to be made."}
}

func noRelation(key tableKey) error {
	return &planner.Error{Message: fmt.Sprintf("relation %s does not exist", key.quoted())}
}
