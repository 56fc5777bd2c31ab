package planner

import (
	"fmt"
	"math"
	"strconv"
)

// prettyBytes prints a size as the server's pg_size_pretty does: in the largest unit that leaves no less than 10.
func prettyBytes(n int64) string {
	if n < 0 {
		return "unknown"
	}
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	value, unit := float64(n), 0
	for math.Round(value) >= 10*1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	return strconv.FormatFloat(math.Round(value), 'f', 0, 64) + " " + units[unit]
}

// prettySeconds prints a duration with two or three digits that mean something.
func prettySeconds(s float64) string {
	switch {
	case s < 0.0995:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 9.95:
		return fmt.Sprintf("%.1f s", s)
	case s < 120:
		return fmt.Sprintf("%.0f s", s)
	case s < 7200:
		return fmt.Sprintf("%.0f min", s/60)
	}
	return fmt.Sprintf("%.1f h", s/3600)
}

// prettyFactor prints how many times more something costs, such as 2.3x.
func prettyFactor(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0fx", f)
	case f < 0.095:
		return fmt.Sprintf("%.2fx", f)
	}
	return fmt.Sprintf("%.1fx", f)
}

func prettyRows(n int64) string {
	if n < 0 {
		return "unknown"
	}
	return strconv.FormatInt(n, 10)
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
