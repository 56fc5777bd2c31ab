package encode

import (
	"testing"
	"time"
)

func TestDayNumber(t *testing.T) {
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for days := -2451545; days < 4_000_000; days += 13 {
		at := epoch.AddDate(0, 0, days)
		year, month, day := calendarDate(days)
		if year != at.Year() || month != int(at.Month()) || day != at.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %s", days, year, month, day, at.Format(time.DateOnly))
		}
		if n := dayNumber(year, month, day); n != days {
			t.Fatalf("%d-%d-%d is day %d, want %d", year, month, day, n, days)
		}
		if last := at.AddDate(0, 0, -at.Day()); monthLength(last.Year(), int(last.Month())) != last.Day() {
			t.Fatalf("%s has %d days", last.Format("2006-01"), monthLength(last.Year(), int(last.Month())))
		}
	}
}

func TestDayNumberOfExtremes(t *testing.T) {
	for _, c := range []struct{ days, year, month, day int }{
		{firstDay, -4713, 11, 24}, {endDay - 1, 5874897, 12, 31}, {0, 2000, 1, 1}, {-730425, 0, 3, 1}, {1<<31 - 1 - julianEpoch, 5874898, 6, 3},
	} {
		year, month, day := calendarDate(c.days)
		if n := dayNumber(c.year, c.month, c.day); n != c.days || year != c.year || month != c.month || day != c.day {
			t.Errorf("%+v: day %d, date %d-%d-%d", c, n, year, month, day)
		}
	}
}
