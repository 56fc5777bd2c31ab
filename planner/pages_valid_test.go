package planner

import (
	"strings"
	"testing"
)

// TestPageChecks is of what is looked up in the new rows: constraints of the target that the source does not vouch for.
func TestPageChecks(t *testing.T) {
	positive := PageConstraint{Name: "positive", Definition: "CHECK ((n > 0))", Expression: "(n > 0)", Valid: true}
	late, wished := positive, positive
	late.Valid, late.Definition = false, "CHECK ((n > 0)) NOT VALID"
	wished.Valid, wished.Unenforced = false, true
	for _, c := range []struct {
		name   string
		create bool
		change func(from, to *PageSide)
		want   string
	}{
		{"the same", false, func(from, to *PageSide) {
			from.Checks, to.Checks = []PageConstraint{positive}, []PageConstraint{positive}
		}, ""},
		{"not valid in the source", false, func(from, to *PageSide) { from.Checks, to.Checks = []PageConstraint{late}, []PageConstraint{positive} }, "WHERE NOT ((n > 0))"},
		{"not valid in the target", false, func(_, to *PageSide) { to.Checks = []PageConstraint{late} }, ""},
		{"not enforced in the target", false, func(_, to *PageSide) { to.Checks = []PageConstraint{wished} }, ""},
		{"NOT NULL", false, func(from, to *PageSide) { from.Attributes[2].NotNull, to.Attributes[2].NotNull = true, true }, ""},
		{"NOT NULL that is not valid", false, func(from, to *PageSide) {
			from.Attributes[2].NotNull, from.Attributes[2].Unproven, to.Attributes[2].NotNull = true, true, true
		}, "num_nulls(n) > 0"},
		{"a new table of valid ones", true, func(from, _ *PageSide) { from.Checks = []PageConstraint{positive} }, ""},
		{"a new table of one that is not valid", true, func(from, _ *PageSide) { from.Checks = []PageConstraint{late} }, "WHERE NOT ((n > 0))"},
		{"a new table of one that is not enforced", true, func(from, _ *PageSide) { from.Checks = []PageConstraint{wished} }, ""},
		{"a new table of NOT NULL that is not valid", true, func(from, _ *PageSide) { from.Attributes[2].NotNull, from.Attributes[2].Unproven = true, true }, "num_nulls(n) > 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, w := pages(func(f *Facts, w *Wish) {
				if c.create {
					f.Target, w.Create, f.Definition = missing("public", "x"), true, dumped()
					f.Pages.Target.Attributes = nil
				}
				c.change(&f.Pages.Source, &f.Pages.Target)
			})
			checks := mustChoose(t, f, w).Pages.Checks
			if len(checks) > 1 || len(checks) == 0 != (c.want == "") || c.want != "" && !strings.Contains(checks[0].SQL, c.want) {
				t.Errorf("checks are %v, want %q", checks, c.want)
			}
		})
	}
}

// TestPagesDoNotTrustFunctionsOfAnotherDatabase has functions of one name that may do different things.
func TestPagesDoNotTrustFunctionsOfAnotherDatabase(t *testing.T) {
	for _, same := range []bool{true, false} {
		f, w := pages(func(f *Facts, _ *Wish) {
			f.SameDatabase = same
			c := PageConstraint{Name: "fits", Definition: "CHECK (fits(n))", Expression: "fits(n)", Valid: true, Calls: true}
			f.Pages.Source.Checks, f.Pages.Target.Checks = []PageConstraint{c}, []PageConstraint{c}
		})
		if checks := mustChoose(t, f, w).Pages.Checks; len(checks) != 0 != !same {
			t.Errorf("same database %v: checks are %v", same, checks)
		}
		f, w = pages(func(f *Facts, _ *Wish) {
			f.SameDatabase = same
			for _, side := range []*PageSide{&f.Pages.Source, &f.Pages.Target} {
				side.Attributes[2].Generated, side.Attributes[2].Calls = "twice(id)", true
			}
		})
		if _, err := Choose(f, w); (err == nil) != same {
			t.Errorf("same database %v, a generated column: %v", same, err)
		}
	}
}
