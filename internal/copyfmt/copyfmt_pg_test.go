package copyfmt

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/clustertest"
)

func TestMain(m *testing.M) { clustertest.Main(m) }

// copySQL has the direction, then the table, then the format.
func copySQL(format string, binary bool) string {
	if binary {
		return fmt.Sprintf(format, "binary")
	}
	return fmt.Sprintf(format, "text")
}

func connect(t *testing.T, uri string) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), uri)
	if err != nil {
		t.Fatal(err)
	}
	// The test's own context has ended when its cleanups run.
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// query returns the rows of one statement; NULL is as in the oracles.
func query(t *testing.T, conn *pgconn.PgConn, sql string) (rows [][]string) {
	t.Helper()
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
	for _, fields := range results[len(results)-1].Rows {
		rows = append(rows, texts(fields))
	}
	return rows
}

// nastyValues are texts that a careless encoder or decoder gets wrong.
func nastyValues() []string {
	values := []string{
		"", `\.`, `\N`, `\\.`, `\`, `\\`, `\x41`, `\101`, "a\tb", "a\nb", "a\rb", "a\r\nb", "\n", "\r", "\t", "\b\f\v",
		"N", ".", "\\\n", "\\\t", "tail\\", "\x01\x1f\x7f", "größe 🐘", "NULL", `"quoted", 'text'`,
		strings.Repeat(`\`, 1001), strings.Repeat("x\n", 70_000),
	}
	alphabet := []string{`\`, "\t", "\n", "\r", "N", ".", "x", "4", "1", "b", "é", "🐘"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		value := ""
		for range r.IntN(12) {
			value += alphabet[r.IntN(len(alphabet))]
		}
		values = append(values, value)
	}
	return values
}

// nastyRows have an id, a text and a bytea; NULLs among them.
func nastyRows() (rows [][][]byte) {
	for i, v := range nastyValues() {
		row := [][]byte{fmt.Appendf(nil, "%d", i), []byte(v), []byte(v + "\x00\xff")}
		if i%7 == 3 {
			row[1+i%2] = nil
		}
		rows = append(rows, row)
	}
	return rows
}

// asHex is what the server is asked for: values as no format can spoil them.
func asHex(rows [][][]byte) (want [][]string) {
	for _, r := range rows {
		row := []string{string(r[0]), null, null}
		for i := 1; i < 3; i++ {
			if r[i] != nil {
				row[i] = hex.EncodeToString(r[i])
			}
		}
		want = append(want, row)
	}
	return want
}

const createNasty = `create table nasty (id int, v text, b bytea)`

const selectHex = `select id, encode(convert_to(v, 'UTF8'), 'hex'), encode(b, 'hex') from nasty order by id`

// encode writes rows in the format's own forms of int, text and bytea.
func encode(rows [][][]byte, binary bool) (stream []byte) {
	if binary {
		stream = AppendBinaryHeader(stream)
	}
	for i, r := range rows {
		if binary {
			id := []byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}
			stream = AppendBinaryRow(stream, [][]byte{id, r[1], r[2]})
			continue
		}
		b := r[2]
		if b != nil {
			b = []byte(`\x` + hex.EncodeToString(b))
		}
		stream = AppendTextRow(stream, [][]byte{r[0], r[1], b})
	}
	if binary {
		stream = AppendBinaryTrailer(stream)
	}
	return stream
}

// decode is the other way round.
func decode(t *testing.T, stream []byte, sizes []byte, binary bool) (rows [][][]byte) {
	t.Helper()
	reader := NewReader(&blocksReader{cut(stream, sizes)}, binary, 3, 0)
	for {
		row, err := reader.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return rows
		}
		f := make([][]byte, 3)
		for i, v := range row.Fields {
			f[i] = bytes.Clone(v)
		}
		if binary {
			f[0] = fmt.Appendf(nil, "%d", int(f[0][0])<<24|int(f[0][1])<<16|int(f[0][2])<<8|int(f[0][3]))
		} else if f[2] != nil {
			b, err := hex.DecodeString(strings.TrimPrefix(string(f[2]), `\x`))
			if err != nil {
				t.Fatal(err)
			}
			f[2] = b
		}
		rows = append(rows, f)
	}
}

func TestServerReadsWhatWeWrite(t *testing.T) {
	conn := connect(t, clustertest.Database(t))
	query(t, conn, createNasty)
	rows := nastyRows()
	for _, binary := range []bool{false, true} {
		sql := copySQL("copy nasty from stdin (format %s)", binary)
		tag, err := conn.CopyFrom(t.Context(), bytes.NewReader(encode(rows, binary)), sql)
		if err != nil || tag.RowsAffected() != int64(len(rows)) {
			t.Fatalf("binary %v: %v, %v", binary, tag, err)
		}
		if got, want := query(t, conn, selectHex), asHex(rows); !reflect.DeepEqual(got, want) {
			t.Errorf("binary %v: the server has other values than were sent", binary)
		}
		query(t, conn, "truncate nasty")
	}
}

func TestWeReadWhatServerWrites(t *testing.T) {
	conn := connect(t, clustertest.Database(t))
	query(t, conn, createNasty)
	rows := nastyRows()
	for i, r := range asHex(rows) {
		value := func(n int, sql string) string {
			if r[n] == null {
				return "null"
			}
			return fmt.Sprintf(sql, r[n])
		}
		query(t, conn, fmt.Sprintf("insert into nasty values (%d, %s, %s)", i,
			value(1, "convert_from(decode('%s', 'hex'), 'UTF8')"), value(2, "decode('%s', 'hex')")))
	}
	for _, binary := range []bool{false, true} {
		var out bytes.Buffer
		sql := copySQL("copy (select * from nasty order by id) to stdout (format %s)", binary)
		if _, err := conn.CopyTo(t.Context(), &out, sql); err != nil {
			t.Fatal(err)
		}
		for _, sizes := range [][]byte{nil, {0}, {200, 3, 0, 77}} {
			if got := decode(t, out.Bytes(), sizes, binary); !reflect.DeepEqual(asHex(got), asHex(rows)) {
				t.Errorf("binary %v: read other values than the server has", binary)
			}
			end, n, err := splitAll(NewSplitter(binary), cut(out.Bytes(), sizes))
			if end != out.Len() || n != int64(len(rows)) || err != nil {
				t.Errorf("binary %v: split %d rows up to %d of %d: %v", binary, n, end, out.Len(), err)
			}
		}
		if !bytes.Equal(out.Bytes(), encode(rows, binary)) {
			t.Errorf("binary %v: the server encodes otherwise than we do", binary)
		}
	}
}

func TestServerTablesOfOddWidth(t *testing.T) {
	conn := connect(t, clustertest.Database(t))
	query(t, conn, "create table none (); insert into none default values; insert into none default values")
	columns := make([]string, 1600)
	for i := range columns {
		columns[i] = fmt.Sprintf("c%d int", i)
	}
	query(t, conn, "create table wide ("+strings.Join(columns, ", ")+"); insert into wide (c0, c1599) values (1, 2)")
	for _, tt := range []struct {
		table         string
		columns, rows int
	}{{"none", 0, 2}, {"wide", 1600, 1}} {
		for _, binary := range []bool{false, true} {
			var out bytes.Buffer
			if _, err := conn.CopyTo(t.Context(), &out, copySQL("copy "+tt.table+" to stdout (format %s)", binary)); err != nil {
				t.Fatal(err)
			}
			reader := NewReader(bytes.NewReader(out.Bytes()), binary, tt.columns, 0)
			rows, _, err := readAll(t, reader, binary)
			if err != nil || len(rows) != tt.rows || len(rows[0]) != tt.columns {
				t.Errorf("%s, binary %v: %d rows, %v", tt.table, binary, len(rows), err)
			}
			query(t, conn, "truncate "+tt.table)
			again, err := conn.CopyFrom(t.Context(), &out, copySQL("copy "+tt.table+" from stdin (format %s)", binary))
			if err != nil || again.RowsAffected() != int64(tt.rows) {
				t.Errorf("%s, binary %v, back: %v, %v", tt.table, binary, again, err)
			}
		}
	}
}

// TestServerAgreesOnText gives the same random text, right and wrong, to
// COPY FROM and to the reader: both must take it for the same values, or both
// refuse it. The database is SQL_ASCII so that escapes may make any byte.
func TestServerAgreesOnText(t *testing.T) {
	uri := clustertest.DatabaseOn(t, clustertest.Server(t), "ENCODING 'SQL_ASCII'", "LOCALE 'C'")
	conn := connect(t, uri)
	query(t, conn, "create table r (n serial, v text)")
	alphabet := []string{
		"\n", "\n", "\n", "\r\n", "\r", `\`, `\`, `\\`, `\x`, `\N`, `\1`, `\71`, "\\\t", "\\\n", "4", "1", "a", "f", "g", "\xe9", "\t",
	}
	r := rand.New(rand.NewPCG(3, 4))
	taken, refused := 0, 0
	for range 1000 {
		in := ""
		for range r.IntN(9) {
			in += alphabet[r.IntN(len(alphabet))]
		}
		// Behind an escaped newline versions up to 17 take data before the
		// marker, which the reader refuses as 18 does.
		if r.IntN(8) == 0 && !isEscaped([]byte(in), len(in), false) {
			in += "\n\\.\n"
		}
		want, _, ours := readAll(t, NewTextReader(strings.NewReader(in), 1, 0), false)
		_, theirs := conn.CopyFrom(t.Context(), strings.NewReader(in), "copy r (v) from stdin")
		if (ours == nil) != (theirs == nil) {
			t.Fatalf("%q: ours %v, the server's %v", in, ours, theirs)
		}
		if ours != nil {
			refused++
			checkSameProblem(t, in, ours, theirs)
			continue
		}
		taken++
		got := query(t, conn, `select encode(convert_to(v, 'SQL_ASCII'), 'hex') from r order by n`)
		if len(got) != len(want) {
			t.Fatalf("%q: %d rows, the server has %d", in, len(want), len(got))
		}
		for i := range got {
			ours := hex.EncodeToString([]byte(want[i][0]))
			if want[i][0] == null {
				ours = null
			}
			if got[i][0] != ours {
				t.Fatalf("%q: row %d is %q, the server has %s", in, i, want[i][0], got[i][0])
			}
		}
		query(t, conn, "truncate r")
	}
	if taken < 200 || refused < 80 {
		t.Errorf("%d were taken and %d refused: the test says too little", taken, refused)
	}
}

// checkSameProblem compares what is wrong with a row and in which row.
func checkSameProblem(t *testing.T, in string, ours, theirs error) {
	t.Helper()
	var fe *FormatError
	var pe *pgconn.PgError
	if !errors.As(ours, &fe) || !errors.As(theirs, &pe) {
		t.Fatalf("%q: ours %v, the server's %v", in, ours, theirs)
	}
	// The server has words of its own for a marker with another line end.
	if !strings.HasPrefix(pe.Message, fe.Problem) && !strings.HasPrefix(pe.Message, "end-of-copy marker") {
		t.Errorf("%q: ours %q, the server's %q", in, fe.Problem, pe.Message)
	}
}
