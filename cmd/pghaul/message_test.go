package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

func TestPrintError(t *testing.T) {
	server := &pgconn.PgError{Severity: "ERROR", Code: "23505", Message: `duplicate key value violates unique constraint "t_pkey"`,
		Detail: "Key (id)=(5) already exists.", Where: "COPY t, line 7", SchemaName: "public", TableName: "t", ConstraintName: "t_pkey"}
	tests := []struct {
		name      string
		err       error
		cancelled bool
		want      []string
	}{
		{"own", &planner.Error{Message: "target is not empty", Detail: "It holds rows.", Hint: "Use --append."}, false, []string{
			"ERROR:  target is not empty", "DETAIL:  It holds rows.", "HINT:  Use --append."}},
		{"server", fmt.Errorf("write range 3: %w", server), false, []string{
			`ERROR:  write range 3: duplicate key value violates unique constraint "t_pkey"`, "DETAIL:  Key (id)=(5) already exists.",
			"CONTEXT:  COPY t, line 7", "SCHEMA NAME:  public", "TABLE NAME:  t", "CONSTRAINT NAME:  t_pkey", "SQLSTATE:  23505"}},
		{"own around server", &planner.Error{Message: "copy public.t", Detail: "Row 7 of range 3.", Cause: server}, false, []string{
			`ERROR:  copy public.t: duplicate key value violates unique constraint "t_pkey"`, "DETAIL:  Row 7 of range 3.", "Key (id)=(5) already exists.",
			"CONTEXT:  COPY t, line 7", "SCHEMA NAME:  public", "TABLE NAME:  t", "CONSTRAINT NAME:  t_pkey", "SQLSTATE:  23505"}},
		{"joined", errors.Join(errors.New("one"), errors.Join(errors.New("two"), errors.New("three"))), false, []string{
			"ERROR:  one", "ERROR:  two", "ERROR:  three"}},
		{"two causes are one error", fmt.Errorf("%w (and %w)", errors.New("one"), errors.New("two")), false, []string{"ERROR:  one (and two)"}},
		{"cancelled", errors.Join(fmt.Errorf("copy a: %w", context.Canceled), errors.New("other"), fmt.Errorf("copy b: %w", context.Canceled)), true,
			[]string{"ERROR:  cancelled", "ERROR:  other"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			printError(&b, tt.err, tt.cancelled)
			got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	usage := &planner.Error{Kind: planner.Usage, Message: "u"}
	refused := &planner.Error{Kind: planner.Refused, Message: "r"}
	failed := &planner.Error{Message: "f"}
	tests := []struct {
		err       error
		cancelled bool
		want      int
	}{
		{nil, false, 0}, {nil, true, 0}, {failed, false, 1}, {errors.New("x"), false, 1}, {usage, false, 2}, {fmt.Errorf("x: %w", refused), false, 4},
		{errors.Join(refused, usage), false, 2}, {errors.Join(refused, failed), false, 1}, {errors.Join(refused, refused), false, 4},
		{fmt.Errorf("x: %w", context.Canceled), true, 130}, {errors.Join(failed, context.Canceled), true, 130},
		{fmt.Errorf("x: %w", context.Canceled), false, 1}, {failed, true, 1},
	}
	for i, tt := range tests {
		if got := exitCode(tt.err, tt.cancelled); got != tt.want {
			t.Errorf("%d: exitCode(%v, %v) = %d, want %d", i, tt.err, tt.cancelled, got, tt.want)
		}
	}
}
