package move

import (
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// What a definition misses on the target, or finds there already, is told with the statement and what to do.
func TestDefinitionThatCannotBeMade(t *testing.T) {
	server := dumpCluster(t)
	source, target := clustertest.DatabaseOn(t, server), clustertest.DatabaseOn(t, server)
	clustertest.Exec(t, source, "CREATE TABLE s (id int)",
		"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'",
		"CREATE TRIGGER g BEFORE INSERT ON s FOR EACH ROW EXECUTE FUNCTION f()",
		"CREATE TABLE p (id int) PARTITION BY RANGE (id)", "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (9)")
	refused(t, onePair(source, target, "s", "s", planner.Wish{Create: true}),
		"function public.f() does not exist", "In the statement CREATE TRIGGER g", "must be on the target first")
	refused(t, onePair(source, source, "p", "other", planner.Wish{Create: true}),
		`relation "p1" already exists`, "In the statement CREATE TABLE public.p1", "a schema of its own")
}
