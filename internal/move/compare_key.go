package move

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

const (
	// bucketRows is the wanted number of rows of one range: so many are looked at one by one after a difference.
	bucketRows = 20_000
	maxBuckets = 1000
	// samplePages is how many pages of a table are read to find bounds.
	samplePages = 1000
	// hashBuckets is the number of ranges of tables that have no key whose order both servers share. A power of two.
	hashBuckets = 64
	// nullBucket holds the rows whose key is NULL, which unique keys allow.
	nullBucket = -1
)

// buckets cuts the rows of both sides into the same ranges, so that each can be compared alone.
type buckets struct {
	// key are the indexes of the columns that name a row; empty when there is no key.
	key []int
	// bounds are ascending literals of the single key column: range i holds keys from bounds[i-1] up to bounds[i], without it.
	bounds []string
	// ordered: ranges are cut by bounds of the key, else by the hash of the key or of the row.
	ordered bool
	order   keyOrder
	name    string // of the single key column, as users write it
	single  bool   // all rows are one range
}

// keyOrder is a type whose values both servers order in the same way.
type keyOrder struct {
	cast    string // the type by which both sides' keys are compared
	collate string // ` COLLATE "C"` for strings, whose other collations differ between machines
}

// count is the number of ranges, that of NULL keys left out.
func (b *buckets) count() int {
	switch {
	case b.single:
		return 1
	case b.ordered:
		return len(b.bounds) + 1
	default:
		return hashBuckets
	}
}

// keyed chooses the columns that name rows: the source's first key of a single column with a shared order, else its first key at all, else
// the target's. pairs are the columns of both sides.
func keyed(source, target *side, sameEncoding bool) *buckets {
	var first []int
	for _, s := range []*side{source, target} {
		for _, k := range s.relation.Keys {
			columns := indexesOf(s.columns, k.Columns)
			if columns == nil {
				continue
			}
			if first == nil {
				first = columns
			}
			if len(columns) > 1 {
				continue
			}
			i := columns[0]
			if order, ok := sharedOrder(source.columns[i].Type, target.columns[i].Type, sameEncoding); ok {
				return &buckets{key: columns, ordered: true, order: order, name: ident(source.columns[i].Name)}
			}
		}
	}
	return &buckets{key: first}
}

// indexesOf returns where the names stand among the columns, or nil when one does not.
func indexesOf(columns []planner.Column, names []string) []int {
	var found []int
	for _, n := range names {
		i := slices.IndexFunc(columns, func(c planner.Column) bool { return c.Name == n })
		if i < 0 {
			return nil
		}
		found = append(found, i)
	}
	return found
}

func sharedOrder(a, b planner.Type, sameEncoding bool) (keyOrder, bool) {
	a, b = baseType(a), baseType(b)
	switch {
	case isInteger(a) && isInteger(b):
		return keyOrder{cast: "int8"}, true
	case isString(a) && isString(b) && sameEncoding:
		return keyOrder{cast: "text", collate: ` COLLATE "C"`}, true
	case !catalogType(a) || a.OID != b.OID:
		return keyOrder{}, false
	}
	switch a.Name {
	case "oid", "numeric", "date", "timestamp", "timestamptz", "time", "uuid":
		return keyOrder{cast: a.Name}, true
	}
	return keyOrder{}, false
}

// keyValue is the key of a side by which its ranges are cut.
func (b *buckets) keyValue(s *side) string {
	return ident(s.columns[b.key[0]].RealName()) + "::" + b.order.cast + b.order.collate
}

// plainKey is keyValue without a cast where comparison operators do without, so that an index can serve.
func (b *buckets) plainKey(s *side) string {
	if b.order.collate != "" {
		return b.keyValue(s)
	}
	return ident(s.columns[b.key[0]].RealName())
}

// findBounds asks the first side that can be sampled for bounds between which about bucketRows rows lie.
func (b *buckets) findBounds(ctx context.Context, sides ...*scan) error {
	for _, s := range sides {
		if !s.sampled() {
			continue
		}
		bounds, err := b.sample(ctx, s)
		if err != nil {
			return err
		}
		if len(bounds) > 0 || s.pages() > 0 {
			b.bounds = bounds
			return nil
		}
	}
	if slices.ContainsFunc(sides, (*scan).sampled) {
		return nil
	}
	b.ordered = false
	return nil
}

func (b *buckets) sample(ctx context.Context, s *scan) ([]string, error) {
	percent := 100.0
	if pages := s.pages(); pages > samplePages {
		percent = 100 * float64(samplePages) / float64(pages)
	}
	sql := fmt.Sprintf(`WITH sample AS MATERIALIZED (SELECT %s AS k FROM %s TABLESAMPLE SYSTEM (%g) REPEATABLE (0)%s)
SELECT (SELECT count(*) FROM sample), k::text FROM unnest((SELECT percentile_disc(
ARRAY(SELECT g::float8 / %d FROM generate_series(1, %d) AS g)) WITHIN GROUP (ORDER BY k) FROM sample)) AS k`,
		b.keyValue(s.side), s.from(), percent, s.filter(), maxBuckets, maxBuckets-1)
	rows, err := s.sessions[0].table(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("sample the keys of %s: %w", s.name, err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	sampled, err := strconv.ParseFloat(rows[0][0], 64)
	if err != nil {
		return nil, fmt.Errorf("sample the keys of %s: %w", s.name, err)
	}
	wanted := min(maxBuckets, int(sampled*100/percent)/bucketRows)
	var bounds []string
	for i := 1; i < wanted; i++ {
		bound := rows[min(i*maxBuckets/wanted, len(rows))-1][1]
		if len(bounds) == 0 || bounds[len(bounds)-1] != bound {
			bounds = append(bounds, bound)
		}
	}
	return bounds, nil
}

// number is the expression for the number of a row's range.
func (b *buckets) number(s *side, keyHash, rowHash string) string {
	switch {
	case b.single:
		return "0"
	case b.ordered && len(b.bounds) == 0:
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN %d ELSE 0 END", b.keyValue(s), nullBucket)
	case b.ordered:
		literals := make([]string, len(b.bounds))
		for i, v := range b.bounds {
			literals[i] = sqltext.QuoteLiteral(v)
		}
		return fmt.Sprintf("coalesce(width_bucket(%s, ARRAY[%s]::%s[]), %d)", b.keyValue(s), strings.Join(literals, ", "), b.order.cast, nullBucket)
	case len(b.key) > 0:
		return fmt.Sprintf("(%s & %d)::int4", keyHash, hashBuckets-1)
	default:
		return fmt.Sprintf("(%s & %d)::int4", rowHash, hashBuckets-1)
	}
}

// condition is the SQL condition for the rows of the given ranges on one side.
func (b *buckets) condition(s *side, numbers []int, keyHash, rowHash string) string {
	if b.single {
		return "true"
	}
	var parts []string
	if b.ordered {
		for _, n := range numbers {
			parts = append(parts, b.between(b.plainKey(s), n, "::"+b.order.cast))
		}
		return "(" + strings.Join(parts, ") OR (") + ")"
	}
	for _, n := range numbers {
		parts = append(parts, strconv.Itoa(n))
	}
	return b.number(s, keyHash, rowHash) + " IN (" + strings.Join(parts, ", ") + ")"
}

// label names a range for people.
func (b *buckets) label(n int) string {
	switch {
	case b.single:
		return "all rows"
	case b.ordered && n != nullBucket && len(b.bounds) == 0:
		return "all rows"
	case b.ordered:
		return b.between(b.name+b.order.collate, n, "")
	default:
		return fmt.Sprintf("rows whose hash bucket is %d of %d", n, hashBuckets)
	}
}

// between is the condition for a key in an ordered range. Integers are written bare, as users do.
func (b *buckets) between(key string, n int, cast string) string {
	if n == nullBucket {
		return strings.TrimSuffix(key, b.order.collate) + " IS NULL"
	}
	literal := func(i int) string {
		if b.order.cast == "int8" {
			return b.bounds[i]
		}
		return sqltext.QuoteLiteral(b.bounds[i]) + cast
	}
	var parts []string
	if n > 0 {
		parts = append(parts, key+" >= "+literal(n-1))
	}
	if n < len(b.bounds) {
		parts = append(parts, key+" < "+literal(n))
	}
	if len(parts) == 0 {
		return key + " IS NOT NULL"
	}
	return strings.Join(parts, " AND ")
}
