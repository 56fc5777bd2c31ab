package datum

import (
	"encoding/binary"
	"math"
)

// The geometric types are doubles behind each other (utils/geo_decls.h), printed by geo_ops.c.

// coordinate writes the double at an index.
func coordinate(dst, value []byte, i int) []byte {
	return appendFloat(dst, math.Float64frombits(binary.LittleEndian.Uint64(value[8*i:])), 64)
}

// appendPoint writes (x,y) of the two doubles at an index.
func appendPoint(dst, value []byte, i int) []byte {
	dst = coordinate(append(dst, '('), value, i)
	dst = coordinate(append(dst, ','), value, i+1)
	return append(dst, ')')
}

// appendPoints writes points with commas between them.
func appendPoints(dst, value []byte) []byte {
	for i := 0; i*8 < len(value); i += 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendPoint(dst, value, i)
	}
	return dst
}

func printPoint(dst, value []byte) ([]byte, error) {
	if len(value) != 16 {
		return dst, cutOff("point")
	}
	return appendPoint(dst, value, 0), nil
}

func printLseg(dst, value []byte) ([]byte, error) {
	if len(value) != 32 {
		return dst, cutOff("lseg")
	}
	return append(appendPoints(append(dst, '['), value), ']'), nil
}

func printBox(dst, value []byte) ([]byte, error) {
	if len(value) != 32 {
		return dst, cutOff("box")
	}
	return appendPoints(dst, value), nil
}

func printLine(dst, value []byte) ([]byte, error) {
	if len(value) != 24 {
		return dst, cutOff("line")
	}
	dst = coordinate(append(dst, '{'), value, 0)
	dst = coordinate(append(dst, ','), value, 1)
	dst = coordinate(append(dst, ','), value, 2)
	return append(dst, '}'), nil
}

func printCircle(dst, value []byte) ([]byte, error) {
	if len(value) != 24 {
		return dst, cutOff("circle")
	}
	dst = appendPoint(append(dst, '<'), value, 0)
	dst = coordinate(append(dst, ','), value, 2)
	return append(dst, '>'), nil
}

// printPath prints a PATH: number of points, whether closed, padding, points.
func printPath(dst, value []byte) ([]byte, error) {
	if len(value) < 12 {
		return dst, cutOff("path")
	}
	points := value[12:]
	if uint64(binary.LittleEndian.Uint32(value))*16 != uint64(len(points)) {
		return dst, malformed("path", "the number of points does not agree with the length")
	}
	left, right := byte('['), byte(']')
	if binary.LittleEndian.Uint32(value[4:]) != 0 {
		left, right = '(', ')'
	}
	return append(appendPoints(append(dst, left), points), right), nil
}

// printPolygon prints a POLYGON: number of points, bounding box, points.
func printPolygon(dst, value []byte) ([]byte, error) {
	if len(value) < 36 {
		return dst, cutOff("polygon")
	}
	points := value[36:]
	if uint64(binary.LittleEndian.Uint32(value))*16 != uint64(len(points)) {
		return dst, malformed("polygon", "the number of points does not agree with the length")
	}
	return append(appendPoints(append(dst, '('), points), ')'), nil
}
