package planner

import "slices"

// uniqueSource is the name of a key of the source that keeps two rows from having the same key in the target, empty when there is none: to
// count such rows takes a tenth of a merge's time. All ranges are read under one snapshot, and what is unique stays so under a condition.
func (s *situation) uniqueSource(target []string) string {
	if s.source.Kind != Table && s.source.Kind != Partitioned || len(s.source.Path) > 0 || s.fromDirectory() {
		return ""
	}
	i := slices.IndexFunc(s.target.Keys, func(k Key) bool { return sameSet(k.Columns, target) })
	if i < 0 || !s.target.Keys[i].Deterministic {
		return ""
	}
	for _, k := range s.source.Keys {
		if !slices.ContainsFunc(k.Columns, func(name string) bool { return !s.staysUnique(name, target) }) {
			return k.Name
		}
	}
	return ""
}

// staysUnique reports whether values of a source column that differ are still different in the target's key, and none is NULL.
func (s *situation) staysUnique(name string, key []string) bool {
	p := s.pairOf(name)
	return p != nil && slices.Contains(key, p.Target.Name) && p.Exact && p.Source.NotNull &&
		p.Source.Type.SQL == p.Target.Type.SQL && comparedByServer(&p.Source.Type)
}

// comparedByServer reports whether the meaning of = is the server's own, the same in all databases: "char" is left out for the bytes that
// versions print differently.
func comparedByServer(t *Type) bool {
	switch t.Class {
	case Domain:
		return t.Base != nil && comparedByServer(t.Base)
	case Enum:
		return true
	}
	return t.BuiltIn() && !holdsChar(t)
}
