package planner

import (
	"strings"
	"testing"
)

// exactness is one pair of types and what is said about it, nothing when the binary form is exact.
type exactness struct {
	from, to Type
	within   bool // in the same database
	versions [2]int
	why      string
}

func (c exactness) check(t *testing.T) {
	why := passage{c.within, c.versions[0], c.versions[1]}.inexact(&c.from, &c.to)
	if c.why == "" && why != "" || !strings.Contains(why, c.why) {
		t.Errorf("got %q, want %q", why, c.why)
	}
}

var intervalType = base(1186, "interval", "interval")

var regclassType = base(2205, "regclass", "regclass")

func userType(oid uint32, name string) Type {
	b := base(oid, name, "public."+name)
	b.Schema = "public"
	return b
}

func hstoreType(oid uint32, version string) Type {
	b := userType(oid, "hstore")
	b.Extension, b.ExtensionVersion, b.Send = "hstore", version, "ext"+version+".hstore_send"
	return b
}

func enumType(oid uint32, labels ...string) Type {
	return Type{OID: oid, Name: "mood", SQL: "public.mood", Class: Enum, Send: "pg_catalog.enum_send", Receive: "pg_catalog.enum_recv", Labels: labels}
}

func domainOf(oid uint32, on Type) Type {
	return Type{OID: oid, Name: "d", SQL: "public.d", Class: Domain, Base: &on}
}

func rowOf(fields ...Type) Type {
	c := Type{OID: 50000, Name: "c", SQL: "public.c", Class: Composite}
	for _, f := range fields {
		c.Fields = append(c.Fields, Field{Name: "f", Type: f})
	}
	return c
}

func rangeOf(oid uint32, class TypeClass, of *Type) Type {
	return Type{OID: oid, Name: "r", SQL: "public.r", Class: class, Sub: of}
}

func varcharType(mod int32) Type {
	b := base(1043, "varchar", "character varying")
	b.Mod = mod
	return b
}

func otherSend(b Type) Type { b.Send = "public.hstore_send2"; return b }

func silent(b Type) Type { b.Send = ""; return b }

// TestInexactBase is about types without parts.
func TestInexactBase(t *testing.T) {
	for name, c := range map[string]exactness{
		"same":                {from: int4Type, to: int4Type},
		"other built-in":      {from: int4Type, to: int8Type, why: "another type in the target: bigint"},
		"other length":        {from: varcharType(14), to: varcharType(9)},
		"text to varchar":     {from: textType, to: varcharType(9), why: "another type"},
		"no send":             {from: silent(int4Type), to: int4Type, why: "without a binary form"},
		"xml":                 {from: xmlType, to: xmlType, within: true, why: "is xml"},
		"tsquery":             {from: base(3615, "tsquery", "tsquery"), to: base(3615, "tsquery", "tsquery"), within: true, why: "may be empty"},
		"money":               {from: base(790, "money", "money"), to: base(790, "money", "money")},
		"interval":            {from: intervalType, to: intervalType, versions: [2]int{160000, 150000}},
		"interval downwards":  {from: intervalType, to: intervalType, versions: [2]int{170000, 160014}, why: "may be infinite"},
		"interval upwards":    {from: intervalType, to: intervalType, versions: [2]int{160014, 170000}},
		"interval at 17":      {from: intervalType, to: intervalType, versions: [2]int{180004, 170000}},
		"regclass":            {from: regclassType, to: regclassType, why: "object identifier of its own database"},
		"regclass within":     {from: regclassType, to: regclassType, within: true},
		"oid":                 {from: base(26, "oid", "oid"), to: base(26, "oid", "oid")},
		"user type":           {from: userType(70001, "t"), to: userType(70001, "t"), why: "type of its own database"},
		"user type within":    {from: userType(70001, "t"), to: userType(70001, "t"), within: true},
		"user types within":   {from: userType(70001, "t"), to: userType(70002, "t"), within: true, why: "type of its own database"},
		"extension":           {from: hstoreType(70001, "1.8"), to: hstoreType(80001, "1.8")},
		"extension version":   {from: hstoreType(70001, "1.8"), to: hstoreType(80001, "1.7"), why: "1.8, 1.7"},
		"extension functions": {from: hstoreType(70001, "1.8"), to: otherSend(hstoreType(80001, "1.8")), why: "other binary functions"},
		"extension elsewhere": {from: hstoreType(70001, "1.8"), to: elsewhere(hstoreType(70001, "1.8")), why: "unknown"},
		"user and built-in":   {from: userType(70001, "int4"), to: int4Type, why: "another type"},
		"pseudo":              {from: Type{Class: Pseudo}, to: Type{Class: Pseudo}, why: "pseudo-type"},
	} {
		t.Run(name, c.check)
	}
}

// TestInexactParts is about types made of others.
func TestInexactParts(t *testing.T) {
	for name, c := range map[string]exactness{
		"enum":                    {from: enumType(1, "a", "b"), to: enumType(2, "b", "c", "a")},
		"enum label":              {from: enumType(1, "a", "b"), to: enumType(2, "a"), why: "label 'b'"},
		"enum elsewhere":          {from: enumType(70000, "a"), to: elsewhere(enumType(70000, "a")), why: "label 'a'"},
		"domain":                  {from: domainOf(70000, int4Type), to: int4Type},
		"domain of domain":        {from: domainOf(70000, domainOf(70001, int4Type)), to: domainOf(80000, int4Type)},
		"array":                   {from: arrayOf(1007, int4Type), to: arrayOf(1007, int4Type)},
		"array of enum":           {from: arrayOf(70001, enumType(70000, "a")), to: arrayOf(80001, enumType(80000, "a")), why: "array of a type with another OID"},
		"array of equal enum":     {from: arrayOf(70001, enumType(70000, "a")), to: arrayOf(80001, enumType(70000, "a"))},
		"array of enum elsewhere": {from: arrayOf(70001, enumType(70000)), to: elsewhere(arrayOf(70001, enumType(70000))), why: "array"},
		"array of xml":            {from: arrayOf(143, xmlType), to: arrayOf(143, xmlType), why: "each element of which is xml"},
		"array and element":       {from: arrayOf(1007, int4Type), to: int4Type, why: "another type"},
		"array of domain":         {from: arrayOf(70002, domainOf(70001, int4Type)), to: arrayOf(80002, domainOf(80001, int4Type)), why: "another OID"},
		"broken array":            {from: Type{Class: Array}, to: Type{Class: Array}, why: "unknown type"},
		"composite":               {from: rowOf(int4Type, textType), to: rowOf(int4Type, textType)},
		"composite length":        {from: rowOf(int4Type, textType), to: rowOf(int4Type), why: "with 2 fields, and 1 in the target"},
		"composite field":         {from: rowOf(int4Type), to: rowOf(int8Type), why: "field f has another type"},
		"composite OID":           {from: rowOf(enumType(70000, "a")), to: rowOf(enumType(80000, "a")), why: "field f has a type with another OID"},
		"range":                   {from: rangeOf(70000, RangeType, &int4Type), to: rangeOf(80000, RangeType, &int4Type)},
		"range bounds":            {from: rangeOf(70000, RangeType, &int4Type), to: rangeOf(80000, RangeType, &int8Type), why: "another type"},
		"multirange":              {from: rangeOf(70000, Multirange, &int4Type), to: rangeOf(80000, Multirange, &int4Type)},
		"range of unknown":        {from: rangeOf(70000, RangeType, nil), to: rangeOf(80000, RangeType, nil), why: "unknown bounds"},
		"range and multirange":    {from: rangeOf(70000, RangeType, &int4Type), to: rangeOf(80000, Multirange, &int4Type), why: "another type"},
	} {
		t.Run(name, c.check)
	}
}

func TestFormat(t *testing.T) {
	f := between(orders(1, "orders"), orders(2, "orders"))
	if p := mustChoose(t, f, Wish{Format: Text}); p.Format != Text || p.ReadSQL(p.Ranges[0]) != "COPY public.orders (id, day, n, note) TO STDOUT" {
		t.Errorf("asked for text: %s %s", p.Format, p.ReadSQL(p.Ranges[0]))
	}
	f.Target.Columns[2].Type = textType
	p := mustChoose(t, f, Wish{})
	if p.Format != Text || p.Columns[2].Exact || !p.Columns[0].Exact || !strings.Contains(p.Columns[2].Why, "text") {
		t.Errorf("other type: %s %+v", p.Format, p.Columns[2])
	}
	mustFail(t, f, Wish{Format: Binary}, Refused, "--format binary", "Column n has another type in the target: text")
	mustFail(t, within(f.Source, f.Target), Wish{Method: InsertSelect}, Refused, "would cast column n")
}

func TestCreatedTableInAnotherDatabase(t *testing.T) {
	source := orders(1, "orders")
	source.Columns = append(source.Columns, col("m", Type{OID: 70000, Name: "mood", SQL: "public.mood", Class: Enum, Labels: []string{"a"}}))
	f := between(source, missing("public", "orders"))
	f.Definition = dumped()
	if p := mustChoose(t, f, Wish{Create: true}); p.Format != Text {
		t.Error("an enum's labels are not known in a database that was not asked")
	}
	f = within(source, missing("public", "copy"))
	f.Definition = dumped()
	if p := mustChoose(t, f, Wish{Create: true}); p.Format != Binary {
		t.Errorf("the same type is exact: %q", p.Reasons)
	}
}

func TestTextOfCharIsWarnedOf(t *testing.T) {
	flag := base(18, "char", `"char"`)
	for name, c := range map[string]struct {
		of      Type
		target  int
		format  Format
		warning bool
	}{
		"plain":     {flag, 140023, Text, true},
		"array":     {arrayOf(1002, flag), 140023, Text, true},
		"composite": {rowOf(domainOf(70001, flag)), 140023, Text, true},
		"range":     {rangeOf(70002, RangeType, &flag), 140023, Text, true},
		"other":     {textType, 140023, Text, false},
		"binary":    {flag, 140023, AnyFormat, false},
		"same age":  {flag, 180000, Text, false},
	} {
		f := between(table(1, "public", "t", col("c", c.of)), table(2, "public", "t", col("c", c.of)))
		f.TargetServer.Version = c.target
		p := mustChoose(t, f, Wish{Format: c.format})
		if got := strings.Contains(strings.Join(p.Notes, "\n"), "bytes above 127"); got != c.warning {
			t.Errorf("%s: notes %q", name, p.Notes)
		}
	}
}
