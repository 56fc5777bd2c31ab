package datum

import (
	"math"
	"strconv"
	"testing"
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
}
