package catalog

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// foreign is what the catalogs tell about one foreign table beside its Relation.
type foreign struct {
	name            Name
	wrapper, server string
	isPostgres      bool // the wrapper's handler is postgres_fdw's, whatever the wrapper is called
	serverOptions   map[string]string
	tableOptions    map[string]string
	mappingOptions  map[string]string
	hasMapping      bool
	mappingHidden   bool
	user            string
	firstRole       string            // the role that initdb made
	columnNames     map[string]string // column_name by local name
	generated       bool
	virtual         bool // has generated columns that are computed when read
}

// Who may see the options of a user mapping: system_views.sql, view pg_user_mappings. The role with identifier 10 is initdb's,
// which is called as the operating system's user unless something else was asked for; libpq takes that user in the server.
const foreignSQL = `
SELECT w.fdwname::text, s.srvname::text,
       coalesce((SELECT p.proname = 'postgres_fdw_handler' FROM pg_catalog.pg_proc p WHERE p.oid = w.fdwhandler), false),
       s.srvoptions, f.ftoptions, m.umoptions, m.umid IS NOT NULL,
       m.umid IS NOT NULL AND NOT (me.rolsuper OR pg_catalog.pg_has_role(s.srvowner, 'USAGE') AND m.umuser IN (0, me.oid)
           OR m.umuser = me.oid AND pg_catalog.has_server_privilege(s.oid, 'USAGE')),
       me.rolname::text,
       coalesce((SELECT b.rolname::text FROM pg_catalog.pg_roles b WHERE b.oid = 10), 'postgres')
  FROM pg_catalog.pg_foreign_table f
  JOIN pg_catalog.pg_foreign_server s ON s.oid = f.ftserver
  JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
  JOIN pg_catalog.pg_roles me ON me.rolname = current_user
  LEFT JOIN LATERAL (SELECT u.umid, u.umuser, u.umoptions FROM pg_catalog.pg_user_mappings u
                      WHERE u.srvid = s.oid AND u.umuser IN (0, me.oid) ORDER BY u.umuser = 0 LIMIT 1) m ON true
 WHERE f.ftrelid = $1::oid`

const foreignColumnSQL = `
SELECT a.attname::text, a.attfdwoptions, a.attgenerated::text
  FROM pg_catalog.pg_attribute a
 WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped`

// readForeign reads how a foreign table is reached.
func readForeign(ctx context.Context, c *pgx.Conn, relation planner.Relation) (*foreign, error) {
	f := &foreign{name: Name{relation.Schema, relation.Name}, columnNames: map[string]string{}}
	one := oidArray([]uint32{relation.OID})
	oid := one[1 : len(one)-1]
	found := false
	err := ask(ctx, c, question{sql: foreignSQL, args: []any{oid}, row: func(r pgx.Rows) error {
		found = true
		var server, table, mapping []string
		err := r.Scan(&f.wrapper, &f.server, &f.isPostgres, &server, &table, &mapping, &f.hasMapping, &f.mappingHidden,
			&f.user, &f.firstRole)
		f.serverOptions, f.tableOptions, f.mappingOptions = optionMap(server), optionMap(table), optionMap(mapping)
		return err
	}}, question{sql: foreignColumnSQL, args: []any{oid}, row: func(r pgx.Rows) error {
		var name, generated string
		var options []string
		if err := r.Scan(&name, &options, &generated); err != nil {
			return err
		}
		f.generated = f.generated || generated != ""
		f.virtual = f.virtual || generated == "v"
		if remote, ok := optionMap(options)["column_name"]; ok {
			f.columnNames[name] = remote
		}
		return nil
	}})
	if err == nil && !found {
		err = &planner.Error{Message: "foreign table " + f.name.String() + " does not exist any more"}
	}
	return f, failed("read the options of foreign table "+f.name.String(), err)
}

func optionMap(options []string) map[string]string {
	m := make(map[string]string, len(options))
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		m[name] = value
	}
	return m
}

// stays says why the rows must go through the foreign table itself; empty when the remote may be used directly. What a direct
// write would leave out is what the wrapper's own server does on the way: triggers, generated values, and its refusals.
func (f *foreign) stays(relation planner.Relation, role Role) string {
	switch {
	case !f.isPostgres:
		return "its wrapper is " + sqltext.QuoteIdent(f.wrapper)
	case role == Target && len(relation.Triggers) > 0:
		return "it has insert triggers of its own"
	case role == Target && f.generated:
		return "it has generated columns of its own"
	case f.virtual:
		return "it has generated columns that are computed when read"
	case role == Target && ownDefault(relation) != "":
		return "its column " + sqltext.QuoteIdent(ownDefault(relation)) + " has a default of its own"
	case role == Target && isFalse(f.option("updatable")):
		return "its option updatable is off"
	}
	return ""
}

// ownDefault is the first column with a default, which postgres_fdw would send and a direct write would not know.
func ownDefault(relation planner.Relation) string {
	for _, col := range relation.Columns {
		if col.HasDefault {
			return col.Name
		}
	}
	return ""
}

// option is a table's option, else its server's.
func (f *foreign) option(name string) string {
	if v, ok := f.tableOptions[name]; ok {
		return v
	}
	return f.serverOptions[name]
}

// remoteName is what the table is called on the other side.
func (f *foreign) remoteName() Name {
	n := f.name
	if s, ok := f.tableOptions["schema_name"]; ok {
		n.Schema = s
	}
	if t, ok := f.tableOptions["table_name"]; ok {
		n.Name = t
	}
	return n
}

// checkMapping returns an error when the user mapping gives no way to log in.
func (f *foreign) checkMapping() error {
	server := sqltext.QuoteIdent(f.server)
	switch {
	case !f.hasMapping:
		return &planner.Error{Message: "user mapping not found for user " + sqltext.QuoteIdent(f.user) + ", foreign server " + server,
			Detail: "It is needed to follow foreign table " + f.name.String() + ".", Hint: "Use CREATE USER MAPPING."}
	case f.mappingHidden:
		return &planner.Error{
			Message: "user " + sqltext.QuoteIdent(f.user) + " may not see the user mapping of foreign server " + server,
			Detail:  "Its user and password are needed to follow foreign table " + f.name.String() + ".",
			Hint: "Make a user mapping for this user and grant USAGE on the foreign server, connect as the owner of the server, " +
				"or name the remote table on its own server.",
		}
	case isTrue(f.either("use_scram_passthrough")) && f.mappingOptions["password"] == "":
		return &planner.Error{
			Message: "foreign server " + server + " passes the login on and has no password of its own",
			Detail:  "With use_scram_passthrough only the server itself can follow foreign table " + f.name.String() + ".",
			Hint:    "Name the remote table on its own server, with a connection string of your own.",
		}
	}
	return nil
}

// either is an option of the user mapping, else the server's.
func (f *foreign) either(name string) string {
	if v, ok := f.mappingOptions[name]; ok {
		return v
	}
	return f.serverOptions[name]
}

// isTrue and isFalse read a boolean option as bool.c, parse_bool does: any prefix that is not ambiguous.
func isTrue(s string) bool {
	s = strings.ToLower(s)
	return s == "1" || s == "on" || s != "" && (strings.HasPrefix("true", s) || strings.HasPrefix("yes", s))
}

func isFalse(s string) bool {
	s = strings.ToLower(s)
	return s == "0" || s == "of" || s == "off" || s != "" && (strings.HasPrefix("false", s) || strings.HasPrefix("no", s))
}
