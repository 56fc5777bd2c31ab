package encode

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// maxReports bounds what one comparison prints: a rule read wrongly shows in the first few texts.
const maxReports = 15

// bed compares encoders with the input functions of a real server, in a database and a session of its own.
type bed struct {
	conn     *pgx.Conn
	uri      string
	settings Settings
	probes   int
}

// newBed opens a session with the settings that sessions of this program have: DateStyle ISO, MDY; TimeZone UTC; lc_monetary C.
func newBed(t testing.TB) *bed {
	t.Helper()
	uri := clustertest.Database(t)
	config, err := pgx.ParseConfig(uri)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"DateStyle": "ISO, MDY", "TimeZone": "UTC", "lc_monetary": "C", "IntervalStyle": "postgres", "xmloption": "content",
		"array_nulls": "on", "client_min_messages": "error", "extra_float_digits": "1",
	} {
		config.RuntimeParams[name] = value
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	// A background context: that of the test is cancelled before its cleanups run.
	t.Cleanup(func() { conn.Close(context.Background()) })
	version, err := strconv.Atoi(clustertest.Query(t, uri, "SHOW server_version_num"))
	if err != nil {
		t.Fatal(err)
	}
	return &bed{conn: conn, uri: uri, settings: Settings{Version: version / 10000, Order: MDY, UTC: true}}
}

// exec runs statements in the bed's session: CREATE TYPE, SET. Whoever changes DateStyle or TimeZone changes b.settings too.
func (b *bed) exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := b.conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// verdict is what a server makes of a text: the value as its send function has it, or the refusal.
type verdict struct {
	sent    []byte
	refusal *Invalid
}

// probe is a type under test: its facts, and a table of (n int, v type).
type probe struct {
	Type
	name string // of the table and of the function that reads a text
	send string // what makes the binary form of a value: the format's argument is the value
}

// compare holds the encoder of a type against the server: the same value, or the same refusal word for word. Values are handed over with
// COPY ... (FORMAT binary) and read back, so forms that differ in bytes and not in meaning (jsonb's white space) are equal. At most unsure
// of the texts may be ErrUnsure. typeSQL is the type as a column is declared with it, such as "numeric(5, 2)".
func (b *bed) compare(t testing.TB, typeSQL string, unsure int, texts ...string) {
	t.Helper()
	p := b.probe(t, typeSQL)
	encode := For(&p.Type, b.settings)
	if encode == nil {
		t.Errorf("%s has no encoder", typeSQL)
		return
	}
	var reports []string
	report := func(format string, values ...any) { reports = append(reports, fmt.Sprintf(format, values...)) }
	var doubted, taken []string
	var payloads [][]byte
	var wanted []verdict
	for i, want := range b.ask(t, p, texts) {
		text := texts[i]
		got, err := encode([]byte("kept"), []byte(text))
		var invalid *Invalid
		switch {
		case !bytes.HasPrefix(got, []byte("kept")) || err != nil && len(got) != len("kept"):
			report("%.300q: what was in dst is %q afterwards (%v)", text, got, err)
		case errors.Is(err, ErrUnsure):
			doubted = append(doubted, text)
		case errors.As(err, &invalid) && want.refusal != nil:
			if *invalid != *want.refusal {
				report("%.300q: refused as\n\t%+.600v, the server says\n\t%+.600v", text, *invalid, *want.refusal)
			}
		case err != nil:
			report("%.300q: refused (%v), the server reads %x", text, err, want.sent)
		case want.refusal != nil:
			report("%.300q: encoded as %x, the server says\n\t%+v", text, got[len("kept"):], *want.refusal)
		default:
			taken, payloads, wanted = append(taken, text), append(payloads, got[len("kept"):]), append(wanted, want)
		}
	}
	sent, err := b.receive(t, p, payloads)
	if err != nil {
		report("%v", err)
	}
	for i := range sent {
		if !bytes.Equal(sent[i], wanted[i].sent) {
			report("%.300q: encoded as %x, which the server takes as\n\t%x, and the text as\n\t%x", taken[i], payloads[i], sent[i], wanted[i].sent)
		}
	}
	if len(doubted) > unsure {
		report("%d of %d texts are left to the server, expected at most %d: %.1000q", len(doubted), len(texts), unsure, doubted)
	}
	if n := len(reports) - maxReports; n > 0 {
		reports = append(reports[:maxReports], fmt.Sprintf("... and %d more", n))
	}
	for _, text := range reports {
		t.Errorf("%s: %s", typeSQL, text)
	}
}

// probe reads the facts of a type and makes what asks the server about it.
func (b *bed) probe(t testing.TB, typeSQL string) *probe {
	t.Helper()
	b.probes++
	p := &probe{name: "probe_" + strconv.Itoa(b.probes)}
	b.exec(t, fmt.Sprintf("CREATE TABLE %s (n int, v %s)", p.name, typeSQL))
	var oid uint32
	var modifier int32
	// A polymorphic send function (enum_send) takes no domain.
	err := b.conn.QueryRow(t.Context(), `SELECT atttypid, atttypmod,
			typsend::regproc || '(%s' || CASE typtype WHEN 'd' THEN '::' || format_type(typbasetype, -1) ELSE '' END || ')' FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
		WHERE attrelid = $1::text::regclass AND attname = 'v'`, p.name).Scan(&oid, &modifier, &p.send)
	if err != nil {
		t.Fatal(err)
	}
	p.Type = *b.facts(t, oid, modifier)
	// json_populate_record calls the input function with the column's modifier, as COPY does; a cast would cut silently what is too long.
	read := "json_populate_record(NULL::" + p.name + ", json_build_object('v', given))"
	if p.Receive == "json_recv" || p.Receive == "jsonb_recv" { // which it would fill with the JSON string itself
		read = "ROW(NULL::int, given::" + typeSQL + ")::" + p.name
	}
	b.exec(t, fmt.Sprintf(`CREATE FUNCTION read_%s(given text, OUT sent bytea, OUT state text, OUT message text, OUT detail text, OUT hint text)
		LANGUAGE plpgsql AS $$
		DECLARE row %s;
		BEGIN
			row := %s;
			sent := %s;
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
		END $$`, p.name, p.name, read, fmt.Sprintf(p.send, "row.v")))
	return p
}

// facts reads a type, and those that it is made of, from the catalogs. The modifier of an array is that of its elements.
func (b *bed) facts(t testing.TB, oid uint32, modifier int32) *Type {
	t.Helper()
	typ := &Type{OID: oid, Modifier: modifier, Delim: ','}
	var class, delim string
	var elem, spanned uint32
	var base int32
	err := b.conn.QueryRow(t.Context(), `SELECT format_type(t.oid, NULL), CASE WHEN e.typarray = t.oid THEN 'a' ELSE t.typtype END::text,
			(SELECT proname FROM pg_proc WHERE oid = t.typreceive), coalesce(e.typdelim, ',')::text,
			CASE WHEN e.typarray = t.oid THEN e.oid WHEN t.typtype = 'd' THEN t.typbasetype ELSE coalesce(r.rngsubtype, 0) END,
			t.typtypmod, coalesce(m.rngtypid, 0), coalesce(r.rngcanonical <> 0, false), coalesce(r.rngcollation = 0 AND o.opcdefault, false),
			ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = t.oid ORDER BY enumsortorder)
		FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem LEFT JOIN pg_range r ON r.rngtypid = t.oid
			LEFT JOIN pg_range m ON m.rngmultitypid = t.oid LEFT JOIN pg_opclass o ON o.oid = r.rngsubopc
		WHERE t.oid = $1`, oid).Scan(&typ.Name, &class, &typ.Receive, &delim, &elem, &base, &spanned, &typ.Discrete, &typ.Plain, &typ.Labels)
	if err != nil {
		t.Fatalf("read the type %d: %v", oid, err)
	}
	typ.Class, typ.Delim = Class(class[0]), delim[0]
	switch {
	case elem != 0 && typ.Class == Array:
		typ.Elem = b.facts(t, elem, modifier)
	case elem != 0 && typ.Class == Domain:
		typ.Elem = b.facts(t, elem, base)
	case elem != 0:
		typ.Elem = b.facts(t, elem, -1)
	case spanned != 0:
		typ.Range = b.facts(t, spanned, -1)
	}
	return typ
}

// ask has the server read the texts.
func (b *bed) ask(t testing.TB, p *probe, texts []string) []verdict {
	t.Helper()
	rows, err := b.conn.Query(t.Context(), `SELECT sent, state, message, detail, hint
		FROM unnest($1::text[]) WITH ORDINALITY AS u (given, n), LATERAL read_`+p.name+`(given) ORDER BY n`, texts)
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (verdict, error) {
		var v verdict
		var words [4]*string
		err := row.Scan(&v.sent, &words[0], &words[1], &words[2], &words[3])
		if words[0] != nil {
			v.refusal = &Invalid{State: *words[0], Message: *words[1], Detail: *words[2], Hint: *words[3]}
		}
		return v, err
	})
	if err != nil {
		t.Fatalf("ask about %s: %v", p.Name, err)
	}
	if len(verdicts) != len(texts) {
		t.Fatalf("asked about %d texts, got %d answers", len(texts), len(verdicts))
	}
	return verdicts
}

// receive hands payloads to the server as binary COPY and returns what it made of them.
func (b *bed) receive(t testing.TB, p *probe, payloads [][]byte) ([][]byte, error) {
	t.Helper()
	b.exec(t, "TRUNCATE "+p.name)
	data := append([]byte("PGCOPY\n\xff\r\n\x00"), make([]byte, 8)...)
	for i, payload := range payloads {
		data = binary.BigEndian.AppendUint16(data, 2)
		data = binary.BigEndian.AppendUint32(data, 4)
		data = binary.BigEndian.AppendUint32(data, uint32(i))
		data = binary.BigEndian.AppendUint32(data, uint32(len(payload)))
		data = append(data, payload...)
	}
	data = binary.BigEndian.AppendUint16(data, 0xffff)
	if _, err := b.conn.PgConn().CopyFrom(t.Context(), bytes.NewReader(data), "COPY "+p.name+" FROM STDIN (FORMAT binary)"); err != nil {
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			return nil, fmt.Errorf("hand over the values: %w (%s)", err, refused.Where+payloadAt(refused.Where, payloads))
		}
		return nil, fmt.Errorf("hand over the values: %w", err)
	}
	rows, err := b.conn.Query(t.Context(), "SELECT "+fmt.Sprintf(p.send, "v")+" FROM "+p.name+" ORDER BY n")
	if err != nil {
		return nil, fmt.Errorf("read the values back: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[[]byte])
}

// payloadAt is the payload that the context of a COPY error speaks of ("COPY probe_1, line 3, column v").
func payloadAt(where string, payloads [][]byte) string {
	_, after, _ := strings.Cut(where, "line ")
	digits, _, _ := strings.Cut(after, ",")
	line, err := strconv.Atoi(strings.TrimSpace(digits))
	if err != nil || line < 1 || line > len(payloads) {
		return ""
	}
	return fmt.Sprintf(": %.300q", payloads[line-1])
}

// fuzz compares n texts mutated from the seeds, besides the seeds. alphabet has what a text of the type is made of.
func (b *bed) fuzz(t testing.TB, typeSQL string, unsure, n int, alphabet string, seeds ...string) {
	t.Helper()
	b.compare(t, typeSQL, unsure, slices.Concat(seeds, mutate(t, n, alphabet, seeds))...)
}
