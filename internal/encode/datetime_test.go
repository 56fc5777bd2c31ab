package encode

import (
	"bytes"
	"errors"
	"testing"
)

// TestPlainFormsAreExact holds the forms that are read in one pass against the reader of all forms.
func TestPlainFormsAreExact(t *testing.T) {
	r := newTimeReader("timestamp", Settings{Version: 18, UTC: true})
	seeds := []string{
		"2024-01-31", "2000-02-29 10:11:12", "1900-03-01T23:59:59.123456", "0001-01-01 00:00:00+15:59", "9999-12-31 10:11:12Z", "2023-12-31 10:11:12.5-08",
	}
	plain := 0
	for _, text := range append(seeds, mutate(t, 200_000, "0123456789-: TZ.+", seeds)...) {
		at, east, zoned, ok := plainTimestamp([]byte(text))
		if !ok {
			continue
		}
		plain++
		want, f := r.timestamp([]byte(text), false)
		d, _ := r.read([]byte(text), false)
		if f != noFault || at != want || east != -d.west || zoned != (d.said&zoneSaid != 0) {
			t.Fatalf("%q: %d, %d s east, zoned %t; in full: %d, %d, fault %d", text, at, east, zoned, want, -d.west, f)
		}
	}
	if plain < 10_000 {
		t.Fatalf("only %d texts were plain", plain)
	}
}

func TestTimesDoNotAllocate(t *testing.T) {
	for oid, text := range map[uint32]string{
		1082: "2024-01-31", 1083: "10:11:12.5", 1114: "2024-01-31 10:11:12", 1184: "Wed Jan 31 10:11:12.1234567 2024 +02", 1186: "1 day 02:03:04.5", 1266: "101112-05",
	} {
		encode := For(&Type{OID: oid, Modifier: -1, Class: Base}, Settings{Version: 18, UTC: true})
		dst, given := make([]byte, 0, 64), []byte(text)
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := encode(dst, given); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		})
		if allocs != 0 {
			t.Errorf("%q: %v allocations", text, allocs)
		}
	}
}

func TestZonesOfTheSession(t *testing.T) {
	const timestamptz, timetz, timestamp = 1184, 1266, 1114
	for _, c := range []struct {
		oid    uint32
		text   string
		utc    bool
		unsure bool
	}{
		{timestamptz, "2024-01-31 10:11:12", true, false},
		{timestamptz, "2024-01-31 10:11:12", false, true},
		{timestamptz, "31 Jan 2024", false, true},
		{timestamptz, "2024-01-31 10:11:12+02", false, false},
		{timestamptz, "infinity", false, false},
		{timestamptz, "2024-01-31 10:11 PST", true, true},
		{timestamptz, "2024-01-31 10:11 Europe/Berlin", true, true},
		{timestamptz, "tomorrow", true, true},
		{timetz, "10:11", false, true},
		{timetz, "10:11Z", false, false},
		{timestamp, "2024-01-31 10:11:12", false, false},
	} {
		encode := For(&Type{OID: c.oid, Modifier: -1, Class: Base}, Settings{Version: 18, UTC: c.utc})
		if _, err := encode(nil, []byte(c.text)); errors.Is(err, ErrUnsure) != c.unsure || err != nil && !c.unsure {
			t.Errorf("%d %q (UTC %t): %v", c.oid, c.text, c.utc, err)
		}
	}
}

func TestRefusedTimes(t *testing.T) {
	for _, c := range []struct {
		oid     uint32
		text    string
		state   string
		message string
	}{
		{1082, "", "22007", `invalid input syntax for type date: ""`},
		{1082, "abc", "22007", `invalid input syntax for type date: "abc"`},
		{1082, "2024-02-30", "22008", `date/time field value out of range: "2024-02-30"`},
		{1082, "5874898-01-01", "22008", `date out of range: "5874898-01-01"`},
		{1114, "294277-01-01", "22008", `timestamp out of range: "294277-01-01"`},
		{1184, "2024-01-31 10:00+16", "22009", `time zone displacement out of range: "2024-01-31 10:00+16"`},
		{1083, "n/a", "22023", `time zone "n/a" not recognized`},
		{1186, "99999999999 days", "22015", `interval field value out of range: "99999999999 days"`},
		{1186, "178956970 years 8 months", "22008", "interval out of range"},
	} {
		encode := For(&Type{OID: c.oid, Modifier: -1, Class: Base}, Settings{Version: 18, UTC: true})
		dst, err := encode([]byte("kept"), []byte(c.text))
		var invalid *Invalid
		if !errors.As(err, &invalid) || invalid.State != c.state || invalid.Message != c.message || !bytes.Equal(dst, []byte("kept")) {
			t.Errorf("%q: %q, %+v", c.text, dst, err)
		}
	}
}
