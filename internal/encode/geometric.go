package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// geometricTypes are the geometric types.
var geometricTypes = map[uint32]maker{
	600: geometryEncoder("point", readPoint),
	601: geometryEncoder("lseg", readSegment),
	602: geometryEncoder("path", readPath),
	603: geometryEncoder("box", readBox),
	604: geometryEncoder("polygon", readPolygon),
	628: geometryEncoder("line", readLine),
	718: geometryEncoder("circle", readCircle),
}

// geometry reads the text of a geometric value as the functions of geo_ops.c do.
type geometry struct {
	name string
	text []byte
	at   int
}

func geometryEncoder(name string, read func(geometry, []byte) ([]byte, error)) maker {
	return func(*Type, Settings) Encoder {
		return func(dst, text []byte) ([]byte, error) {
			got, err := read(geometry{name: name, text: text}, dst)
			if err != nil {
				return dst, err
			}
			return got, nil
		}
	}
}

func readPoint(g geometry, dst []byte) ([]byte, error) {
	dst, err := g.pair(dst)
	if err != nil {
		return dst, err
	}
	return dst, g.end()
}

func readSegment(g geometry, dst []byte) ([]byte, error) {
	dst, _, err := g.points(dst, true, 2)
	if err != nil {
		return dst, err
	}
	return dst, g.end()
}

// readPath appends whether it is closed, the number of points, and the points.
func readPath(g geometry, dst []byte) ([]byte, error) {
	n := g.pairs()
	if n <= 0 {
		return dst, g.invalid()
	}
	g.space()
	outer := g.next() == '(' && bytes.LastIndexByte(g.text, '(') == g.at
	if outer {
		g.at++
	}
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(append(dst, 1), uint32(n))
	dst, open, err := g.points(dst, true, n)
	if err != nil {
		return dst, err
	}
	if open {
		dst[start] = 0
	}
	if outer && !g.take(')') {
		return dst, g.invalid()
	}
	if outer {
		g.space()
	}
	return dst, g.end()
}

// readBox appends the upper right corner and the lower left one. NaN is above all numbers.
func readBox(g geometry, dst []byte) ([]byte, error) {
	start := len(dst)
	dst, _, err := g.points(dst, false, 2)
	if err != nil {
		return dst, err
	}
	for _, at := range [...]int{start, start + 8} {
		high, low := dst[at:at+8], dst[at+16:at+24]
		a, b := binary.BigEndian.Uint64(high), binary.BigEndian.Uint64(low)
		if compareFloats(math.Float64frombits(a), math.Float64frombits(b)) < 0 {
			binary.BigEndian.PutUint64(high, b)
			binary.BigEndian.PutUint64(low, a)
		}
	}
	return dst, g.end()
}

// readPolygon appends the number of points, and the points.
func readPolygon(g geometry, dst []byte) ([]byte, error) {
	n := g.pairs()
	if n <= 0 {
		return dst, g.invalid()
	}
	dst, _, err := g.points(binary.BigEndian.AppendUint32(dst, uint32(n)), false, n)
	if err != nil {
		return dst, err
	}
	return dst, g.end()
}

// lineEpsilon is what the server takes for zero (EPSILON of geo_decls.h).
const lineEpsilon = 1e-6

// readLine appends A, B and C of {A,B,C}, which stands for Ax + By + C = 0. The line through two points is left
// to the server, whose compiler says how A and C are rounded.
func readLine(g geometry, dst []byte) ([]byte, error) {
	g.space()
	if !g.take('{') {
		if _, _, err := g.points(dst, true, 2); err != nil {
			return dst, err
		}
		if err := g.end(); err != nil {
			return dst, err
		}
		return dst, ErrUnsure
	}
	var of [3]float64
	for i, after := range [...]byte{',', ',', '}'} {
		var err error
		if of[i], err = g.number(); err != nil {
			return dst, err
		}
		if !g.take(after) {
			return dst, g.invalid()
		}
		dst = appendFloat(dst, of[i])
	}
	g.space()
	if err := g.end(); err != nil {
		return dst, err
	}
	if math.Abs(of[0]) <= lineEpsilon && math.Abs(of[1]) <= lineEpsilon {
		return dst, &Invalid{State: stateInvalidText, Message: "invalid line specification: A and B cannot both be zero"}
	}
	return dst, nil
}

// readCircle appends the center and the radius.
func readCircle(g geometry, dst []byte) ([]byte, error) {
	depth := 0
	g.space()
	if g.take('<') {
		depth = 1
	} else if g.next() == '(' {
		if inner := skipSpace(g.text, g.at+1); inner < len(g.text) && g.text[inner] == '(' {
			g.at, depth = inner, 1
		}
	}
	dst, err := g.pair(dst)
	if err != nil {
		return dst, err
	}
	g.take(',')
	radius, err := g.number()
	if err != nil {
		return dst, err
	}
	if radius < 0 {
		return dst, g.invalid()
	}
	if depth == 1 {
		if !g.take(')') && !g.take('>') {
			return dst, g.invalid()
		}
		g.space()
	}
	return appendFloat(dst, radius), g.end()
}

func appendFloat(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v))
}

func (g *geometry) invalid() error { return invalidSyntax(g.name, g.text) }

func (g *geometry) space() { g.at = skipSpace(g.text, g.at) }

// next is the next byte, or 0 at the end.
func (g *geometry) next() byte {
	if g.at < len(g.text) {
		return g.text[g.at]
	}
	return 0
}

// take passes over the next byte if it is this one.
func (g *geometry) take(c byte) bool {
	if g.next() != c {
		return false
	}
	g.at++
	return true
}

func (g *geometry) end() error {
	if g.at < len(g.text) {
		return g.invalid()
	}
	return nil
}

// pairs is the number of points by the number of commas, or -1 (pair_count).
func (g *geometry) pairs() int {
	n := bytes.Count(g.text, []byte{','})
	if n%2 == 0 {
		return -1
	}
	return (n + 1) / 2
}

// number reads a float8 with the white space around it (float8in_internal of float.c).
func (g *geometry) number() (float64, error) {
	g.space()
	v, n, err := strtod(g.text[g.at:], 64)
	if errors.Is(err, errRange) {
		return 0, &Invalid{State: stateOutOfRange, Message: `"` + string(g.text[g.at:g.at+n]) + `" is out of range for type double precision`}
	}
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, g.invalid()
	}
	g.at += n
	g.space()
	return v, nil
}

// pair reads x,y or (x,y) (pair_decode).
func (g *geometry) pair(dst []byte) ([]byte, error) {
	g.space()
	enclosed := g.take('(')
	x, err := g.number()
	if err != nil {
		return dst, err
	}
	if !g.take(',') {
		return dst, g.invalid()
	}
	y, err := g.number()
	if err != nil {
		return dst, err
	}
	if enclosed {
		if !g.take(')') {
			return dst, g.invalid()
		}
		g.space()
	}
	return appendFloat(appendFloat(dst, x), y), nil
}

// points reads n points within parentheses, brackets where the type has an open form, or nothing (path_decode).
func (g *geometry) points(dst []byte, mayOpen bool, n int) (_ []byte, open bool, err error) {
	depth := 0
	g.space()
	if open = g.next() == '['; open {
		if !mayOpen {
			return dst, open, g.invalid()
		}
		g.at++
		depth = 1
	} else if g.next() == '(' {
		// One parenthesis before another encloses all; so does a single one in the whole text.
		inner := skipSpace(g.text, g.at+1)
		if inner < len(g.text) && g.text[inner] == '(' || bytes.LastIndexByte(g.text, '(') == g.at {
			g.at, depth = inner, 1
		}
	}
	for range n {
		if dst, err = g.pair(dst); err != nil {
			return dst, open, err
		}
		g.take(',')
	}
	if depth == 1 {
		if !g.take(')') && !(open && g.take(']')) {
			return dst, open, g.invalid()
		}
		g.space()
	}
	return dst, open, nil
}
