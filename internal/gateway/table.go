package gateway

import (
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// Types that need a rule of their own (pg_type.dat).
const (
	oidBool    = 16
	oidInt8    = 20
	oidInt2    = 21
	oidInt4    = 23
	oidFloat8  = 701
	oidNumeric = 1700
)

// facts are what must be known of a table before an INSERT into it may become a COPY.
type facts struct {
	fingerprint string // of all facts
	mark        string // changes when they do, unless they are heavy

	Process   uint32 `json:"process"`
	Version   string `json:"version"`
	Number    int    `json:"number"` // server_version_num
	Isolation string `json:"isolation"`
	Mode      string `json:"mode"`    // pghaul.mode, empty when it is not set
	Timeout   bool   `json:"timeout"` // statement_timeout is set
	Found     bool   `json:"found"`
	OID       uint32 `json:"oid"`
	Schema    string `json:"schema"`
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	System    bool   `json:"system"`
	Rules     bool   `json:"rules"`
	Security  bool   `json:"security"`
	Foreign   bool   `json:"foreign"`  // a partition is a foreign table
	Stale     bool   `json:"stale"`    // what was seen may not be the newest
	Triggers  bool   `json:"triggers"` // INSERT triggers of users, on it or a partition
	SelfKey   bool   `json:"selfkey"`  // a foreign key to itself
	HasAny    bool   `json:"hasany"`   // relhastriggers
	Functions bool   `json:"functions"`
	Heavy     bool   `json:"heavy"`
	Prepared  string `json:"prepared"`

	Columns []columnFacts `json:"columns"`

	refused  string
	byName   map[string]int
	prepared map[string]*statement // known to the server as they are here
}

type columnFacts struct {
	Name      string `json:"name"`
	Type      uint32 `json:"type"`
	Modifier  int32  `json:"modifier"`
	TypeName  string `json:"typename"`
	SQLType   string `json:"sqltype"` // as a cast takes it
	Class     string `json:"class"`
	IsArray   bool   `json:"isarray"` // or has elements otherwise
	Identity  string `json:"identity"`
	Generated string `json:"generated"`
	// Default is "" for none, "s" for one that gives all statements of a transaction what it gives one, else "u".
	Default string `json:"default"`
}

// judge says why no INSERT into the table may become a COPY; empty when some may.
func (f *facts) judge(process uint32) string {
	switch {
	case !strings.HasPrefix(f.Version, "PostgreSQL ") || strings.Contains(f.Version, "-YB-") || f.Number < 140000:
		return "not PostgreSQL"
	case f.Process != process:
		return "pooler"
	case !f.Found:
		return "no such table"
	case f.Kind != "r" && f.Kind != "p":
		return "kind of relation"
	case f.System:
		return "system table"
	case f.Rules:
		return "rules"
	case f.Security:
		return "row security"
	case f.Foreign:
		return "foreign partition"
	case f.Functions:
		return "functions in checks"
	case f.Isolation != "read committed" && (f.Stale || f.Kind == "p"):
		return "old snapshot"
	}
	return ""
}

// joins says why several INSERTs into the table may not become one; empty when they may.
func (f *facts) joins() string {
	switch {
	case f.Triggers:
		return "triggers"
	case f.SelfKey:
		return "key to itself"
	case f.Kind == "p":
		return "partitions joined"
	case f.Isolation != "read committed" && f.HasAny:
		return "old snapshot"
	}
	return ""
}

// target is what an INSERT's rows go to as a COPY.
type target struct {
	facts   *facts
	columns []int  // of the table, in the order of the statement's values that are sent
	sent    []bool // by the statement's columns: its value is sent
	all     bool   // each of the statement's columns is sent
	joined  string // why it may not be joined with others; empty when it may
}

// aim finds an INSERT's target in the facts of its table. types are those of its parameters, as the server has them.
func (f *facts) aim(i *sqltext.Insert, types []uint32) (*target, string) {
	if f.refused != "" {
		return nil, f.refused
	}
	if len(types) != i.Parameters {
		return nil, "parameters"
	}
	named, reason := f.named(i)
	if reason != "" {
		return nil, reason
	}
	t := &target{facts: f, all: true, sent: make([]bool, len(named)), joined: f.joins()}
	defaults, reason := f.values(i, types, named)
	if reason != "" {
		return nil, reason
	}
	listed := make([]bool, len(f.Columns))
	for at, column := range named {
		if defaults[at] {
			t.all = false
			continue
		}
		c := &f.Columns[column]
		if c.Identity == "a" {
			return nil, "identity"
		}
		if c.Generated != "" {
			return nil, "generated column"
		}
		listed[column] = true
		t.sent[at] = true
		t.columns = append(t.columns, column)
	}
	if len(t.columns) == 0 {
		return nil, "only defaults"
	}
	for column := range f.Columns {
		if c := &f.Columns[column]; !listed[column] && c.Default == "u" && c.Generated == "" && t.joined == "" {
			t.joined = "volatile default"
		}
	}
	return t, ""
}

// named finds the table's columns that an INSERT names, or means by naming none.
func (f *facts) named(i *sqltext.Insert) (columns []int, reason string) {
	if i.Columns == nil {
		if i.Width > len(f.Columns) {
			return nil, "columns"
		}
		for at := range i.Width {
			columns = append(columns, at)
		}
		return columns, ""
	}
	for _, name := range i.Columns {
		at, ok := f.byName[name]
		if !ok {
			return nil, "columns"
		}
		columns = append(columns, at)
	}
	return columns, ""
}

// values looks at an INSERT's values as far as the table decides on them, and tells which columns are DEFAULT throughout.
func (f *facts) values(i *sqltext.Insert, types []uint32, named []int) (defaults []bool, reason string) {
	defaults = make([]bool, len(named))
	i.Values(func(row, at int, v sqltext.Value) bool {
		if row > 0 && defaults[at] != (v.Kind == sqltext.Default) {
			reason = "mixed DEFAULT"
			return false
		}
		kind := f.Columns[named[at]].Type
		switch v.Kind {
		case sqltext.Default:
			defaults[at] = true
		case sqltext.Param:
			if types[v.Parameter-1] != kind {
				reason = "parameter type"
			}
		case sqltext.True, sqltext.False:
			if kind != oidBool {
				reason = "boolean"
			}
		case sqltext.Number:
			if !numberFits(v, kind) {
				reason = "number"
			}
		case sqltext.Null, sqltext.String:
		}
		return reason == ""
	})
	return defaults, reason
}

// numberFits tells whether a column's input function makes of a number's text what the server makes of the constant.
func numberFits(v sqltext.Value, kind uint32) bool {
	switch kind {
	case oidNumeric, oidFloat8:
		return true
	case oidInt2:
		return v.Form == sqltext.Integer && within64(v.Text, 1<<15)
	case oidInt4:
		return v.Form == sqltext.Integer && within64(v.Text, 1<<31)
	case oidInt8:
		return v.Form == sqltext.Integer && within64(v.Text, 1<<63-1)
	}
	return false
}

// within64 tells whether an integer lies between -limit+1 and limit-1.
func within64(text []byte, limit uint64) bool {
	if len(text) > 0 && text[0] == '-' {
		text = text[1:]
	}
	if len(text) > 19 {
		return false
	}
	var n uint64
	for _, c := range text {
		n = n*10 + uint64(c-'0')
	}
	return n < limit
}

// key identifies what a COPY into the target looks like.
func (t *target) key() string {
	var b strings.Builder
	b.WriteString(t.relation())
	b.WriteString(t.list())
	return b.String()
}

func (t *target) relation() string {
	return sqltext.QuoteIdent(t.facts.Schema) + "." + sqltext.QuoteIdent(t.facts.Name)
}

// list are the target's columns in parentheses.
func (t *target) list() string {
	names := make([]string, len(t.columns))
	for n, column := range t.columns {
		names[n] = sqltext.QuoteIdent(t.facts.Columns[column].Name)
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// copy is the COPY that takes the rows. It names the table as the client does, so that both find the same one.
func (t *target) copy(table string, binary bool) string {
	sql := "COPY " + table + " " + t.list() + " FROM STDIN"
	if binary {
		sql += " (FORMAT binary)"
	}
	return sql
}
