package move

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// dumpedTable is a table that pg_dump is asked for.
type dumpedTable struct {
	tableKey
	partitioned bool // it has partitions
	partition   bool // it is one
}

// dumpedKin is what belongs to a table and stands elsewhere.
type dumpedKin struct {
	// parents are the tables that it inherits from. Its CREATE TABLE needs them.
	parents []tableKey
	// extended are the extended statistics of the table and its partitions. pg_dump leaves them out of the dump of a single table
	// (selectDumpableStatisticsObject in pg_dump.c).
	extended []extendedStatistics
}

type extendedStatistics struct {
	tableKey
	definition, target, comment string // target is empty for the default
}

// lookUp asks the source for what belongs to the tables: partitions of all levels, which pg_dump takes along only since version 16 and by
// another option, their indexes and sequences, parents, and statistics.
func lookUp(ctx context.Context, config *pgx.ConnConfig, dumped []*dumping) error {
	s, err := openSession(ctx, config, "UTF8", config.Host)
	if err != nil {
		return err
	}
	defer s.close()
	literals := make([]string, len(dumped))
	for i, d := range dumped {
		d.renamed = renaming{}
		literals[i] = quoted(d.from.quoted())
	}
	// number is the place in dumped, root the table, and tree holds it with its partitions.
	with := "WITH wanted AS (SELECT n - 1 AS number, to_regclass(name)::oid AS root FROM unnest(ARRAY[" + strings.Join(literals, ", ") + `]::text[]) WITH ORDINALITY AS w(name, n)),
tree AS (SELECT number, root, root AS oid FROM wanted WHERE root IS NOT NULL UNION SELECT number, root, relid FROM wanted, pg_partition_tree(root))
`
	for _, q := range []struct {
		what, sql string
		row       func(d *dumping, r []string)
	}{
		{"partitions", membersSQL, (*dumping).addMember},
		{"parents", parentsSQL, func(d *dumping, r []string) { d.kin.parents = append(d.kin.parents, tableKey{r[0], r[1]}) }},
		{"statistics", statisticsSQL, func(d *dumping, r []string) {
			d.kin.extended = append(d.kin.extended, extendedStatistics{tableKey{r[0], r[1]}, r[2], r[3], r[4]})
		}},
		{"sequences", usedSQL, (*dumping).addUsed},
	} {
		rows, err := s.table(ctx, with+q.sql)
		if err != nil {
			return fmt.Errorf("look up the %s of the tables to make: %w", q.what, err)
		}
		for _, r := range rows {
			i, err := strconv.Atoi(r[0])
			if err != nil {
				return err
			}
			q.row(dumped[i], r[1:])
		}
	}
	for _, d := range dumped {
		if err := d.settleNames(); err != nil {
			return err
		}
	}
	return nil
}

const membersSQL = `, part AS (SELECT number, root, indexrelid AS oid FROM tree JOIN pg_index ON indrelid = tree.oid
UNION SELECT number, root, objid FROM tree JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = tree.oid AND classid = 'pg_class'::regclass AND deptype IN ('a', 'i'))
SELECT m.number, n.nspname, c.relname, m.kind, c.relkind, c.relispartition
FROM (SELECT 't' AS kind, * FROM tree UNION ALL SELECT 'p', * FROM (TABLE part EXCEPT TABLE tree) AS p) AS m
JOIN pg_class AS c ON c.oid = m.oid JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind <> 't' ORDER BY m.number, c.oid = m.root DESC, c.oid`

func (d *dumping) addMember(r []string) {
	key := tableKey{r[0], r[1]}
	if r[2] == "t" {
		d.tables = append(d.tables, dumpedTable{tableKey: key, partitioned: r[3] == "p", partition: r[4] == "t"})
	} else {
		d.parts = append(d.parts, key)
	}
}

const parentsSQL = `SELECT tree.number, n.nspname, c.relname FROM tree JOIN pg_class AS child ON child.oid = tree.oid AND tree.oid = tree.root AND NOT child.relispartition
JOIN pg_inherits AS i ON i.inhrelid = tree.oid JOIN pg_class AS c ON c.oid = i.inhparent JOIN pg_namespace AS n ON n.oid = c.relnamespace
ORDER BY tree.number, i.inhseqno`

// A statistics target of -1, or NULL from version 17 on, is none.
const statisticsSQL = `SELECT tree.number, n.nspname, x.stxname, pg_get_statisticsobjdef(x.oid), nullif(x.stxstattarget, -1), obj_description(x.oid, 'pg_statistic_ext')
FROM tree JOIN pg_statistic_ext AS x ON x.stxrelid = tree.oid JOIN pg_namespace AS n ON n.oid = x.stxnamespace ORDER BY tree.number, x.oid`

// usedSQL finds the sequences that defaults use and no table of the tree owns.
const usedSQL = `SELECT DISTINCT tree.number, n.nspname, c.relname FROM tree JOIN pg_attrdef AS f ON f.adrelid = tree.oid
JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass
JOIN pg_class AS c ON c.oid = d.refobjid AND c.relkind = 'S' JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE NOT EXISTS (SELECT FROM pg_depend AS o JOIN tree AS owner ON owner.number = tree.number AND owner.oid = o.refobjid
WHERE o.classid = 'pg_class'::regclass AND o.objid = c.oid AND o.refclassid = 'pg_class'::regclass AND o.deptype IN ('a', 'i')) ORDER BY 1, 2, 3`

// addUsed: beside the source the sequence is there.
func (d *dumping) addUsed(r []string) {
	if !d.beside {
		d.used = append(d.used, usedSequence{key: tableKey{r[0], r[1]}})
	}
}

// settleNames gives everything that belongs to the table its new name.
func (d *dumping) settleNames() error {
	if len(d.tables) == 0 {
		return noRelation(d.from)
	}
	taken := map[string]bool{}
	for _, key := range d.members() {
		d.rename(key, taken)
	}
	return nil
}

// statements make the extended statistics. Those that stand in the table's schema go to the new one.
func (k dumpedKin) statements(d *dumping, renamed renamer) []string {
	var all []string
	taken := map[string]bool{} // Statistics have names of their own kind.
	for _, x := range k.extended {
		key := d.newName(x.tableKey, taken)
		name := key.quoted()
		_, rest, _ := cutName(x.definition, "CREATE STATISTICS ")
		all = append(all, "CREATE STATISTICS "+name+" "+renamed.apply(rest))
		if x.target != "" {
			all = append(all, "ALTER STATISTICS "+name+" SET STATISTICS "+x.target)
		}
		if x.comment != "" {
			all = append(all, "COMMENT ON STATISTICS "+name+" IS "+quoted(x.comment))
		}
	}
	return all
}

// inherits reports whether the child's target is made as one that inherits from the parent's.
func inherits(child, parent *table) bool {
	d := child.facts.Definition
	return d != nil && child.target == parent.target && slices.Contains(d.Inherits, parent.plan.Target.Relation)
}
