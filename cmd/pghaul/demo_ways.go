package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul"
	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/planner"
)

const (
	originTable   = "public.origin_table"
	originColumns = " (i bigint, d date, j int, t varchar(10))"
	demoTarget    = "public.demo_target"
)

// section is a table of times: several ways to reach the same end.
type section struct {
	title  string
	target *cluster.Server
	ways   []way // the first is what the others are compared with
}

// way is one way to copy the table.
type way struct {
	tool, name string
	// setup makes the target ready, run copies; only run is timed. It returns what pghaul chose, empty for others.
	setup []string
	run   func(ctx context.Context) (chosen string, err error)
}

const makeTarget = "CREATE TABLE " + demoTarget + originColumns

func (d *demo) sections() []section {
	sections := []section{d.inside(), d.across(), d.upserts()}
	if d.foreignTables {
		sections = append(sections, d.foreign())
	}
	return sections
}

// inside clones the table in its database.
func (d *demo) inside() section {
	plain := []string{makeTarget}
	return section{
		title: "Inside one database", target: d.here,
		ways: []way{
			{"psql", "INSERT ... SELECT", plain, d.sql(insertSelect(demoTarget))},
			{"psql", "CREATE TABLE AS", nil, d.sql("CREATE TABLE " + demoTarget + " AS SELECT * FROM " + originTable)},
			{"psql", "unlogged INSERT ... SELECT, SET LOGGED", nil, d.sql(
				"CREATE UNLOGGED TABLE "+demoTarget+originColumns, insertSelect(demoTarget), "ALTER TABLE "+demoTarget+" SET LOGGED")},
			{"psql", "COPY text | COPY text", plain, d.pipe(d.here, "")},
			{"psql", "COPY binary | COPY binary", plain, d.pipe(d.here, " (FORMAT binary)")},
			{"pghaul", "(no flags)", plain, d.haul(d.here, pghaul.CopyOptions{})},
			{"pghaul", "--create", nil, d.haul(d.here, pghaul.CopyOptions{Create: true})},
			{"pghaul", "--method relay", plain, d.haul(d.here, pghaul.CopyOptions{Method: planner.Relay})},
			{"pghaul", "--method insert-select", plain, d.haul(d.here, pghaul.CopyOptions{Method: planner.InsertSelect})},
			{"pghaul", "--method create-as", nil, d.haul(d.here, pghaul.CopyOptions{Method: planner.CreateAs})},
			{"pghaul", "--method unlogged", nil, d.haul(d.here, pghaul.CopyOptions{Method: planner.Unlogged})},
			{"pghaul", "--method pages", plain, d.haul(d.here, pghaul.CopyOptions{Method: planner.Pages})},
			{"pghaul", "--method pages --not-logged", plain, d.haul(d.here, pghaul.CopyOptions{Method: planner.Pages, NotLogged: true})},
		},
	}
}

// across copies the table to the other server.
func (d *demo) across() section {
	plain := []string{makeTarget}
	return section{
		title: "To another server", target: d.there,
		ways: []way{
			{"psql", "COPY text | COPY text", plain, d.pipe(d.there, "")},
			{"psql", "COPY binary | COPY binary", plain, d.pipe(d.there, " (FORMAT binary)")},
			{"pghaul", "(no flags)", plain, d.haul(d.there, pghaul.CopyOptions{})},
			{"pghaul", "--truncate (frozen rows)", plain, d.haul(d.there, pghaul.CopyOptions{Fill: planner.Truncate})},
			{"pghaul", "--jobs 2", plain, d.haul(d.there, pghaul.CopyOptions{Connections: 2})},
			{"pghaul", "--format text", plain, d.haul(d.there, pghaul.CopyOptions{Format: planner.Text})},
			{"pghaul", "--method insert", plain, d.haul(d.there, pghaul.CopyOptions{Method: planner.Insert})},
			{"pghaul", "--method insert --copy-threshold off", plain, d.haul(d.there,
				pghaul.CopyOptions{Method: planner.Insert, CopyThreshold: planner.CopyNever})},
		},
	}
}

// upserts copies the table to the other server, into a table with a primary key that holds every tenth row already.
func (d *demo) upserts() section {
	const staging = "CREATE TEMPORARY TABLE staging" + originColumns
	keyed := []string{
		"CREATE TABLE " + demoTarget + " (i bigint PRIMARY KEY, d date, j int, t varchar(10))",
		"INSERT INTO " + demoTarget + " SELECT i, '2000-01-01', 0, 'old' FROM generate_series(10, " + strconv.FormatInt(d.rows, 10) + ", 10) AS i",
	}
	return section{
		title: "To another server, into a table whose primary key holds every tenth row", target: d.there,
		ways: []way{
			{"psql", "COPY text | COPY into staging, ON CONFLICT", keyed, func(ctx context.Context) (string, error) {
				return "", cluster.PsqlPipe(ctx, d.here, demoDatabase, "COPY "+originTable+" TO STDOUT", d.there, demoDatabase,
					staging, "COPY staging FROM STDIN", "INSERT INTO "+demoTarget+" SELECT * FROM staging "+
						"ON CONFLICT (i) DO UPDATE SET d = EXCLUDED.d, j = EXCLUDED.j, t = EXCLUDED.t")
			}},
			{"pghaul", "--on-conflict update", keyed, d.haul(d.there,
				pghaul.CopyOptions{OnConflict: planner.DoUpdate})},
		},
	}
}

// foreign copies the table into a postgres_fdw foreign table of the other server.
func (d *demo) foreign() section {
	s := section{title: "Into a postgres_fdw foreign table", target: d.there}
	for _, size := range []string{"100", "1000"} {
		s.ways = append(s.ways, way{"psql", "INSERT ... SELECT, batch_size " + size, []string{makeTarget}, d.sql(
			"ALTER FOREIGN TABLE demo_foreign OPTIONS (SET batch_size '"+size+"')", insertSelect("demo_foreign"))})
	}
	s.ways = append(s.ways, way{"pghaul", "origin_table:demo_foreign", []string{makeTarget}, d.haulInto(d.here, "public.demo_foreign", pghaul.CopyOptions{})})
	return s
}

func insertSelect(target string) string {
	return "INSERT INTO " + target + " SELECT * FROM " + originTable
}

// sql sends statements by psql, on the first server.
func (d *demo) sql(statements ...string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		_, err := d.here.Psql(ctx, demoDatabase, statements...)
		return "", err
	}
}

// pipe joins two psql.
func (d *demo) pipe(to *cluster.Server, format string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		return "", cluster.PsqlPipe(ctx, d.here, demoDatabase, "COPY "+originTable+" TO STDOUT"+format,
			to, demoDatabase, "COPY "+demoTarget+" FROM STDIN"+format)
	}
}

// haul is pghaul copy.
func (d *demo) haul(to *cluster.Server, options pghaul.CopyOptions) func(context.Context) (string, error) {
	return d.haulInto(to, demoTarget, options)
}

func (d *demo) haulInto(to *cluster.Server, target string, options pghaul.CopyOptions) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		restore := yieldToServers()
		defer restore()
		report, err := pghaul.Copy(ctx, d.here.URI(demoDatabase), to.URI(demoDatabase),
			[]pghaul.Table{{Source: originTable, Target: target}}, &options)
		if err != nil {
			return "", err
		}
		plan := report.Tables[0].Plan
		return strings.TrimSpace(string(plan.Method) + " " + string(plan.Format)), nil
	}
}
