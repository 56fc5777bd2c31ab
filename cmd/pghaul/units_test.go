package main

import (
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	tests := []struct {
		in   string
		want int64
	}{
		{"64MB", 64 << 20}, {"64 mb", 64 << 20}, {"1.5GB", 3 << 29}, {"8kB", 8192}, {"8KB", 8192}, {"100", 100}, {"7B", 7}, {"2TB", 2 << 40}, {"0", 0},
	}
	for _, tt := range tests {
		if got, err := parseSize(tt.in); err != nil || got != tt.want {
			t.Errorf("parseSize(%q) = %d, %v, want %d", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"", "MB", "-1MB", "64XB", "NaN", "1e30TB", "64 M B", "inf"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", in, got)
		}
	}
}

func TestParsePeriod(t *testing.T) {
	tests := []struct {
		in   string
		want time.Duration
	}{
		{"90", 90 * time.Second}, {"90s", 90 * time.Second}, {"5min", 5 * time.Minute}, {"5 min", 5 * time.Minute}, {"5m", 5 * time.Minute},
		{"1h30min", 90 * time.Minute}, {"250ms", 250 * time.Millisecond}, {"2d", 48 * time.Hour}, {"0.5", 500 * time.Millisecond},
	}
	for _, tt := range tests {
		if got, err := parsePeriod(tt.in); err != nil || got != tt.want {
			t.Errorf("parsePeriod(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"", "min", "-5min", "5 parsecs", "-1", "1e12", "NaNd"} {
		if got, err := parsePeriod(in); err == nil {
			t.Errorf("parsePeriod(%q) = %v, want an error", in, got)
		}
	}
}

func TestShow(t *testing.T) {
	tests := []struct{ got, want string }{
		{showBytes(0), "0 bytes"}, {showBytes(1023), "1023 bytes"}, {showBytes(1024), "1.0 kB"}, {showBytes(1149 << 20), "1.1 GB"},
		{showBytes(147 << 20), "147 MB"}, {showBytes(9.96 * (1 << 20)), "10 MB"},
		{showRate(2.6e6), "2.6 M"}, {showRate(12_345), "12 k"}, {showRate(999), "999"},
		{showCount(0), "0"}, {showCount(999), "999"}, {showCount(1000), "1,000"}, {showCount(20_000_000), "20,000,000"}, {showCount(-1234567), "-1,234,567"}, {showCount(-123), "-123"},
		{showTime(420 * time.Millisecond), "0.42 s"}, {showTime(7800 * time.Millisecond), "7.8 s"}, {showTime(42 * time.Second), "42 s"},
		{showTime(125 * time.Second), "2 min 5 s"}, {showTime(200 * time.Minute), "3 h 20 min"}, {showTime(3599900 * time.Millisecond), "1 h 0 min"},
		{plural(1, "row"), "1 row"}, {plural(0, "row"), "0 rows"}, {plural(1234, "row"), "1,234 rows"},
	}
	for i, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%d: got %q, want %q", i, tt.got, tt.want)
		}
	}
}
