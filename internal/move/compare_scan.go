package move

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// unitBytes is the size, heap and TOAST together, of what one statement reads: enough that its start costs nothing, and little enough that
// sessions end at about the same time.
const unitBytes = 256 << 20

// scan reads one side once, cut by pages so that all its sessions have work, and adds up counts and hashes by range.
type scan struct {
	*side
	name  string // quoted, qualified
	kind  planner.Kind
	parts []scanPart
}

// scanPart is a relation with storage of its own, or one that is read as a whole.
type scanPart struct {
	from  string
	paged bool // it can be cut by ctid
	pages int64
	bytes int64
}

// tally is what a range adds up to.
type tally struct {
	rows int64
	sum  big.Int
}

// survey looks at how the side is stored now: the planner's facts may be older than its rows.
func survey(ctx context.Context, s *side) (*scan, error) {
	if s.relation.Kind == planner.Query {
		return &scan{side: s, name: "(query)", kind: planner.Query, parts: []scanPart{{from: "(" + s.relation.Query + "\n) AS q"}}}, nil
	}
	name := sqltext.QuoteQualified(s.relation.Schema, s.relation.Name)
	found := &scan{side: s, name: name, kind: s.relation.Kind}
	rows, err := s.sessions[0].table(ctx, fmt.Sprintf(`WITH root AS (SELECT to_regclass(%s)::oid AS oid)
SELECT c.relkind, n.nspname, c.relname, coalesce(a.amname, ''), c.oid = root.oid, has_table_privilege(c.oid, 'SELECT'),
CASE WHEN c.relkind IN ('r', 'm') THEN pg_relation_size(c.oid) / current_setting('block_size')::int8 ELSE 0 END,
CASE WHEN c.relkind IN ('r', 'm') THEN pg_table_size(c.oid) ELSE 0 END
FROM root, pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace LEFT JOIN pg_am AS a ON a.oid = c.relam
WHERE c.oid = root.oid OR c.oid IN (SELECT relid FROM pg_partition_tree(root.oid) WHERE isleaf) ORDER BY c.oid = root.oid DESC, c.oid`,
		sqltext.QuoteLiteral(name)))
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	if len(rows) == 0 {
		return nil, &planner.Error{Message: fmt.Sprintf("relation %s does not exist", name)}
	}
	found.kind = planner.Kind(rows[0][0][0])
	if found.kind == planner.Partitioned {
		rows = rows[1:]
	} else {
		rows = rows[:1]
	}
	for _, r := range rows {
		if r[5] != "t" && r[4] != "t" {
			// The privilege on the partitioned table covers its rows only when they are read through it.
			found.parts = nil
			break
		}
		found.parts = append(found.parts, newScanPart(r))
	}
	if len(found.parts) == 0 {
		found.parts = []scanPart{{from: name}}
	}
	return found, nil
}

func newScanPart(row []string) scanPart {
	p := scanPart{from: sqltext.QuoteQualified(row[1], row[2])}
	kind := planner.Kind(row[0][0])
	if kind == planner.Table {
		p.from = "ONLY " + p.from
	}
	p.paged = (kind == planner.Table || kind == planner.MatView) && row[3] == "heap"
	// They come from pg_relation_size, whose type is bigint.
	p.pages, _ = strconv.ParseInt(row[6], 10, 64)
	p.bytes, _ = strconv.ParseInt(row[7], 10, 64)
	return p
}

func (s *scan) pages() int64 {
	var n int64
	for _, p := range s.parts {
		n += p.pages
	}
	return n
}

// sampled reports whether TABLESAMPLE can read the side.
func (s *scan) sampled() bool {
	for _, p := range s.parts {
		if !p.paged {
			return false
		}
	}
	return true
}

// from is the whole side as a FROM item.
func (s *scan) from() string {
	if len(s.parts) == 1 {
		return s.parts[0].from
	}
	return s.name
}

// filter is the side's condition with its WHERE. A line break ends a comment that the user's condition may end with.
func (s *scan) filter(conditions ...string) string {
	if s.where != "" {
		conditions = append(conditions, s.where)
	}
	text := ""
	for i, c := range conditions {
		if i == 0 {
			text += " WHERE "
		} else {
			text += " AND "
		}
		text += "(" + c + "\n)"
	}
	return text
}

// units cuts the side into FROM clauses with conditions. The last of each part has no upper bound.
func (s *scan) units() []string {
	var all []string
	for _, p := range s.parts {
		if !p.paged || p.pages == 0 || len(s.sessions) == 1 {
			all = append(all, p.from+s.filter())
			continue
		}
		bytes := min(unitBytes, max(p.bytes/int64(4*len(s.sessions)), 8<<20))
		step := max(1, bytes/max(1, p.bytes/p.pages))
		for at := int64(0); at < p.pages; at += step {
			condition := fmt.Sprintf("ctid >= '(%d,0)'::tid", at)
			if at+step < p.pages {
				condition += fmt.Sprintf(" AND ctid < '(%d,0)'::tid", at+step)
			}
			all = append(all, p.from+s.filter(condition))
		}
	}
	return all
}

// tallies sends one statement for each unit, made by statement from the unit's FROM and WHERE, and adds up what they return: number of the
// range, rows, sum of hashes.
func (s *scan) tallies(ctx context.Context, statement func(unit string) string) (map[int]*tally, error) {
	units := s.units()
	next := make(chan string, len(units))
	for _, u := range units {
		next <- u
	}
	close(next)
	totals := map[int]*tally{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	for _, session := range s.sessions {
		group.Go(func() error {
			for unit := range next {
				rows, err := session.table(ctx, statement(unit))
				if err != nil {
					return fmt.Errorf("read %s: %w", s.name, err)
				}
				mu.Lock()
				err = addTallies(totals, rows)
				mu.Unlock()
				if err != nil {
					return fmt.Errorf("read %s: %w", s.name, err)
				}
			}
			return nil
		})
	}
	return totals, group.Wait()
}

func addTallies(totals map[int]*tally, rows [][]string) error {
	for _, r := range rows {
		number, err := strconv.Atoi(r[0])
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(r[1], 10, 64)
		if err != nil {
			return err
		}
		sum, ok := new(big.Int).SetString(r[2], 10)
		if !ok {
			return fmt.Errorf("sum of hashes %q is no number", r[2])
		}
		t := totals[number]
		if t == nil {
			t = &tally{}
			totals[number] = t
		}
		t.rows += n
		t.sum.Add(&t.sum, sum)
	}
	return nil
}
