package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// rowNumber is the first column of the temporary tables of a load.
const rowNumber = `"pghaul.row"`

// copyInto returns the COPY of the columns into a table, in text and in binary.
func (s *loading) copyInto(table string, columns []LoadColumn, numbered, frozen bool) (text, binary string) {
	list := columnList(columns)
	if numbered {
		list = rowNumber + ", " + list
	}
	head := "COPY " + table + " (" + list + ") FROM STDIN"
	text, binary = head, head+" WITH (FORMAT binary)"
	if frozen {
		text, binary = head+" WITH (FREEZE)", head+" WITH (FORMAT binary, FREEZE)"
	}
	return text, binary
}

func columnList(columns []LoadColumn) string {
	names := make([]string, len(columns))
	for i := range columns {
		names[i] = columns[i].Name
	}
	return sqltext.QuoteIdents(names)
}

// insertHead is an INSERT up to its rows, of all columns that get a value.
func (s *loading) insertHead(target string) string {
	var names []string
	for _, p := range s.pairs {
		names = append(names, p.Target.RealName())
	}
	sql := "INSERT INTO " + target + " (" + sqltext.QuoteIdents(names) + ")"
	if slices.ContainsFunc(s.pairs, func(p Pair) bool { return p.Target.Identity == 'a' }) {
		sql += " OVERRIDING SYSTEM VALUE"
	}
	return sql
}

// insertColumns are the values that method insert sends: with --set also those that only the expressions use.
func (s *loading) insertColumns() []LoadColumn {
	if len(s.sets) == 0 {
		return s.columns
	}
	return s.stageColumns()
}

// insertBatch writes the INSERT of method insert. Parameters of a VALUES list in FROM are text, so with --set they are cast to the columns' types:
// without a length, which an explicit cast would cut values to.
func (s *loading) insertBatch(target string, size int) *LoadBatch {
	b := &LoadBatch{Size: size, Head: s.insertHead(target) + " VALUES "}
	if conflict := s.onConflict(); conflict != "" {
		b.Tail = " " + conflict
	}
	if len(s.sets) == 0 {
		return b
	}
	stage := s.stageColumns()
	var cast []string
	for _, c := range stage {
		item := sqltext.QuoteIdent(c.Name)
		if c.Type.OID != textOID {
			item += "::" + sqltext.QuoteQualified(c.Type.Schema, c.Type.Name) + " AS " + item
		}
		cast = append(cast, item)
	}
	b.Head = s.insertHead(target) + " SELECT " + strings.Join(s.selected(), ", ") + " FROM (SELECT " + strings.Join(cast, ", ") + " FROM (VALUES "
	b.Tail = ") AS given (" + columnList(stage) + ")) AS fields" + b.Tail
	return b
}

// textOID is pg_type.oid of text (pg_type.dat).
const textOID = 25

// loadSteps fills in what the target is told before and after the rows.
func (s *loading) steps(p *Plan, l *layout) {
	switch {
	case l.atomic == PerRange:
		s.recordSteps(p)
	case l.atomic == Swap && s.created && p.Method == Pages:
		s.bornWithPages(p, l)
	case l.atomic == Swap && s.created:
		s.bornHidden(p, l)
	case l.atomic == Swap:
		s.swap(p, l)
		s.keysFirst(p, l)
	default:
		s.innerSteps(p)
	}
	if l.atomic != PerRange && (s.fill() == Truncate || s.fill() == Replace) {
		for _, sql := range s.forgetLoads() {
			p.after(sql)
		}
	}
	s.late(p)
	s.deferIndexes(p)
	s.analyze(p)
}

// keysFirst builds keys before the rows where rows that they refuse are to be set aside.
func (s *loading) keysFirst(p *Plan, l *layout) {
	if !s.savepoints(p.Method) {
		return
	}
	var early, rest []Step
	for _, step := range p.After {
		key, isKey := strings.CutPrefix(step.SQL, "ALTER TABLE "+s.targetName+" ADD CONSTRAINT ")
		switch {
		case step.Own:
			early = append(early, step)
		case isKey && strings.Contains(key, "FOREIGN KEY") && !strings.Contains(key, "REFERENCES "+s.targetName+"("):
			early = append(early, Step{SQL: "ALTER TABLE " + l.hidden + " ADD CONSTRAINT " + key, Own: true})
		default:
			rest = append(rest, step)
		}
	}
	if len(early) > 0 {
		s.note("the indexes and foreign keys of the new table come before its rows, so that rows which they refuse are set aside")
	}
	p.Before, p.After = append(p.Before, early...), rest
}

// makeLoadRecord makes the table in which loads are recorded.
const makeLoadRecord = `DO $pghaul$ BEGIN
IF pg_catalog.to_regclass('pghaul.load') IS NULL THEN
CREATE SCHEMA IF NOT EXISTS pghaul;
CREATE TABLE pghaul.load (key pg_catalog.text PRIMARY KEY, target pg_catalog.text, files pg_catalog.text, position pg_catalog.jsonb, ` +
	`rows pg_catalog.int8, refused pg_catalog.int8, started pg_catalog.timestamptz, changed pg_catalog.timestamptz);
END IF; END $pghaul$`

// recordSQL notes how far the load has come. It changes no row when the record is not the one that this run has left: another run of the same load
// has committed rows meanwhile.
func (s *loading) recordSQL() string {
	return "INSERT INTO pghaul.load AS l (key, target, files, position, rows, refused, started, changed) VALUES ($1, " + unbound(s.targetName) + ", " +
		unbound(s.someFiles()) + ", $2, $3, $4, pg_catalog.now(), pg_catalog.clock_timestamp()) ON CONFLICT (key) DO UPDATE SET position = EXCLUDED.position, " +
		"rows = EXCLUDED.rows, refused = EXCLUDED.refused, changed = EXCLUDED.changed WHERE l.position OPERATOR(pg_catalog.=) $5"
}

// unbound is a string constant in which nothing looks like a parameter.
func unbound(text string) string {
	quoted := sqltext.QuoteLiteral(text)
	if !strings.Contains(quoted, "$") {
		return quoted
	}
	if !strings.HasPrefix(quoted, "E") {
		quoted = "E" + quoted
	}
	return strings.ReplaceAll(quoted, "$", `\x24`)
}

// someFiles names the first files.
func (s *loading) someFiles() string {
	const shown = 3
	files := s.given.Files
	if more := len(files) - shown; more > 0 {
		return strings.Join(files[:shown], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(files, ", ")
}

// recordSteps are those of a load that commits again and again. What is recorded stays when it fails, so a missing table is made whole before
// its rows.
func (s *loading) recordSteps(p *Plan) {
	p.Before = append(p.Before, Step{SQL: makeLoadRecord, Own: true})
	p.Load.Record = s.recordSQL()
	switch {
	case s.created:
		d := s.facts.Definition
		all := s.makeTable(s.target.Name)
		for _, sql := range append(append([]string(nil), d.Indexes...), d.After...) {
			all = append(all, trimQuery(sql))
		}
		p.Before = append(p.Before, Step{SQL: together(all), Own: true})
	case s.fill() == Truncate && s.going() == nil:
		p.Before = append(p.Before, Step{SQL: together(append([]string{s.truncateSQL()}, s.forgetLoads()...)), Own: true})
		s.note("the old rows are removed before the first ones are loaded, and stay removed when the load is interrupted")
	}
}

// forgetLoads drops the records of loads whose rows this one removes.
func (s *loading) forgetLoads() []string {
	var all []string
	forget := func(key string) {
		if key != "" {
			all = append(all, "DELETE FROM pghaul.load WHERE key = "+sqltext.QuoteLiteral(key))
		}
	}
	if r := s.given.Recorded; r != nil {
		forget(r.Key)
	}
	for _, u := range s.given.Unfinished {
		forget(u.Key)
	}
	return all
}

// analyze has the server's planner told of the new rows. Unless it is asked for, that is left to autovacuum, as after any COPY, but for a new table:
// of that the server's planner knows nothing at all.
func (s *loading) analyze(p *Plan) {
	isNew := s.created || s.fill() == Replace
	if s.asked.Analyze == No || s.asked.Analyze == Decide && !isNew || !s.created && s.target.Kind != Table && s.target.Kind != Partitioned {
		return
	}
	if !s.created && !s.target.IsOwner && !s.facts.TargetServer.Superuser {
		p.Notes = append(p.Notes, fmt.Sprintf("no ANALYZE: role %q does not own the table", s.facts.TargetServer.User))
		return
	}
	p.After = append(p.After, Step{SQL: "ANALYZE " + s.targetName, Own: true})
}
