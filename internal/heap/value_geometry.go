package heap

import (
	"encoding/binary"
	"math"
)

// Geometric types hold float8 values (utils/geo_decls.h).
var geometricMakers = map[uint32]func(*Datatype) Maker{
	600: same(floats(2)), 601: same(floats(4)), 602: same(makePath), 603: same(makeBox), 604: same(makePolygon), 628: same(makeLine), 718: same(makeCircle),
}

const floatSize = 8

// floats makes a row of numbers.
func floats(n int) Maker {
	return func(dst, payload []byte) ([]byte, error) {
		if err := sized(payload, n*floatSize); err != nil {
			return dst, err
		}
		return appendFloats(dst, payload), nil
	}
}

func appendFloats(dst, payload []byte) []byte {
	for ; len(payload) > 0; payload = payload[floatSize:] {
		dst = appendSwapped(dst, payload[:floatSize])
	}
	return dst
}

func floatAt(payload []byte, i int) float64 {
	return math.Float64frombits(binary.BigEndian.Uint64(payload[i*floatSize:]))
}

// below orders numbers as the server does: NaN is above all others (float8_lt of utils/float.h).
func below(a, b float64) bool { return !math.IsNaN(a) && (math.IsNaN(b) || a < b) }

// makeBox puts the corners in order: high, then low.
func makeBox(dst, payload []byte) ([]byte, error) {
	if err := sized(payload, 4*floatSize); err != nil {
		return dst, err
	}
	v := [4]float64{floatAt(payload, 0), floatAt(payload, 1), floatAt(payload, 2), floatAt(payload, 3)}
	for i := range 2 {
		if below(v[i], v[i+2]) {
			v[i], v[i+2] = v[i+2], v[i]
		}
	}
	return appendNumbers(dst, v[:]...), nil
}

func appendNumbers(dst []byte, numbers ...float64) []byte {
	for _, v := range numbers {
		dst = le.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

func makeLine(dst, payload []byte) ([]byte, error) {
	if err := sized(payload, 3*floatSize); err != nil {
		return dst, err
	}
	// FPzero, which counts what is below 1e-6 as zero
	if math.Abs(floatAt(payload, 0)) <= 1e-6 && math.Abs(floatAt(payload, 1)) <= 1e-6 {
		return dst, &Refused{State: stateInvalidBinary, Message: "invalid line specification: A and B cannot both be zero"}
	}
	return appendFloats(dst, payload), nil
}

func makeCircle(dst, payload []byte) ([]byte, error) {
	if err := sized(payload, 3*floatSize); err != nil {
		return dst, err
	}
	if floatAt(payload, 2) < 0 {
		return dst, &Refused{State: stateInvalidBinary, Message: `invalid radius in external "circle" value`}
	}
	return appendFloats(dst, payload), nil
}

// points reads a number of points and checks that they are there.
func points(payload []byte, name string) ([]byte, error) {
	r := reader{rest: payload}
	n := int64(int32(r.uint32()))
	const most = (math.MaxInt32 - 64) / (2 * floatSize)
	switch {
	case r.short:
		return nil, errShort
	case n <= 0 || n >= most:
		return nil, &Refused{State: stateInvalidBinary, Message: `invalid number of points in external "` + name + `" value`}
	}
	return r.rest, sized(r.rest, int(n)*2*floatSize)
}

// makePath writes the number of points, whether it is closed, and four bytes of nothing before the points (PATH).
func makePath(dst, payload []byte) ([]byte, error) {
	if len(payload) < 1 {
		return dst, errShort
	}
	all, err := points(payload[1:], "path")
	if err != nil {
		return dst, err
	}
	closed := uint32(0)
	if payload[0] != 0 {
		closed = 1
	}
	dst = le.AppendUint32(dst, uint32(len(all)/(2*floatSize)))
	dst = le.AppendUint32(dst, closed)
	return appendFloats(append(dst, 0, 0, 0, 0), all), nil
}

// makePolygon writes the number of points and the box around them before the points (POLYGON, make_bound_box of geo_ops.c).
func makePolygon(dst, payload []byte) ([]byte, error) {
	all, err := points(payload, "polygon")
	if err != nil {
		return dst, err
	}
	low, high := [2]float64{floatAt(all, 0), floatAt(all, 1)}, [2]float64{floatAt(all, 0), floatAt(all, 1)}
	for i := range len(all) / floatSize {
		v := floatAt(all, i)
		if below(v, low[i%2]) {
			low[i%2] = v
		}
		if below(high[i%2], v) {
			high[i%2] = v
		}
	}
	dst = le.AppendUint32(dst, uint32(len(all)/(2*floatSize)))
	return appendFloats(appendNumbers(dst, high[0], high[1], low[0], low[1]), all), nil
}
