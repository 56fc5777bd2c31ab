package datum

// plainPrinter is a printer that needs to know nothing of the type but its length.
type plainPrinter struct {
	length int16 // typlen; -1 also serves C strings, which arrive in the same form
	print  Printer
}

// plainPrinters are the printers by the name of the output function, as in pg_proc.dat.
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
	"textout":     {-1, printText},
	"varcharout":  {-1, printText},
	"bpcharout":   {-1, printText},
	"json_out":    {-1, printText},
	"citextout":   {-1, printText},
	"cstring_out": {-1, printText},
	"unknownout":  {-1, printText},
	"byteaout":    {-1, printBytea},
	"uuid_out":    {16, printUUID},
}

// builtPrinter finds the maker of a printer that needs more of the type than its length.
func builtPrinter(output string) (func(*builder, *Type) (Printer, error), bool) {
	switch output {
	}
	return nil, false
}
