package move

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/heap"
	"github.com/pghaul/pghaul/planner"
)

// typesWithin reads the types of a table's columns, and those within them: elements, subtypes, ranges and base types.
const typesWithin = `WITH RECURSIVE t AS (SELECT y.* FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type y ON y.oid = a.atttypid WHERE a.attrelid = $r AND a.attnum > 0
UNION SELECT i.* FROM t JOIN pg_catalog.pg_type i ON i.oid IN (CASE WHEN t.typcategory = 'A' AND t.typlen = -1 THEN t.typelem END, CASE WHEN t.typtype = 'd' THEN t.typbasetype END,
(SELECT rngsubtype FROM pg_catalog.pg_range WHERE rngtypid = t.oid), (SELECT rngtypid FROM pg_catalog.pg_range WHERE rngmultitypid = t.oid)))
SELECT t.oid, pg_catalog.format_type(t.oid, NULL), CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_type e WHERE e.oid = t.typelem AND e.typarray = t.oid) THEN 'a' ELSE t.typtype::pg_catalog.text END, t.typlen, t.typalign, t.typstorage,
p.proname, t.typtypmod, coalesce(r.rngsubtype, m.rngtypid, NULLIF(t.typbasetype, 0), t.typelem) FROM t LEFT JOIN pg_catalog.pg_proc p ON p.oid = t.typreceive
LEFT JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid LEFT JOIN pg_catalog.pg_range m ON m.rngmultitypid = t.oid`

// readTypes describes the types of a table's columns by their numbers. table is an expression of the table's number.
func readTypes(ctx context.Context, s *session, table string) (map[uint32]*heap.Datatype, error) {
	rows, err := s.table(ctx, strings.ReplaceAll(typesWithin, "$r", table))
	if err != nil {
		return nil, err
	}
	types, inner := map[uint32]*heap.Datatype{}, map[uint32]uint32{}
	for _, r := range rows {
		t := &heap.Datatype{Name: r[1], Class: r[2][0], Align: r[4][0], Storage: r[5][0], Receive: r[6], Modifier: -1}
		var elem uint32
		if _, err := fmt.Sscan(r[0]+" "+r[3]+" "+r[8], &t.OID, &t.Len, &elem); err != nil {
			return nil, err
		}
		types[t.OID] = t
		if strings.Contains("adrm", r[2]) {
			inner[t.OID] = elem
		}
		if t.Class == 'd' {
			modifier, err := strconv.ParseInt(r[7], 10, 32)
			if err != nil {
				return nil, err
			}
			t.Modifier = int32(modifier)
		}
	}
	for oid, elem := range inner {
		types[oid].Elem = types[elem]
	}
	return types, readLabels(ctx, s, types)
}

// readLabels adds the labels of enums.
func readLabels(ctx context.Context, s *session, types map[uint32]*heap.Datatype) error {
	for oid, t := range types {
		if t.Class != 'e' {
			continue
		}
		rows, err := s.table(ctx, fmt.Sprintf("SELECT oid, enumlabel FROM pg_catalog.pg_enum WHERE enumtypid = %d", oid))
		if err != nil {
			return err
		}
		t.Labels = map[string]uint32{}
		for _, r := range rows {
			number, err := strconv.ParseUint(r[0], 10, 32)
			if err != nil {
				return err
			}
			t.Labels[r[1]] = uint32(number)
		}
	}
	return nil
}

// withModifier is a type as a column has it. The modifier of a domain is that of its base type.
func withModifier(t *heap.Datatype, modifier int32) *heap.Datatype {
	if t == nil {
		return &heap.Datatype{}
	}
	own := *t
	if own.Class == 'd' {
		own.Elem = withModifier(t.Elem, t.Modifier)
	}
	own.Modifier = modifier
	return &own
}

// formless says why no value of a type can be made here; empty where it can.
func formless(t *heap.Datatype) string {
	for inner := t.Elem; inner != nil && t.Class != 'd'; inner = inner.Elem {
		if inner.Class == 'd' {
			return "holds values of domain " + inner.Name + ", which only the server checks"
		}
	}
	if heap.MakerFor(t) == nil {
		return "is of type " + t.Name + ", whose form on the page is not known here"
	}
	return ""
}

// describe asks the server how the tuples of the new table lie on the page.
func (w *rowPages) describe(ctx context.Context) error {
	s, hidden := w.copy.dst, quoted(w.table.plan.Parts[0].Target)+"::pg_catalog.regclass"
	types, err := readTypes(ctx, s, hidden)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	rows, err := s.table(ctx, `SELECT attname, atttypid, atttypmod, attlen, attalign, attstorage, attisdropped, COALESCE(NULLIF(attcompression::pg_catalog.text, ''), left(pg_catalog.current_setting('default_toast_compression'), 1))
FROM pg_catalog.pg_attribute WHERE attnum > 0 AND attrelid = `+hidden+" ORDER BY attnum")
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	fields := map[string]int{}
	for i := range w.load.plan.Columns {
		fields[w.load.plan.Columns[i].Name] = i
	}
	w.form = heap.Form{Fields: len(fields), Size: w.copy.to.blockSize, ToastRelation: w.copy.to.toastOID}
	w.typesFor = make([]*heap.Datatype, len(fields))
	for _, r := range rows {
		var oid uint32
		var modifier int32
		c := heap.FormColumn{Attribute: heap.Attribute{Name: r[0], Align: r[4][0], Dropped: r[6] == "t"}, Storage: r[5][0], Field: -1}
		if _, err := fmt.Sscan(r[1]+" "+r[2]+" "+r[3], &oid, &modifier, &c.Len); err != nil {
			return err
		}
		if r[7] == "l" {
			c.Compression = heap.LZ4
		}
		if at, filled := fields[c.Name]; filled && !c.Dropped {
			c.Type, c.Field = withModifier(types[oid], modifier), at
			if why := formless(c.Type); why != "" {
				return &planner.Error{Kind: planner.Refused, Message: "--method pages cannot load into " + w.load.target, Detail: "Column \"" + c.Name + "\" " + why + ".", Hint: "Leave --method pages out."}
			}
			c.Make, w.typesFor[at] = heap.MakerFor(c.Type), c.Type
		}
		w.form.Columns = append(w.form.Columns, c)
	}
	return w.options(ctx, hidden)
}

// options reads what the table says about the use of its pages.
func (w *rowPages) options(ctx context.Context, hidden string) error {
	rows, err := w.copy.dst.table(ctx, "SELECT option_name, option_value FROM pg_catalog.pg_class c, pg_catalog.pg_options_to_table(c.reloptions) WHERE option_name IN ('fillfactor', 'toast_tuple_target') AND c.oid = "+hidden)
	if err != nil {
		return &sideError{side: "target", err: err}
	}
	for _, r := range rows {
		n, err := strconv.Atoi(r[1])
		if err != nil {
			return err
		}
		if r[0] == "fillfactor" {
			w.reserve = w.form.Size * (100 - n) / 100
		} else {
			w.form.Target = n
		}
	}
	return nil
}

// findRowPages reads what method pages must know of the target of a load, where it is asked for.
func (t *table) findRowPages(ctx context.Context, l *load, facts *planner.LoadFacts) error {
	if l.wish.Method != planner.Pages {
		return nil
	}
	f := &planner.PageFacts{}
	facts.Pages = f
	if err := t.askSide(ctx, t.target, &t.facts.Target, t.facts.TargetServer, "target", f, &f.Target); err != nil {
		return err
	}
	if encoding := t.facts.TargetServer.Encoding; encoding != "UTF8" {
		f.Blocked = append(f.Blocked, "the target's encoding is "+encoding+", and rows are formed in UTF8")
	}
	if t.facts.Target.Kind == planner.Table {
		s, err := t.target.take(ctx, t.encoding)
		if err != nil {
			return err
		}
		err = blockedColumns(ctx, s, &t.facts.Target, f)
		if err != nil {
			t.target.drop(s)
			return err
		}
		t.target.give(t.encoding, s)
	}
	if (l.setAside() || l.wish.OnDuplicate == planner.DuplicateKeepOld) && !l.readable() {
		f.Blocked = append(f.Blocked, "the input cannot be read a second time, so rows that a constraint refuses could not be put aside")
	}
	return t.askUnseen(ctx, f)
}

// readable reports whether all files can be read again.
func (l *load) readable() bool {
	for _, f := range l.files {
		if f.Identity == "" {
			return false
		}
	}
	return true
}

// blockedColumns notes the columns whose values cannot be made here.
func blockedColumns(ctx context.Context, s *session, relation *planner.Relation, f *planner.PageFacts) error {
	types, err := readTypes(ctx, s, strconv.FormatUint(uint64(relation.OID), 10))
	if err != nil {
		return err
	}
	for i := range relation.Columns {
		c := &relation.Columns[i]
		if c.Generated {
			continue
		}
		if why := formless(withModifier(types[c.Type.OID], c.Type.Mod)); why != "" {
			f.Blocked = append(f.Blocked, "column \""+c.Name+"\" "+why)
		}
	}
	return nil
}
