package move

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// mostNames is how many names a hint lists.
const mostNames = 12

// resolve finds the table that a typed name means. Without a schema it is the one in public, or else the only one of that name: no role's
// search_path is known where no server answers.
func (d *directory) resolve(typed string) (*datadir.Table, error) {
	schema, name, err := sqltext.ParseQualified(typed)
	if err != nil {
		return nil, &planner.Error{Kind: planner.Usage, Message: "cannot read the table name " + typed, Cause: err}
	}
	all, err := d.allTables()
	if err != nil {
		return nil, err
	}
	var found []*datadir.Table
	for i := range all {
		t := &all[i]
		switch {
		case t.Name != name:
		case t.Schema == schema, schema == "" && t.Schema == "public":
			return t, nil
		case schema == "" && !systemSchema(t.Schema):
			found = append(found, t)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return nil, d.unresolved(schema, name, found, all)
}

// unresolved is the error for a name that means no table, or several.
func (d *directory) unresolved(schema, name string, found []*datadir.Table, all []datadir.Table) error {
	if len(found) > 1 {
		var names []string
		for _, t := range found {
			names = append(names, sqltext.QuoteQualified(t.Schema, t.Name))
		}
		return &planner.Error{Message: "table name " + sqltext.QuoteIdent(name) + " means several tables of " + d.server().Address,
			Hint: "Name the schema: " + someOf(names) + "."}
	}
	asked := sqltext.QuoteIdent(name)
	if schema != "" {
		asked = sqltext.QuoteQualified(schema, name)
	}
	var like, names []string
	for i := range all {
		t := &all[i]
		if systemSchema(t.Schema) || t.IsPartition {
			continue
		}
		text := sqltext.QuoteQualified(t.Schema, t.Name)
		names = append(names, text)
		if strings.EqualFold(t.Name, name) {
			like = append(like, text)
		}
	}
	e := &planner.Error{Message: "table " + asked + " does not exist", Detail: "There is no such table in " + d.server().Address + "; views and foreign tables have no rows in its files."}
	switch {
	case len(like) > 0:
		e.Hint = "Perhaps you meant " + someOf(like) + "."
	case len(names) > 0:
		e.Hint = "It has: " + someOf(names) + "."
	default:
		e.Hint = "The database has no tables of its own. Perhaps you meant another one: see dbname."
	}
	return e
}

// someOf lists names, as many as a reader takes.
func someOf(names []string) string {
	slices.Sort(names)
	if len(names) > mostNames {
		return strings.Join(names[:mostNames], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// allTables are the tables of the database, read once.
func (d *directory) allTables() ([]datadir.Table, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.all == nil {
		all, err := d.db.Tables()
		if err != nil {
			return nil, err
		}
		d.all = all
	}
	return d.all, nil
}

// filePairs resolves what the user named in a data directory.
func (o *opening) filePairs(ctx context.Context, d *directory) ([]names, error) {
	r := o.move.request
	if r.Query != "" {
		return nil, &planner.Error{Kind: planner.Refused, Message: "--query cannot be used on a data directory",
			Detail: "Only a server runs queries, and none runs on " + d.dir.Path() + ".", Hint: "Name the tables that it reads."}
	}
	var pairs []names
	for _, typed := range r.Tables {
		t, err := d.resolve(typed.Source)
		if err != nil {
			return nil, err
		}
		n := namesOf(t)
		if typed.Target != "" {
			if n.targetSchema, n.targetName, err = o.targetName(ctx, typed.Target, t.Schema); err != nil {
				return nil, err
			}
		}
		pairs = append(pairs, n)
	}
	if len(r.Patterns) == 0 {
		return pairs, nil
	}
	listed, err := d.list(r.Patterns)
	if err != nil {
		return nil, err
	}
	for _, t := range listed {
		pairs = append(pairs, namesOf(t))
	}
	return pairs, nil
}

func namesOf(t *datadir.Table) names {
	return names{file: t, sourceSchema: t.Schema, sourceName: t.Name, targetSchema: t.Schema, targetName: t.Name}
}

func systemSchema(name string) bool {
	return strings.HasPrefix(name, "pg_") || name == "information_schema"
}

// list finds the tables that psql patterns mean. Views and foreign tables, which have no rows in the files, are left out, and partitions,
// which come with their roots. A pattern without a dot looks into public, where it finds anything there, else into all schemas.
func (d *directory) list(patterns []string) ([]*datadir.Table, error) {
	all, err := d.allTables()
	if err != nil {
		return nil, err
	}
	seen := map[uint32]bool{}
	var listed []*datadir.Table
	for _, typed := range patterns {
		matched, err := matching(all, typed)
		if err != nil {
			return nil, err
		}
		if len(matched) == 0 {
			return nil, &planner.Error{Message: "no table matches pattern " + typed, Detail: "It was looked for in " + d.server().Address + "."}
		}
		for _, t := range matched {
			if !seen[t.OID] {
				seen[t.OID] = true
				listed = append(listed, t)
			}
		}
	}
	slices.SortFunc(listed, func(a, b *datadir.Table) int {
		if order := strings.Compare(a.Schema, b.Schema); order != 0 {
			return order
		}
		return strings.Compare(a.Name, b.Name)
	})
	return listed, nil
}

func matching(all []datadir.Table, typed string) ([]*datadir.Table, error) {
	schema, name, err := sqltext.Pattern(typed)
	if err != nil {
		return nil, &planner.Error{Kind: planner.Usage, Message: "cannot read the pattern " + typed, Cause: err}
	}
	fits := func(pattern string) (*regexp.Regexp, error) {
		re, err := regexp.Compile("(?s)" + pattern)
		if err != nil {
			return nil, &planner.Error{Kind: planner.Usage, Message: "could not read the pattern " + typed, Cause: err,
				Hint: "Put double quotes around a name with signs of regular expressions."}
		}
		return re, nil
	}
	nameRE, err := fits(name)
	if err != nil {
		return nil, err
	}
	schemaRE, err := fits(schema)
	if err != nil {
		return nil, err
	}
	var public, matched []*datadir.Table
	for i := range all {
		t := &all[i]
		kind := planner.Kind(t.Kind)
		copied := kind == planner.Table || kind == planner.Partitioned || kind == planner.MatView && !sqltext.IsPattern(typed)
		if !copied || t.IsPartition || systemSchema(t.Schema) || !nameRE.MatchString(t.Name) || !schemaRE.MatchString(t.Schema) {
			continue
		}
		matched = append(matched, t)
		if t.Schema == "public" {
			public = append(public, t)
		}
	}
	if schema == "" && len(public) > 0 {
		return public, nil
	}
	return matched, nil
}
