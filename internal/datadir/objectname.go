package datadir

import (
	"fmt"

	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/internal/sqltext"
)

const knownNames = 10000 // kept for each type

// resolve lets a type print the names of objects, as the server does on an empty search_path: those of pg_catalog bare, others with
// their schema. Operators, functions with arguments and collations stay numbers.
func (db *Database) resolve(t *datum.Type) {
	var find func(c *catalogs, oid uint32) (string, error)
	switch t.Output {
	case "regclassout":
		find = db.className
	case "regtypeout":
		find = func(c *catalogs, oid uint32) (string, error) {
			named, err := db.typeOf(c, oid, 0)
			if err != nil || named.Schema == "" {
				return "", err
			}
			return typeName(named, -1), nil
		}
	case "regnamespaceout":
		find = schemaName
	case "regprocout":
		find = db.procedureName
	case "regconfigout":
		find = db.inSchema("pg_ts_config", "cfgname", "cfgnamespace")
	case "regdictionaryout":
		find = db.inSchema("pg_ts_dict", "dictname", "dictnamespace")
	case "regroleout":
		find = func(c *catalogs, oid uint32) (string, error) {
			name, err := db.roleName(c, oid)
			return quoted(name), err
		}
	case "aclitemout":
		find = db.roleName
	case "anyarray_out":
		t.Lookup = func(oid uint32) *datum.Type {
			found, err := db.Type(oid)
			if err != nil {
				return nil
			}
			return found
		}
	}
	if find == nil {
		return
	}
	known := map[uint32]string{}
	t.Names = func(oid uint32) (string, bool) {
		c, err := db.open()
		if err != nil {
			return "", false
		}
		c.mutex.Lock()
		defer c.mutex.Unlock()
		if name, ok := known[oid]; ok {
			return name, name != ""
		}
		name, err := find(c, oid)
		if err == nil && len(known) < knownNames {
			known[oid] = name
		}
		return name, err == nil && name != ""
	}
}

func quoted(name string) string {
	if name == "" {
		return ""
	}
	return sqltext.QuoteIdent(name)
}

func qualified(schema, name string) string {
	if schema == catalogSchema || schema == "" {
		return quoted(name)
	}
	return sqltext.QuoteQualified(schema, name)
}

func schemaName(c *catalogs, oid uint32) (string, error) {
	name := c.schemas[oid]
	if name == "" {
		return "", fmt.Errorf("no schema has the OID %d", oid)
	}
	return sqltext.QuoteIdent(name), nil
}

func (db *Database) className(c *catalogs, oid uint32) (name string, err error) {
	err = c.class.find(oid, func(r record) error {
		t := c.table(r)
		name = qualified(t.Schema, t.Name)
		return nil
	})
	return name, err
}

// inSchema finds the names of objects that have a schema, in a catalog with the columns given.
func (db *Database) inSchema(catalog, nameColumn, schemaColumn string) func(c *catalogs, oid uint32) (string, error) {
	return func(c *catalogs, oid uint32) (name string, err error) {
		l, err := db.by(c, catalog, "oid")
		if err != nil {
			return "", err
		}
		at := l.catalog.positions(nameColumn, schemaColumn)
		err = l.find(oid, func(r record) error {
			name = qualified(c.schemas[r.oid(at[1])], r.name(at[0]))
			return nil
		})
		return name, err
	}
}

// procedureName is bare only where no other function has it, since a bare name would not say which is meant (regprocout).
func (db *Database) procedureName(c *catalogs, oid uint32) (name string, err error) {
	l, err := db.by(c, "pg_proc", "oid")
	if err != nil {
		return "", err
	}
	at := l.catalog.positions("proname", "pronamespace")
	var bare string
	var schema uint32
	err = l.find(oid, func(r record) error {
		bare, schema = r.name(at[0]), r.oid(at[1])
		return nil
	})
	if err != nil || bare == "" {
		return "", err
	}
	if c.namesakes == nil {
		c.namesakes = map[namesake]int{}
		err = l.catalog.scan(func(r record) error {
			c.namesakes[namesake{r.name(at[0]), r.oid(at[1])}]++
			return nil
		})
	}
	if c.namesakes[namesake{bare, schema}] > 1 || c.schemas[schema] != catalogSchema {
		return sqltext.QuoteQualified(c.schemas[schema], bare), err
	}
	return quoted(bare), err
}

// namesake is the name of functions that differ in their arguments.
type namesake struct {
	name   string
	schema uint32
}

func (db *Database) roleName(c *catalogs, oid uint32) (name string, err error) {
	l, err := db.by(c, "pg_authid", "oid")
	if err != nil {
		return "", err
	}
	at := l.catalog.positions("rolname")[0]
	err = l.find(oid, func(r record) error {
		name = r.name(at)
		return nil
	})
	return name, err
}
