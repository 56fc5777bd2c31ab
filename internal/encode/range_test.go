package encode

import (
	"slices"
	"testing"
)

// TestOrders sorts values whose order is known, by their binary forms.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		oid    uint32
		sorted []string
	}{
		{23, []string{"-2147483648", "-2", "-1", "0", "1", "256", "2147483647"}},
		{26, []string{"0", "1", "2147483648", "4294967295"}},
		{701, []string{"-Infinity", "-1e300", "-1.5", "-1e-300", "0", "5e-324", "1", "1e300", "Infinity", "NaN"}},
		{700, []string{"-Infinity", "-1.5", "0", "1.25", "Infinity", "NaN"}},
		{1700, []string{
			"-Infinity", "-123456789", "-10000", "-9999.99991", "-9999.9999", "-1.5", "-1.25", "-0.00001", "0", "1e-20", "0.0001", "0.00011", "0.5", "1", "1.00001", "9999", "10000",
			"10000.5", "100000000", "1e30", "Infinity", "NaN",
		}},
		{1114, []string{"-infinity", "4713-01-01 00:00:00 BC", "1999-12-31 23:59:59.999999", "2000-01-01 00:00:00", "2024-02-29 10:00:00", "infinity"}},
	} {
		encode, compare := For(&Type{OID: c.oid, Modifier: -1, Class: Base}, Settings{Version: 15, UTC: true}), orders[c.oid]
		var values [][]byte
		for _, text := range c.sorted {
			value, err := encode(nil, []byte(text))
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			values = append(values, value)
		}
		for i, a := range values {
			for j, b := range values {
				if got := compare(a, b); (got > 0) != (i > j) || (got < 0) != (i < j) {
					t.Errorf("%d: %s against %s: %d", c.oid, c.sorted[i], c.sorted[j], got)
				}
			}
		}
	}
}

func TestMergeIsUnsureOfEqualForms(t *testing.T) {
	numeric := Type{OID: 1700, Name: "numeric", Modifier: -1, Class: Base}
	encode := For(&Type{Class: Multirange, Range: &Type{OID: 3906, Class: Range, Elem: &numeric, Plain: true}}, Settings{Version: 15})
	for text, unsure := range map[string]bool{
		"{[1.0,2],[1.00,3]}": true, "{[1,3.0],[2,3.00]}": true, "{[1.0,2],[1.0,3]}": false, "{[1,2.0),[2.00,3]}": false, "{[1,1.0]}": false, "{(,1.0],(,1.0]}": false,
	} {
		if got := outcome(encode, text) == "unsure"; got != unsure {
			t.Errorf("%s: unsure is %t", text, got)
		}
	}
}

func TestRangesThatAreNotKnown(t *testing.T) {
	text := Type{OID: 25, Name: "text", Class: Base}
	domain := Type{OID: 20000, Name: "count", Class: Domain, Elem: &integerType}
	for _, typ := range []Type{
		{OID: 20001, Class: Range, Elem: &text, Plain: true},
		{OID: 20001, Class: Range, Elem: &domain, Plain: true},
		{OID: 20001, Class: Range, Elem: &integerType},                              // of an operator class of its own
		{OID: 20001, Class: Range, Elem: &integerType, Plain: true, Discrete: true}, // of a canonical function of its own
	} {
		multirange := Type{OID: 20002, Class: Multirange, Range: &typ}
		if slices.ContainsFunc([]*Type{&typ, &multirange}, func(t *Type) bool { return For(t, Settings{Version: 15}) != nil }) {
			t.Errorf("%+v has an encoder", typ)
		}
	}
}
