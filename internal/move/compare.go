package move

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/planner"
)

// Comparison is the outcome of comparing one table's source and target.
type Comparison struct {
	Level VerifyLevel
	// Source and Target are quoted, qualified names.
	Source, Target         string
	SourceRows, TargetRows int64
	// Ranges is the number of ranges that were compared one by one.
	Ranges int
	// Different are the ranges that are not the same on both sides, in order.
	Different []Difference
	// Notes say how columns of unequal types were compared, and what could not be named: whole sentences.
	Notes    []string
	Duration time.Duration
}

// Equal reports whether no difference was found.
func (c *Comparison) Equal() bool { return len(c.Different) == 0 }

// Difference is one range that is not the same on both sides.
type Difference struct {
	// Range is a condition such as "id >= 1000 AND id < 2000", or "rows whose hash bucket is 17 of 64", or "all rows".
	Range                  string
	SourceRows, TargetRows int64
	// Keys are up to 5 rows that differ, such as "id=1001: missing in the target". Empty where the rows were not looked at one by one.
	Keys []string
}

// side is one half of a comparison.
type side struct {
	// sessions are inside transactions that see the wanted snapshot. They are used side by side, each by one goroutine.
	sessions []*session
	relation planner.Relation
	columns  []planner.Column // paired by index with the other side's
	where    string           // a condition over the relation's columns, or empty
}

// compareSides compares two sides. Nothing is changed on either server but the settings of the open transactions.
//
// A sum over 64-bit hashes can be equal by chance once in 2^64 times. Level VerifyCount compares numbers of rows only.
func compareSides(ctx context.Context, source, target side, level VerifyLevel) (*Comparison, error) {
	started := time.Now()
	c, err := prepareComparison(ctx, &source, &target, level)
	if err != nil {
		return nil, err
	}
	if err := c.tally(ctx); err != nil {
		return nil, c.explain(err)
	}
	differing := c.differing()
	if err := c.nameRows(ctx, differing); err != nil {
		return nil, c.explain(err)
	}
	c.result.Duration = time.Since(started)
	return c.result, nil
}

// comparison is a comparison that goes on. What stands in arrays of two is the source's first.
type comparison struct {
	sides   [2]*scan
	forms   []form
	buckets *buckets
	rowHash [2]string
	keyHash [2]string
	totals  [2]map[int]*tally
	result  *Comparison
}

func prepareComparison(ctx context.Context, source, target *side, level VerifyLevel) (*comparison, error) {
	if len(source.columns) != len(target.columns) {
		return nil, fmt.Errorf("compare %d columns with %d", len(source.columns), len(target.columns))
	}
	c := &comparison{result: &Comparison{Level: level}}
	group, each := errgroup.WithContext(ctx)
	for i, s := range []*side{source, target} {
		group.Go(func() error {
			var err error
			if c.sides[i], err = survey(each, s); err != nil {
				return err
			}
			return c.sides[i].hush(each)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	c.result.Source, c.result.Target = c.sides[0].name, c.sides[1].name
	same := sameEncoding(source.sessions[0], target.sessions[0])
	for i := range source.columns {
		f := formOf(source.columns[i], target.columns[i], same)
		c.forms = append(c.forms, f)
		if f.note != "" && level == VerifyHash {
			c.result.Notes = append(c.result.Notes, f.note)
		}
	}
	c.buckets = keyed(source, target, same)
	c.buckets.single = level == VerifyCount && len(c.buckets.key) == 0
	if c.buckets.ordered {
		if err := c.buckets.findBounds(ctx, c.sides[:]...); err != nil {
			return nil, err
		}
	}
	for i := range c.sides {
		c.rowHash[i], c.keyHash[i] = c.hashes(i, level)
	}
	c.result.Ranges = c.buckets.count()
	return c, nil
}

// sameEncoding reports whether equal texts are equal bytes on both servers. SQL_ASCII takes the bytes as they come.
func sameEncoding(a, b *session) bool {
	x, y := a.conn.ParameterStatus("server_encoding"), b.conn.ParameterStatus("server_encoding")
	return x == y || x == "SQL_ASCII" || y == "SQL_ASCII"
}

// hush turns off the compiler of expressions for the transaction: it would compile each unit's statement anew.
func (s *scan) hush(ctx context.Context) error {
	for _, session := range s.sessions {
		if _, err := session.exec(ctx, "SET LOCAL jit = off"); err != nil {
			return fmt.Errorf("prepare to read %s: %w", s.name, err)
		}
	}
	return nil
}

// hashes are the expressions for the row's and its key's hash on one side. Counting needs no hash of rows, and a table without key has no other.
func (c *comparison) hashes(i int, level VerifyLevel) (row, key string) {
	var all, keys []ingredient
	for _, f := range c.forms {
		all = append(all, f.of(i))
	}
	for _, k := range c.buckets.key {
		keys = append(keys, all[k])
	}
	row = "0::bigint"
	if level == VerifyHash {
		row = rowHash(all)
	}
	if len(keys) == 0 {
		return row, row
	}
	return row, rowHash(keys)
}

func (f form) of(i int) ingredient {
	if i == 0 {
		return f.source
	}
	return f.target
}

// tally reads both sides at the same time.
func (c *comparison) tally(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range c.sides {
		group.Go(func() error {
			var err error
			c.totals[i], err = s.tallies(ctx, c.statement(i))
			return err
		})
	}
	return group.Wait()
}

func (c *comparison) statement(i int) func(unit string) string {
	b := c.buckets
	if !b.single && !b.ordered && len(b.key) == 0 {
		// The row's hash is the number of its range too. Without OFFSET 0 it would be computed twice.
		return func(unit string) string {
			return fmt.Sprintf("SELECT %s, count(*), sum(h) FROM (SELECT %s AS h FROM %s OFFSET 0) AS hashed GROUP BY 1",
				b.number(c.sides[i].side, "h", "h"), c.rowHash[i], unit)
		}
	}
	number := b.number(c.sides[i].side, c.keyHash[i], c.rowHash[i])
	return func(unit string) string {
		return fmt.Sprintf("SELECT %s, count(*), sum(%s) FROM %s GROUP BY 1", number, c.rowHash[i], unit)
	}
}

// differing adds up the rows, notes the ranges that differ and returns their numbers in the same order.
func (c *comparison) differing() []int {
	numbers := map[int]bool{}
	for i := range c.totals {
		for n := range c.totals[i] {
			numbers[n] = true
		}
	}
	var found []int
	var none tally
	for _, n := range slices.Sorted(maps.Keys(numbers)) {
		a, b := c.totals[0][n], c.totals[1][n]
		if a == nil {
			a = &none
		}
		if b == nil {
			b = &none
		}
		c.result.SourceRows += a.rows
		c.result.TargetRows += b.rows
		if a.rows != b.rows || a.sum.Cmp(&b.sum) != 0 {
			found = append(found, n)
			c.result.Different = append(c.result.Different,
				Difference{Range: c.buckets.label(n), SourceRows: a.rows, TargetRows: b.rows})
		}
	}
	return found
}

// explain adds to a server's refusal of a value (SQLSTATE class 22) how columns of unequal types were compared, as that is its likely cause.
func (c *comparison) explain(err error) error {
	failure := &planner.Error{Message: fmt.Sprintf("cannot compare %s with %s", c.result.Source, c.result.Target), Cause: err}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && strings.HasPrefix(pg.Code, "22") {
		failure.Detail = strings.Join(c.result.Notes, " ")
	}
	return failure
}
