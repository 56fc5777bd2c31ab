package move

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// soundPages has the server's own tools look at a table whose pages were copied: its tuples, its TOAST values, the visibility map and each
// entry of its btree indexes. frozen says that nothing has changed it yet.
func soundPages(t *testing.T, uri, table string, frozen bool) {
	t.Helper()
	at := "'" + sqlText(table) + "'::regclass"
	ask := func(what, sql string) {
		t.Helper()
		if found := clustertest.Query(t, uri, strings.ReplaceAll(sql, "$t", at)); found != "" {
			t.Errorf("%s: %s: %s", table, what, found)
		}
	}
	if clustertest.HasExtension(t, uri, "amcheck") {
		clustertest.Exec(t, uri, "CREATE EXTENSION IF NOT EXISTS amcheck")
		const heaps = "(SELECT oid FROM pg_class WHERE oid = $t UNION ALL SELECT reltoastrelid FROM pg_class WHERE oid = $t AND reltoastrelid <> 0) c"
		ask("verify_heapam", "SELECT c.oid::regclass, v.* FROM "+heaps+", LATERAL verify_heapam(c.oid, check_toast => c.oid = $t) v LIMIT 5")
		ask("indexes", `SELECT string_agg(bt_index_check(i.indexrelid, true)::text, '') FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam AND a.amname = 'btree'
			WHERE i.indrelid IN (SELECT oid FROM `+heaps+")")
		ask("indexes that are not valid", "SELECT indexrelid::regclass FROM pg_index WHERE indrelid IN (SELECT oid FROM "+heaps+") AND NOT (indisvalid AND indisready AND indislive)")
	}
	if clustertest.HasExtension(t, uri, "pg_visibility") {
		clustertest.Exec(t, uri, "CREATE EXTENSION IF NOT EXISTS pg_visibility")
		ask("pg_check_frozen", "SELECT * FROM pg_check_frozen($t) LIMIT 5")
		ask("pg_check_visible", "SELECT * FROM pg_check_visible($t) LIMIT 5")
		if frozen {
			ask("pages that are not all frozen", "SELECT * FROM pg_visibility($t) WHERE NOT (all_visible AND all_frozen AND pd_all_visible) LIMIT 5")
		}
	}
}

// loggedPages fails when a page of a table never reached the WAL.
func loggedPages(t *testing.T, uri, table string) {
	t.Helper()
	if !clustertest.HasExtension(t, uri, "pageinspect") {
		return
	}
	clustertest.Exec(t, uri, "CREATE EXTENSION IF NOT EXISTS pageinspect")
	got := clustertest.Query(t, uri, `SELECT c.oid::regclass, b FROM pg_class c, generate_series(0, pg_relation_size(c.oid) / current_setting('block_size')::int - 1) b
		WHERE (c.oid = '`+sqlText(table)+`'::regclass OR c.oid = (SELECT reltoastrelid FROM pg_class WHERE oid = '`+sqlText(table)+`'::regclass))
		AND (page_header(get_raw_page(c.oid::regclass::text, b::int))).lsn = '0/0' LIMIT 5`)
	if got != "" {
		t.Errorf("%s: pages that no WAL has: %s", table, got)
	}
}

// sameTables compares the rows of two tables, on one server or two.
func sameTables(t *testing.T, uriA, a, uriB, b string) {
	t.Helper()
	sameContents(t, uriA, "SELECT ROW(s.*)::text FROM "+a+" s", uriB, "SELECT ROW(s.*)::text FROM "+b+" s")
}
