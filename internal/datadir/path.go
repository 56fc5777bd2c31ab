package datadir

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// Tablespaces that every cluster has (pg_tablespace.dat).
const (
	defaultTablespace = 1663
	globalTablespace  = 1664
)

// Path is the path of a relation's main fork, its first segment, within the data directory: base/16384/16400, or beneath pg_tblspc.
// Tablespace 0 is the database's own. Further segments have the suffixes .1, .2 and so on; other forks _fsm, _vm and _init before
// those. (relpath.c)
func (db *Database) Path(tablespace, file uint32) string {
	return filepath.Join(db.directory(tablespace), strconv.FormatUint(uint64(file), 10))
}

// directory is where the files of a tablespace are, within the data directory.
func (db *Database) directory(tablespace uint32) string {
	if tablespace == 0 {
		tablespace = db.Tablespace
	}
	oid := strconv.FormatUint(uint64(db.OID), 10)
	switch tablespace {
	case defaultTablespace:
		return filepath.Join("base", oid)
	case globalTablespace:
		return "global"
	}
	version := fmt.Sprintf("PG_%d_%d", db.dir.release.major, db.dir.control.Catalog)
	return filepath.Join("pg_tblspc", strconv.FormatUint(uint64(tablespace), 10), version, oid)
}
