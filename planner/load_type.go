package planner

import (
	"strconv"
	"strings"
)

// NewColumn is a column of a table that is made for rows, with its type as one writes it in SQL. Of PostgreSQL's own types that are inferred of data
// everything is known that LoadFacts.Target wants to know; a type of another name is left empty, so that its values go as text.
func NewColumn(name, sql string) Column {
	return Column{Name: name, Type: inferredType(sql), CanRead: true, CanWrite: true}
}

// inferred are types by the names that format_type gives them, with pg_type.oid, the OID of their arrays, and pg_type.typname (pg_type.dat).
var inferred = map[string]struct {
	oid, array uint32
	name       string
}{
	"boolean":                     {16, 1000, "bool"},
	"smallint":                    {21, 1005, "int2"},
	"integer":                     {23, 1007, "int4"},
	"bigint":                      {20, 1016, "int8"},
	"real":                        {700, 1021, "float4"},
	"double precision":            {701, 1022, "float8"},
	"numeric":                     {1700, 1231, "numeric"},
	"text":                        {25, 1009, "text"},
	"bytea":                       {17, 1001, "bytea"},
	"date":                        {1082, 1182, "date"},
	"time without time zone":      {1083, 1183, "time"},
	"timestamp without time zone": {1114, 1115, "timestamp"},
	"timestamp with time zone":    {1184, 1185, "timestamptz"},
	"interval":                    {1186, 1187, "interval"},
	"uuid":                        {2950, 2951, "uuid"},
	"json":                        {114, 199, "json"},
	"jsonb":                       {3802, 3807, "jsonb"},
}

// otherNames are what SQL and people call them besides.
var otherNames = map[string]string{
	"bool": "boolean", "int2": "smallint", "int": "integer", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double precision", "decimal": "numeric",
	"time": "time without time zone", "timestamp": "timestamp without time zone", "timestamptz": "timestamp with time zone",
}

func inferredType(sql string) Type {
	full := strings.ToLower(strings.TrimSpace(sql))
	if elem, is := strings.CutSuffix(full, "[]"); is {
		e := inferredType(elem)
		if e.OID == 0 || e.Class != BaseType {
			return Type{}
		}
		return Type{OID: inferred[withoutLength(e.SQL)].array, Schema: "pg_catalog", Name: "_" + e.Name, SQL: e.SQL + "[]", Mod: e.Mod, Class: Array,
			Send: "pg_catalog.array_send", Receive: "pg_catalog.array_recv", Elem: &e}
	}
	name, mod := withoutLength(full), int32(-1)
	if other := otherNames[name]; other != "" {
		name = other
	}
	t, known := inferred[name]
	if full = strings.TrimPrefix(full, withoutLength(full)); known && full != "" {
		if name != "numeric" {
			return Type{}
		}
		mod, known = numericMod(full)
	}
	if !known {
		return Type{}
	}
	// The functions of types that had them first are called without an underscore (pg_proc.dat).
	gap := ""
	switch t.name {
	case "numeric", "date", "time", "timestamp", "timestamptz", "interval", "uuid", "json", "jsonb":
		gap = "_"
	}
	return Type{OID: t.oid, Schema: "pg_catalog", Name: t.name, SQL: name + full, Mod: mod, Class: BaseType,
		Send: "pg_catalog." + t.name + gap + "send", Receive: "pg_catalog." + t.name + gap + "recv"}
}

func withoutLength(sql string) string {
	name, _, _ := strings.Cut(sql, "(")
	return strings.TrimSpace(name)
}

// numericMod is atttypmod of (precision, scale) (numeric.c, make_numeric_typmod).
func numericMod(lengths string) (mod int32, known bool) {
	inner, closed := strings.CutSuffix(strings.TrimPrefix(lengths, "("), ")")
	digits, behind, two := strings.Cut(inner, ",")
	if !two {
		behind = "0"
	}
	precision, err := strconv.Atoi(strings.TrimSpace(digits))
	scale, err2 := strconv.Atoi(strings.TrimSpace(behind))
	const most, header = 1000, 4
	if err != nil || err2 != nil || !closed || precision < 1 || precision > most || scale < 0 || scale > most {
		return 0, false
	}
	return int32(precision<<16|scale) + header, true
}
