package gateway

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/wire"
)

var (
	fuzzSeed  = flag.Uint64("gateway.seed", 1, "first seed of the differential test")
	fuzzCount = flag.Int("gateway.count", 12, "seeds of the differential test")
)

// sample is a type with texts that it takes, and some that it may not.
type sample struct {
	sql  string
	good []string
	bad  []string
}

var samples = []sample{
	{"int", []string{"0", "-17", "2147483647", " 42 "}, []string{"x", "2147483648", "1.5", ""}},
	{"bigint", []string{"0", "9223372036854775807", "-1"}, []string{"9223372036854775808"}},
	{"smallint", []string{"5", "-32768"}, []string{"70000"}},
	{"text", []string{"", "a", "tab\tline\nback\\slash", "\\.", "\\N", "Ευχαριστώ", "it's"}, nil},
	{"varchar(5)", []string{"abc", "abcde", "abcde   ", "ü"}, []string{"abcdef"}},
	{"char(4)", []string{"ab", "abcd", ""}, []string{"abcde"}},
	{"numeric(6,2)", []string{"1.005", "-12.3", "NaN", "9999.99"}, []string{"12345.6", "1e"}},
	{"numeric", []string{"1e-7", "123456789012345678901234567890.5", "0.0"}, []string{"1_"}},
	{"float8", []string{"0.1", "1e300", "-Infinity", "NaN"}, []string{"1e400"}},
	{"bool", []string{"t", "false", "yes", "0"}, []string{"maybe"}},
	{"date", []string{"2024-02-29", "infinity", "0044-03-15 BC"}, []string{"2023-02-29", "today is"}},
	{"timestamptz", []string{"2024-01-02 03:04:05.6789+05", "2024-06-01 12:00"}, []string{"2024-13-01"}},
	{"timestamp(0)", []string{"2024-01-02 03:04:05.5", "epoch"}, []string{"soon"}},
	{"uuid", []string{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}"}, []string{"a0ee"}},
	{"jsonb", []string{`{"a": [1, "x\u00e9"]}`, "null", "12"}, []string{"{a}"}},
	{"json", []string{`{"a":  1}`, "[]"}, []string{"{"}},
	{"bytea", []string{`\xdeadbeef`, "abc", `\\\001`}, []string{`\xd`}},
	{"int[]", []string{"{1,2,NULL}", "{}"}, []string{"{1,"}},
	{"interval", []string{"1 day 2 hours", "P1Y"}, []string{"1 parsec"}},
	{"inet", []string{"10.0.0.1/8", "::1"}, []string{"10.0.0.256"}},
}

// maker makes a random table and a random conversation about it.
type dialogueMaker struct {
	r       *rand.Rand
	types   []sample
	columns []string
	setup   []string
	filled  []bool // NOT NULL
	errors  bool
	unique  bool
	next    int
}

func (m *dialogueMaker) one(list ...string) string { return list[m.r.IntN(len(list))] }

func (m *dialogueMaker) table() {
	width := 1 + m.r.IntN(4)
	var defs []string
	for n := range width {
		s := samples[m.r.IntN(len(samples))]
		if n == 0 && m.r.IntN(2) == 0 {
			s = samples[0]
		}
		m.types = append(m.types, s)
		name := []string{"a", "B b", "c", "select"}[n]
		m.columns = append(m.columns, `"`+name+`"`)
		def := `"` + name + `" ` + s.sql
		m.filled = append(m.filled, m.r.IntN(6) == 0)
		if m.filled[n] {
			def += " NOT NULL"
		}
		defs = append(defs, def)
	}
	if m.types[0].sql == "int" && m.r.IntN(3) == 0 {
		m.unique = true
		defs = append(defs, "UNIQUE (a)")
	}
	for n, more := range []string{"z serial", "y timestamptz DEFAULT now()", "x int DEFAULT 3", "w timestamptz DEFAULT statement_timestamp()"} {
		if m.r.IntN(5+n) == 0 && !(n == 0 && m.errors) { // a sequence's values differ after an INSERT that is tried twice
			defs = append(defs, more)
		}
	}
	table := "CREATE TABLE t (" + strings.Join(defs, ", ") + ")"
	if !m.unique && m.types[0].sql == "int" && m.r.IntN(5) == 0 {
		m.setup = append(m.setup, table+" PARTITION BY RANGE (a)", "CREATE TABLE t1 PARTITION OF t DEFAULT")
	} else {
		m.setup = append(m.setup, table)
	}
	m.setup = append(m.setup, "CREATE TABLE log (n bigint)",
		"CREATE FUNCTION counts() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO log SELECT count(*) FROM t; RETURN new; END'",
		"CREATE FUNCTION tells() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'row %', new; RETURN new; END$$")
	switch m.r.IntN(12) {
	case 0:
		m.setup = append(m.setup, "CREATE TRIGGER g AFTER INSERT ON t EXECUTE FUNCTION counts()")
	case 1:
		m.setup = append(m.setup, "CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION counts()")
	case 2:
		m.setup = append(m.setup, "CREATE RULE u AS ON INSERT TO t DO ALSO INSERT INTO log VALUES (1)")
	case 3:
		m.setup = append(m.setup, "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tells()")
	}
}

func (m *dialogueMaker) value(column int) string {
	s := m.types[column]
	switch {
	case m.r.IntN(15) == 0 && (!m.filled[column] || m.errors && m.r.IntN(100) == 0):
		return "NULL"
	case m.errors && len(s.bad) > 0 && m.r.IntN(600) == 0:
		return s.bad[m.r.IntN(len(s.bad))]
	case column == 0 && m.unique && !(m.errors && m.r.IntN(300) == 0):
		m.next++
		return fmt.Sprint(m.next)
	case s.sql == "int" || s.sql == "bigint":
		return fmt.Sprint(m.r.IntN(100000))
	}
	return s.good[m.r.IntN(len(s.good))]
}

// literal writes a value as a constant.
func (m *dialogueMaker) literal(column int) string {
	v := m.value(column)
	switch {
	case v == "NULL":
		return v
	case m.r.IntN(3) == 0 && strings.Trim(v, "0123456789") == "" && v != "":
		return v
	case m.r.IntN(4) == 0:
		return "E'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(v) + "'"
	}
	return "'" + strings.ReplaceAll(v, "'", "''") + "'"
}

func (m *dialogueMaker) rows() int {
	return []int{1, 1, 2, 9, 60, 99, 100, 150, 700}[m.r.IntN(9)]
}

func (m *dialogueMaker) list() string {
	if m.r.IntN(2) == 0 {
		return ""
	}
	return " (" + strings.Join(m.columns, ", ") + ")"
}

func (m *dialogueMaker) literals() []byte {
	rows := make([]string, m.rows())
	for i := range rows {
		var row []string
		for n := range m.types {
			row = append(row, m.literal(n))
		}
		rows[i] = "(" + strings.Join(row, ",") + ")"
	}
	return simple(m.one("INSERT INTO t", "insert into public.t", "INSERT /* x */ INTO\n\"t\"") + m.list() + " VALUES " + strings.Join(rows, ", ") + m.one("", ";", " ;; "))
}

// group makes a group of one INSERT, named or not.
func (m *dialogueMaker) group(name string) []byte {
	deep := 1 + m.r.IntN(3)
	var rows []string
	for row := range deep {
		var row1 []string
		for n := range m.types {
			row1 = append(row1, fmt.Sprintf("$%d", row*len(m.types)+n+1))
		}
		rows = append(rows, "("+strings.Join(row1, ",")+")")
	}
	out := parse(name, "INSERT INTO t"+m.list()+" VALUES "+strings.Join(rows, ","))
	if name != "" {
		out = messages(wire.AppendClose(nil, wire.Statement, name), out, syncs())
	} else if m.r.IntN(3) == 0 {
		out = wire.AppendDescribe(out, wire.Statement, "")
	}
	describes := m.r.IntN(2) == 0
	for range 1 + m.r.IntN(2) {
		for range m.rows() {
			var values []string
			for range deep {
				for n := range m.types {
					values = append(values, m.value(n))
				}
			}
			out = append(out, bindText(name, values...)...)
			if describes {
				out = append(out, describing()...)
			}
			out = append(out, executing()...)
			if m.r.IntN(2000) == 0 {
				out = append(out, flushing()...)
			}
		}
		out = append(out, syncs()...)
	}
	return out
}

func (m *dialogueMaker) exchange() exchange {
	var send []byte
	for range 1 + m.r.IntN(3) {
		switch m.r.IntN(8) {
		case 0, 1:
			send = append(send, m.literals()...)
		case 2, 3, 4:
			send = append(send, m.group(m.one("", "s1", "s2"))...)
		case 5:
			send = append(send, simple(m.one("BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION"))...)
		case 6:
			send = append(send, simple(m.one("COMMIT", "COMMIT", "ROLLBACK"))...)
		case 7:
			send = append(send, simple(m.one("SELECT count(*) FROM t", "SELECT currval('t_z_seq')", "SELECT 1; SELECT 2", ""))...)
		}
	}
	readies := 0
	frames(send, func(kind byte, _ []byte) bool {
		if kind == wire.TypeQuery || kind == wire.TypeSync {
			readies++
		}
		return true
	})
	return exchange{send, readies}
}

func makeDialogue(seed uint64) *dialogue {
	m := &dialogueMaker{r: rand.New(rand.NewPCG(seed, 6))}
	m.errors = m.r.IntN(2) == 0
	m.table()
	d := &dialogue{name: fmt.Sprint("seed ", seed), late: m.errors}
	for range 3 + m.r.IntN(10) {
		d.steps = append(d.steps, m.exchange())
	}
	d.steps = append(d.steps, once(simple("COMMIT")))
	d.setup = m.setup
	d.tables = fmt.Sprintf("SELECT 't', v, count(*) FROM (SELECT row(%s)::text AS v FROM t) x GROUP BY v UNION ALL SELECT 'log', n::text, count(*) FROM log GROUP BY n ORDER BY 1, 2",
		strings.Join(m.columns, ", "))
	return d
}

// moments are times of the run itself.
var moments = regexp.MustCompile(time.Now().UTC().Format("2006") + `-\d\d-\d\d [0-9:.]+\+00`)

// TestDifferential plays random conversations with and without a gateway. In strict mode all must be equal; in stream mode an error may come later, and what is left in the
// end must be equal.
func TestDifferential(t *testing.T) {
	uri := clustertest.Database(t)
	gateways := map[Mode]*Gateway{}
	for _, mode := range []Mode{Strict, Stream} {
		gateways[mode] = start(t, &Config{Upstream: socketOf(t, clustertest.Server(t)), Mode: mode})
	}
	for seed := *fuzzSeed; seed < *fuzzSeed+uint64(*fuzzCount); seed++ {
		d := makeDialogue(seed)
		run := func(target string) (string, string) {
			clustertest.Exec(t, uri, "SET client_min_messages = warning", "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
			clustertest.Exec(t, uri, d.setup...)
			replies := moments.ReplaceAllString(play(t, target, "", d), "(time)")
			return replies, clustertest.Query(t, uri, d.tables)
		}
		replies, rows := run(uri)
		for mode, g := range gateways {
			gotReplies, gotRows := run(through(t, g, uri))
			if gotReplies != replies && !(mode == Stream && d.late) {
				t.Errorf("-gateway.seed=%d -gateway.count=1, %s:\n%v\nreplies:\n%s", seed, mode, d.setup, difference(gotReplies, replies))
			}
			if gotRows != rows {
				t.Errorf("-gateway.seed=%d -gateway.count=1, %s:\n%v\nrows:\n%s", seed, mode, d.setup, difference(gotRows, rows))
			}
		}
	}
	for mode, g := range gateways {
		n := g.Stats().Total
		t.Logf("%s: %d of %d INSERTs taken", mode, n.Taken, n.Inserts)
		if n.Taken == 0 {
			t.Errorf("%s: nothing was taken", mode)
		}
	}
}

// difference shows where two texts part.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for n := range max(len(g), len(w)) {
		if n >= len(g) || n >= len(w) || g[n] != w[n] {
			from := max(0, n-5)
			return fmt.Sprintf("line %d: got\n%s\nwant\n%s", n, shorten(strings.Join(g[min(from, len(g)):min(n+6, len(g))], "\n")),
				shorten(strings.Join(w[min(from, len(w)):min(n+6, len(w))], "\n")))
		}
	}
	return ""
}
