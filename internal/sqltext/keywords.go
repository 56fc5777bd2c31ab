package sqltext

import "strings"

// keywords are the words that quote_ident quotes: those whose catcode in
// pg_get_keywords() is not U, in any version from 14 to 18, and the one that
// 19 adds. Quoting a word that one version would take bare does no harm; the
// other way round is a syntax error.
var keywords = keywordSet(
	// 14 and 15
	`all analyse analyze and any array as asc asymmetric authorization
	between bigint binary bit boolean both
	case cast char character check coalesce collate collation column
	concurrently constraint create cross current_catalog current_date
	current_role current_schema current_time current_timestamp current_user
	dec decimal default deferrable desc distinct do
	else end except exists extract false fetch float for foreign freeze from
	full grant greatest group grouping having ilike in initially inner inout
	int integer intersect interval into is isnull join lateral leading least
	left like limit localtime localtimestamp national natural nchar none
	normalize not notnull null nullif numeric offset on only or order out
	outer overlaps overlay placing position precision primary
	real references returning right row
	select session_user setof similar smallint some substring symmetric
	table tablesample then time timestamp to trailing treat trim true
	union unique user using values varchar variadic verbose when where window
	with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces
	xmlparse xmlpi xmlroot xmlserialize xmltable`,
	// 16
	`json_array json_arrayagg json_object json_objectagg system_user`,
	// 17
	`json json_exists json_query json_scalar json_serialize json_table
	json_value merge_action`,
	// 19
	`graph_table`,
)

func keywordSet(lists ...string) map[string]bool {
	set := make(map[string]bool, 192)
	for _, list := range lists {
		for _, word := range strings.Fields(list) {
			set[word] = true
		}
	}
	return set
}
