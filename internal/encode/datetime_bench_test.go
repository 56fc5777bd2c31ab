package encode

import "testing"

func BenchmarkTimes(b *testing.B) {
	for _, c := range []struct {
		name, text string
		oid        uint32
	}{
		{"date", "2024-01-31", 1082},
		{"timestamp", "2024-01-31 10:11:12", 1114},
		{"timestamp fraction", "2024-01-31 10:11:12.123456", 1114},
		{"timestamptz", "2024-01-31T10:11:12.123456+02:00", 1184},
		{"time", "10:11:12", 1083},
		{"timetz", "10:11:12+02", 1266},
		{"date of words", "Jan 31, 2024", 1082},
		{"date of slashes", "1/31/2024", 1082},
		{"timestamp of seven digits", "2024-01-31 10:11:12.1234567", 1114},
		{"timestamp of words", "Wed Jan 31 10:11:12 2024 PM", 1114},
		{"interval", "1 year 2 mons 3 days 04:05:06.789", 1186},
		{"interval ISO", "P1Y2M3DT4H5M6.7S", 1186},
		{"refused", "2024-13-45", 1082},
	} {
		encode := For(&Type{OID: c.oid, Name: c.name, Modifier: -1, Class: Base}, Settings{Version: 18, UTC: true})
		b.Run(c.name, func(b *testing.B) {
			text, dst := []byte(c.text), make([]byte, 0, 64)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = encode(dst, text)
			}
		})
	}
}
