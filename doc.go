// Package pghaul moves rows into PostgreSQL tables as fast as the hardware allows, and is exact about every value.
//
// Copy moves tables: inside one database, between databases, between servers, and through postgres_fdw foreign tables to the
// servers behind them. Explain tells how Copy would do it, with the SQL it would send, and changes nothing. Verify compares
// tables that live on two servers.
//
//	report, err := pghaul.Copy(ctx,
//		"postgres://app@db1/shop", "postgres://app@db2/shop",
//		pghaul.Tables("public.orders", "public.customers:archive.customers"), nil)
//
// The fastest way that is safe is chosen for each table from what both servers tell about it; the package planner holds these
// rules and the plan that they give. Rows are not decoded on the way. A table is moved whole or not at all unless the options
// say otherwise, all ranges of all tables of a call see one snapshot of the source, and the memory needed depends neither on
// the size of a row nor on that of a table.
//
// Connection strings are libpq's: URIs or keyword=value pairs, completed by PG* environment variables, service files and
// password files. Their passwords do not appear in errors, reports or logs.
//
// Errors that a user can do something about are *planner.Error values with a message, a detail and a hint. The error of the
// server, a *pgconn.PgError, stays in the chain with every field, so that errors.As finds its SQLSTATE.
//
// Servers from PostgreSQL 14 on are supported. What a source holds besides rows, such as functions or roles, is not moved.
package pghaul
