package move

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// callJudges makes the extensions with which soundPages and loggedPages look at tables, where the server has them.
func callJudges(t *testing.T, uri string) {
	t.Helper()
	for _, name := range []string{"amcheck", "pg_visibility", "pageinspect"} {
		if clustertest.HasExtension(t, uri, name) {
			clustertest.Exec(t, uri, "CREATE EXTENSION IF NOT EXISTS "+name)
		}
	}
}

// soundPages has the server's own tools look at a table whose pages were copied: its tuples, its TOAST values, the visibility map and each
// entry of its btree indexes. frozen says that nothing has changed it yet, logged that each page must have come through the WAL.
func soundPages(t *testing.T, uri, table string, frozen, logged bool) {
	t.Helper()
	const heaps = "SELECT c.oid::regclass AS r, c.oid = $t AS main FROM pg_class c WHERE c.oid = $t OR c.oid = (SELECT reltoastrelid FROM pg_class WHERE oid = $t)"
	checks := []string{"SELECT 'not valid', i.indexrelid::regclass::text FROM pg_index i WHERE i.indrelid IN (SELECT r FROM heaps) AND NOT (indisvalid AND indisready AND indislive)"}
	for _, name := range strings.Fields(clustertest.Query(t, uri, "SELECT string_agg(extname, ' ') FROM pg_extension")) {
		switch name {
		case "amcheck":
			checks = append(checks, "SELECT 'verify_heapam ' || r, v::text FROM heaps, LATERAL verify_heapam(r, check_toast => main) v",
				`SELECT 'bt_index_check', string_agg(bt_index_check(i.indexrelid, true)::text, '') FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam AND a.amname = 'btree'
				WHERE i.indrelid IN (SELECT r FROM heaps) HAVING string_agg(bt_index_check(i.indexrelid, true)::text, '') <> ''`)
		case "pg_visibility":
			checks = append(checks, "SELECT 'pg_check_frozen ' || r, v::text FROM heaps, LATERAL pg_check_frozen(r) v", "SELECT 'pg_check_visible ' || r, v::text FROM heaps, LATERAL pg_check_visible(r) v")
			if frozen {
				checks = append(checks, "SELECT 'not all frozen ' || r, v::text FROM heaps, LATERAL pg_visibility(r) v WHERE NOT (all_visible AND all_frozen AND pd_all_visible)")
			}
		case "pageinspect":
			if logged {
				checks = append(checks, `SELECT 'not logged ' || r, b::text FROM heaps, generate_series(0, pg_relation_size(r) / current_setting('block_size')::int - 1) b
					WHERE (page_header(get_raw_page(r::text, b::int))).lsn = '0/0'`)
			}
		}
	}
	sql := "WITH heaps AS MATERIALIZED (" + heaps + ") (" + strings.Join(checks, ") UNION ALL (") + ") LIMIT 5"
	if found := clustertest.Query(t, uri, strings.ReplaceAll(sql, "$t", "'"+sqlText(table)+"'::regclass")); found != "" {
		t.Errorf("%s: %s", table, found)
	}
}

// digests are what two tables hold, each in whatever order of rows and columns.
func digests(t *testing.T, uri, table string) (columns, digest string) {
	t.Helper()
	columns = clustertest.Query(t, uri, "SELECT string_agg(format('s.%I', attname), ', ' ORDER BY attname) FROM pg_attribute WHERE attrelid = '"+
		sqlText(table)+"'::regclass AND attnum > 0 AND NOT attisdropped")
	if columns == "" {
		return columns, contents(t, uri, "SELECT FROM ONLY "+table)
	}
	return columns, contents(t, uri, fmt.Sprintf("SELECT ROW(%s)::text FROM ONLY %s s", columns, table))
}
