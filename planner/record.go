package planner

// makeRecord makes the tables in which ranges are recorded. CREATE ... IF NOT EXISTS would ask for privileges even where there is nothing
// to make. The reference keeps a second run of the same move, which goes on after the first one has finished and removed the record, from
// moving a range again.
const makeRecord = `DO $pghaul$ BEGIN
IF pg_catalog.to_regclass('pghaul.done_range') IS NULL THEN
CREATE SCHEMA IF NOT EXISTS pghaul;
CREATE TABLE pghaul.move (key pg_catalog.text PRIMARY KEY, source pg_catalog.text, target pg_catalog.text, snapshot pg_catalog.text, ` +
	`ranges pg_catalog.jsonb, started pg_catalog.timestamptz);
CREATE TABLE pghaul.done_range (key pg_catalog.text REFERENCES pghaul.move, range pg_catalog.int4, rows pg_catalog.int8, finished pg_catalog.timestamptz, PRIMARY KEY (key, range));
END IF; END $pghaul$`

const recordRange = "INSERT INTO pghaul.done_range (key, range, rows, finished) VALUES ($1, $2, $3, pg_catalog.clock_timestamp())"

// rangeSteps are those of a move that commits range by range. Nothing is taken back when it fails: what is recorded stays. So a missing
// table is made whole before its rows, since a later move that goes on could not tell which of its indexes were built.
func (s *situation) rangeSteps(p *Plan) {
	p.Before = append(p.Before, Step{SQL: makeRecord, Own: true})
	p.Record = recordRange
	switch {
	case s.created:
		d := s.facts.Definition
		all := s.makeTable(s.target.Name)
		for _, sql := range append(append([]string(nil), d.Indexes...), d.After...) {
			all = append(all, trimQuery(sql))
		}
		p.Before = append(p.Before, Step{SQL: together(all), Own: true})
		s.note("the table is made with its indexes before the rows, so that an interrupted copy can go on")
	case s.fill() == Truncate && s.recorded() == nil:
		p.Before = append(p.Before, Step{SQL: together(append([]string{s.truncateSQL()}, s.forgetSQL()...)), Own: true})
		s.note("the old rows are removed before the first range and stay removed when the copy is interrupted")
	}
}
