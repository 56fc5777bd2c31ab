package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are PostgreSQL's memory units (manual, "Parameter Names and Values"): powers of 1024.
var units = []struct {
	name  string
	bytes float64
}{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}}

// parseSize reads "64MB", "1.5 GB" or a number of bytes. Upper and lower case mean the same.
func parseSize(s string) (int64, error) {
	text, factor := strings.TrimSpace(s), 1.0
	for _, u := range units {
		if n := len(text) - len(u.name); n > 0 && strings.EqualFold(text[n:], u.name) {
			text, factor = strings.TrimSpace(text[:n]), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n*factor >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size such as 64MB; the units are B, kB, MB, GB and TB", s)
	}
	return int64(n * factor), nil
}

// parsePeriod reads a duration with PostgreSQL's units (ms, s, min, h, d) or Go's; a bare number is seconds.
func parsePeriod(s string) (time.Duration, error) {
	text := strings.ReplaceAll(s, " ", "")
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 && n < 1e9 {
		return time.Duration(n * float64(time.Second)), nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < 1e4 {
			return time.Duration(n * 24 * float64(time.Hour)), nil
		}
	}
	d, err := time.ParseDuration(strings.ReplaceAll(text, "min", "m"))
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a time such as 90s or 5min; the units are ms, s, min, h and d", s)
	}
	return d, nil
}

// showBytes prints a size with two or three digits, such as "1.1 GB".
func showBytes(n float64) string {
	for _, u := range units {
		if n >= u.bytes && u.bytes > 1 {
			return threeDigits(n/u.bytes) + " " + u.name
		}
	}
	return fmt.Sprintf("%.0f bytes", n)
}

// showRate prints a number of rows a second, such as "2.6 M".
func showRate(n float64) string {
	switch {
	case n >= 1e6:
		return threeDigits(n/1e6) + " M"
	case n >= 1e4:
		return threeDigits(n/1e3) + " k"
	default:
		return fmt.Sprintf("%.0f", n)
	}
}

func threeDigits(n float64) string {
	if n < 9.95 {
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// showCount prints a number with its thousands apart.
func showCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	digits := len(s)
	if n < 0 {
		digits--
	}
	var b strings.Builder
	for i := range len(s) {
		if left := len(s) - i; left < digits && left%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// showTime prints a duration as people say it: "0.42 s", "7.8 s", "2 min 5 s", "3 h 20 min".
func showTime(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 0.995:
		return fmt.Sprintf("%.2f s", s)
	case s < 9.95:
		return fmt.Sprintf("%.1f s", s)
	case s < 99.5:
		return fmt.Sprintf("%.0f s", s)
	case d.Round(time.Second) < time.Hour:
		r := d.Round(time.Second)
		return fmt.Sprintf("%d min %d s", r/time.Minute, r%time.Minute/time.Second)
	default:
		r := d.Round(time.Minute)
		return fmt.Sprintf("%d h %d min", r/time.Hour, r%time.Hour/time.Minute)
	}
}
