package move

import (
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/planner"
)

// TestLoadJSONAsServer: NDJSON means what json_populate_record makes of each line, in rows of every size.
func TestLoadJSONAsServer(t *testing.T) {
	lines := []string{
		`{"id": 1, "doc": "text", "plain": "3", "docs": ["a", 1, {"k": "v\"w"}, null], "words": ["x", "\u00e9", null], "note": {"a": [1, 2]}}`,
		`{"id": 2, "doc": "{\"a\": 1}", "plain": "A\n", "docs": [], "words": "{p,q}", "note": "plain"}`,
		`{"id": 3, "doc": {"a": "b"}, "plain": [1,  2], "note": 1.50}`,
		`{"id": 4, "doc": null, "plain": null, "docs": null, "words": [], "note": true}`,
		`{"id": 5, "doc": 7, "plain": 1e2, "positive": "12", "note": null}`,
		`{"id": 6, "doc": "` + strings.Repeat(`long \" `, 2<<20) + `", "docs": ["` + strings.Repeat("é", 1<<20) + `"]}`,
	}
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, "CREATE DOMAIN document AS jsonb",
		"CREATE TABLE got (id int, doc jsonb, plain json, docs jsonb[], words text[], positive document, note text)", "CREATE TABLE want (LIKE got)")
	for _, line := range lines {
		clustertest.Exec(t, uri, "INSERT INTO want SELECT * FROM json_populate_record(NULL::want, '"+line+"')")
	}
	if _, _, err := loaded(t, uri, &loadCase{content: strings.Join(lines, "\n"), into: "got", wish: planner.LoadWish{}}); err != nil {
		t.Fatal(err)
	}
	const differing = "SELECT coalesce(g.id, w.id), left(g::text, 200), left(w::text, 200) FROM got g FULL JOIN want w ON g::text = w::text WHERE g.id IS NULL OR w.id IS NULL"
	if got := clustertest.Query(t, uri, differing); got != "" {
		t.Errorf("rows differ:\n%s", got)
	}
	if got := clustertest.Query(t, uri, "SELECT jsonb_typeof(doc), json_typeof(plain), jsonb_typeof(positive) FROM got WHERE id IN (2, 5) ORDER BY id"); got != "string|string|\nnumber|number|string" {
		t.Errorf("kinds: got %q", got)
	}
}
