package datadir

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/internal/sqltext"
)

// Types whose name is not the one in pg_type (format_type.c), by OID, as %s of their modifier.
var standardNames = map[uint32]string{
	16: "boolean", 21: "smallint", 23: "integer", 20: "bigint", 700: "real", 701: "double precision", 1700: "numeric%s",
	1043: "character varying%s", 1562: "bit varying%s", 1186: "interval%s", 1083: "time%s without time zone",
	1266: "time%s with time zone", 1114: "timestamp%s without time zone", 1184: "timestamp%s with time zone",
}

const (
	bpcharType, bitType = 1042, 1560
	catalogSchema       = "pg_catalog"
)

// typeName prints a type as format_type does on an empty search_path.
func typeName(t *datum.Type, typmod int32) string {
	if t.Output == "array_out" && t.Element != nil {
		return typeName(t.Element, typmod) + "[]"
	}
	modifier := typeModifier(t, typmod)
	if name, ok := standardNames[t.OID]; ok {
		return strings.Replace(name, "%s", modifier, 1)
	}
	switch {
	case t.OID == bpcharType && modifier != "":
		return "character" + modifier
	case t.OID == bitType && modifier != "":
		return "bit" + modifier
	case t.Schema == catalogSchema:
		return sqltext.QuoteIdent(t.Name) + modifier
	case t.Schema == "":
		return t.Name + modifier
	}
	return sqltext.QuoteQualified(t.Schema, t.Name) + modifier
}

// typeModifier prints a typmod as the type's typmodout function does, of the built-in types that have one.
func typeModifier(t *datum.Type, typmod int32) string {
	if typmod < 0 {
		return ""
	}
	switch t.OID {
	case bpcharType, 1043: // varchartypmodout: the length counts a header
		if typmod <= 4 {
			return ""
		}
		return fmt.Sprintf("(%d)", typmod-4)
	case 1700:
		return numericModifier(typmod)
	case 1186:
		return intervalModifier(typmod)
	}
	return fmt.Sprintf("(%d)", typmod)
}

// numericModifier has precision and scale; the scale has 11 bits and a sign (numerictypmodout).
func numericModifier(typmod int32) string {
	if typmod < 4 {
		return ""
	}
	scale := (typmod-4)&0x7FF ^ 1024 - 1024
	return fmt.Sprintf("(%d,%d)", (typmod-4)>>16&0xFFFF, scale)
}

// Fields of an interval by their bits in a typmod (datetime.h, timestamp.h).
const (
	monthBit, yearBit, dayBit, hourBit, minuteBit, secondBit = 1 << 1, 1 << 2, 1 << 3, 1 << 10, 1 << 11, 1 << 12

	fullPrecision = 0xFFFF
)

var intervalFields = map[int32]string{
	yearBit: " year", monthBit: " month", dayBit: " day", hourBit: " hour", minuteBit: " minute", secondBit: " second",
	yearBit | monthBit: " year to month", dayBit | hourBit: " day to hour", dayBit | hourBit | minuteBit: " day to minute",
	dayBit | hourBit | minuteBit | secondBit: " day to second", hourBit | minuteBit: " hour to minute",
	hourBit | minuteBit | secondBit: " hour to second", minuteBit | secondBit: " minute to second",
}

// intervalModifier has fields and precision (intervaltypmodout).
func intervalModifier(typmod int32) string {
	fields, precision := intervalFields[typmod>>16&0x7FFF], typmod&0xFFFF
	if precision == fullPrecision {
		return fields
	}
	return fmt.Sprintf("%s(%d)", fields, precision)
}
