package datum

// builtin is a built-in type with the OIDs of its array type and of the type that it is made of; 0 is none.
type builtin struct {
	Type
	array, part uint32
}

// Builtin describes a type of pg_catalog by its OID, for catalogs that cannot be read yet and files without any: base types, their
// arrays, ranges and multiranges. nil is no such type. An aclitem is that of 14 and 15, 12 bytes long; from 16 on it has 16 and is
// aligned as d. OIDs below 10000 are the same in every server (pg_type.dat).
func Builtin(oid uint32) *Type { return builtins[oid] }

// BuiltinNamed describes a type of pg_catalog by its name in pg_type, such as int4 or _text.
func BuiltinNamed(name string) *Type { return builtinNames[name] }

var (
	builtins     = makeBuiltins()
	builtinNames = nameBuiltins()
)

func makeBuiltins() map[uint32]*Type {
	types := make(map[uint32]*Type, 2*len(builtinList))
	for i := range builtinList {
		b := &builtinList[i]
		b.Schema = "pg_catalog"
		if b.Kind == 0 {
			b.Kind = 'b'
		}
		if b.Delimiter == 0 {
			b.Delimiter = ','
		}
		types[b.OID] = &b.Type
		if b.array == 0 {
			continue
		}
		array := &Type{
			OID: b.array, Schema: "pg_catalog", Name: "_" + b.Name, Len: -1, Align: 'i', Kind: 'b', Category: 'A',
			Delimiter: b.Delimiter, Output: "array_out", Element: &b.Type,
		}
		if b.Align == 'd' {
			array.Align = 'd'
		}
		types[b.array] = array
	}
	for i := range builtinList {
		b := &builtinList[i]
		if b.Kind == 'b' {
			b.Element = types[b.part]
		} else {
			b.Subtype = types[b.part]
		}
	}
	return types
}

func nameBuiltins() map[string]*Type {
	names := make(map[string]*Type, len(builtins))
	for _, t := range builtins {
		names[t.Name] = t
	}
	return names
}

var builtinList = []builtin{
	{Type{OID: 16, Name: "bool", Len: 1, Align: 'c', ByVal: true, Category: 'B', Output: "boolout"}, 1000, 0},
	{Type{OID: 17, Name: "bytea", Len: -1, Align: 'i', Category: 'U', Output: "byteaout"}, 1001, 0},
	{Type{OID: 18, Name: "char", Len: 1, Align: 'c', ByVal: true, Category: 'Z', Output: "charout"}, 1002, 0},
	{Type{OID: 19, Name: "name", Len: 64, Align: 'c', Category: 'S', Output: "nameout"}, 1003, 0},
	{Type{OID: 20, Name: "int8", Len: 8, Align: 'd', ByVal: true, Category: 'N', Output: "int8out"}, 1016, 0},
	{Type{OID: 21, Name: "int2", Len: 2, Align: 's', ByVal: true, Category: 'N', Output: "int2out"}, 1005, 0},
	{Type{OID: 22, Name: "int2vector", Len: -1, Align: 'i', Category: 'A', Output: "int2vectorout"}, 1006, 21},
	{Type{OID: 23, Name: "int4", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "int4out"}, 1007, 0},
	{Type{OID: 24, Name: "regproc", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regprocout"}, 1008, 0},
	{Type{OID: 25, Name: "text", Len: -1, Align: 'i', Category: 'S', Output: "textout"}, 1009, 0},
	{Type{OID: 26, Name: "oid", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "oidout"}, 1028, 0},
	{Type{OID: 27, Name: "tid", Len: 6, Align: 's', Category: 'U', Output: "tidout"}, 1010, 0},
	{Type{OID: 28, Name: "xid", Len: 4, Align: 'i', ByVal: true, Category: 'U', Output: "xidout"}, 1011, 0},
	{Type{OID: 29, Name: "cid", Len: 4, Align: 'i', ByVal: true, Category: 'U', Output: "cidout"}, 1012, 0},
	{Type{OID: 30, Name: "oidvector", Len: -1, Align: 'i', Category: 'A', Output: "oidvectorout"}, 1013, 26},
	{Type{OID: 114, Name: "json", Len: -1, Align: 'i', Category: 'U', Output: "json_out"}, 199, 0},
	{Type{OID: 142, Name: "xml", Len: -1, Align: 'i', Category: 'U', Output: "xml_out"}, 143, 0},
	{Type{OID: 194, Name: "pg_node_tree", Len: -1, Align: 'i', Category: 'Z', Output: "pg_node_tree_out"}, 0, 0},
	{Type{OID: 600, Name: "point", Len: 16, Align: 'd', Category: 'G', Output: "point_out"}, 1017, 0},
	{Type{OID: 601, Name: "lseg", Len: 32, Align: 'd', Category: 'G', Output: "lseg_out"}, 1018, 0},
	{Type{OID: 602, Name: "path", Len: -1, Align: 'd', Category: 'G', Output: "path_out"}, 1019, 0},
	{Type{OID: 603, Name: "box", Len: 32, Align: 'd', Category: 'G', Delimiter: ';', Output: "box_out"}, 1020, 0},
	{Type{OID: 604, Name: "polygon", Len: -1, Align: 'd', Category: 'G', Output: "poly_out"}, 1027, 0},
	{Type{OID: 628, Name: "line", Len: 24, Align: 'd', Category: 'G', Output: "line_out"}, 629, 0},
	{Type{OID: 650, Name: "cidr", Len: -1, Align: 'i', Category: 'I', Output: "cidr_out"}, 651, 0},
	{Type{OID: 700, Name: "float4", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "float4out"}, 1021, 0},
	{Type{OID: 701, Name: "float8", Len: 8, Align: 'd', ByVal: true, Category: 'N', Output: "float8out"}, 1022, 0},
	{Type{OID: 705, Name: "unknown", Len: -2, Align: 'c', Kind: 'p', Category: 'X', Output: "unknownout"}, 0, 0},
	{Type{OID: 718, Name: "circle", Len: 24, Align: 'd', Category: 'G', Output: "circle_out"}, 719, 0},
	{Type{OID: 774, Name: "macaddr8", Len: 8, Align: 'i', Category: 'U', Output: "macaddr8_out"}, 775, 0},
	{Type{OID: 790, Name: "money", Len: 8, Align: 'd', ByVal: true, Category: 'N', Output: "cash_out"}, 791, 0},
	{Type{OID: 829, Name: "macaddr", Len: 6, Align: 'i', Category: 'U', Output: "macaddr_out"}, 1040, 0},
	{Type{OID: 869, Name: "inet", Len: -1, Align: 'i', Category: 'I', Output: "inet_out"}, 1041, 0},
	{Type{OID: 1033, Name: "aclitem", Len: 12, Align: 'i', Category: 'U', Output: "aclitemout"}, 1034, 0},
	{Type{OID: 1042, Name: "bpchar", Len: -1, Align: 'i', Category: 'S', Output: "bpcharout"}, 1014, 0},
	{Type{OID: 1043, Name: "varchar", Len: -1, Align: 'i', Category: 'S', Output: "varcharout"}, 1015, 0},
	{Type{OID: 1082, Name: "date", Len: 4, Align: 'i', ByVal: true, Category: 'D', Output: "date_out"}, 1182, 0},
	{Type{OID: 1083, Name: "time", Len: 8, Align: 'd', ByVal: true, Category: 'D', Output: "time_out"}, 1183, 0},
	{Type{OID: 1114, Name: "timestamp", Len: 8, Align: 'd', ByVal: true, Category: 'D', Output: "timestamp_out"}, 1115, 0},
	{Type{OID: 1184, Name: "timestamptz", Len: 8, Align: 'd', ByVal: true, Category: 'D', Output: "timestamptz_out"}, 1185, 0},
	{Type{OID: 1186, Name: "interval", Len: 16, Align: 'd', Category: 'T', Output: "interval_out"}, 1187, 0},
	{Type{OID: 1266, Name: "timetz", Len: 12, Align: 'd', Category: 'D', Output: "timetz_out"}, 1270, 0},
	{Type{OID: 1560, Name: "bit", Len: -1, Align: 'i', Category: 'V', Output: "bit_out"}, 1561, 0},
	{Type{OID: 1562, Name: "varbit", Len: -1, Align: 'i', Category: 'V', Output: "varbit_out"}, 1563, 0},
	{Type{OID: 1700, Name: "numeric", Len: -1, Align: 'i', Category: 'N', Output: "numeric_out"}, 1231, 0},
	{Type{OID: 1790, Name: "refcursor", Len: -1, Align: 'i', Category: 'U', Output: "textout"}, 2201, 0},
	{Type{OID: 2202, Name: "regprocedure", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regprocedureout"}, 2207, 0},
	{Type{OID: 2203, Name: "regoper", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regoperout"}, 2208, 0},
	{Type{OID: 2204, Name: "regoperator", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regoperatorout"}, 2209, 0},
	{Type{OID: 2205, Name: "regclass", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regclassout"}, 2210, 0},
	{Type{OID: 2206, Name: "regtype", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regtypeout"}, 2211, 0},
	{Type{OID: 2275, Name: "cstring", Len: -2, Align: 'c', Kind: 'p', Category: 'P', Output: "cstring_out"}, 1263, 0},
	{Type{OID: 2277, Name: "anyarray", Len: -1, Align: 'd', Kind: 'p', Category: 'P', Output: "anyarray_out"}, 0, 0},
	{Type{OID: 2950, Name: "uuid", Len: 16, Align: 'c', Category: 'U', Output: "uuid_out"}, 2951, 0},
	{Type{OID: 2970, Name: "txid_snapshot", Len: -1, Align: 'd', Category: 'U', Output: "txid_snapshot_out"}, 2949, 0},
	{Type{OID: 3220, Name: "pg_lsn", Len: 8, Align: 'd', ByVal: true, Category: 'U', Output: "pg_lsn_out"}, 3221, 0},
	{Type{OID: 3361, Name: "pg_ndistinct", Len: -1, Align: 'i', Category: 'Z', Output: "pg_ndistinct_out"}, 0, 0},
	{Type{OID: 3402, Name: "pg_dependencies", Len: -1, Align: 'i', Category: 'Z', Output: "pg_dependencies_out"}, 0, 0},
	{Type{OID: 3614, Name: "tsvector", Len: -1, Align: 'i', Category: 'U', Output: "tsvectorout"}, 3643, 0},
	{Type{OID: 3615, Name: "tsquery", Len: -1, Align: 'i', Category: 'U', Output: "tsqueryout"}, 3645, 0},
	{Type{OID: 3642, Name: "gtsvector", Len: -1, Align: 'i', Category: 'U', Output: "gtsvectorout"}, 3644, 0},
	{Type{OID: 3734, Name: "regconfig", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regconfigout"}, 3735, 0},
	{Type{OID: 3769, Name: "regdictionary", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regdictionaryout"}, 3770, 0},
	{Type{OID: 3802, Name: "jsonb", Len: -1, Align: 'i', Category: 'U', Output: "jsonb_out"}, 3807, 0},
	{Type{OID: 3904, Name: "int4range", Len: -1, Align: 'i', Kind: 'r', Category: 'R', Output: "range_out"}, 3905, 23},
	{Type{OID: 3906, Name: "numrange", Len: -1, Align: 'i', Kind: 'r', Category: 'R', Output: "range_out"}, 3907, 1700},
	{Type{OID: 3908, Name: "tsrange", Len: -1, Align: 'd', Kind: 'r', Category: 'R', Output: "range_out"}, 3909, 1114},
	{Type{OID: 3910, Name: "tstzrange", Len: -1, Align: 'd', Kind: 'r', Category: 'R', Output: "range_out"}, 3911, 1184},
	{Type{OID: 3912, Name: "daterange", Len: -1, Align: 'i', Kind: 'r', Category: 'R', Output: "range_out"}, 3913, 1082},
	{Type{OID: 3926, Name: "int8range", Len: -1, Align: 'd', Kind: 'r', Category: 'R', Output: "range_out"}, 3927, 20},
	{Type{OID: 4072, Name: "jsonpath", Len: -1, Align: 'i', Category: 'U', Output: "jsonpath_out"}, 4073, 0},
	{Type{OID: 4089, Name: "regnamespace", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regnamespaceout"}, 4090, 0},
	{Type{OID: 4096, Name: "regrole", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regroleout"}, 4097, 0},
	{Type{OID: 4191, Name: "regcollation", Len: 4, Align: 'i', ByVal: true, Category: 'N', Output: "regcollationout"}, 4192, 0},
	{Type{OID: 4451, Name: "int4multirange", Len: -1, Align: 'i', Kind: 'm', Category: 'R', Output: "multirange_out"}, 6150, 3904},
	{Type{OID: 4532, Name: "nummultirange", Len: -1, Align: 'i', Kind: 'm', Category: 'R', Output: "multirange_out"}, 6151, 3906},
	{Type{OID: 4533, Name: "tsmultirange", Len: -1, Align: 'd', Kind: 'm', Category: 'R', Output: "multirange_out"}, 6152, 3908},
	{Type{OID: 4534, Name: "tstzmultirange", Len: -1, Align: 'd', Kind: 'm', Category: 'R', Output: "multirange_out"}, 6153, 3910},
	{Type{OID: 4535, Name: "datemultirange", Len: -1, Align: 'i', Kind: 'm', Category: 'R', Output: "multirange_out"}, 6155, 3912},
	{Type{OID: 4536, Name: "int8multirange", Len: -1, Align: 'd', Kind: 'm', Category: 'R', Output: "multirange_out"}, 6157, 3926},
	{Type{OID: 4600, Name: "pg_brin_bloom_summary", Len: -1, Align: 'i', Category: 'Z', Output: "brin_bloom_summary_out"}, 0, 0},
	{Type{OID: 4601, Name: "pg_brin_minmax_multi_summary", Len: -1, Align: 'i', Category: 'Z', Output: "brin_minmax_multi_summary_out"}, 0, 0},
	{Type{OID: 5017, Name: "pg_mcv_list", Len: -1, Align: 'i', Category: 'Z', Output: "pg_mcv_list_out"}, 0, 0},
	{Type{OID: 5038, Name: "pg_snapshot", Len: -1, Align: 'd', Category: 'U', Output: "pg_snapshot_out"}, 5039, 0},
	{Type{OID: 5069, Name: "xid8", Len: 8, Align: 'd', ByVal: true, Category: 'U', Output: "xid8out"}, 271, 0},
}
