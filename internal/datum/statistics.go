package datum

import (
	"encoding/binary"
	"math"
	"strconv"
)

// What CREATE STATISTICS gathers is stored as a magic number, a kind, a number of items, and items of a double, a number of columns
// and the columns (mvdistinct.c, dependencies.c).
const (
	ndistinctMagic    = 0xA352BFA4
	dependenciesMagic = 0xB4549A2C
)

// columnGroups walks over the items of extended statistics.
type columnGroups struct {
	body  []byte
	count int
	width int // of the number of columns, in bytes
}

func newColumnGroups(value []byte, what string, magic uint32, width int) (*columnGroups, error) {
	if len(value) < 12 || binary.LittleEndian.Uint32(value) != magic {
		return nil, malformed(what, "an unknown kind")
	}
	g := &columnGroups{body: value[12:], count: int(binary.LittleEndian.Uint32(value[8:])), width: width}
	if g.count > len(g.body)/(8+width) {
		return nil, malformed(what, "more items than bytes")
	}
	return g, nil
}

// next gives the number of an item and its columns, two bytes each.
func (g *columnGroups) next(what string) (number float64, columns []byte, err error) {
	if len(g.body) < 8+g.width {
		return 0, nil, malformed(what, "an item is cut off")
	}
	number = math.Float64frombits(binary.LittleEndian.Uint64(g.body))
	count := uint32(binary.LittleEndian.Uint16(g.body[8:]))
	if g.width == 4 {
		count = binary.LittleEndian.Uint32(g.body[8:])
	}
	rest := g.body[8+g.width:]
	if count == 0 || uint64(count)*2 > uint64(len(rest)) {
		return 0, nil, malformed(what, "an item is cut off")
	}
	g.body = rest[count*2:]
	return number, rest[:count*2], nil
}

func appendColumns(dst, columns []byte) []byte {
	for i := 0; i < len(columns); i += 2 {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendInt(dst, int64(int16(binary.LittleEndian.Uint16(columns[i:]))), 10)
	}
	return dst
}

// printNdistinct prints the numbers of distinct values of groups of columns, as servers up to 18 do.
func printNdistinct(dst, value []byte) ([]byte, error) {
	const what = "pg_ndistinct"
	groups, err := newColumnGroups(value, what, ndistinctMagic, 4)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	dst = append(dst, '{')
	for i := range groups.count {
		number, columns, err := groups.next(what)
		if err != nil {
			return dst[:start], err
		}
		if !(math.Abs(number) < math.MaxInt32) {
			return dst[:start], malformed(what, "a number out of range")
		}
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendColumns(append(dst, '"'), columns), `": `...)
		dst = strconv.AppendInt(dst, int64(number), 10)
	}
	return append(dst, '}'), nil
}

// printDependencies prints how far groups of columns determine their last one, as servers up to 18 do.
func printDependencies(dst, value []byte) ([]byte, error) {
	const what = "pg_dependencies"
	groups, err := newColumnGroups(value, what, dependenciesMagic, 2)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	dst = append(dst, '{')
	for i := range groups.count {
		degree, columns, err := groups.next(what)
		if err != nil {
			return dst[:start], err
		}
		if !(math.Abs(degree) <= 1) {
			return dst[:start], malformed(what, "a degree out of range")
		}
		if i > 0 {
			dst = append(dst, ", "...)
		}
		last := len(columns) - 2
		dst = append(appendColumns(append(dst, '"'), columns[:last]), " => "...)
		dst = append(appendColumns(dst, columns[last:]), `": `...)
		dst = strconv.AppendFloat(dst, degree, 'f', 6, 64)
	}
	return append(dst, '}'), nil
}
