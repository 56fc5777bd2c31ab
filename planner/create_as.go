package planner

// createAsWay is CREATE TABLE AS. It is never chosen by itself: the new table has no constraints, defaults or indexes.
func createAsWay() way {
	return way{
		method: CreateAs,
		refuse: func(s *situation) string {
			if why := s.newTableBlock(); why != "" {
				return why
			}
			return ""
		},
		cost: func(s *situation, l *layout) cost {
			rows, bytes := s.amount()
			c := cost{seconds: start + bytes/createAs.bytes + rows*createAs.row, wal: bytes + rows*createAs.wal}
			if s.walSkipped(l) {
				c.wal = 0
			}
			return c
		},
		finish: func(_ *situation, p *Plan) {
			p.Notes = append(p.Notes, "the new table has no constraints, defaults, identity or indexes")
		},
		why:    "taken only when it is asked for by name, as the new table has no constraints, defaults or indexes",
		single: true,
	}
}

// newTableBlock says what keeps a method from making the target within the source's database.
func (s *situation) newTableBlock() string {
	if why := s.inServerBlock(); why != "" {
		return why
	}
	switch {
	case !s.created:
		return "target " + s.targetName + " exists"
	case s.wish.Commit == CommitRange:
		return "--commit range is for rows that arrive in several transactions"
	}
	return ""
}
