package planner

// unloggedWay fills an unlogged table and then has it logged as a whole.
func unloggedWay() way {
	return way{
		method: Unlogged,
		refuse: func(s *situation) string {
			switch why := s.newTableBlock(); {
			case why != "":
				return why
			case s.source.Kind == Query && s.facts.Definition == nil:
				return "a query has no definition to make a table of"
			case s.source.Kind == Partitioned:
				return "a partitioned table cannot be unlogged"
			}
			return ""
		},
		cost: func(s *situation, l *layout) cost { return s.streamCost(unlogged, l) },
		finish: func(s *situation, p *Plan) {
			if s.facts.Definition == nil {
				p.Notes = append(p.Notes, "the new table has no indexes and no foreign keys; --create would make them")
			}
		},
		why:    "SET LOGGED writes the table a second time",
		single: true,
	}
}
