package planner

// Column is one live column.
type Column struct {
	// Name is how the user knows it; source and target are matched by it.
	Name string
	// Remote is its name in the relation that is really read or written, when a foreign table calls it differently. Empty means Name.
	Remote     string
	Type       Type
	NotNull    bool
	HasDefault bool
	Generated  bool // stored or virtual
	Identity   byte // 'a' ALWAYS, 'd' BY DEFAULT, 0 none
	CanRead    bool
	CanWrite   bool
}

// RealName returns the column's name in the relation that is read or written.
func (c Column) RealName() string {
	if c.Remote != "" {
		return c.Remote
	}
	return c.Name
}

// Type is a data type as one database knows it.
type Type struct {
	OID     uint32
	Schema  string
	Name    string // pg_type.typname
	SQL     string // format_type(oid, typmod), as one writes it in SQL with an empty search_path
	Mod     int32  // atttypmod, -1 for none
	Class   TypeClass
	Send    string // schema-qualified binary output function, empty when there is none
	Receive string // schema-qualified binary input function, empty when there is none
	// Extension and ExtensionVersion name the extension that the type belongs to, empty for others.
	Extension        string
	ExtensionVersion string

	Elem   *Type   // of an array
	Base   *Type   // of a domain
	Sub    *Type   // of a range or multirange
	Fields []Field // of a composite, live attributes in order
	Labels []string
}

// TypeClass is pg_type.typtype, with 'a' for true arrays.
type TypeClass byte

// The classes of type.
const (
	BaseType   TypeClass = 'b'
	Array      TypeClass = 'a'
	Composite  TypeClass = 'c'
	Domain     TypeClass = 'd'
	Enum       TypeClass = 'e'
	Pseudo     TypeClass = 'p'
	RangeType  TypeClass = 'r'
	Multirange TypeClass = 'm'
)

// Field is one attribute of a composite type.
type Field struct {
	Name string
	Type Type
}

// FirstNormalOID is the first object identifier that a user's object can have; those below are PostgreSQL's own and equal in all
// databases of a major version (access/transam.h).
const FirstNormalOID = 16384

// BuiltIn reports whether the type is PostgreSQL's own.
func (t Type) BuiltIn() bool { return t.OID != 0 && t.OID < FirstNormalOID }
