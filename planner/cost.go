package planner

import "strings"

// cost is an estimate of one method.
type cost struct {
	seconds float64
	wal     float64 // bytes
}

// amount is the number of rows and bytes that the estimates go by, also where the facts have none.
func (s *situation) amount() (rows, bytes float64) {
	rows, bytes = float64(s.rows), float64(s.bytes)
	switch {
	case s.rows < 0 && s.bytes == 0 && !s.stored():
		return guessedRows, guessedBytes
	case s.rows < 0:
		return bytes / bytesPerRow, bytes
	}
	return rows, bytes
}

// stored reports whether the source's size is known from its files.
func (s *situation) stored() bool {
	switch s.source.Kind {
	case Table, Partitioned, MatView:
		return true
	}
	return false
}

// streamCost is what rows take at a rate, over the layout's connections, with the target's indexes.
func (s *situation) streamCost(r rate, l *layout) cost {
	rows, bytes := s.amount()
	c := cost{seconds: bytes/r.bytes + rows*r.row, wal: max(bytes+rows*r.wal, 0)}
	if s.walSkipped(l) {
		c.wal = 0
	}
	kept, built := s.indexes(l)
	c.seconds += rows * indexKept * kept
	c.wal += rows * indexKeptWAL * kept
	c.seconds = start + c.seconds/s.speedUp(l.connections) + rows*indexBuilt*built
	c.wal += rows * indexBuiltWAL * built
	return c
}

// indexes is how many indexes are kept up while rows arrive and how many are built after them.
func (s *situation) indexes(l *layout) (kept, built float64) {
	switch {
	case s.created && l.atomic == PerRange:
		return float64(s.source.Indexes), 0
	case s.created:
		return 0, float64(s.source.Indexes)
	case l.atomic == Swap:
		return 0, float64(s.target.Indexes)
	}
	return float64(s.target.Indexes), 0
}

// walSkipped reports whether the rows of a table that is new in its own transaction are synced instead of logged (manual, "wal_level").
func (s *situation) walSkipped(l *layout) bool {
	if s.target.Unlogged && !s.created || s.target.Temporary {
		return true
	}
	fresh := s.created || s.fill() == Truncate
	return s.facts.TargetServer.WALLevel == "minimal" && fresh && l.atomic == OneTransaction
}

// speedUp is how much faster several connections are. Each keeps a source and a target process busy; when both servers share the client's
// processors two connections need four of them (on two processors two connections took 7.2-7.7 s and one 7.5-7.8).
func (s *situation) speedUp(connections int) float64 {
	n := float64(max(connections, 1))
	if local(&s.facts.SourceServer) && local(&s.facts.TargetServer) {
		n = min(n, max(float64(s.facts.Processors)/2, 1))
	}
	return n
}

// local reports whether the server is on the client's machine, by its address.
func local(server *Server) bool {
	if server.Directory != "" {
		return true
	}
	host, _, _ := strings.Cut(server.Address, "/")
	for _, prefix := range []string{"localhost", "127.", "[::1]", "::1", "@"} {
		if strings.HasPrefix(host, prefix) {
			return true
		}
	}
	return host == "" || strings.HasPrefix(host, "[local]")
}
