package move

import (
	"errors"

	"github.com/pghaul/pghaul/internal/datadir"
)

// Damage is what a copy from a data directory has left out, as Request.SkipDamaged asks for.
type Damage struct {
	// Blocks are those that could not be read at all: how many rows they held is not known.
	Blocks int64
	// Rows are those of readable blocks that could not be decoded.
	Rows int64
	// First are the first places, as "base/5/16400: block 3, line 7: why". At most 20.
	First []string
}

// String counts it.
func (d *Damage) String() string {
	switch {
	case d.Rows == 0:
		return number(d.Blocks, "damaged block")
	case d.Blocks == 0:
		return number(d.Rows, "damaged row")
	}
	return number(d.Blocks, "damaged block") + " and " + number(d.Rows, "damaged row")
}

func (d *Damage) add(file string, at datadir.Damage) {
	var gap *datadir.Gap
	switch {
	case at.Line != 0:
		d.Rows++
	case errors.As(at.Cause, &gap):
		d.Blocks += int64(gap.Blocks)
	default:
		d.Blocks++
	}
	if len(d.First) < mostFaults {
		d.First = append(d.First, file+": "+at.Error())
	}
}
