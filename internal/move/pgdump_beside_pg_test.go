package move

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// besideTable is a partitioned table with all that has a name of its own in the schema.
const besideTable = partitionedTable + `
CREATE TABLE public."half year" PARTITION OF public.parts FOR VALUES FROM ('2024-01-01') TO ('2024-07-01');
CREATE INDEX parts_23_a_own ON public.parts_23_a (t);
ALTER TABLE public.parts_23_a CLUSTER ON parts_23_a_own;
ALTER TABLE public."half year" ADD CONSTRAINT "own key" UNIQUE (id), ADD CHECK (id > 0), ALTER id SET NOT NULL;
ALTER TABLE public."half year" REPLICA IDENTITY USING INDEX "own key";
COMMENT ON CONSTRAINT "own key" ON public."half year" IS 'key';
COMMENT ON INDEX public.parts_t IS 'index';
ALTER TABLE public.parts ADD n serial, ADD FOREIGN KEY (id) REFERENCES public.parent;
CREATE STATISTICS public.parts_stat ON id, t FROM public.parts;
INSERT INTO public.parent VALUES (1), (2), (9);
INSERT INTO public.parts VALUES (1, '2023-02-01', 'a'), (2, '2024-02-01', 'b'), (9, '2030-01-01', 'c');`

// TestCreatePartitionedBeside copies a partitioned table to another name of its own database.
func TestCreatePartitionedBeside(t *testing.T) {
	t.Parallel()
	uri := clustertest.DatabaseOn(t, dumpCluster(t))
	clustertest.Exec(t, uri, aroundTables, besideTable)
	from, to := tableKey{"public", "parts"}, tableKey{"public", "Copy"}
	want := dumpOf(t, uri, &dumping{from: from, to: to, beside: true})
	moves(t, onePair(uri, uri, "parts", `"Copy"`, planner.Wish{Create: true}))
	if diff := cmp.Diff(want, dumpOf(t, uri, &dumping{from: to, to: to})); diff != "" {
		t.Error(diff)
	}
	sameContents(t, uri, "SELECT * FROM parts", uri, `SELECT * FROM "Copy"`)
	got := clustertest.Query(t, uri, `SELECT relid FROM pg_partition_tree('"Copy"') ORDER BY relid::text COLLATE "C"`)
	if want := `"Copy"` + "\n" + `"Copy_23"` + "\n" + `"Copy_23_a"` + "\n" + `"Copy_half year"` + "\n" + `"odd $s; Type: INDEX"."Copy_parts.def"`; got != want {
		t.Errorf("partitions %s", got)
	}
	const shape = `SELECT count(*), count(*) FILTER (WHERE indisvalid), sum(indnatts), (SELECT count(*) FROM pg_inherits WHERE inhparent IN (SELECT indexrelid FROM x)),
		(SELECT string_agg(pg_get_expr(relpartbound, oid), ',' ORDER BY pg_get_expr(relpartbound, oid)) FROM pg_class WHERE oid IN (TABLE tree)),
		(SELECT count(*) FROM pg_statistic_ext WHERE stxrelid IN (TABLE tree)), (SELECT count(*) FROM pg_trigger WHERE tgrelid IN (TABLE tree)) FROM x`
	of := func(root string) string {
		return "WITH tree AS (SELECT relid::oid FROM pg_partition_tree('" + root + "')), x AS (SELECT * FROM pg_index WHERE indrelid IN (TABLE tree)) " + shape
	}
	sameContents(t, uri, of("parts"), uri, of(`"Copy"`))
	if n := clustertest.Query(t, uri, `SELECT nextval(pg_get_serial_sequence('"Copy"', 'n')), nextval(pg_get_serial_sequence('parts', 'n'))`); n != "4|4" {
		t.Errorf("sequences go on with %s: each table is to have its own", n)
	}
}

// What has the names that the copy would give its partitions is not touched.
func TestCreatePartitionedBesideTaken(t *testing.T) {
	t.Parallel()
	uri := clustertest.DatabaseOn(t, dumpCluster(t))
	clustertest.Exec(t, uri, aroundTables, besideTable, "CREATE TABLE other_23 (x text)")
	refused(t, onePair(uri, uri, "parts", "other", planner.Wish{Create: true}),
		`relation "other_23" already exists`, "In the statement CREATE TABLE public.other_23", "a schema of its own")
	if got := clustertest.Query(t, uri, "SELECT relname FROM pg_class WHERE relname LIKE 'other%' AND relkind IN ('r', 'p')"); got != "other_23" {
		t.Errorf("left %s", got)
	}
}

// In another schema partitions keep their names, but for those that stand in a third one.
func TestCreatePartitionedInOtherSchema(t *testing.T) {
	t.Parallel()
	uri := clustertest.DatabaseOn(t, dumpCluster(t))
	clustertest.Exec(t, uri, aroundTables, besideTable, "CREATE SCHEMA new")
	moves(t, onePair(uri, uri, "parts", "new.parts", planner.Wish{Create: true}))
	names := strings.Split(clustertest.Query(t, uri, `SELECT relid FROM pg_partition_tree('new.parts') ORDER BY relid::text COLLATE "C"`), "\n")
	if len(names) != 5 || !slices.Contains(names, `new."half year"`) || !strings.HasPrefix(names[0], `"odd $s; Type: INDEX"."parts_parts.def`) {
		t.Errorf("partitions %q", names)
	}
	sameContents(t, uri, "SELECT * FROM parts", uri, "SELECT * FROM new.parts")
}
