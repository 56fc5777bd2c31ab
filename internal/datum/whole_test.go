package datum

import (
	"math"
	"strconv"
	"testing"
	"time"
)

func TestAppendWholeAgreesWithStrconv(t *testing.T) {
	check := func(n uint64) {
		if got, want := string(appendWhole([]byte("x"), n)), "x"+strconv.FormatUint(n, 10); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := string(appendSigned(nil, int64(n))), strconv.FormatInt(int64(n), 10); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for power := uint64(1); ; power *= 10 {
		for _, n := range []uint64{power - 1, power, power + 1, 7 * power, 9*power + 9} {
			check(n)
		}
		if power > math.MaxUint64/10 {
			break
		}
	}
	for shift := range 64 {
		check(1 << shift)
		check(1<<shift - 1)
		check(^uint64(0) << shift)
	}
	for n := range uint64(11000) {
		check(n)
	}
	for n := uint64(0); n < 1e9; n += 9973 {
		check(n)
	}
}

// TestEachDayOfACycle compares the 400 years after which the calendar repeats, with those around them, to the calendar of package time.
func TestEachDayOfACycle(t *testing.T) {
	first := time.Date(1890, 1, 1, 0, 0, 0, 0, time.UTC)
	zero := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 450 * 366 {
		day := first.AddDate(0, 0, i)
		got, before := appendDay(nil, day.Unix()/86400-zero.Unix()/86400)
		if want := day.Format(time.DateOnly); string(got) != want || before {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
