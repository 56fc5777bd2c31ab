package catalog

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// rebuildQuestions ask how to put a new table in the place of each plain table of the set. Partitioned tables are asked about as
// well: they cannot be rebuilt, but who refers to them matters for TRUNCATE.
//
// What they leave out: names of extended statistics, of which LIKE makes copies under other names, and who granted a privilege,
// which becomes the owner.
func (r *reader) rebuildQuestions(set string) []question {
	questions := []question{r.tableQuestion(set), r.columnOptionQuestion(set), r.indexQuestion(set), r.foreignKeyQuestion(set),
		r.referenceQuestion(set), r.triggerDefQuestion(set), r.policyQuestion(set), r.publicationQuestion(set),
		r.defaultGrantQuestion(set), r.grantQuestion(set), r.dependentQuestion(set)}
	if r.version >= 150000 {
		questions = append(questions, r.schemaPublicationQuestion(set))
	}
	return questions
}

// finishRebuild gives each relation that can be asked for it what was gathered.
func (r *reader) finishRebuild() {
	for _, oid := range r.named {
		f := r.relations[oid]
		if f.Kind != planner.Table && f.Kind != planner.Partitioned {
			continue
		}
		for _, statement := range f.rebuild.After {
			if strings.Count(statement, place) != 1 {
				f.block("a definition on it holds a per cent sign followed by the letter s")
			}
		}
		slices.Sort(f.rebuild.Blockers)
		f.rebuild.Blockers = slices.Compact(f.rebuild.Blockers)
		rebuild := f.rebuild
		f.Rebuild = &rebuild
	}
}

// place stands in statements where the new table's name goes.
const place = "%s"

// after adds a statement for the new table.
func (f *facts) after(parts ...string) {
	f.rebuild.After = append(f.rebuild.After, strings.Join(parts, ""))
}

// block adds a reason why the table cannot be replaced.
func (f *facts) block(parts ...string) {
	f.rebuild.Blockers = append(f.rebuild.Blockers, strings.Join(parts, ""))
}

// ident quotes a name for a statement with a place: a per cent sign is written as its code, lest it be taken for one.
func ident(name string) string {
	if !strings.Contains(name, "%") {
		return sqltext.QuoteIdent(name)
	}
	return `U&"` + strings.NewReplacer(`\`, `\\`, `"`, `""`, `%`, `\0025`).Replace(name) + `"`
}

// literal quotes a string for a statement with a place, in the same way.
func literal(s string) string {
	if !strings.Contains(s, "%") {
		return sqltext.QuoteLiteral(s)
	}
	return `E'` + strings.NewReplacer(`\`, `\\`, `'`, `''`, `%`, `\045`).Replace(s) + `'`
}

// outsideQuotes finds text in s where it does not stand inside double quotes, or returns -1. text may itself hold quoted names.
func outsideQuotes(s, text string) int {
	quoted := false
	for i := range len(s) {
		if !quoted && strings.HasPrefix(s[i:], text) {
			return i
		}
		if s[i] == '"' {
			quoted = !quoted
		}
	}
	return -1
}

// Tables of a schema are in its publications from 15 on. Rows that a hidden table is filled with are sent to subscribers under
// its hidden name, or not at all.
const schemaPublicationSQL = `
SELECT c.oid, p.pubname::text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_publication_namespace s ON s.pnnspid = c.relnamespace
  JOIN pg_catalog.pg_publication p ON p.oid = s.pnpubid
 WHERE c.oid = ANY ($1::oid[]) AND c.relkind IN ('r', 'p') AND c.relpersistence = 'p'`

func (r *reader) schemaPublicationQuestion(set string) question {
	return question{sql: schemaPublicationSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var name string
		if err := rows.Scan(&oid, &name); err != nil {
			return err
		}
		r.relations[oid].block("publication ", sqltext.QuoteIdent(name), " publishes its schema")
		return nil
	}}
}

// A filter or column list cannot be seen in the columns that all versions share; the JSON of the row has them from 15 on.
const publicationSQL = `
SELECT c.oid, p.pubname::text, p.puballtables, p.pubinsert,
       coalesce(pg_catalog.to_jsonb(pr) ->> 'prqual', pg_catalog.to_jsonb(pr) ->> 'prattrs') IS NOT NULL
  FROM pg_catalog.pg_class c
 CROSS JOIN pg_catalog.pg_publication p
  LEFT JOIN pg_catalog.pg_publication_rel pr ON pr.prpubid = p.oid AND pr.prrelid = c.oid
 WHERE c.oid = ANY ($1::oid[]) AND c.relkind IN ('r', 'p') AND c.relpersistence = 'p'
   AND (p.puballtables OR pr.oid IS NOT NULL)
 ORDER BY c.oid, p.pubname`

func (r *reader) publicationQuestion(set string) question {
	return question{sql: publicationSQL, args: []any{set}, row: func(rows pgx.Rows) error {
		var oid uint32
		var name string
		var all, inserts, partial bool
		if err := rows.Scan(&oid, &name, &all, &inserts, &partial); err != nil {
			return err
		}
		f := r.relations[oid]
		switch {
		case inserts:
			f.block("publication ", sqltext.QuoteIdent(name), " sends its rows to subscribers")
		case all: // takes the new table in by itself
		case partial:
			f.block("publication ", sqltext.QuoteIdent(name), " publishes a part of it")
		default:
			f.after("ALTER PUBLICATION ", ident(name), " ADD TABLE ", place)
		}
		return nil
	}}
}
