package planner

import (
	"strings"
	"testing"
)

// limited is a type of the server's own with a modifier, -1 for none.
func limited(oid uint32, name string, mod int32) Type {
	b := base(oid, name, name)
	b.Mod = mod
	return b
}

// numericOf is numeric(precision, scale).
func numericOf(precision, scale int32) Type {
	return limited(1700, "numeric", (precision<<16|scale&0x7ff)+4)
}

func TestRoundingIsWarnedOf(t *testing.T) {
	anyNumeric := limited(1700, "numeric", -1)
	for name, c := range map[string]struct {
		from, to Type
		warning  bool
	}{
		"fewer digits":       {numericOf(10, 3), numericOf(10, 2), true},
		"more digits":        {numericOf(10, 2), numericOf(10, 3), false},
		"a limit":            {anyNumeric, numericOf(1000, 500), true},
		"no limit":           {numericOf(10, 2), anyNumeric, false},
		"negative scale":     {numericOf(10, 0), numericOf(10, -2), true},
		"from a negative":    {numericOf(10, -2), numericOf(10, 0), false},
		"array":              {arrayOf(1231, numericOf(10, 3)), arrayOf(1231, numericOf(10, 2)), true},
		"domain":             {domainOf(70001, numericOf(10, 3)), numericOf(10, 2), true},
		"seconds":            {limited(1114, "timestamp", -1), limited(1114, "timestamp", 0), true},
		"all digits":         {limited(1114, "timestamp", -1), limited(1114, "timestamp", 6), false},
		"more seconds":       {limited(1083, "time", 3), limited(1083, "time", 4), false},
		"fewer seconds":      {limited(1083, "time", 3), limited(1083, "time", 2), true},
		"fields of interval": {limited(1186, "interval", -1), limited(1186, "interval", 7<<16|0xffff), true},
		"shorter text":       {limited(1043, "varchar", 14), limited(1043, "varchar", 9), false}, // an error on arrival
		"other type":         {int8Type, numericOf(10, 2), false},                                // noteType tells
	} {
		f := between(table(1, "public", "t", col("c", c.from)), table(2, "public", "t", col("c", c.to)))
		notes := strings.Join(mustChoose(t, f, Wish{}).Notes, "\n")
		if strings.Contains(notes, "column c is "+c.from.SQL+" in the source and "+c.to.SQL+" in the target, which rounds") != c.warning {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
}
