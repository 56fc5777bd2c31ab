package move

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// textRules are how the role's own sessions read the text of values, as far as that can be set. Unlike the two ends of a copy, who write a file
// does not agree with its reader: what it means is what COPY would have made of it.
type textRules struct {
	order    encode.DateOrder
	zone     string
	interval string // IntervalStyle
	monetary string // lc_monetary
	path     string // search_path, which also functions of triggers go by
}

// textRulesOf asks how the role's own sessions read values: what the settings were before this session changed them.
func textRulesOf(ctx context.Context, c *pgx.Conn) (textRules, error) {
	r := textRules{}
	rows, err := c.Query(ctx, "SELECT pg_catalog.lower(name), reset_val FROM pg_catalog.pg_settings WHERE name IN ('DateStyle', 'TimeZone', 'IntervalStyle', 'lc_monetary', 'search_path')")
	if err != nil {
		return r, err
	}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		switch name {
		case "datestyle":
			_, order, _ := strings.Cut(strings.ToUpper(value), ", ")
			r.order = map[string]encode.DateOrder{"DMY": encode.DMY, "YMD": encode.YMD}[order]
		case "timezone":
			r.zone = value
		case "intervalstyle":
			r.interval = value
		case "lc_monetary":
			r.monetary = value
		case "search_path":
			r.path = value
		}
		return nil
	})
	return r, err
}

// settings are the encoders'.
func (r textRules) settings(version int) encode.Settings {
	return encode.Settings{Version: version / 10000, Order: r.order, UTC: r.zone == "UTC" || r.zone == "Etc/UTC"}
}

// statements make the settings those of the role's own sessions, where they are not those of all moves.
func (r textRules) statements() []string {
	order := [...]string{encode.MDY: "MDY", encode.DMY: "DMY", encode.YMD: "YMD"}[r.order]
	all := []string{"SELECT pg_catalog.set_config('search_path', " + sqltext.QuoteLiteral(r.path) + ", true)"}
	for _, s := range [][3]string{
		{"DateStyle", "ISO, " + order, "ISO, YMD"}, {"TimeZone", r.zone, "UTC"}, {"IntervalStyle", r.interval, "postgres"}, {"lc_monetary", r.monetary, "C"},
	} {
		if s[1] != s[2] && !(s[0] == "lc_monetary" && r.plainMoney()) {
			all = append(all, "SET LOCAL "+s[0]+" = "+sqltext.QuoteLiteral(s[1]))
		}
	}
	return all
}

// noEncoder says why a column's values have no exact binary form here, empty when they have.
func (r textRules) noEncoder(c *planner.Column, version int) string {
	t := encodedType(&c.Type)
	switch {
	case t == nil || encode.For(t, r.settings(version)) == nil:
		return "type " + c.Type.SQL + " is read by the server alone"
	case r.interval == "sql_standard" && holds(t, intervalOID):
		return "IntervalStyle is sql_standard"
	case !r.plainMoney() && holds(t, moneyOID):
		return "lc_monetary is " + r.monetary
	}
	return ""
}

// plainMoney reports whether amounts of money are written as in locale C.
func (r textRules) plainMoney() bool {
	return r.monetary == "C" || r.monetary == "POSIX" || strings.HasPrefix(r.monetary, "C.")
}

// Types whose text depends on a setting (pg_type.dat).
const (
	intervalOID = 1186
	moneyOID    = 790
)

// holds reports whether a type is, or is made of, another one.
func holds(t *encode.Type, oid uint32) bool { return t != nil && (t.OID == oid || holds(t.Elem, oid)) }
