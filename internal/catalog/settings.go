package catalog

import (
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// settings are what both sides of a move must agree on so that a value printed by one is read the same by the other, and
// what must not end a long move. Each is known to every supported version and may be set by every role.
var settings = [][2]string{
	{"DateStyle", "ISO, YMD"},
	{"IntervalStyle", "postgres"},
	{"TimeZone", "UTC"},
	{"lc_monetary", "C"},
	{"extra_float_digits", "3"},
	{"bytea_output", "hex"},
	{"array_nulls", "on"},
	// content takes documents too, while document refuses fragments.
	{"xmloption", "content"},
	{"standard_conforming_strings", "on"},
	// Definitions are cut at the table's name, so they must be quoted as quote_ident does.
	{"quote_all_identifiers", "off"},
	// A policy is an error then and not a silent filter.
	{"row_security", "off"},
	// Ranges read in order; a scan that starts in the middle would make an interrupted one harder to see through.
	{"synchronize_seqscans", "off"},
	{"statement_timeout", "0"},
	{"lock_timeout", "0"},
	{"idle_in_transaction_session_timeout", "0"},
}

// Settings returns the SET statements for a whole session, to be sent as one simple query. An empty encoding means UTF8.
func Settings(encoding string) string { return settingsText("SET ", encoding, "false") }

// LocalSettings returns the same as SET LOCAL, to be sent right after BEGIN: behind a pooler, where a session's settings
// would reach others, they last for the transaction alone. idle_session_timeout counts outside of transactions only.
func LocalSettings(encoding string) string { return settingsText("SET LOCAL ", encoding, "true") }

func settingsText(set, encoding, local string) string {
	if encoding == "" {
		encoding = "UTF8"
	}
	var b strings.Builder
	b.WriteString(set + "client_encoding = " + sqltext.QuoteLiteral(encoding) + ";\n")
	for _, s := range settings {
		b.WriteString(set + s[0] + " = " + sqltext.QuoteLiteral(s[1]) + ";\n")
	}
	// SET search_path = '' would name a schema with an empty name.
	b.WriteString("SELECT pg_catalog.set_config('search_path', '', " + local + ");\n")
	// These came with 14 and 17; older servers must not fail on them, for Server has a better message about their age.
	// The view pg_settings would make the server list all of its settings, which takes 2 ms.
	b.WriteString("SELECT pg_catalog.set_config(name, '0', " + local + ") FROM (VALUES ('idle_session_timeout'), ('transaction_timeout')) AS s (name)" +
		" WHERE pg_catalog.current_setting(name, true) IS NOT NULL;\n")
	return b.String()
}

// Encoding returns the client_encoding for both connections of a move: that of both databases where it is the same, so that
// nothing is converted and nothing fails to convert; where one is SQL_ASCII, whose bytes mean nothing, the other's; else UTF8.
func Encoding(source, target planner.Server) string {
	const unknown = "SQL_ASCII"
	switch {
	case source.Encoding == target.Encoding && source.Encoding != "":
		return source.Encoding
	case source.Encoding == unknown && target.Encoding != "":
		return target.Encoding
	case target.Encoding == unknown && source.Encoding != "":
		return source.Encoding
	}
	return "UTF8"
}
