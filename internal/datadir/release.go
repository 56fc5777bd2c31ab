package datadir

import (
	"strings"

	"github.com/pghaul/pghaul/internal/heap"
)

// release is what varies between major versions: layouts of files, and of the two catalogs that must be known to read all others.
type release struct {
	major          int
	controlVersion uint32 // PG_CONTROL_VERSION of pg_control.h
	controlCRC     int    // offset of the checksum in ControlFileData, in bytes
	mapCRC         int    // offset of the checksum in RelMapFile of relmapper.c, in bytes: 62 mappings before 16, 64 since
	attribute      string // columns of pg_attribute, and of pg_database
	database       string
	aclAlign       byte // alignment of aclitem[]: aclitem holds a 64-bit mask since 16
}

const (
	attribute14 = "attrelid oid, attname name, atttypid oid, attstattarget int4, attlen int2, attnum int2, attndims int4," +
		" attcacheoff int4, atttypmod int4, attbyval bool, attalign char, attstorage char, attcompression char, attnotnull bool," +
		" atthasdef bool, atthasmissing bool, attidentity char, attgenerated char, attisdropped bool, attislocal bool," +
		" attinhcount int4, attcollation oid, attacl _aclitem, attoptions _text, attfdwoptions _text, attmissingval anyarray"
	attribute16 = "attrelid oid, attname name, atttypid oid, attlen int2, attnum int2, attcacheoff int4, atttypmod int4," +
		" attndims int2, attbyval bool, attalign char, attstorage char, attcompression char, attnotnull bool, atthasdef bool," +
		" atthasmissing bool, attidentity char, attgenerated char, attisdropped bool, attislocal bool, attinhcount int2," +
		" attstattarget int2, attcollation oid, attacl _aclitem, attoptions _text, attfdwoptions _text, attmissingval anyarray"
	attribute17 = "attrelid oid, attname name, atttypid oid, attlen int2, attnum int2, attcacheoff int4, atttypmod int4," +
		" attndims int2, attbyval bool, attalign char, attstorage char, attcompression char, attnotnull bool, atthasdef bool," +
		" atthasmissing bool, attidentity char, attgenerated char, attisdropped bool, attislocal bool, attinhcount int2," +
		" attcollation oid, attstattarget int2, attacl _aclitem, attoptions _text, attfdwoptions _text, attmissingval anyarray"
	attribute18 = "attrelid oid, attname name, atttypid oid, attlen int2, attnum int2, atttypmod int4," +
		" attndims int2, attbyval bool, attalign char, attstorage char, attcompression char, attnotnull bool, atthasdef bool," +
		" atthasmissing bool, attidentity char, attgenerated char, attisdropped bool, attislocal bool, attinhcount int2," +
		" attcollation oid, attstattarget int2, attacl _aclitem, attoptions _text, attfdwoptions _text, attmissingval anyarray"

	database14 = "oid oid, datname name, datdba oid, encoding int4, datcollate name, datctype name, datistemplate bool," +
		" datallowconn bool, datconnlimit int4, datlastsysoid oid, datfrozenxid xid, datminmxid xid, dattablespace oid," +
		" datacl _aclitem"
	database15 = "oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn bool," +
		" datconnlimit int4, datfrozenxid xid, datminmxid xid, dattablespace oid, datcollate text, datctype text," +
		" daticulocale text, datcollversion text, datacl _aclitem"
	database16 = "oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn bool," +
		" datconnlimit int4, datfrozenxid xid, datminmxid xid, dattablespace oid, datcollate text, datctype text," +
		" daticulocale text, daticurules text, datcollversion text, datacl _aclitem"
	database17 = "oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, datallowconn bool," +
		" dathasloginevt bool, datconnlimit int4, datfrozenxid xid, datminmxid xid, dattablespace oid, datcollate text," +
		" datctype text, datlocale text, daticurules text, datcollversion text, datacl _aclitem"
)

// releases are the known major versions, oldest first. The sources are pg_control.h, relmapper.c, pg_attribute.h, pg_database.h.
var releases = []release{
	{14, 1300, 288, 504, attribute14, database14, 'i'},
	{15, 1300, 288, 504, attribute14, database15, 'i'},
	{16, 1300, 288, 520, attribute16, database16, 'd'},
	{17, 1700, 288, 520, attribute17, database17, 'd'},
	{18, 1800, 292, 520, attribute18, database17, 'd'},
}

func findRelease(major int) *release {
	for i := range releases {
		if releases[i].major == major {
			return &releases[i]
		}
	}
	return nil
}

// columns turns a list of columns into what the walk through a tuple needs.
func (r *release) columns(list string) []heap.Attribute {
	var attrs []heap.Attribute
	for column := range strings.SplitSeq(list, ", ") {
		name, typ, _ := strings.Cut(column, " ")
		a := heap.Attribute{Name: name, Len: -1, Align: 'i'}
		switch typ {
		case "oid", "xid", "int4":
			a.Len, a.ByVal = 4, true
		case "int2":
			a.Len, a.Align, a.ByVal = 2, 's', true
		case "bool", "char":
			a.Len, a.Align, a.ByVal = 1, 'c', true
		case "name":
			a.Len, a.Align = 64, 'c'
		case "anyarray":
			a.Align = 'd'
		case "_aclitem":
			a.Align = r.aclAlign
		}
		attrs = append(attrs, a)
	}
	return attrs
}
