package catalog

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// Role is the part that a relation plays in a move.
type Role int

// The roles. A Target is also looked at for rows.
const (
	Source Role = iota
	Target
)

// Name is a relation's full name, with no quotes.
type Name struct {
	Schema string
	Name   string
}

// String returns the name quoted for SQL.
func (n Name) String() string { return sqltext.QuoteQualified(n.Schema, n.Name) }

// Read returns the facts of one relation, whose schema must be given. See ReadAll.
func Read(ctx context.Context, c *pgx.Conn, schema, name string, role Role) (planner.Relation, error) {
	all, err := ReadAll(ctx, c, []Name{{Schema: schema, Name: name}}, role)
	if err != nil {
		return planner.Relation{}, err
	}
	return all[0], nil
}

// ReadAll returns the facts of each named relation, in the order of names, in as many round trips as one takes. One that does
// not exist is no error: its Kind is planner.Missing, and SchemaFound and CanCreate tell about its schema. Partitioned tables
// come with their leaves. A schema that the user may not look into and a failing server are errors (*planner.Error).
//
// Foreign tables are read as they stand; Follow leads to where their rows are.
func ReadAll(ctx context.Context, c *pgx.Conn, names []Name, role Role) ([]planner.Relation, error) {
	if len(names) == 0 {
		return nil, nil
	}
	r := newReader(c, role)
	doing := "read the facts of " + names[0].String()
	if len(names) > 1 {
		doing += " and other relations"
	}
	found, err := r.find(ctx, names)
	if err != nil {
		return nil, failed(doing, err)
	}
	if err := r.readFacts(ctx); err != nil {
		return nil, failed(doing, err)
	}
	relations := make([]planner.Relation, len(names))
	for i, f := range found {
		relations[i] = r.assemble(f)
		relations[i].Schema = f.schema
		relations[i].Name = names[i].Name
		relations[i].SchemaFound = f.schemaFound
		relations[i].CanCreate = f.canCreate
	}
	return relations, nil
}

// reader gathers the facts of a set of relations.
type reader struct {
	c         *pgx.Conn
	role      Role
	version   int
	named     []uint32 // those that were asked for
	oids      []uint32 // those and their leaves, each once
	relations map[uint32]*facts
	parts     map[uint32][]part // leaves by the root that was named
	types     *typeReader
}

// facts are what is known of one relation beside what planner.Relation holds.
type facts struct {
	planner.Relation
	columnTypes []typeUse
	rebuild     planner.Rebuild
}

// found is the answer to one name.
type found struct {
	oid         uint32
	schema      string
	schemaFound bool
	canCreate   bool
}

func newReader(c *pgx.Conn, role Role) *reader {
	return &reader{c: c, role: role, version: version(c), relations: map[uint32]*facts{}, parts: map[uint32][]part{},
		types: newTypeReader(c)}
}

// A schema named pg_temp is the session's own temporary one.
const findSQL = `
SELECT q.ord - 1, coalesce(n.nspname::text, q.schema), n.oid IS NOT NULL,
       coalesce(pg_catalog.has_schema_privilege(n.oid, 'CREATE'), false),
       coalesce(pg_catalog.has_schema_privilege(n.oid, 'USAGE'), true),
       coalesce(c.oid, 0::oid)
  FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) WITH ORDINALITY AS q(schema, name, ord)
  LEFT JOIN pg_catalog.pg_namespace n
       ON n.oid = CASE q.schema WHEN 'pg_temp' THEN pg_catalog.pg_my_temp_schema()
                  ELSE (SELECT s.oid FROM pg_catalog.pg_namespace s WHERE s.nspname = q.schema) END
  LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = q.name`

// find turns names into object identifiers, and partitioned tables into their leaves.
func (r *reader) find(ctx context.Context, names []Name) ([]found, error) {
	schemas := make([]string, len(names))
	relations := make([]string, len(names))
	for i, n := range names {
		schemas[i], relations[i] = n.Schema, n.Name
	}
	answers := make([]found, len(names))
	var roots []uint32
	var closed string
	err := ask(ctx, r.c, question{sql: findSQL, args: []any{schemas, relations}, row: func(rows pgx.Rows) error {
		var i int
		var f found
		var usage bool
		if err := rows.Scan(&i, &f.schema, &f.schemaFound, &f.canCreate, &usage, &f.oid); err != nil {
			return err
		}
		if !usage {
			closed = f.schema
		}
		answers[i] = f
		if f.oid != 0 {
			roots = append(roots, f.oid)
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	if closed != "" {
		return nil, &planner.Error{Message: "permission denied for schema " + sqltext.QuoteIdent(closed),
			Hint: "The user needs the USAGE privilege on the schema."}
	}
	r.named = roots
	if len(roots) > 0 {
		err = r.findParts(ctx, roots)
	}
	return answers, err
}

// add takes a relation into the set.
func (r *reader) add(oid uint32) {
	if _, known := r.relations[oid]; !known {
		r.relations[oid] = &facts{}
		r.oids = append(r.oids, oid)
	}
}

// readFacts asks everything about the set: once for what the catalogs hold, once for types and rows.
func (r *reader) readFacts(ctx context.Context) error {
	if len(r.oids) == 0 {
		return nil
	}
	set := oidArray(r.oids)
	questions := []question{r.classQuestion(set), r.columnQuestion(set), r.keyQuestion(set), r.triggerQuestion(set),
		r.sequenceQuestion(set)}
	questions = append(questions, r.rebuildQuestions(oidArray(r.named))...)
	if err := ask(ctx, r.c, questions...); err != nil {
		return err
	}
	r.finishRebuild()
	if err := r.types.load(ctx, r.allTypes()); err != nil {
		return err
	}
	for _, f := range r.relations {
		for i, use := range f.columnTypes {
			f.Columns[i].Type = r.types.build(use)
		}
	}
	if r.role == Target {
		return r.lookForRows(ctx)
	}
	return nil
}

// assemble returns the relation with its leaves.
func (r *reader) assemble(f found) planner.Relation {
	known := r.relations[f.oid]
	if known == nil {
		return planner.Relation{Rows: -1}
	}
	relation := known.Relation
	for _, p := range r.parts[f.oid] {
		leaf := r.relations[p.oid]
		if leaf == nil || leaf.OID == 0 {
			continue // dropped meanwhile
		}
		relation.Leaves = append(relation.Leaves, planner.Leaf{Relation: leaf.Relation, Bound: p.bound, KeyDef: p.keyDef})
	}
	if relation.Kind == planner.Partitioned {
		relation.Rows = sumRows(relation.Leaves)
	}
	return relation
}

// sumRows adds what the leaves hold; unknown as soon as one is.
func sumRows(leaves []planner.Leaf) int64 {
	var sum int64
	for _, leaf := range leaves {
		if leaf.Rows < 0 {
			return -1
		}
		sum += leaf.Rows
	}
	return sum
}
