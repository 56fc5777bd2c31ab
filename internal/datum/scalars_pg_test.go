package datum_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

const many = 2000

// generate makes n texts.
func generate(n int, one func() string) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = one()
	}
	return texts
}

// spread is a random number of a random number of bits, positive or negative.
func spread(r *rand.Rand) int64 { return int64(r.Uint64()) >> r.IntN(64) }

func TestIntegers(t *testing.T) {
	o, r := newOracle(t), random(t)
	o.texts(t, "bool", "true", "false")
	o.texts(t, "int2", append(generate(many, func() string { return strconv.Itoa(int(int16(spread(r)))) }), "-32768", "32767", "0")...)
	o.texts(t, "int4", append(generate(many, func() string { return strconv.Itoa(int(int32(spread(r)))) }), "-2147483648", "2147483647", "0")...)
	o.texts(t, "int8", append(generate(many, func() string { return strconv.FormatInt(spread(r), 10) }), "-9223372036854775808", "9223372036854775807", "0")...)
	unsigned := append(generate(many, func() string { return strconv.FormatUint(uint64(uint32(spread(r))), 10) }), "0", "4294967295")
	o.texts(t, "oid", unsigned...)
	o.texts(t, "xid", unsigned...)
	o.texts(t, "cid", unsigned...)
	o.texts(t, "xid8", append(generate(many, func() string { return strconv.FormatUint(r.Uint64()>>r.IntN(64), 10) }), "0", "18446744073709551615")...)
	o.texts(t, "tid", append(generate(many, func() string { return fmt.Sprintf("(%d,%d)", r.Uint32()>>r.IntN(32), uint16(r.Uint32())) }), "(0,0)", "(4294967295,65535)")...)
	o.texts(t, "pg_lsn", append(generate(many, func() string { return fmt.Sprintf("%X/%X", r.Uint32()>>r.IntN(32), r.Uint32()>>r.IntN(32)) }), "0/0", "FFFFFFFF/FFFFFFFF", "0/1", "1/0")...)
	o.texts(t, "money", append(generate(many, func() string { return strconv.FormatFloat(float64(spread(r)>>4)/100, 'f', 2, 64) }), "-92233720368547758.08", "92233720368547758.07", "0", "-0.01", "999.99", "-1000")...)
}

func TestFloats(t *testing.T) {
	o, r := newOracle(t), random(t)
	special := []string{"0", "-0", "NaN", "Infinity", "-Infinity", "1", "-1", "0.1", "1e-4", "9.9999e-5", "123456", "1234567", "999999", "1e6", "0.5", "100", "1e15", "1e14", "999999999999999", "123456789012345678", "1e23", "5e-324", "1.7976931348623157e308", "2.2250738585072014e-308", "9007199254740991", "9007199254740992", "9007199254740993"}
	for e := -1074; e < 1024; e++ { // the neighbours of a power of two are not equally far
		special = append(special, strconv.FormatFloat(math.Ldexp(1, e), 'e', 17, 64))
	}
	for e := -300; e < 300; e += 3 { // shortest when they are a power of ten, and what lies beside
		f, _ := strconv.ParseFloat(fmt.Sprintf("1e%d", e), 64)
		special = append(special, exact(f), exact(math.Nextafter(f, 0)), exact(math.Nextafter(f, math.Inf(1))))
	}
	o.texts(t, "float8", special...)
	o.texts(t, "float8", generate(3*many, func() string {
		return exact(finite(math.Float64frombits(r.Uint64())))
	})...)
	// Between 2^50 and 10^42 a middle between two neighbours can be a number of few digits.
	o.texts(t, "float8", generate(5*many, func() string {
		return exact(math.Ldexp(float64(r.Uint64()>>11&^1|1<<52), r.IntN(90)))
	})...)
	o.texts(t, "float8", generate(5*many, func() string { // middles of few digits themselves, which are read to the even side
		return fmt.Sprintf("%de%d", r.Uint64()>>(r.IntN(40)+10), r.IntN(24))
	})...)
	o.texts(t, "float8", generate(many, func() string { return strconv.FormatFloat(float64(spread(r))/1000, 'f', 3, 64) })...)

	small := []string{"0", "-0", "NaN", "Infinity", "-Infinity", "1e-45", "3.4028235e38", "1.1754944e-38", "16777216", "16777217", "1e6", "999999", "100000", "123456", "0.0001", "0.00001", "1e10", "8388609", "67108864"}
	for e := -149; e < 128; e++ {
		small = append(small, strconv.FormatFloat(math.Ldexp(1, e), 'e', 12, 64))
	}
	o.texts(t, "float4", small...)
	o.texts(t, "float4", generate(3*many, func() string {
		return strconv.FormatFloat(float64(math.Float32frombits(r.Uint32()&^0x40000000|r.Uint32()&0x20000000)), 'e', 12, 64)
	})...)
	o.texts(t, "float4", generate(5*many, func() string {
		return strconv.FormatFloat(math.Ldexp(float64(r.Uint32()>>8&^1|1<<23), r.IntN(40)), 'e', 15, 64)
	})...)
}

func exact(f float64) string { return strconv.FormatFloat(f, 'e', 17, 64) }

func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 1
	}
	return f
}

func TestNumeric(t *testing.T) {
	o, r := newOracle(t), random(t)
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(byte('0' + r.IntN(10)))
		}
		return b.String()
	}
	o.texts(t, "numeric", append(generate(3*many, func() string {
		return "-"[:r.IntN(2)] + digits(1+r.IntN(40)) + "." + digits(r.IntN(40))
	}), "0", "0.0", "0.00000", "NaN", "1e4000", "-1e-4000", "10000", "99990000", "0.0001", "0.00010", "1e1000", "1"+strings.Repeat("0", 3000)+".5",
		"0."+strings.Repeat("0", 3000)+"1", digits(4000), "1e256", "1e-256", "1e-63", "123456789.000000")...)
	o.texts(t, "numeric", generate(many, func() string { return fmt.Sprintf("%de%d", spread(r), r.IntN(600)-300) })...)
	o.texts(t, "numeric", "1e131071", "-9e131071", "1e-16383", "0.0e-16382")
	o.texts(t, "numeric", "Infinity", "-Infinity")
	o.texts(t, "numeric(20,4)", generate(many, func() string { return strconv.FormatInt(spread(r)>>16, 10) + "." + digits(6) })...)
}

func TestStrings(t *testing.T) {
	o, r := newOracle(t), random(t)
	word := func() string {
		runes := []rune("aZ09 _'\"\\{}(),\n\täß€😀;NULL")
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		return b.String()
	}
	words := append(generate(many, word), "", " ", strings.Repeat("x", 7000))
	o.texts(t, "text", words...)
	o.texts(t, "varchar(10)", generate(many, func() string { return string([]rune(word() + "0123456789")[:10]) })...)
	o.texts(t, "char(12)", generate(many, func() string { return string([]rune(word() + "0123456789ab")[:r.IntN(11)+1]) })...)
	o.texts(t, "name", words...)
	o.texts(t, "json", `{"a" : 1, "b":[ null ]}`, `"x"`, "1")
	o.texts(t, "refcursor", words...)
	o.texts(t, "xml", "<a/>", "", "text", "\n<a/>", `<?xml version="1.0"?><a/>`, `<?xml version="1.0"?>`+"\n\n<a/>", `<?xml version="1.0" encoding="UTF-8"?><a/>`,
		`<?xml version="1.1" encoding="UTF-8"?><a/>`, `<?xml version='1.0' standalone='yes'?><a/>`, `<?xml version="1.0" encoding='utf-8'  standalone="no" ?>`+"\n<a/>",
		`<?xml-stylesheet href="a"?><a/>`, " <a/>", "<!-- ä --><ä/>")
	o.query(t, "bytea", "SELECT decode(repeat(md5(i::text), i % 200), 'hex') FROM generate_series(0, 1999) i", many)
	o.query(t, `"char"`, `SELECT (CASE WHEN i < 128 THEN chr(i) ELSE '' END)::"char" FROM generate_series(1, 128) i`, 128)
	if o.major >= 16 {
		o.query(t, `"char"`, `SELECT i::int4::"char" FROM generate_series(-128, 127) i`, 256)
	}
	o.query(t, "uuid", "SELECT md5(i::text)::uuid FROM generate_series(1, 2000) i", many)
	bits := func() string {
		return strconv.FormatUint(r.Uint64()>>r.IntN(64), 2)[:1] + strconv.FormatUint(r.Uint64()>>r.IntN(64), 2)
	}
	o.texts(t, "varbit", append(generate(many, bits), "", "0", "1", strings.Repeat("10", 4000))...)
	o.texts(t, "bit(13)", generate(many, func() string { return fmt.Sprintf("%013b", r.IntN(1<<13)) })...)
}

func TestDates(t *testing.T) {
	o, r := newOracle(t), random(t)
	extremes := []string{"infinity", "-infinity", "0001-01-01", "0001-12-31 BC", "0004-02-29", "0005-02-29 BC", "1900-02-28", "1900-03-01", "2000-02-29", "1999-12-31", "2000-01-01", "10000-01-01", "294276-12-31"}
	o.texts(t, "date", append(extremes, "4714-11-24 BC", "5874897-12-31")...)
	o.query(t, "date", "SELECT '4714-11-24 BC'::date + i * 139 FROM generate_series(0, 9999) i", 10000)
	o.query(t, "date", "SELECT '2000-01-01'::date + (i * 215000) FROM generate_series(0, 9900) i", 9901)
	for _, name := range []string{"timestamp", "timestamptz"} {
		o.texts(t, name, append(extremes, "4714-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999", "1999-12-31 23:59:59.999999", "2000-01-01 00:00:00.000001", "0001-12-31 23:59:59.5 BC")...)
		o.query(t, name, "SELECT '4714-11-24 BC'::"+name+" + i * interval '54321.123456 hours' FROM generate_series(0, 4999) i", 5000)
		o.query(t, name, "SELECT '2000-01-01'::"+name+" + i * interval '-0.000371 seconds' FROM generate_series(0, 1999) i", many)
	}
	o.texts(t, "timestamptz", "2024-06-01 12:00:00+05:30", "1883-11-18 12:00:00 America/New_York")
	o.texts(t, "timestamp(3)", "2024-06-01 12:00:00.1239", "2024-06-01 12:00:00.100")
	o.texts(t, "time", append(generate(many, func() string {
		return fmt.Sprintf("%02d:%02d:%02d.%06d", r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000000))
	}), "00:00", "24:00:00", "23:59:59.999999", "12:00:00.1")...)
	o.texts(t, "timetz", append(generate(many, func() string {
		return fmt.Sprintf("%02d:%02d:%02d.%03d%+03d:%02d:%02d", r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000), r.IntN(31)-15, r.IntN(2)*r.IntN(60), r.IntN(2)*r.IntN(60))
	}), "00:00+00", "24:00:00-15:59:59", "12:00+15:59", "12:00-00:30")...)
	interval := func() string {
		part := func(unit string) string {
			if r.IntN(3) == 0 {
				return ""
			}
			return fmt.Sprintf("%d %s ", int32(spread(r)>>34), unit)
		}
		return part("months") + part("days") + part("hours") + part("seconds") + fmt.Sprintf("%d microseconds", int32(spread(r)>>33))
	}
	o.texts(t, "interval", append(generate(3*many, interval), "0", "1 year", "-1 year", "1 mon", "-1 mon", "1 day", "-1 day", "-1 year 2 days 3 hours",
		"1 year -2 days 3 hours", "-1 day 1 microsecond", "1 day -1 microsecond", "14 months", "-14 months", "2147483647 days", "-2147483648 days",
		"2147483647 months", "-2147483648 months", "1 hour", "100 hours", "0.000001 seconds")...)
	if o.major >= 15 { // 14 reads only hours that fit into 32 bits
		o.texts(t, "interval", "2562047788 hours", "-2562047788 hours")
	}
	if o.major >= 17 {
		o.texts(t, "interval", "infinity", "-infinity")
	}
}

func TestNetwork(t *testing.T) {
	o, r := newOracle(t), random(t)
	ipv4 := func() string {
		return fmt.Sprintf("%d.%d.%d.%d/%d", r.IntN(256), r.IntN(256), r.IntN(2)*r.IntN(256), r.IntN(256), r.IntN(33))
	}
	ipv6 := func() string {
		words := make([]string, 8)
		for i := range words {
			words[i] = strconv.FormatUint(uint64(r.IntN(2)*r.IntN(2)*r.IntN(65536)), 16)
		}
		if r.IntN(4) == 0 {
			words[5] = "ffff"
		}
		return strings.Join(words, ":") + "/" + strconv.Itoa(128-r.IntN(2)*r.IntN(129))
	}
	o.texts(t, "inet", append(append(generate(many, ipv4), generate(2*many, ipv6)...), "0.0.0.0", "255.255.255.255/32", "::", "::1", "::2", "::1.2.3.4", "::ffff:1.2.3.4",
		"::ffff:0:0", "1::", "1:0:0:2::", "0:0:0:0:0:0:1:0", "::1:0", "::7:8", "0:0:0:0:0:0:0:8/3", "fe80::1/64")...)
	o.texts(t, "cidr", "10.0.0.0/8", "10.1.2.3", "192.168.0.0/16", "0.0.0.0/0", "::/0", "2001:db8::/32", "::1/128", "1.2.3.0/24", "ffff::/16")
	o.query(t, "cidr", "SELECT network(('10.0.0.0'::inet + i * 7919)::inet) FROM generate_series(0, 999) i", 1000)
	o.query(t, "cidr", "SELECT network(set_masklen('2001:db8::'::inet + i::bigint * 1234567891, i % 129)) FROM generate_series(0, 999) i", 1000)
	o.query(t, "macaddr", "SELECT substr(md5(i::text), 1, 12)::macaddr FROM generate_series(1, 1000) i", 1000)
	o.query(t, "macaddr8", "SELECT substr(md5(i::text), 1, 16)::macaddr8 FROM generate_series(1, 1000) i", 1000)
}

func TestGeometry(t *testing.T) {
	o, r := newOracle(t), random(t)
	coordinate := func() string {
		return strconv.FormatFloat(float64(spread(r))/math.Pow(10, float64(r.IntN(20))), 'g', -1, 64)
	}
	point := func() string { return "(" + coordinate() + "," + coordinate() + ")" }
	points := func() string {
		return strings.Join(generate(1+r.IntN(6), point), ",")
	}
	o.texts(t, "point", append(generate(many, point), "(NaN,Infinity)", "(-0,0)", "(1e300,-1e-300)")...)
	o.texts(t, "lseg", generate(many, func() string { return "[" + point() + "," + point() + "]" })...)
	o.texts(t, "box", generate(many, func() string { return point() + "," + point() })...)
	o.texts(t, "path", generate(many, func() string { return "[" + points() + "]" })...)
	o.texts(t, "path", generate(many, func() string { return "(" + points() + ")" })...)
	o.texts(t, "polygon", generate(many, func() string { return "(" + points() + ")" })...)
	o.texts(t, "line", generate(many, func() string { return "{" + coordinate() + ",1," + coordinate() + "}" })...)
	o.texts(t, "circle", generate(many, func() string { return "<" + point() + "," + strings.TrimPrefix(coordinate(), "-") + ">" })...)
}
