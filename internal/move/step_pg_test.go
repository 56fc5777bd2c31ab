package move

import (
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// What a definition misses on the target is told with the statement and what to do.
func TestDefinitionThatCannotBeMade(t *testing.T) {
	server := dumpCluster(t)
	source, target := clustertest.DatabaseOn(t, server), clustertest.DatabaseOn(t, server)
	clustertest.Exec(t, source, "CREATE TABLE s (id int)",
		"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'",
		"CREATE TRIGGER g BEFORE INSERT ON s FOR EACH ROW EXECUTE FUNCTION f()")
	refused(t, onePair(source, target, "s", "s", planner.Wish{Create: true}),
		"function public.f() does not exist", "In the statement CREATE TRIGGER g", "must be on the target first")
}
