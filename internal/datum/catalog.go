package datum

import (
	"encoding/binary"
	"strconv"
)

// named prints the OID of an object by its name: regclass, regtype and their like. zero is what stands for no object.
func named(t *Type, zero string) Printer {
	names := t.Names
	return func(dst, value []byte) ([]byte, error) {
		if len(value) != 4 {
			return dst, cutOff(t.Name)
		}
		oid := binary.LittleEndian.Uint32(value)
		if oid == 0 {
			return append(dst, zero...), nil
		}
		if names != nil {
			if name, ok := names(oid); ok {
				return append(dst, name...), nil
			}
		}
		return strconv.AppendUint(dst, uint64(oid), 10), nil
	}
}

// privileges are the letters of the rights by their bit (ACL_ALL_RIGHTS_STR in utils/acl.h; s and A since 15, m since 17).
const privileges = "arwdDxtXUCTcsAm"

// aclItem prints an AclItem: grantee, grantor and rights. Up to 15 rights and grant options are halves of 32 bits, from 16 on of
// 64 (nodes/parsenodes.h, aclitemout in acl.c). Roles are printed by name, or as numbers where no name is known.
func aclItem(t *Type) (Printer, error) {
	if t.Len != 12 && t.Len != 16 {
		return nil, unprintable(t, "its length is neither that of 15 nor that of 16")
	}
	return func(dst, value []byte) ([]byte, error) {
		if len(value) != int(t.Len) {
			return dst, cutOff("aclitem")
		}
		grantee, grantor := binary.LittleEndian.Uint32(value), binary.LittleEndian.Uint32(value[4:])
		var rights, options uint32
		if len(value) == 12 {
			rights = binary.LittleEndian.Uint32(value[8:])
			rights, options = rights&0xFFFF, rights>>16
		} else {
			rights, options = binary.LittleEndian.Uint32(value[8:]), binary.LittleEndian.Uint32(value[12:])
		}
		if grantee != 0 {
			dst = appendRole(dst, t, grantee)
		}
		dst = append(dst, '=')
		for i, letter := range []byte(privileges) {
			if rights>>i&1 == 1 {
				dst = append(dst, letter)
			}
			if options>>i&1 == 1 {
				dst = append(dst, '*')
			}
		}
		return appendRole(append(dst, '/'), t, grantor), nil
	}, nil
}

// appendRole writes a role's name, in quotes unless it has letters, digits and underscores only (putid in acl.c).
func appendRole(dst []byte, t *Type, oid uint32) []byte {
	name, ok := "", false
	if t.Names != nil {
		name, ok = t.Names(oid)
	}
	if !ok {
		return strconv.AppendUint(dst, uint64(oid), 10)
	}
	safe := true
	for _, c := range []byte(name) {
		safe = safe && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_')
	}
	if safe {
		return append(dst, name...)
	}
	dst = append(dst, '"')
	for _, c := range []byte(name) {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// enumOf prints the label of an enum value, which is the OID of its row in pg_enum (enum.c).
func enumOf(t *Type) (Printer, error) {
	if t.Labels == nil {
		return nil, unprintable(t, "its labels are missing")
	}
	labels := t.Labels
	return func(dst, value []byte) ([]byte, error) {
		if len(value) != 4 {
			return dst, cutOff("enum " + t.Name)
		}
		oid := binary.LittleEndian.Uint32(value)
		label, ok := labels[oid]
		if !ok {
			return dst, malformed("enum "+t.Name, "no label has the OID "+strconv.FormatUint(uint64(oid), 10))
		}
		return append(dst, label...), nil
	}, nil
}

// printSnapshot prints a pg_snapshot: number of transactions in progress, xmin, xmax, transactions (xid8funcs.c).
func printSnapshot(dst, value []byte) ([]byte, error) {
	if len(value) < 20 {
		return dst, malformed("pg_snapshot", "cut off")
	}
	count, list := binary.LittleEndian.Uint32(value), value[20:]
	if uint64(count)*8 > uint64(len(list)) {
		return dst, malformed("pg_snapshot", "more transactions than bytes")
	}
	dst = strconv.AppendUint(dst, binary.LittleEndian.Uint64(value[4:]), 10)
	dst = strconv.AppendUint(append(dst, ':'), binary.LittleEndian.Uint64(value[12:]), 10)
	dst = append(dst, ':')
	for i := range int(count) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, binary.LittleEndian.Uint64(list[8*i:]), 10)
	}
	return dst, nil
}
