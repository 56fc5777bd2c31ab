package catalog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// part is one leaf of a partitioned table.
type part struct {
	oid           uint32
	bound, keyDef string
}

// node is one member of a partition tree.
type node struct {
	oid, parent uint32
	leaf        bool
	bound       string
	keyDef      string
}

const treeSQL = `
SELECT root.oid, t.relid::oid, coalesce(t.parentrelid::oid, 0::oid), t.isleaf AND c.relkind <> 'p', c.relkind = 'p',
       coalesce(pg_catalog.pg_get_expr(c.relpartbound, c.oid), ''),
       CASE WHEN c.relkind = 'p' THEN pg_catalog.pg_get_partkeydef(c.oid) ELSE '' END
  FROM pg_catalog.unnest($1::oid[]) root(oid)
  JOIN pg_catalog.pg_class k ON k.oid = root.oid AND k.relkind = 'p'
 CROSS JOIN LATERAL pg_catalog.pg_partition_tree(root.oid::regclass) t
  JOIN pg_catalog.pg_class c ON c.oid = t.relid`

// findParts takes the named relations and the leaves of those that are partitioned into the set.
func (r *reader) findParts(ctx context.Context, roots []uint32) error {
	for _, oid := range roots {
		r.add(oid)
	}
	trees := map[uint32]map[uint32]node{}
	err := ask(ctx, r.c, question{sql: treeSQL, args: []any{oidArray(roots)}, row: func(rows pgx.Rows) error {
		var root uint32
		var n node
		var partitioned bool
		if err := rows.Scan(&root, &n.oid, &n.parent, &n.leaf, &partitioned, &n.bound, &n.keyDef); err != nil {
			return err
		}
		if trees[root] == nil {
			trees[root] = map[uint32]node{}
		}
		trees[root][n.oid] = n
		return nil
	}})
	if err != nil {
		return err
	}
	for root, tree := range trees {
		r.parts[root] = leavesOf(root, tree)
		for _, p := range r.parts[root] {
			r.add(p.oid)
		}
	}
	return nil
}

// leavesOf joins each leaf's bound with those of its ancestors below root, outermost first, and sorts them.
func leavesOf(root uint32, tree map[uint32]node) []part {
	var parts []part
	for oid, n := range tree {
		if !n.leaf {
			continue
		}
		var bounds, keys []string
		for at := n; at.oid != root; {
			bounds = append(bounds, at.bound)
			at = tree[at.parent]
			keys = append(keys, at.keyDef)
			if at.oid == 0 || len(keys) > len(tree) {
				break // a detached ancestor: the tree changed while it was read
			}
		}
		slices.Reverse(bounds)
		slices.Reverse(keys)
		parts = append(parts, part{oid: oid, bound: strings.Join(bounds, " / "), keyDef: strings.Join(keys, " / ")})
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(compareBounds(a.bound, b.bound), cmp.Compare(a.oid, b.oid))
	})
	return parts
}

// compareBounds orders bounds as their values go: the catalogs do not tell the server's own order, but in the text of a bound
// numbers and ISO dates stand in it once digits are compared by value. DEFAULT and MAXVALUE come last, MINVALUE first.
func compareBounds(a, b string) int {
	afterNumber := false
	for a != "" && b != "" {
		x, restA, numberA := boundToken(a, afterNumber)
		y, restB, numberB := boundToken(b, afterNumber)
		var order int
		switch {
		case numberA && numberB:
			order = compareNumbers(x, y)
		default:
			order = cmp.Or(cmp.Compare(boundRank(x), boundRank(y)), strings.Compare(x, y))
		}
		if order != 0 {
			return order
		}
		a, b, afterNumber = restA, restB, numberA
	}
	return cmp.Compare(len(a), len(b))
}

// boundToken takes off a run of letters, a whole number, or one other character. A minus right after a number is no sign but
// part of a date.
func boundToken(s string, afterNumber bool) (token, rest string, isNumber bool) {
	end := 0
	switch {
	case isDigit(s[0]) || s[0] == '-' && !afterNumber && len(s) > 1 && isDigit(s[1]):
		end = 1
		for end < len(s) && isDigit(s[end]) {
			end++
		}
		return s[:end], s[end:], true
	case isLetter(s[0]):
		for end < len(s) && isLetter(s[end]) {
			end++
		}
		return s[:end], s[end:], false
	}
	return s[:1], s[1:], false
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' }

func boundRank(token string) int {
	switch token {
	case "MINVALUE":
		return -1
	case "MAXVALUE", "DEFAULT":
		return 1
	}
	return 0
}

// compareNumbers compares runs of digits of any length.
func compareNumbers(a, b string) int {
	negativeA, negativeB := a[0] == '-', b[0] == '-'
	switch {
	case negativeA && !negativeB:
		return -1
	case !negativeA && negativeB:
		return 1
	case negativeA:
		return compareNumbers(b[1:], a[1:])
	}
	a = strings.TrimLeft(a, "0")
	b = strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
