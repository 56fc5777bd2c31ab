package rowfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/cluster"
	"github.com/pghaul/pghaul/internal/clustertest"
)

// copied is what the server makes of a file: its rows, or its refusal.
type copied struct {
	rows []string
	err  *pgconn.PgError
	line int64 // of the refusal
}

var contextLine = regexp.MustCompile(`, line (\d+)`)

// copyInto has the server read data into a table of text columns.
func copyInto(t testing.TB, conn *pgx.Conn, data []byte, columns int, options string) copied {
	t.Helper()
	ctx := t.Context()
	names := []string{"a", "b", "c"}[:columns]
	execSQL(t, conn, "CREATE TEMPORARY TABLE t ("+strings.Join(names, " text, ")+" text)")
	defer execSQL(t, conn, "DROP TABLE t")
	_, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(data), "COPY t FROM STDIN ("+options+")")
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		c := copied{err: refused}
		if m := contextLine.FindStringSubmatch(refused.Where); m != nil {
			c.line, _ = strconv.ParseInt(m[1], 10, 64)
		}
		return c
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := conn.Query(ctx, "SELECT * FROM t", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var c copied
	for found.Next() {
		var fields [][]byte
		for _, v := range found.RawValues() {
			if v != nil {
				v = append([]byte{}, v...)
			}
			fields = append(fields, v)
		}
		c.rows = append(c.rows, fieldsText(fields))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

func execSQL(t testing.TB, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// servers returns a connection to each version that parsers are compared with, by version.
func servers(t *testing.T) map[int]*pgx.Conn {
	t.Helper()
	conns := map[int]*pgx.Conn{}
	uris := []string{clustertest.Database(t)}
	if _, err := cluster.FindMajor(18); err == nil {
		uris = append(uris, clustertest.Private(t, &cluster.Options{Major: 18, Settings: map[string]string{"fsync": "off"}}).URI("postgres"))
	}
	for _, uri := range uris {
		conn, err := pgx.Connect(t.Context(), uri)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close(context.Background()) })
		var version int
		if err := conn.QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int / 10000").Scan(&version); err != nil {
			t.Fatal(err)
		}
		conns[version] = conn
	}
	return conns
}

// compareCopy holds what this package reads against what the server read.
func compareCopy(t *testing.T, what string, data []byte, l Layout, columns int, want copied) {
	t.Helper()
	l.SetColumns([]string{"a", "b", "c"}[:columns])
	rows, _, err := rowsOf(t, bytes.NewReader(data), &l, Position{})
	for i, r := range rows {
		if r.Bad == "" {
			if want.err == nil && (i >= len(want.rows) || want.rows[i] != r.Fields) {
				t.Errorf("%s: row %d: got %s, want %v", what, i+1, r.Fields, want.rows)
				return
			}
			continue
		}
		if want.err == nil {
			t.Errorf("%s: row %d: refused with %s, the server takes it", what, i+1, r.Bad)
			return
		}
		first, last := r.Line, r.Line+int64(strings.Count(r.Raw, string(lastByte(l.Ends))))
		if l.Format == Text {
			first, last = int64(i+1), int64(i+1) // The server counts no line ends behind backslashes.
		}
		if want.err.Code == stateInvalidBytes && l.Ends != EndLF {
			return // To tell \r from \r\n the server looks at a byte of the next row.
		}
		if l.Ends == UnknownEnd {
			last = int64(1 + bytes.Count(data, []byte{'\r'})) // It counts these then.
		}
		if l.Format == CSV {
			first -= int64(strings.Count(rows[0].Raw, string(lastByte(l.Ends)))) // Nor those of the first row, before it knows what ends lines.
		}
		if want.line < first || want.line > last {
			t.Errorf("%s: refused line %d (%s), the server line %d (%s)", what, r.Line, r.Bad, want.line, want.err.Message)
		} else if got := want.err.Code + " " + want.err.Message; got != r.Bad && !strings.HasPrefix(r.Bad+want.err.Code, stateInvalidBytes) && want.err.Code != stateInvalidBytes {
			t.Errorf("%s: line %d: refused with %q, the server says %q", what, r.Line, r.Bad, got)
		}
		return
	}
	switch {
	case err != nil && want.err == nil:
		t.Errorf("%s: failed with %v, the server takes it", what, err)
	case err != nil && want.err.Code != stateBadFormat && want.err.Code != stateInvalidBytes: // What stands before the end of the data comes first.
		t.Errorf("%s: failed with %v, the server says %s", what, err, want.err.Message)
	case err == nil && want.err != nil:
		t.Errorf("%s: taken, the server says %s (line %d)", what, want.err.Message, want.line)
	case err == nil && len(rows) != len(want.rows):
		t.Errorf("%s: %d rows, the server has %d", what, len(rows), len(want.rows))
	}
}

func literal(s string) string {
	return "E'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\t", `\t`).Replace(s) + "'"
}

func TestCSVAsServer(t *testing.T) {
	conns := servers(t)
	r := rand.New(rand.NewPCG(5, 6))
	for n := 0; n < 250 && !t.Failed(); n++ {
		l := Layout{Format: CSV, Header: NoHeader, Delimiter: ",;|\tx"[r.IntN(5)], Quote: "\"\"'"[r.IntN(3)]}
		l.Escape = []byte{l.Quote, l.Quote, '\\', 'e'}[r.IntN(4)]
		columns := 1 + r.IntN(3)
		null := []string{"", "", "N", "aa"}[r.IntN(4)]
		options := fmt.Sprintf("FORMAT csv, DELIMITER %s, QUOTE %s, ESCAPE %s, NULL %s", literal(string(l.Delimiter)), literal(string(l.Quote)),
			literal(string(l.Escape)), literal(null))
		l.Null = &null
		if r.IntN(3) == 0 {
			l.ForceNull, l.ForceNotNull = []string{"a"}, []string{[]string{"a", "b", "c"}[r.IntN(columns)]}
			options += ", FORCE_NULL (a), FORCE_NOT_NULL (" + l.ForceNotNull[0] + ")"
		}
		end := []string{"\n", "\n", "\r\n", "\r"}[r.IntN(4)]
		alphabet := []string{"a", "N", ".", "é", "\\", "e", string(l.Quote), string(l.Quote), string(l.Quote) + string(l.Quote), string(l.Delimiter),
			string(l.Delimiter), string(l.Delimiter), end, end, "\"", "aa"}
		if n%5 == 0 {
			alphabet = append(alphabet, "\n", "\r", "\xff", "\xe0", "\x00")
		}
		data := randomPieces(r, alphabet, r.IntN(30), columns, string(l.Delimiter), end)
		l = layoutOf(t, data, l)
		for version, conn := range conns {
			if version < 18 && bytes.Contains(data, []byte(`\.`)) {
				continue // It ends the data there.
			}
			if bytes.IndexByte(data, 0) >= 0 && l.Escape == l.Quote {
				continue // The server takes the byte for an escape, which moves its error to another row.
			}
			compareCopy(t, fmt.Sprintf("%d: %q with %s", version, data, options), data, l, columns, copyInto(t, conn, data, columns, options))
		}
	}
}

// randomPieces makes a file mostly of rows of the right width, and often of none.
func randomPieces(r *rand.Rand, alphabet []string, n, columns int, delimiter, end string) []byte {
	var b bytes.Buffer
	tidy := r.IntN(2) == 0
	for i := range n {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
		if tidy && i%4 == 3 {
			if i/4%columns == columns-1 {
				b.WriteString(end)
			} else {
				b.WriteString(delimiter)
			}
		}
	}
	return b.Bytes()
}

func TestTextAsServer(t *testing.T) {
	conns := servers(t)
	r := rand.New(rand.NewPCG(7, 8))
	for n := 0; n < 250 && !t.Failed(); n++ {
		l := Layout{Format: Text, Header: NoHeader, Delimiter: "\t\t,|"[r.IntN(4)]}
		columns := 1 + r.IntN(3)
		null := []string{`\N`, `\N`, "", "aa"}[r.IntN(4)]
		l.Null = &null
		options := fmt.Sprintf("FORMAT text, DELIMITER %s, NULL %s", literal(string(l.Delimiter)), literal(null))
		end := []string{"\n", "\n", "\r\n", "\r"}[r.IntN(4)]
		alphabet := []string{"a", "N", `\`, `\\`, `\N`, "x", "4", "1", "é", string(l.Delimiter), string(l.Delimiter), end, end, "aa", `\x4`, `\101`, `\n`}
		if n%5 == 0 {
			alphabet = append(alphabet, "\n", "\r", "\xff", `\377`, `\0`, ".", "\x00")
		}
		data := randomPieces(r, alphabet, r.IntN(30), columns, string(l.Delimiter), end)
		l = layoutOf(t, data, l)
		for version, conn := range conns {
			if bytes.Contains(data, []byte(`\.`)) {
				continue // TestRows has the marker; servers differ.
			}
			compareCopy(t, fmt.Sprintf("%d: %q with %s", version, data, options), data, l, columns, copyInto(t, conn, data, columns, options))
		}
	}
}
