package move

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/rowfile"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

const (
	stateCheckViolation = "23514"
	// weedPages is how many pages are looked through at once. A page has 291 rows at most, so no more than 300 000 are listed.
	weedPages = 1024
	// weedRows is how many rows with keys of others are taken out at once.
	weedRows = 50_000
)

// rule is a condition that no INSERT has tested.
type rule struct {
	broken string // SQL, true for a row that breaks it
	why    rowfile.RowError
}

// rules are the CHECK constraints of the new table and of its columns' domains. They are read from the new table, on whose column lists they
// are written.
func (w *rowPages) rules(ctx context.Context, s *session) ([]rule, error) {
	rows, err := s.table(ctx, `SELECT conname, pg_catalog.pg_get_expr(conbin, conrelid) FROM pg_catalog.pg_constraint c
WHERE contype = 'c' AND coalesce((pg_catalog.to_jsonb(c) ->> 'conenforced')::pg_catalog.bool, true) AND conrelid = `+quoted(w.table.plan.Parts[0].Target)+"::pg_catalog.regclass ORDER BY conname")
	if err != nil {
		return nil, err
	}
	var all []rule
	for i := range w.load.plan.Columns {
		of, err := domainRules(ctx, s, &w.load.plan.Columns[i])
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	for _, r := range rows {
		all = append(all, rule{broken: "NOT (" + r[1] + ")", why: rowfile.RowError{State: stateCheckViolation,
			Message: fmt.Sprintf("new row for relation %q violates check constraint %q", w.load.relation, r[0])}})
	}
	return all, nil
}

// domainRules are what a column's domain, and those that it is made of, demand. VALUE in their expressions is read as the name of a column.
func domainRules(ctx context.Context, s *session, c *planner.LoadColumn) ([]rule, error) {
	var all []rule
	column := sqltext.QuoteIdent(c.Name)
	for t := &c.Type; t.Class == planner.Domain && t.Base != nil; t = t.Base {
		rows, err := s.table(ctx, fmt.Sprintf(`SELECT '', '', pg_catalog.format_type(oid, NULL) FROM pg_catalog.pg_type WHERE typnotnull AND oid = %[1]d
UNION ALL SELECT conname, pg_catalog.pg_get_expr(conbin, 0), pg_catalog.format_type(contypid, NULL) FROM pg_catalog.pg_constraint WHERE contype = 'c' AND contypid = %[1]d ORDER BY 1`, t.OID))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			one := rule{broken: "pg_catalog.num_nulls(" + column + ") > 0", why: rowfile.RowError{Column: c.Name, State: stateNotNull, Message: "domain " + r[2] + " does not allow null values"}}
			if r[1] != "" {
				one.broken = "NOT (SELECT (" + r[1] + ") FROM (SELECT " + column + "::" + baseSQL(&c.Type) + " AS value) AS v)"
				one.why.State, one.why.Message = stateCheckViolation, fmt.Sprintf("value for domain %s violates check constraint %q", r[2], r[0])
			}
			one.why.Field = c.Field + 1
			all = append(all, one)
		}
	}
	return all, nil
}

// baseSQL is the type below all domains.
func baseSQL(t *planner.Type) string {
	for t.Class == planner.Domain && t.Base != nil {
		t = t.Base
	}
	return t.SQL
}

// whichRule is an expression for the number of the first rule that a row breaks, and a condition for the rows that break one.
func whichRule(rules []rule) (number, condition string) {
	var cases, broken []string
	for i, r := range rules {
		cases, broken = append(cases, "WHEN "+r.broken+" THEN "+strconv.Itoa(i)), append(broken, "("+r.broken+")")
	}
	return "CASE " + strings.Join(cases, " ") + " END", strings.Join(broken, " OR ")
}

// check ends the load at a row that breaks a rule.
func (w *rowPages) check(ctx context.Context, rules []rule) error {
	if len(rules) == 0 {
		return nil
	}
	number, condition := whichRule(rules)
	// With constraint_exclusion on, the server would answer from the constraint itself.
	rows, err := w.copy.dst.table(ctx, "SET LOCAL constraint_exclusion = off; SELECT ctid, "+number+" FROM ONLY "+w.table.plan.Parts[0].Target+" WHERE "+condition+" LIMIT 1")
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	if len(rows) == 0 {
		return nil
	}
	odd, err := oddRows(rows, rules)
	if err != nil {
		return err
	}
	failure := error(&planner.Error{Message: "cannot load " + w.load.plan.Input + " into " + w.load.target, Cause: odd[0].why, Hint: refusalHint(odd[0].why.State, "")})
	if !w.load.readable() {
		return failure
	}
	w.places.sort()
	again := &inputAgain{load: w.load, places: w.places}
	defer again.close()
	if err := again.hand(ctx, odd, func(p *piece, bad []badRow) error {
		failure = w.load.refusedRow(p, bad[0])
		return nil
	}); err != nil {
		return err
	}
	return failure
}

// oddRows reads places and the numbers of rules.
func oddRows(rows [][]string, rules []rule) ([]oddRow, error) {
	all := make([]oddRow, len(rows))
	for i, r := range rows {
		at, err := parseTid(r[0])
		if err != nil {
			return nil, err
		}
		number, err := strconv.Atoi(r[1])
		if err != nil {
			return nil, err
		}
		all[i] = oddRow{at: at, why: &rules[number].why}
	}
	return all, nil
}

// weed takes the rows that break a rule out of the new table, which is committed and which nobody knows, and puts them aside.
func (w *rowPages) weed(ctx context.Context) error {
	if w.places != nil {
		w.places.sort()
	}
	if !w.load.setAside() {
		return nil
	}
	return w.transaction(ctx, func(s *session) error {
		rules, err := w.rules(ctx, s)
		if err != nil || len(rules) == 0 {
			return err
		}
		number, condition := whichRule(rules)
		again := &inputAgain{load: w.load, places: w.places}
		defer again.close()
		for first := uint32(0); first < w.mainBlocks.blocks; first += weedPages {
			rows, err := s.table(ctx, fmt.Sprintf("SELECT ctid, %s FROM ONLY %s WHERE ctid >= '(%d,0)' AND ctid < '(%d,0)' AND (%s) ORDER BY ctid",
				number, w.table.plan.Parts[0].Target, first, uint64(first)+weedPages, condition))
			if err != nil {
				return err
			}
			odd, err := oddRows(rows, rules)
			if err != nil {
				return err
			}
			if err := w.remove(ctx, s, odd); err != nil {
				return err
			}
			if err := again.hand(ctx, odd, w.load.refusals.take); err != nil {
				return err
			}
		}
		return nil
	})
}

// transaction runs f in a transaction on the target.
func (w *rowPages) transaction(ctx context.Context, f func(s *session) error) error {
	t := w.table
	s, err := t.target.take(ctx, t.encoding)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	if _, err = s.exec(ctx, beginWrite(t.encoding)+"; SET LOCAL constraint_exclusion = off"); err == nil {
		if err = f(s); err == nil {
			_, err = s.exec(ctx, "COMMIT")
		}
	}
	if err != nil {
		t.target.drop(s)
		return &sideError{side: "target", err: err}
	}
	t.target.give(t.encoding, s)
	return nil
}

// remove deletes rows of the new table.
func (w *rowPages) remove(ctx context.Context, s *session, rows []oddRow) error {
	if len(rows) == 0 {
		return nil
	}
	places := make([]string, len(rows))
	for i, r := range rows {
		places[i] = `"` + r.at.String() + `"`
	}
	tag, err := s.exec(ctx, "DELETE FROM ONLY "+w.table.plan.Parts[0].Target+" WHERE ctid = ANY ('{"+strings.Join(places, ",")+"}')")
	if err != nil {
		return err
	}
	if tag.RowsAffected() != int64(len(rows)) {
		return fmt.Errorf("%d of %d rows were removed", tag.RowsAffected(), len(rows))
	}
	w.table.rows.Add(-tag.RowsAffected())
	w.table.gauge.moved(-tag.RowsAffected(), 0)
	return nil
}

// uniqueFirst builds the unique indexes of the new table, and takes out the rows that have another one's key. It returns the steps that are left.
func (r *run) uniqueFirst(ctx context.Context, t *table, steps []planner.Step, undo *undoLog) ([]planner.Step, error) {
	if t.load == nil || t.load.pages == nil {
		return steps, nil
	}
	w := t.load.pages
	var left []planner.Step
	for _, step := range steps {
		key := w.keyOf(step)
		if key == nil {
			left = append(left, step)
			continue
		}
		err := runOwn(ctx, t, []planner.Step{step}, 1, undo)
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == stateUniqueViolation {
			if !w.setsAside() {
				return nil, &planner.Error{Message: "cannot load " + w.load.plan.Input + " into " + w.load.target, Detail: pg.Detail, Hint: refusalHint(pg.Code, ""), Cause: &brief{text: duplicateOf(key), err: err}}
			}
			if err = w.weedKey(ctx, key); err == nil {
				err = runOwn(ctx, t, []planner.Step{step}, 1, undo)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}

// duplicateOf is what the server says of a row whose key another one has.
func duplicateOf(key *planner.IndexDef) string {
	return fmt.Sprintf("duplicate key value violates unique constraint %q", key.Name)
}

// keyOf is the target's unique index that a step builds anew; nil for another step.
func (w *rowPages) keyOf(step planner.Step) *planner.IndexDef {
	if !step.Own || !strings.HasPrefix(step.SQL, "CREATE UNIQUE INDEX ") {
		return nil
	}
	indexes := w.table.facts.Target.Rebuild.Indexes
	at := slices.IndexFunc(indexes, func(x planner.IndexDef) bool {
		return x.Unique && strings.HasSuffix(step.SQL, " ON "+w.table.plan.Parts[0].Target+" "+x.Method)
	})
	if at < 0 {
		return nil
	}
	return &indexes[at]
}

// weedKey takes out the rows whose key another row has: the first one stays, or with keep-new the last.
func (w *rowPages) weedKey(ctx context.Context, key *planner.IndexDef) error {
	return w.transaction(ctx, func(s *session) error {
		list, err := w.sameKeys(ctx, s, key)
		if err != nil {
			return err
		}
		why := []rule{{why: rowfile.RowError{State: stateUniqueViolation, Message: duplicateOf(key)}}}
		if _, err := s.exec(ctx, "DECLARE pghaul NO SCROLL CURSOR FOR "+list); err != nil {
			return err
		}
		again := &inputAgain{load: w.load, places: w.places}
		defer again.close()
		for {
			rows, err := s.table(ctx, "FETCH "+strconv.Itoa(weedRows)+" FROM pghaul")
			if err != nil || len(rows) == 0 {
				return err
			}
			odd, err := oddRows(rows, why)
			if err != nil {
				return err
			}
			if err := w.remove(ctx, s, odd); err != nil {
				return err
			}
			if err := w.putAside(ctx, again, odd); err != nil {
				return err
			}
		}
	})
}

// putAside does with rows that have another one's key what was asked for.
func (w *rowPages) putAside(ctx context.Context, again *inputAgain, odd []oddRow) error {
	switch w.load.plan.OnDuplicate {
	case planner.DuplicateError:
		return again.hand(ctx, odd, w.load.refusals.take)
	case planner.DuplicateKeepOld:
		w.load.duplicates.Add(int64(len(odd)))
		return again.hand(ctx, odd, w.load.refusals.keepRows)
	default:
		w.load.duplicates.Add(int64(len(odd)))
		return nil
	}
}

// keepRows writes rows that gave way to others with the same key. They count as duplicates, not as refused.
func (r *refusals) keepRows(p *piece, rows []badRow) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, row := range rows {
		if err := r.write(p, row); err != nil {
			return err
		}
	}
	return nil
}

// sameKeys is a query for the places of the rows to take out, with 0 for the number of their rule.
func (w *rowPages) sameKeys(ctx context.Context, s *session, key *planner.IndexDef) (string, error) {
	rows, err := s.table(ctx, `SELECT pg_catalog.pg_get_indexdef(i.indexrelid, n, false), coalesce(pg_catalog.pg_get_expr(i.indpred, i.indrelid), 'true'), coalesce((pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct')::pg_catalog.bool, false)
FROM pg_catalog.pg_index i, pg_catalog.generate_series(1, i.indnkeyatts) n WHERE i.indexrelid = `+quoted(sqltext.QuoteQualified(w.table.facts.Target.Schema, key.Name))+"::pg_catalog.regclass ORDER BY n")
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", fmt.Errorf("index %s is gone", key.Name)
	}
	var keys, conditions []string
	conditions = append(conditions, "("+rows[0][1]+")")
	for _, r := range rows {
		keys = append(keys, "("+r[0]+")")
		if r[2] == "f" {
			conditions = append(conditions, "("+r[0]+") IS NOT NULL")
		}
	}
	order := "ctid"
	if w.load.plan.OnDuplicate == planner.DuplicateKeepNew {
		order = "ctid DESC"
	}
	return "SELECT ctid, 0 FROM (SELECT ctid, pg_catalog.row_number() OVER (PARTITION BY " + strings.Join(keys, ", ") + " ORDER BY " + order + ") AS pghaul_n FROM ONLY " +
		w.table.plan.Parts[0].Target + " WHERE " + strings.Join(conditions, " AND ") + ") AS s WHERE pghaul_n > 1 ORDER BY ctid", nil
}
