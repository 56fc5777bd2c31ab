package move

import (
	"cmp"
	"slices"

	"github.com/pghaul/pghaul/planner"
)

// bySize lists the tables largest first, so that the last one to finish is a small one.
func bySize(tables []*table) []*table {
	sorted := slices.Clone(tables)
	slices.SortStableFunc(sorted, func(a, b *table) int {
		return cmp.Compare(b.plan.Estimate.Bytes, a.plan.Estimate.Bytes)
	})
	return sorted
}

// parentsFirst returns for each table the tables of the run that must be complete before it begins: those that its target's foreign keys
// point to, those that a target which is made inherits from, and those that make a sequence which its defaults use. A foreign key that closes a circle is left out; the server then tells
// whether the rows hold without it.
func parentsFirst(tables []*table) map[*table][]*table {
	waits := map[*table][]*table{}
	for _, child := range tables {
		for _, parent := range tables {
			if child != parent && (refersTo(child, parent) || inherits(child, parent) || usesSequence(child, parent)) && !reaches(waits, parent, child) {
				waits[child] = append(waits[child], parent)
			}
		}
	}
	return waits
}

// refersTo reports whether a foreign key of the child's target points to the parent's.
func refersTo(child, parent *table) bool {
	rebuild := parent.facts.Target.Rebuild
	return child.target == parent.target && rebuild != nil && slices.Contains(rebuild.ReferencedBy, child.plan.Target.Relation)
}

// usesSequence reports whether the parent makes a sequence that the child would make else. Of two that only use it the first of the run makes
// it: CREATE SEQUENCE IF NOT EXISTS fails where another transaction makes the same one at the same time.
func usesSequence(child, parent *table) bool {
	if child.facts.Definition == nil || parent.facts.Definition == nil || child.target != parent.target {
		return false
	}
	return slices.ContainsFunc(child.facts.Definition.Uses, func(u planner.UsedSequence) bool {
		owns := child.source == parent.source && slices.ContainsFunc(parent.facts.Source.Sequences, func(q planner.OwnedSequence) bool {
			return !q.Used && q.Schema == u.Schema && q.Name == u.Name
		})
		shares := parent.number < child.number && slices.ContainsFunc(parent.facts.Definition.Uses, func(p planner.UsedSequence) bool {
			return p.Target == u.Target
		})
		return u.SQL != "" && (owns || shares)
	})
}

// reaches reports whether from waits for to, over any number of others.
func reaches(waits map[*table][]*table, from, to *table) bool {
	for _, next := range waits[from] {
		if next == to || reaches(waits, next, to) {
			return true
		}
	}
	return false
}
