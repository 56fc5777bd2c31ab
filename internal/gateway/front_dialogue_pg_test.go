package gateway

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pghaul/pghaul/internal/clustertest"
	"github.com/pghaul/pghaul/internal/wire"
)

// rawClient speaks the protocol message by message.
type rawClient struct {
	t    testing.TB
	conn net.Conn
}

// connectRaw logs in to a database of a server without a password, by TCP or by the directory of its Unix socket.
func connectRaw(t testing.TB, uri, options string) *rawClient {
	t.Helper()
	u, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	c := dialPlain(t, u)
	body := "user\x00" + u.User.Username() + "\x00database\x00" + strings.TrimPrefix(u.Path, "/") + "\x00"
	if options != "" {
		body += "options\x00" + options + "\x00"
	}
	body += "\x00"
	packet := binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))
	packet = binary.BigEndian.AppendUint32(packet, 196608)
	c.send(append(packet, body...))
	c.read(1)
	return c
}

func dialPlain(t testing.TB, u *url.URL) *rawClient {
	t.Helper()
	host, port := u.Query().Get("host"), u.Query().Get("port")
	network, address := "tcp", net.JoinHostPort(host, port)
	if strings.HasPrefix(host, "/") {
		network, address = "unix", host+"/.s.PGSQL."+port
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &rawClient{t: t, conn: conn}
}

func (c *rawClient) send(b []byte) {
	c.t.Helper()
	c.conn.SetWriteDeadline(time.Now().Add(time.Minute))
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// message reads one message.
func (c *rawClient) message() (kind byte, body []byte, err error) {
	c.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	var head [5]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	_, err = io.ReadFull(c.conn, body)
	return head[0], body, err
}

// read reads up to the n-th ReadyForQuery and returns what came, a line for each message.
func (c *rawClient) read(n int) string {
	c.t.Helper()
	var b strings.Builder
	for n > 0 {
		kind, body, err := c.message()
		if err != nil {
			c.t.Fatalf("read: %v, after\n%s", err, b.String())
		}
		fmt.Fprintf(&b, "%c %q\n", kind, body)
		if kind == wire.TypeReadyForQuery {
			n--
		}
	}
	return b.String()
}

func simple(sql string) []byte { return wire.AppendQuery(nil, sql) }

func messages(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func parse(name, sql string, oids ...uint32) []byte { return wire.AppendParse(nil, name, sql, oids) }

// bindText binds texts; "NULL" is a null.
func bindText(statement string, values ...string) []byte {
	b := &wire.Bind{Statement: statement}
	for _, v := range values {
		if v == "NULL" {
			b.Params = append(b.Params, nil)
			continue
		}
		b.Params = append(b.Params, []byte(v))
	}
	return wire.AppendBind(nil, b)
}

// bindBinary binds an int4 in binary and a text as text, as pgx does.
func bindBinary(statement string, n int32, text string) []byte {
	return wire.AppendBind(nil, &wire.Bind{
		Statement: statement, ParamFormats: []int16{1, 0},
		Params: [][]byte{binary.BigEndian.AppendUint32(nil, uint32(n)), []byte(text)},
	})
}

func describing() []byte { return wire.AppendDescribe(nil, wire.Portal, "") }
func executing() []byte  { return wire.AppendExecute(nil, "", 0) }
func syncs() []byte      { return wire.AppendSync(nil) }
func flushing() []byte   { return wire.AppendFlush(nil) }

// exchange is what a client sends at once, and how many ReadyForQuery it waits for.
type exchange struct {
	send    []byte
	readies int
}

func once(parts ...[]byte) exchange { return exchange{messages(parts...), 1} }

// dialogue is a conversation that must go the same with and without a gateway.
type dialogue struct {
	name   string
	setup  []string
	steps  []exchange
	tables string // a query for what is left
	taken  map[Mode]int64
	late   bool // errors come at another place in stream mode
}

const thousand = 1000

// repeated is n times what each returns.
func repeated(n int, each func(i int) []byte) []byte {
	var all []byte
	for i := range n {
		all = append(all, each(i)...)
	}
	return all
}

// literals is an INSERT of n rows.
func literals(into string, n int, row func(i int) string) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = row(i)
	}
	return "INSERT INTO " + into + " VALUES " + strings.Join(rows, ",")
}

func plainRow(i int) string { return fmt.Sprintf("(%d,'text %d')", i, i) }

// play runs a dialogue's steps over one connection.
func play(t testing.TB, uri, options string, s *dialogue) string {
	c := connectRaw(t, uri, options)
	defer c.conn.Close()
	var b strings.Builder
	for n, step := range s.steps {
		c.send(step.send)
		fmt.Fprintf(&b, "exchange %d\n%s", n, c.read(step.readies))
	}
	return b.String()
}

// compareDialogue runs a dialogue direct and through a gateway in each of the modes.
func compareDialogue(t *testing.T, s *dialogue, modes ...Mode) {
	t.Helper()
	uri := clustertest.Database(t)
	run := func(target string) (replies, rows string) {
		clustertest.Exec(t, uri, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
		clustertest.Exec(t, uri, s.setup...)
		replies = play(t, target, "", s)
		return replies, clustertest.Query(t, uri, s.tables)
	}
	replies, rows := run(uri)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			g := start(t, &Config{Upstream: socketOf(t, clustertest.Server(t)), Mode: mode})
			gotReplies, gotRows := run(through(t, g, uri))
			if gotReplies != replies {
				t.Errorf("replies:\n%s\nwant:\n%s", shorten(gotReplies), shorten(replies))
			}
			if gotRows != rows {
				t.Errorf("rows:\n%s\nwant:\n%s", shorten(gotRows), shorten(rows))
			}
			if want, ok := s.taken[mode]; ok {
				if got := g.Stats().Total.Taken; got != want {
					t.Errorf("taken: %d, want %d; %+v", got, want, g.Stats().Tables)
				}
			}
		})
	}
}

func shorten(s string) string {
	if len(s) > 3000 {
		return s[:1500] + "\n...\n" + s[len(s)-1500:]
	}
	return s
}

var tableT = []string{"CREATE TABLE t (a int, b text)"}

const contents = "SELECT count(*), sum(a), md5(string_agg(a || coalesce(b, '-'), ',' ORDER BY a, b)) FROM t"

func TestDialogues(t *testing.T) {
	for _, s := range dialogues() {
		t.Run(s.name, func(t *testing.T) {
			modes := []Mode{Off, Strict, Stream}
			if s.late {
				modes = modes[:2]
			}
			compareDialogue(t, &s, modes...)
		})
	}
}

func dialogues() []dialogue {
	insert := "INSERT INTO t (a, b) VALUES ($1, $2)"
	prepared := once(parse("s", insert), syncs())
	batch := func(n, base int) []byte {
		return messages(repeated(n, func(i int) []byte {
			return messages(bindText("s", fmt.Sprint(base+i), fmt.Sprintf("it's \\ %d\t", i)), describing(), executing())
		}), syncs())
	}
	all := []dialogue{
		{name: "literals", setup: tableT, tables: contents, steps: []exchange{
			once(simple(literals("t", thousand, plainRow))), once(simple("SELECT count(*) FROM t")),
		}, taken: map[Mode]int64{Off: 0, Strict: 1, Stream: 1}},
		{name: "literals in a block", setup: tableT, tables: contents, steps: []exchange{
			once(simple("BEGIN")), once(simple(literals("t", thousand, plainRow))), once(simple(literals("t", thousand, plainRow))),
			once(simple(literals("t (b, a)", thousand, func(i int) string { return fmt.Sprintf("(E'a\\tb\\\\',%d)", i) }))), once(simple("COMMIT")),
		}, taken: map[Mode]int64{Strict: 2, Stream: 2}},
		{name: "group", setup: tableT, tables: contents, steps: []exchange{
			prepared, {batch(thousand, 0), 1}, {batch(thousand, 5000), 1}, once(simple("SELECT count(*) FROM t")),
		}, taken: map[Mode]int64{Strict: 2 * thousand, Stream: 2 * thousand}},
		{name: "group in a block", setup: tableT, tables: contents, steps: []exchange{
			once(simple("BEGIN")), prepared, {batch(thousand, 0), 1}, {batch(thousand, 5000), 1}, {batch(10, 10000), 1}, once(simple("COMMIT")),
		}, taken: map[Mode]int64{Strict: thousand, Stream: thousand + 10}},
		{name: "unnamed group", setup: tableT, tables: contents, steps: []exchange{
			once(parse("", insert), wire.AppendDescribe(nil, wire.Statement, ""), repeated(200, func(i int) []byte {
				return messages(bindBinary("", int32(i), "x"), executing())
			}), syncs()),
			once(bindText("", "7", "again"), describing(), executing(), syncs()),
		}, taken: map[Mode]int64{Strict: 200, Stream: 200}},
		{name: "groups in flight", setup: tableT, tables: contents, steps: []exchange{
			{messages(parse("s", insert), syncs(), batch(200, 0), batch(200, 1000), simple("SELECT count(*) FROM t"), batch(300, 2000)), 5},
		}, taken: map[Mode]int64{Strict: 700, Stream: 700}},
		{name: "flush", setup: tableT, tables: contents, steps: []exchange{
			prepared, once(batch(200, 0)[:len(batch(200, 0))-5], flushing(), bindText("s", "1", "after"), executing(), syncs()),
		}, taken: map[Mode]int64{Strict: 0, Stream: 0}},
		{name: "error in a group", setup: []string{"CREATE TABLE t (a int PRIMARY KEY, b text)"}, tables: contents, steps: []exchange{
			prepared, once(batch(150, 0)[:len(batch(150, 0))-5], batch(100, 100)), once(batch(200, 0)), once(batch(200, 1000), batch(1, 1)[:0]),
		}},
		{name: "error in a block", late: true, setup: []string{"CREATE TABLE t (a int PRIMARY KEY, b text)"}, tables: contents, steps: []exchange{
			once(simple("BEGIN")), prepared, once(batch(200, 0)), once(simple("SAVEPOINT x")),
			once(simple(literals("t", 200, func(i int) string { return plainRow(i + 100) }))),
			once(simple("SELECT 1")), once(simple("ROLLBACK TO x")), once(batch(200, 1000)), once(simple("COMMIT")),
		}},
		{name: "bad values", setup: tableT, tables: contents, steps: []exchange{
			prepared, once(bindText("s", "1", "a"), executing(), bindText("s", "x", "b"), executing(), syncs()),
			once(batch(150, 0)[:len(batch(150, 0))-5], bindText("s", "12345678901", "b"), executing(), syncs()),
			once(batch(150, 0)[:len(batch(150, 0))-5], bindText("s", "1"), executing(), syncs()),
			once(batch(150, 0)[:len(batch(150, 0))-5], bindText("s", "1", "\xff"), executing(), syncs()),
			once(simple(literals("t", 150, func(i int) string { return fmt.Sprintf("(%d, %d)", i, i) }))),
			once(simple(literals("t", 150, func(i int) string { return fmt.Sprintf("(1.5, 'x%d')", i) }))),
			once(simple(literals("missing", 150, plainRow))),
		}},
	}
	return append(all, relationDialogues()...)
}

// relationDialogues are about what makes a COPY differ from an INSERT.
func relationDialogues() []dialogue {
	rows := literals("t", 200, plainRow)
	block := []exchange{
		once(simple(rows)), once(simple("BEGIN")), once(simple(rows)), once(simple(rows)), once(simple("COMMIT")), once(simple(rows)),
	}
	prepared := []exchange{
		once(parse("s", "INSERT INTO t VALUES ($1, $2)"), syncs()),
		once(repeated(200, func(i int) []byte { return messages(bindText("s", fmt.Sprint(i), "g"), executing()) }), syncs()),
		once(simple("BEGIN")),
		once(repeated(200, func(i int) []byte { return messages(bindText("s", fmt.Sprint(i), "g"), executing()) }), syncs()),
		once(repeated(200, func(i int) []byte { return messages(bindText("s", fmt.Sprint(i), "h"), executing()) }), syncs()),
		once(simple("COMMIT")),
	}
	with := func(more ...string) []string {
		return append([]string{"CREATE TABLE t (a int, b text)", "CREATE TABLE log (n int)"}, more...)
	}
	both := append(append([]exchange{}, block...), prepared...)
	trigger := func(when, body string) []string {
		return with("CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$"+body+"$$", "CREATE TRIGGER x "+when+" EXECUTE FUNCTION f()")
	}
	logged := contents + " UNION ALL SELECT count(*), sum(n), md5(string_agg(n::text, ',' ORDER BY n)) FROM log"
	return []dialogue{
		{name: "rule", setup: with("CREATE RULE r AS ON INSERT TO t WHERE new.a > 100 DO INSTEAD NOTHING"), steps: both, tables: logged,
			taken: map[Mode]int64{Strict: 0, Stream: 0}},
		{name: "row security", setup: with("ALTER TABLE t ENABLE ROW LEVEL SECURITY", "ALTER TABLE t FORCE ROW LEVEL SECURITY"), steps: both,
			tables: logged, taken: map[Mode]int64{Strict: 0, Stream: 0}},
		{name: "statement trigger", setup: trigger("AFTER INSERT ON t", "BEGIN INSERT INTO log SELECT count(*) FROM t; RETURN NULL; END"),
			steps: both, tables: logged, taken: map[Mode]int64{Strict: 3}},
		{name: "row trigger", setup: trigger("AFTER INSERT ON t FOR EACH ROW",
			"BEGIN INSERT INTO log SELECT count(*) FROM t; RAISE NOTICE 'row %', new.a; RETURN NULL; END"), steps: both, tables: logged},
		{name: "dropping trigger", setup: trigger("BEFORE INSERT ON t FOR EACH ROW", "BEGIN IF new.a % 3 = 0 THEN RETURN NULL; END IF; RETURN new; END"),
			steps: both, tables: logged},
		{name: "view", setup: []string{"CREATE TABLE base (a int, b text)", "CREATE TABLE log (n int)", "CREATE VIEW t AS SELECT * FROM base"},
			steps: both, tables: logged, taken: map[Mode]int64{Strict: 0, Stream: 0}},
		{name: "partitions", setup: []string{"CREATE TABLE t (a int, b text) PARTITION BY RANGE (a)", "CREATE TABLE log (n int)",
			"CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (100)", "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (100) TO (150)"},
			steps: both, tables: logged},
		{name: "identity", setup: []string{"CREATE TABLE t (a int GENERATED ALWAYS AS IDENTITY, b text)", "CREATE TABLE log (n int)"},
			steps: both, tables: logged, taken: map[Mode]int64{Strict: 0, Stream: 0}},
		{name: "generated", setup: []string{"CREATE TABLE t (a int, b text, c int GENERATED ALWAYS AS (a * 2) STORED)", "CREATE TABLE log (n int)"},
			steps: both, tables: logged},
		{name: "fewer values and defaults", setup: []string{"CREATE TABLE t (a int, b text, c serial, d timestamptz DEFAULT now(), e int DEFAULT 3)",
			"CREATE TABLE log (n int)"}, steps: both, tables: logged + " UNION ALL SELECT count(DISTINCT d), sum(c), '' FROM t"},
		{name: "volatile default", setup: []string{"CREATE TABLE t (a int, b text, c timestamptz DEFAULT statement_timestamp())", "CREATE TABLE log (n int)"},
			steps: both, tables: logged},
		{name: "checks", setup: with("ALTER TABLE t ADD CHECK (a <> 150)"), steps: both, tables: logged},
		{name: "other types", setup: []string{"CREATE TABLE t (a numeric(4,1), b varchar(7))", "CREATE TABLE log (n int)"}, steps: both, tables: logged},
	}
}

func databaseOf(uri string) string {
	u, _ := url.Parse(uri)
	return strings.TrimPrefix(u.Path, "/")
}
