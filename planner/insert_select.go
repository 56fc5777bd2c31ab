package planner

// insertSelectWay has the server read and write the rows itself.
func insertSelectWay() way {
	return way{
		method: InsertSelect,
		refuse: func(s *situation) string {
			if why := s.inServerBlock(); why != "" {
				return why
			}
			switch {
			case s.target.Kind == View:
				return "only method insert writes to a view"
			case s.target.RowSecurity:
				return "only method insert writes to a table with row-level security"
			}
			return s.castBlock()
		},
		cost: func(s *situation, l *layout) cost { return s.streamCost(insertSelect, l) },
		why:  "each row is an INSERT and a WAL record of its own",
	}
}

// inServerBlock says what keeps rows from staying in the server.
func (s *situation) inServerBlock() string {
	switch {
	case s.fromDirectory():
		return "no server runs on the source"
	case !s.facts.SameDatabase:
		return "source and target are in different databases"
	case s.wish.OnConflict != NoConflictAction:
		return "--on-conflict is for the methods merge and insert"
	case s.wish.Returning != "":
		return "--returning is for the method insert"
	case s.wish.Format != AnyFormat:
		return "--format is for rows that leave the server"
	}
	return ""
}

// castBlock names the columns that INSERT ... SELECT would cast. A cast is not the same as reading the printed value: 1.5 becomes 2 by the
// cast to integer and is an error as text.
func (s *situation) castBlock() string {
	var names []string
	for _, p := range s.pairs {
		if baseType(&p.Source.Type).OID != baseType(&p.Target.Type).OID {
			names = append(names, p.Source.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "INSERT ... SELECT would cast " + columnWord(names) + ", which is not the same as reading the text of the values"
}
