package wire

import (
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// socket is a session that this package's code speaks on its own.
type socket struct {
	net.Conn
	scan  *Scanner
	block []byte
	rest  []byte
}

func newSocket(t *testing.T, uri string) *socket {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := conn.Hijack()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Conn.Close() })
	// A server that waits for more than was sent must not hang the test.
	if err := raw.Conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &socket{Conn: raw.Conn, scan: NewScanner(0), block: make([]byte, 32<<10)}
}

func (s *socket) send(t *testing.T, frames []byte) {
	t.Helper()
	if _, err := s.Write(frames); err != nil {
		t.Fatal(err)
	}
}

// read returns what has come from the server, one block at most.
func (s *socket) read(t *testing.T) []byte {
	t.Helper()
	n, err := s.Read(s.block)
	if err != nil {
		t.Fatal(err)
	}
	return s.block[:n]
}

// next returns the next message; CopyData comes in pieces.
func (s *socket) next(t *testing.T) Event {
	t.Helper()
	for {
		if len(s.rest) == 0 {
			s.rest = s.read(t)
		}
		used, ev, err := s.scan.Next(s.rest)
		if err != nil {
			t.Fatal(err)
		}
		s.rest = s.rest[used:]
		if ev.Type != 0 {
			return ev
		}
	}
}

// answers returns the types of all messages up to ReadyForQuery, CopyData
// left out, and the last report and tag among them.
func (s *socket) answers(t *testing.T) (kinds string, report *Report, tag Tag) {
	t.Helper()
	for {
		ev := s.next(t)
		var err error
		switch ev.Type {
		case TypeCopyData:
			continue
		case TypeError, TypeNotice:
			report, err = ParseReport(ev.Body)
		case TypeCommandComplete:
			tag, err = ParseTag(ev.Body)
		case TypeReadyForQuery:
			if _, err := ParseReady(ev.Body); err != nil {
				t.Fatal(err)
			}
			return kinds + "Z", report, tag
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds += string(ev.Type)
	}
}

// TestRelay carries rows of very different size from one session to another
// through the Coalescer, without decoding them.
func TestRelay(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri,
		`create table source (id int, v text)`,
		`insert into source select i, case when i % 1000 = 0 then repeat('x', i * 10) when i % 7 = 0 then null else 'row ' || i end
			from generate_series(1, 30000) i`,
		`create table target (like source)`)
	for _, format := range []string{"text", "binary"} {
		t.Run(format, func(t *testing.T) { relay(t, uri, format) })
	}
}

func relay(t *testing.T, uri, format string) {
	t.Helper()
	source, target := newSocket(t, uri), newSocket(t, uri)
	target.send(t, AppendQuery(nil, "truncate target"))
	target.answers(t)

	source.send(t, AppendQuery(nil, "copy source to stdout (format "+format+")"))
	target.send(t, AppendExtendedCopy(nil, "copy target from stdin (format "+format+")"))
	c := NewCoalescer(0)
	kinds, sent := "", int64(0)
	for done := false; !done; {
		for block := source.read(t); len(block) > 0; {
			used, msg, err := c.Push(block)
			if err != nil {
				t.Fatal(err)
			}
			block = block[used:]
			if c.Full() || msg.Type != 0 {
				sent += int64(c.Len())
				target.send(t, c.Frame())
				c.Reset()
			}
			if msg.Type == TypeCopyOut {
				checkCopyStart(t, msg.Body, format == "binary")
			}
			if msg.Type != 0 {
				kinds += string(msg.Type)
				done = msg.Type == TypeReadyForQuery
			}
		}
	}
	target.send(t, AppendSync(AppendCopyDone(nil)))

	if kinds != "HcCZ" || sent != c.Bytes() || !c.Idle() {
		t.Errorf("source answered %s; %d of %d bytes sent", kinds, sent, c.Bytes())
	}
	frames := int64(30000)
	if format == "binary" {
		frames++ // the trailer
	}
	if c.Frames() != frames {
		t.Errorf("%d source frames, want %d", c.Frames(), frames)
	}
	kinds, report, tag := target.answers(t)
	if kinds != "12GCZ" || report != nil || tag != (Tag{"COPY", 30000}) {
		t.Errorf("target answered %s %v %v", kinds, report, tag)
	}
	differ := clustertest.Query(t, uri, "select count(*) from ((table source except table target) union all (table target except table source)) d")
	if differ != "0" {
		t.Errorf("%s rows differ", differ)
	}
}

func checkCopyStart(t *testing.T, body []byte, binary bool) {
	t.Helper()
	start, err := ParseCopyStart(body)
	if err != nil || start.Binary != binary || len(start.Columns) != 2 {
		t.Errorf("copy starts with %+v, %v", start, err)
	}
}

func TestReportOfServer(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `create schema s; create table s.t (id int constraint positive check (id > 0))`)
	s := newSocket(t, uri)
	s.send(t, AppendCopyDone(AppendCopyData(AppendQuery(nil, "copy s.t from stdin"), []byte("1\n-1\n"))))
	kinds, r, _ := s.answers(t)
	if kinds != "GEZ" || r == nil {
		t.Fatalf("answers are %s", kinds)
	}
	if r.SQLState() != "23514" || r.SeverityPlain != "ERROR" || r.Schema != "s" || r.Table != "t" || r.Constraint != "positive" ||
		r.Where != `COPY t, line 2: "-1"` || r.Detail == "" || r.Routine == "" || r.File == "" || r.Line == 0 || r.Fatal() {
		t.Errorf("report is %+v", r)
	}

	s.send(t, AppendQuery(nil, "select nonsense"))
	if _, r, _ := s.answers(t); r == nil || r.Code != "42703" || r.Position != 8 {
		t.Errorf("report is %+v", r)
	}
}

func TestCopyFailOnServer(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, `create table t (id int)`)
	s := newSocket(t, uri)
	frames := AppendCopyData(AppendExtendedCopy(nil, "copy t from stdin"), []byte("1\n"))
	s.send(t, AppendSync(AppendCopyFail(frames, "enough")))
	kinds, r, _ := s.answers(t)
	if kinds != "12GEZ" || r == nil || r.Code != "57014" {
		t.Errorf("answers are %s, %+v", kinds, r)
	}
	// The session is still good, and nothing of the copy stayed.
	s.send(t, AppendQuery(nil, "delete from t"))
	if kinds, _, tag := s.answers(t); kinds != "CZ" || tag != (Tag{"DELETE", 0}) {
		t.Errorf("answers are %s, %v", kinds, tag)
	}
}

// TestBuildOnServer sends each message of the extended protocol.
func TestBuildOnServer(t *testing.T) {
	s := newSocket(t, clustertest.Database(t))
	frames := AppendParse(nil, "st", "select $1::text || $2::text", []uint32{25, 25})
	frames = AppendDescribe(frames, Statement, "st")
	frames = AppendBind(frames, &Bind{Portal: "po", Statement: "st", Params: [][]byte{[]byte("a"), []byte("b")}})
	frames = AppendDescribe(frames, Portal, "po")
	frames = AppendExecute(frames, "po", 0)
	frames = AppendClose(frames, Portal, "po")
	frames = AppendClose(frames, Statement, "st")
	s.send(t, AppendSync(AppendFlush(frames)))
	if kinds, r, tag := s.answers(t); kinds != "1tT2TDC33Z" || tag != (Tag{"SELECT", 1}) {
		t.Errorf("answers are %s, %v %v", kinds, r, tag)
	}
	s.send(t, AppendTerminate(nil))
	if n, err := s.Read(s.block); err == nil {
		t.Errorf("the server sent %d bytes after Terminate", n)
	}
}
