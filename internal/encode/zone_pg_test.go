package encode

import (
	"strings"
	"testing"
)

// TestTimesInOtherSessions holds the encoders against sessions whose zone and abbreviations are not those that they may count on: they must
// leave to the server what depends on either.
func TestTimesInOtherSessions(t *testing.T) {
	for _, setting := range []string{"TimeZone = 'America/New_York'", "TimeZone = 'Asia/Kolkata'", "timezone_abbreviations = 'Australia'", "timezone_abbreviations = 'India'"} {
		t.Run(setting, func(t *testing.T) {
			b := newBed(t)
			b.exec(t, "SET "+setting)
			b.settings.UTC = !strings.HasPrefix(setting, "TimeZone")
			seeds := append([]string{"2024-07-01 10:11 est", "2024-07-01 lmt", "sat jul 6 2024 10:11", "2024-07-01 10:11 ist", "2024-07-01 10:11 utc", "10:11 gmt", "10:11 edt"}, timestampTexts...)
			for _, name := range []string{"date", "timestamp", "timestamptz", "time", "timetz"} {
				b.fuzz(t, name, 4000, 4000, timeAlphabet, seeds...)
			}
		})
	}
}

// TestZoneNames asks the server for the zones that have letters only and for its abbreviations: all must be known here as zones.
func TestZoneNames(t *testing.T) {
	b := newBed(t)
	var names []string
	err := b.conn.QueryRow(t.Context(), `SELECT array_agg(lower(name)) FROM (SELECT name FROM pg_timezone_names UNION SELECT abbrev FROM pg_timezone_abbrevs) AS n
		WHERE name ~ '^[A-Za-z]+$'`).Scan(&names)
	if err != nil {
		t.Fatal(err)
	}
	r := newTimeReader("date", b.settings)
	for _, name := range names {
		if r.zoneName([]byte(name)) == noZone {
			t.Errorf("%q is a zone", name)
		}
	}
	var areas []string
	err = b.conn.QueryRow(t.Context(), `SELECT array_agg(DISTINCT lower(split_part(name, '/', 1))) FROM pg_timezone_names WHERE name LIKE '%/%'`).Scan(&areas)
	if err != nil {
		t.Fatal(err)
	}
	for _, area := range areas {
		if r.zonePath(0, []byte(area+"/nowhere")) != onlyServer {
			t.Errorf("%q has zones", area)
		}
	}
}
