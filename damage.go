package pghaul

import "github.com/pghaul/pghaul/internal/move"

// Damage is what a copy from a data directory has left out of a table.
type Damage struct {
	// Blocks is the number of blocks that could not be read at all. How many rows they held is not known.
	Blocks int64 `json:"blocks"`

	// Rows is the number of rows on readable blocks that could not be decoded.
	Rows int64 `json:"rows"`

	// First are the first places, at most 20, each with its file, block, line and reason.
	First []string `json:"first"`
}

// String counts it, such as "1 damaged block and 3 damaged rows".
func (d *Damage) String() string {
	return (&move.Damage{Blocks: d.Blocks, Rows: d.Rows}).String()
}

func newDamage(d *move.Damage) *Damage {
	if d == nil {
		return nil
	}
	return &Damage{Blocks: d.Blocks, Rows: d.Rows, First: d.First}
}
