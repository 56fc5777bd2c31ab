package encode

import "testing"

// spanTexts are intervals in every form that datetime.c knows, and what nearly is one.
var spanTexts = []string{
	"1 year 2 mons 3 days 04:05:06.789", "-1 year -2 mons +3 days -04:05:06", "@ 1 year 2 mons 3 days 4 hours 5 mins 6.789 secs ago", "1-2", "-1-2", "+1-2 -3 +4:05:06", "1-12", "1-2-3", "3 4:05:06", "1-2 3 4:05:06",
	"P1Y2M3DT4H5M6.7S", "P1Y", "P-1Y-2M3DT-4H+5M", "PT36H", "P1.5W", "P2W3D", "P0001-02-03T04:05:06", "P00010203T040506", "P0001-02", "P0001", "P00010203", "PT040506.5", "PT04:05", "PT04", "P1Y2M3D04:05", "PT", "P", "PT1Y", "P1H",
	"P1e3D", "P1E-1Y", "P0x10D", "P-infD", "PnanD", "P.5D", "P-.5D", "P1.D", "P1e400D", "P1e-400D", "P1000000000000000D", "P1000000000000001D", "P2147483648D", "P-2147483648M", "P178956970Y7M", "P178956970Y8M", "PT2562047788H54.775807S", "PT2562047788H54.775808S",
	"p1y", "P1Y T1H", "P1YT", "P1Y-2", "P1-2-3-4", "P1-2-3T4:5:6:7", "P 1Y", "P1Y 2M", "P--1Y", "P1YT1H1H", "P12345678T1H", "P123456789", "P-12345678", "P0.5Y0.5M0.5W0.5DT0.5H0.5M0.5S", "PT0.0000005S", "PT0.0000015S",
	"1", "1.5", "-1.5", ".5", "-.5", "1.", "5 ago", "5 seconds ago", "ago 5 seconds", "5 ago seconds", "1 2", "1 2 days", "1 2:03", "1:2", "1:2:3", "1:2.5", "1:60", "1:2:61", "1:2:60", "-1:2:3", "+1:2:3.5", "100000:0:0", "2562047788:00:54.775807", "2562047788:00:54.775808",
	"1.5 years", "1.25 years", "0.04 years", "1.5 months", "1.5 weeks", "1.5 days", "1.5 hours", "1.5 minutes", "1.5 seconds", "1.5 ms", "1.5 us", "0.5 decades", "1.5 centuries", "1.05 millennia", "1 quarter", "1 qtr", "0.1 months", "-0.7 months", "1.999999999 days",
	"1 microsecond", "2 microseconds", "3 millisecondsfoo", "4 milliseconds", "1 usec 1 msec 1 sec", "1.5 sec 1 ms", "1 c 2 dec 3 mil", "1 cent", "1y2mon3d4h5m6s", "1 hr 2 hrs", "hour 5 hours", "5 hours minutes", "hours", "5 hours day", "5 foo", "1 timezone", "3 doy", "2 j",
	"infinity", "-infinity", "+infinity", "infinity ago", "922337203685477580infinity", "1 day infinity", "infinity 1 day", "now", "epoch", "allballs", "at 5 on", "5 at 6", "on", "@", "@ 5", "jan", "mon", "3 mon", "2 dec", "1 m", "1 mm", "1 t", "t 5",
	"2147483647 days", "2147483648 days", "-2147483648 days", "-2147483648 days ago", "178956970 years 7 months", "178956970 years 8 months", "178956971 years", "99999999999999999999 s", "9223372036854775807 us", "9223372036854775808 us", "-9223372036854775808 us", "-9223372036854775808 us ago",
	"2147483647 months 2147483647 days 9223372036854775807 us", "-2147483648 months -2147483648 days -9223372036854775808 us", "2147483647 weeks", "9223372036854 s", "9223372036855 s", "2147483647 decades", "3000000 millennia", "99999999999-1",
	"", " ", "abc", "n/a", "-", "1 day-", "1 day -", "- 1 day", "2024-01-31", "2024-01-31 10:11:12", "1,2 days", "1_000 days", "é", "1 day é", "1 dayé", "1 day\t2 hours", "1 day, 2 hours", "1day", "1 d 2 d", "1 day 24:00:00 ago", "1 year 1-1", "1 mon 1-1",
	"1 00:00:00.0000005", "00:00:00.9999995", "00:00:00.99999999", "0.1234567 s", "1.0000005 s", "1.0000015 s", "999999.9999999 s", "0.0000005 days", "1e5 days", "0x10 days", "--1 day", "+-1 day", "1 day +02:03", "1 day -02:03 ago", "-1 day 02:03", "1.1.1 days", "12:34:56.789.1",
}

const spanAlphabet = "0123456789 -+.:PTYMWDHS@eagosydmhu,\té"

func TestIntervalsAgainstTheServer(t *testing.T) {
	b := newBed(t)
	unsure := 4000
	if b.settings.Version < 15 {
		unsure = 12000 // parts of units, and large numbers
	}
	b.fuzz(t, "interval", unsure, 40000, spanAlphabet, spanTexts...)
}

func TestIntervalsOfSomeFieldsAgainstTheServer(t *testing.T) {
	b := newBed(t)
	for _, fields := range []string{
		"year", "month", "day", "hour", "minute", "second", "year to month", "day to hour", "day to minute", "day to second", "hour to minute", "hour to second", "minute to second", "second(2)", "day to second(0)",
	} {
		b.fuzz(t, "interval "+fields, 1500, 3000, spanAlphabet, spanTexts...)
	}
	b.fuzz(t, "interval(3)", 1500, 3000, spanAlphabet, spanTexts...)
}
