package planner

func (s *loading) planStage(p *Plan)                {}
func (s *loading) stageColumns() []LoadColumn       { return s.columns }
func (s *loading) selected() []string               { return nil }
func (s *loading) onConflict() string               { return "" }
func (s *loading) duplicateKey() ([]string, string) { return nil, "" }
func (s *loading) planCheck(p *Plan)                {}
func (s *loading) checked() bool                    { return len(s.given.Checks) > 0 }
func (s *loading) deferBlock(w *loadWay) *Error     { return nil }
func (s *loading) deferring() bool                  { return false }
func (s *loading) deferIndexes(p *Plan)             {}
func (s *loading) pagesBlock() string               { return "it is taken only when it is asked for by name" }
func (s *loading) planPages(p *Plan)                {}
