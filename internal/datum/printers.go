package datum

// plainPrinter is a printer that needs to know nothing of the type but its length.
type plainPrinter struct {
	length int16 // typlen; -1 also serves C strings, which arrive in the same form
	print  Printer
}

// plainPrinters are the printers by the name of the output function, as in pg_proc.dat and the scripts of extensions.
var plainPrinters = map[string]plainPrinter{
	"boolout":     {1, printBool},
	"charout":     {1, printChar},
	"nameout":     {64, printName},
	"int2out":     {2, printInt2},
	"int4out":     {4, printInt4},
	"int8out":     {8, printInt8},
	"oidout":      {4, printUint4},
	"xidout":      {4, printUint4},
	"cidout":      {4, printUint4},
	"xid8out":     {8, printUint8},
	"tidout":      {6, printTID},
	"pg_lsn_out":  {8, printLSN},
	"float4out":   {4, printFloat4},
	"float8out":   {8, printFloat8},
	"numeric_out": {-1, printNumeric},
	"cash_out":    {8, printMoney},

	"textout":          {-1, printText},
	"varcharout":       {-1, printText},
	"bpcharout":        {-1, printText},
	"json_out":         {-1, printText},
	"citextout":        {-1, printText},
	"cstring_out":      {-1, printText},
	"unknownout":       {-1, printText},
	"pg_node_tree_out": {-1, printText},
	"xml_out":          {-1, printXML},
	"byteaout":         {-1, printBytea},
	"uuid_out":         {16, printUUID},
	"bit_out":          {-1, printBits},
	"varbit_out":       {-1, printBits},

	"date_out":        {4, printDate},
	"time_out":        {8, printTime},
	"timetz_out":      {12, printTimetz},
	"timestamp_out":   {8, printTimestamp},
	"timestamptz_out": {8, printTimestamptz},
	"interval_out":    {16, printInterval},

	"inet_out":     {-1, printInet},
	"cidr_out":     {-1, printCidr},
	"macaddr_out":  {6, printMacaddr},
	"macaddr8_out": {8, printMacaddr8},

	"point_out":  {16, printPoint},
	"lseg_out":   {32, printLseg},
	"box_out":    {32, printBox},
	"line_out":   {24, printLine},
	"circle_out": {24, printCircle},
	"path_out":   {-1, printPath},
	"poly_out":   {-1, printPolygon},

	"jsonb_out":         {-1, printJsonb},
	"jsonpath_out":      {-1, printJSONPath},
	"tsvectorout":       {-1, printTSVector},
	"tsqueryout":        {-1, printTSQuery},
	"gtsvectorout":      {-1, printGTSVector},
	"txid_snapshot_out": {-1, printSnapshot},
	"pg_snapshot_out":   {-1, printSnapshot},
	"int2vectorout":     {-1, vector(printInt2, 2, 21)},
	"oidvectorout":      {-1, vector(printUint4, 4, 26)},

	"pg_ndistinct_out":    {-1, printNdistinct},
	"pg_dependencies_out": {-1, printDependencies},
	"pg_mcv_list_out":     {-1, printBytea},

	"hstore_out": {-1, printHstore},
	"ltree_out":  {-1, printLtree},
	"cube_out":   {-1, printCube},
}

// noObject is what the reg types print for the OID 0, by output function (regproc.c).
var noObject = map[string]string{
	"regprocout": "-", "regprocedureout": "-", "regoperout": "0", "regoperatorout": "0", "regclassout": "-",
	"regcollationout": "-", "regtypeout": "-", "regconfigout": "-", "regdictionaryout": "-", "regroleout": "-",
	"regnamespaceout": "-",
}

// builtPrinter finds the maker of a printer that needs more of the type than its length.
func builtPrinter(output string) (func(*builder, *Type) (Printer, error), bool) {
	switch output {
	case "array_out":
		return (*builder).arrayOf, true
	case "anyarray_out":
		return (*builder).anyArray, true
	case "range_out":
		return (*builder).rangeOf, true
	case "multirange_out":
		return (*builder).multirangeOf, true
	case "record_out":
		return (*builder).compositeOf, true
	case "enum_out":
		return func(_ *builder, t *Type) (Printer, error) { return enumOf(t) }, true
	case "aclitemout":
		return func(_ *builder, t *Type) (Printer, error) { return aclItem(t) }, true
	}
	if zero, ok := noObject[output]; ok {
		return func(_ *builder, t *Type) (Printer, error) { return named(t, zero), nil }, true
	}
	return nil, false
}
