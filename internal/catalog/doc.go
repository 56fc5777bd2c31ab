// Package catalog connects to PostgreSQL servers and reads what the planner must know of them: the server itself, relations
// with their columns, types, keys, triggers, partitions, sizes and privileges, what a table needs to be rebuilt, and where a
// foreign table really leads.
//
// Every question names its objects with pg_catalog and runs with an empty search_path that lasts for its own transaction, so
// that the answers are the same on a session of any settings, also behind a pooler. Facts of many relations are asked for
// together: a thousand tables take as many round trips as one.
//
// Limits: the facts are those of one moment and no lock is kept, so a relation can change between the look and the move.
// Servers older than PostgreSQL 14 are refused.
package catalog
