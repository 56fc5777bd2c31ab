package datadir

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/planner"
)

// sqlNames are the names of SQL for types that pg_type calls otherwise (manual, "Data Types").
var sqlNames = map[string]string{
	"bigint": "int8", "bigserial": "int8", "serial8": "int8", "integer": "int4", "int": "int4", "serial": "int4", "serial4": "int4",
	"smallint": "int2", "smallserial": "int2", "serial2": "int2", "boolean": "bool", "real": "float4", "double precision": "float8", "float": "float8",
	"decimal": "numeric", "dec": "numeric", "character varying": "varchar", "character": "bpchar", "char": "bpchar", `"char"`: "char",
	"bit varying": "varbit", "timestamp with time zone": "timestamptz", "timestamp without time zone": "timestamp",
	"time with time zone": "timetz", "time without time zone": "time",
}

// ParseColumns reads a list of columns by hand, such as "id int8, name varchar(10), int4[]". A column without a name is called column1 and so
// on by its place. Types are the built-in ones, by their names in SQL or in pg_type; what they have in parentheses does not matter. A dropped
// column counts too. The error is of kind planner.Usage.
func ParseColumns(list string) ([]Column, error) {
	var columns []Column
	for i, text := range splitList(list) {
		c := Column{Number: i + 1, Name: fmt.Sprintf("column%d", i+1), Typmod: -1}
		text = strings.TrimSpace(text)
		if c.Type = namedType(text); c.Type == nil {
			name, rest := firstWord(text)
			c.Name, c.Type = name, namedType(rest)
		}
		if c.Type == nil || c.Type.Len == 0 {
			return nil, &planner.Error{
				Kind: planner.Usage, Message: fmt.Sprintf("cannot read column %d of the column types: %q", i+1, text), Detail: "It names no built-in type.",
				Hint: "Write types as in CREATE TABLE, for instance 'id int8, d date, v varchar(10)'. An enum is stored like an oid, a domain like its base type.",
			}
		}
		c.TypeName = typeName(c.Type, -1)
		columns = append(columns, c)
	}
	return columns, nil
}

// namedType finds a built-in type by its name, nil for none.
func namedType(text string) *datum.Type {
	text = strings.ToLower(strings.TrimSpace(text))
	array := false
	for strings.HasSuffix(text, "]") && strings.Contains(text, "[") {
		text, array = strings.TrimSpace(text[:strings.LastIndexByte(text, '[')]), true
	}
	if open, end := strings.IndexByte(text, '('), strings.IndexByte(text, ')'); open > 0 && end > open {
		text = text[:open] + " " + text[end+1:]
	}
	text = strings.TrimPrefix(strings.Join(strings.Fields(text), " "), "pg_catalog.")
	if strings.HasPrefix(text, "interval ") {
		text = "interval"
	}
	if name, ok := sqlNames[text]; ok {
		text = name
	}
	if array {
		text = "_" + text
	}
	return datum.BuiltinNamed(text)
}

// firstWord parts a column's name, which may be quoted, from its type.
func firstWord(text string) (name, rest string) {
	end := strings.IndexAny(text, " \t\n")
	if strings.HasPrefix(text, `"`) {
		if last := strings.LastIndexByte(text, '"'); last > 0 {
			end = last + 1
		}
	}
	if end < 0 {
		return text, ""
	}
	_, name, err := sqltext.ParseQualified(text[:end])
	if err != nil {
		name = text[:end]
	}
	return name, text[end:]
}

// splitList cuts at the commas outside of parentheses and quotes.
func splitList(list string) []string {
	var parts []string
	depth, quoted, start := 0, false, 0
	for i := range len(list) {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts, start = append(parts, list[start:i]), i+1
		}
	}
	return append(parts, list[start:])
}
