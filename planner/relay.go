package planner

// relayWay forwards the blocks of COPY TO STDOUT into COPY FROM STDIN.
func relayWay() way {
	return way{
		method: Relay,
		refuse: func(s *situation) string {
			switch {
			case s.wish.OnConflict != NoConflictAction:
				return "COPY has no ON CONFLICT"
			case s.wish.Returning != "":
				return "COPY has no RETURNING"
			}
			return s.copyBlock()
		},
		cost: func(s *situation, l *layout) cost { return s.streamCost(s.relayRate(), l) },
		why:  "the rows pass through the client, in binary where that is exact",
	}
}

func (s *situation) relayRate() rate {
	if s.format == Binary {
		return relayBinary
	}
	return relayText
}

// copyBlock says why COPY cannot write the target, empty when it can.
func (s *situation) copyBlock() string {
	switch {
	case s.target.Kind == View:
		return "COPY cannot write to a view"
	case s.target.Rules:
		return "COPY passes by the target's rules for INSERT"
	case s.target.RowSecurity:
		return "COPY cannot write to a table with row-level security"
	}
	return ""
}
