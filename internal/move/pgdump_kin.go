package move

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// dumpedKin is what belongs to a table and stands elsewhere.
type dumpedKin struct {
	// parents are the tables that it inherits from, by quoted qualified name. Its CREATE TABLE needs them.
	parents []string
	// statistics are the statements that make the extended statistics of the table and its partitions. pg_dump leaves them out of the dump
	// of a single table (selectDumpableStatisticsObject in pg_dump.c).
	statistics []string
}

// findKin asks for the kin of one table. Statistics that stand in the table's schema go to the new one.
func findKin(ctx context.Context, config *pgx.ConnConfig, from, to tableKey, renamed renaming) (dumpedKin, error) {
	var k dumpedKin
	s, err := openSession(ctx, config, "UTF8", config.Host)
	if err != nil {
		return k, err
	}
	defer s.close()
	qualified := sqltext.QuoteQualified(from.schema, from.name)
	parents, err := s.table(ctx, fmt.Sprintf(`SELECT n.nspname, c.relname FROM pg_inherits AS i JOIN pg_class AS child ON child.oid = i.inhrelid AND NOT child.relispartition
JOIN pg_class AS c ON c.oid = i.inhparent JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE i.inhrelid = to_regclass(%s) ORDER BY i.inhseqno`, quoted(qualified)))
	if err != nil {
		return k, fmt.Errorf("look up the parents of %s: %w", qualified, err)
	}
	for _, p := range parents {
		k.parents = append(k.parents, sqltext.QuoteQualified(p[0], p[1]))
	}
	// A target of -1, or NULL from version 17 on, is none.
	found, err := s.table(ctx, fmt.Sprintf(`SELECT n.nspname, x.stxname, pg_get_statisticsobjdef(x.oid), nullif(x.stxstattarget, -1), obj_description(x.oid, 'pg_statistic_ext')
FROM pg_statistic_ext AS x JOIN pg_namespace AS n ON n.oid = x.stxnamespace
WHERE x.stxrelid IN (SELECT to_regclass(%[1]s) UNION SELECT relid FROM pg_partition_tree(%[1]s)) ORDER BY x.oid`, quoted(qualified)))
	if err != nil {
		return k, fmt.Errorf("look up the statistics of %s: %w", qualified, err)
	}
	for _, f := range found {
		schema := f[0]
		if schema == from.schema {
			schema = to.schema
		}
		name := sqltext.QuoteQualified(schema, f[1])
		_, rest, _ := cutName(f[2], "CREATE STATISTICS ")
		k.statistics = append(k.statistics, "CREATE STATISTICS "+name+" "+renamed.apply(rest))
		if f[3] != "" {
			k.statistics = append(k.statistics, "ALTER STATISTICS "+name+" SET STATISTICS "+f[3])
		}
		if f[4] != "" {
			k.statistics = append(k.statistics, "COMMENT ON STATISTICS "+name+" IS "+quoted(f[4]))
		}
	}
	return k, nil
}

// inherits reports whether the child's target is made as one that inherits from the parent's.
func inherits(child, parent *table) bool {
	d := child.facts.Definition
	return d != nil && child.target == parent.target && slices.Contains(d.Inherits, parent.plan.Target.Relation)
}
