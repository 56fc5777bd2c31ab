package planner

// Text prints the plan in the manner of EXPLAIN.
func (p *Plan) Text() string { return "" }

// JSON prints the plan as one JSON object.
func (p *Plan) JSON() ([]byte, error) { return nil, nil }
