package cluster_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestPsql(t *testing.T) {
	s := clustertest.Server(t)
	ctx := t.Context()

	out, err := s.Psql(ctx, "postgres", "DROP TABLE IF EXISTS piped, arrived", "CREATE TABLE piped AS SELECT generate_series(1, 1000) AS i", "SELECT count(*), max(i) FROM piped")
	if err != nil || out != "1000|1000" {
		t.Fatalf("Psql = %q, %v", out, err)
	}
	if err := cluster.PsqlPipe(ctx, s, "postgres", "COPY piped TO STDOUT (FORMAT binary)", s, "postgres",
		"CREATE TEMPORARY TABLE staging (i int)", "COPY staging FROM STDIN (FORMAT binary)", "CREATE TABLE arrived AS SELECT * FROM staging"); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Psql(ctx, "postgres", "SELECT sum(i) FROM arrived"); err != nil || out != "500500" {
		t.Errorf("after the pipe: %q, %v", out, err)
	}
}

func TestPsqlFailures(t *testing.T) {
	s := clustertest.Server(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name, want string
		run        func() error
	}{
		{"statement", `relation "nowhere" does not exist`, func() error {
			_, err := s.Psql(t.Context(), "postgres", "SELECT 1", "SELECT * FROM nowhere", "SELECT 2")
			return err
		}},
		{"reader of a pipe", `relation "nowhere" does not exist`, func() error {
			return cluster.PsqlPipe(t.Context(), s, "postgres", "COPY nowhere TO STDOUT", s, "postgres",
				"CREATE TEMPORARY TABLE x (i int)", "COPY x FROM STDIN")
		}},
		{"writer of a pipe", `relation "x" does not exist`, func() error {
			return cluster.PsqlPipe(t.Context(), s, "postgres", "COPY (SELECT generate_series(1, 1000000)) TO STDOUT", s, "postgres", "COPY x FROM STDIN")
		}},
		{"cancelled", "context canceled", func() error {
			_, err := s.Psql(cancelled, "postgres", "SELECT pg_sleep(60)")
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.run(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}
