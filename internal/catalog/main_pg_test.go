package catalog

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/clustertest"
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
