package rowfile

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/pghaul/pghaul/planner"
)

// parquetColumn is one field of a Parquet file's rows: a column without structure, or a list of such.
type parquetColumn struct {
	name string
	kind parquetKind
	leaf int // among the columns that have values
	list bool
	// In a list, a value's definition level says whether the list is there (present), empty (below filled), or has an element that is NULL.
	present, filled, full int
}

// parquetKind is how the values of a column become text, and the server's type that holds them all.
type parquetKind struct {
	pgType string
	append func(dst []byte, v *parquet.Value) []byte
	text   bool // the value itself is the text, and must be valid UTF-8
	quoted bool // as an element of an array the text needs quotes
}

// parquetTree is a node of the schema, which the file has as a list in depth-first order.
type parquetTree struct {
	*format.SchemaElement
	children []*parquetTree
	leaf     int
	depth    int // definition level
}

// parquetColumns reads the columns from a schema.
func parquetColumns(name string, schema []format.SchemaElement) ([]parquetColumn, error) {
	b := &treeBuilder{rest: schema}
	root, err := b.node(0, 0)
	if err != nil {
		return nil, &planner.Error{Message: fileWords(name) + " is damaged: its Parquet schema cannot be read", Cause: err}
	}
	columns := make([]parquetColumn, 0, len(root.children))
	for _, child := range root.children {
		column, what := parquetField(child)
		if what != "" {
			return nil, &planner.Error{
				Kind:    planner.Refused,
				Message: fmt.Sprintf("column %q of Parquet %s is %s, which cannot be loaded", child.Name, fileWords(name), what),
				Hint:    "Write the file with columns of plain values or of lists of them; or with such a column turned into JSON, for a column of type jsonb.",
			}
		}
		columns = append(columns, column)
	}
	return columns, nil
}

type treeBuilder struct {
	rest   []format.SchemaElement
	leaves int
}

// maxParquetDepth is more levels than any list of plain values has, and few enough for recursion.
const maxParquetDepth = 100

func (b *treeBuilder) node(level, depth int) (*parquetTree, error) {
	if len(b.rest) == 0 || level > maxParquetDepth {
		return nil, fmt.Errorf("it ends at level %d", level)
	}
	t := &parquetTree{SchemaElement: &b.rest[0], leaf: -1}
	b.rest = b.rest[1:]
	if level > 0 && t.repetition() != format.Required {
		depth++
	}
	t.depth = depth
	if t.Type.Valid {
		t.leaf = b.leaves
		b.leaves++
		return t, nil
	}
	for range t.NumChildren.V {
		child, err := b.node(level+1, depth)
		if err != nil {
			return nil, err
		}
		t.children = append(t.children, child)
	}
	return t, nil
}

func (t *parquetTree) repetition() format.FieldRepetitionType {
	if t.RepetitionType.Valid {
		return t.RepetitionType.V
	}
	return format.Required
}

func (t *parquetTree) isLeaf() bool { return t.leaf >= 0 }

// parquetField reads one column; what says why it is none.
func parquetField(t *parquetTree) (c parquetColumn, what string) {
	c = parquetColumn{name: t.Name, leaf: t.leaf, full: t.depth}
	value := t
	switch {
	case t.isLeaf() && t.repetition() == format.Repeated: // a list without a group around it, which cannot be NULL
		c.list, c.filled = true, t.depth
	case t.isLeaf():
	case t.repetition() == format.Repeated:
		return c, "a repeated group"
	default:
		if value, what = listElement(t); what != "" {
			return c, what
		}
		c.list, c.leaf = true, value.leaf
		c.present, c.filled, c.full = t.depth, t.depth+1, value.depth
	}
	c.kind, what = kindOf(value.SchemaElement)
	return c, what
}

// listElement finds the values of a list (Parquet's LogicalTypes.md, "Lists" with its rules for files of old writers).
func listElement(t *parquetTree) (*parquetTree, string) {
	_, isList := t.LogicalType.Value.(*format.ListType)
	_, isMap := t.LogicalType.Value.(*format.MapType)
	_, isVariant := t.LogicalType.Value.(*format.VariantType)
	old := deprecated.ConvertedType(-1)
	if t.ConvertedType.Valid {
		old = t.ConvertedType.V
	}
	switch {
	case isMap || old == deprecated.Map || old == deprecated.MapKeyValue:
		return nil, "a map"
	case isVariant:
		return nil, "a variant"
	case !isList && old != deprecated.List:
		return nil, "a group of columns (a struct)"
	case len(t.children) != 1 || t.children[0].repetition() != format.Repeated:
		return nil, "a malformed list"
	}
	inner := t.children[0]
	if inner.isLeaf() {
		return inner, ""
	}
	if len(inner.children) != 1 || inner.Name == "array" || inner.Name == t.Name+"_tuple" {
		return nil, "a list of groups of columns (of structs)"
	}
	element := inner.children[0]
	switch {
	case !element.isLeaf():
		return nil, "a list of lists or of groups of columns"
	case element.repetition() == format.Repeated:
		return nil, "a list of lists"
	}
	return element, ""
}

// kindOf says what the values of a leaf are. Logical types go before converted types, which older writers know alone, and both before the physical.
func kindOf(e *format.SchemaElement) (parquetKind, string) {
	physical := e.Type.V
	logical := e.LogicalType.Value
	if logical == nil && e.ConvertedType.Valid {
		logical = converted(e)
		if e.ConvertedType.V == deprecated.Interval {
			if physical != format.FixedLenByteArray || e.TypeLength.V != 12 {
				return parquetKind{}, "a malformed interval"
			}
			return parquetKind{pgType: "interval", append: appendParquetInterval, quoted: true}, ""
		}
	}
	if logical != nil {
		if kind, ok := logicalKind(logical, e); ok {
			return kind, ""
		}
		// What does not go with the physical type is not meant, says the format.
	}
	switch physical {
	case format.Boolean:
		return parquetKind{pgType: "boolean", append: appendParquetBool}, ""
	case format.Int32:
		return parquetKind{pgType: "integer", append: appendParquetInt32}, ""
	case format.Int64:
		return parquetKind{pgType: "bigint", append: appendParquetInt64}, ""
	case format.Int96:
		return parquetKind{pgType: "timestamp without time zone", append: appendParquetInt96, quoted: true}, ""
	case format.Float:
		return parquetKind{pgType: "real", append: appendParquetFloat}, ""
	case format.Double:
		return parquetKind{pgType: "double precision", append: appendParquetDouble}, ""
	case format.ByteArray, format.FixedLenByteArray:
		return parquetKind{pgType: "bytea", append: appendParquetBytes, quoted: true}, ""
	}
	return parquetKind{}, "of an unknown physical type"
}

// converted is the logical type that a converted type stands for (LogicalTypes.md, backward compatibility).
func converted(e *format.SchemaElement) format.LogicalTypeValue {
	unit := func(v format.TimeUnitValue) format.TimeUnit { return format.TimeUnit{Value: v} }
	switch e.ConvertedType.V {
	case deprecated.UTF8:
		return &format.StringType{}
	case deprecated.Enum:
		return &format.EnumType{}
	case deprecated.Decimal:
		return &format.DecimalType{Scale: e.Scale.V, Precision: e.Precision.V}
	case deprecated.Date:
		return &format.DateType{}
	case deprecated.TimeMillis:
		return &format.TimeType{IsAdjustedToUTC: true, Unit: unit(&format.MilliSeconds{})}
	case deprecated.TimeMicros:
		return &format.TimeType{IsAdjustedToUTC: true, Unit: unit(&format.MicroSeconds{})}
	case deprecated.TimestampMillis:
		return &format.TimestampType{IsAdjustedToUTC: true, Unit: unit(&format.MilliSeconds{})}
	case deprecated.TimestampMicros:
		return &format.TimestampType{IsAdjustedToUTC: true, Unit: unit(&format.MicroSeconds{})}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return &format.IntType{BitWidth: 8 << (e.ConvertedType.V - deprecated.Uint8)}
	case deprecated.Int8, deprecated.Int16, deprecated.Int32, deprecated.Int64:
		return &format.IntType{BitWidth: 8 << (e.ConvertedType.V - deprecated.Int8), IsSigned: true}
	case deprecated.Json:
		return &format.JsonType{}
	case deprecated.Bson:
		return &format.BsonType{}
	}
	return nil
}

// logicalKind says what a logical type's values are; not ok when the physical type cannot hold them.
func logicalKind(logical format.LogicalTypeValue, e *format.SchemaElement) (k parquetKind, ok bool) {
	physical := e.Type.V
	bytes := physical == format.ByteArray || physical == format.FixedLenByteArray
	whole := physical == format.Int32 || physical == format.Int64
	switch t := logical.(type) {
	case *format.StringType, *format.EnumType:
		return parquetKind{pgType: "text", text: true, quoted: true}, bytes
	case *format.JsonType:
		return parquetKind{pgType: "jsonb", text: true, quoted: true}, bytes
	case *format.UUIDType:
		return parquetKind{pgType: "uuid", append: appendParquetUUID}, physical == format.FixedLenByteArray && e.TypeLength.V == 16
	case *format.Float16Type:
		return parquetKind{pgType: "real", append: appendParquetFloat16}, physical == format.FixedLenByteArray && e.TypeLength.V == 2
	case *format.GeometryType, *format.GeographyType:
		// PostGIS takes well-known binary as hexadecimal digits alone.
		return parquetKind{pgType: "geometry", append: appendParquetHex}, bytes
	case *format.NullType:
		return parquetKind{pgType: "text", append: appendParquetBytes}, bytes
	case *format.DateType:
		return parquetKind{pgType: "date", append: appendParquetDate, quoted: true}, physical == format.Int32
	case *format.TimeType:
		scale, ok := unitScale(t.Unit)
		return parquetKind{pgType: "time without time zone", append: timeAppender(scale, t.IsAdjustedToUTC), quoted: true}, ok && whole
	case *format.TimestampType:
		scale, ok := unitScale(t.Unit)
		pgType := "timestamp without time zone"
		if t.IsAdjustedToUTC {
			pgType = "timestamp with time zone"
		}
		return parquetKind{pgType: pgType, append: timestampAppender(scale, t.IsAdjustedToUTC), quoted: true}, ok && physical == format.Int64
	case *format.IntType:
		return intKind(t, physical == format.Int64), whole
	case *format.DecimalType:
		k.pgType = "numeric"
		if t.Precision > 0 && t.Precision <= 1000 {
			k.pgType = fmt.Sprintf("numeric(%d,%d)", t.Precision, t.Scale)
		}
		k.append = decimalAppender(int(t.Scale), physical)
		return k, (bytes || whole) && t.Scale >= 0 && t.Scale <= 1<<14
	}
	return k, false
}

// intKind is the kind of an annotated integer: unsigned ones need the next larger type of the server.
func intKind(t *format.IntType, wide bool) parquetKind {
	k := parquetKind{append: appendParquetInt32}
	if wide {
		k.append = appendParquetInt64
	}
	if !t.IsSigned {
		k.append = appendParquetUint32
		if wide {
			k.append = appendParquetUint64
		}
	}
	switch {
	case t.BitWidth == 8, t.BitWidth == 16 && t.IsSigned:
		k.pgType = "smallint"
	case t.BitWidth == 16, t.BitWidth == 32 && t.IsSigned:
		k.pgType = "integer"
	case t.BitWidth == 32, t.IsSigned:
		k.pgType = "bigint"
	default:
		k.pgType = "numeric"
	}
	return k
}

// unitScale is the number of a time unit's decimal digits behind the second.
func unitScale(u format.TimeUnit) (digits int, ok bool) {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 3, true
	case *format.MicroSeconds:
		return 6, true
	case *format.NanoSeconds:
		return 9, true
	}
	return 0, false
}
