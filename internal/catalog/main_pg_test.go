package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// connect opens a connection that the test's end closes.
func connect(t *testing.T, uri string) *pgx.Conn {
	t.Helper()
	c, err := Connect(t.Context(), uri, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

// read returns the facts of one relation as a new connection to uri sees them.
func read(t *testing.T, uri, schema, name string, role Role) planner.Relation {
	t.Helper()
	relation, err := Read(t.Context(), connect(t, uri), schema, name, role)
	if err != nil {
		t.Fatal(err)
	}
	return relation
}

var roles atomic.Int64

// newRole makes a role that can log in, which belongs to the whole server, and takes it away with all it owns in uri's database.
func newRole(t *testing.T, uri, attributes string) string {
	t.Helper()
	name := fmt.Sprintf("catalog_role_%d", roles.Add(1))
	clustertest.Exec(t, uri, "CREATE ROLE "+name+" LOGIN "+attributes)
	t.Cleanup(func() {
		clustertest.Exec(t, uri, "DROP OWNED BY "+name+" CASCADE", "DROP ROLE "+name)
	})
	return name
}

// as is the same address for another user.
func as(t *testing.T, uri, user string) string {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(user)
	return u.String()
}

// plannerError asserts that err is one and returns it.
func plannerError(t *testing.T, err error) *planner.Error {
	t.Helper()
	var e *planner.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is not a planner.Error: %v", err, err)
	}
	return e
}

func columnNames(relation planner.Relation) []string {
	names := make([]string, len(relation.Columns))
	for i, col := range relation.Columns {
		names[i] = col.Name
	}
	return names
}
