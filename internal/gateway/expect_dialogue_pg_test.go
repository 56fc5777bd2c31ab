package gateway

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/pghaul/pghaul/internal/wire"
)

// rowsMessages is COPY data in so many frames, with its end.
func rowsMessages(rows ...string) []byte {
	var out []byte
	for _, row := range rows {
		out = wire.AppendCopyData(out, []byte(row))
	}
	return wire.AppendCopyDone(out)
}

// TestCounting: whatever the client does on its own, what follows must neither hang nor be answered otherwise. Each dialogue
// ends with an INSERT that is taken, unless the count of what the server owes was given up.
func TestCounting(t *testing.T) {
	end := once(simple(literals("t", 200, plainRow)))
	copying := func(sql string) []byte { return messages(parse("", sql), bindText(""), executing()) }
	const copyT = "COPY t FROM STDIN"
	cursor := func(n int32) []byte { return wire.AppendExecute(nil, "c", n) }
	call := messages([]byte{'F', 0, 0, 0, 0}, binary.BigEndian.AppendUint32(nil, 89), []byte{0, 0, 0, 0, 0, 1})
	binary.BigEndian.PutUint32(call[1:], uint32(len(call)-1))
	tests := []struct {
		name  string
		steps []exchange
		taken int64
	}{
		{"copy by query", []exchange{once(simple(copyT), rowsMessages("1\tx\n", "", "2\ty\n"))}, 1},
		{"copy by query fails", []exchange{once(simple("COPY missing FROM STDIN"), rowsMessages("1\tx\n")), once(simple("SELECT 1"))}, 1},
		{"two copies in a query", []exchange{once(simple(copyT+";"+copyT), rowsMessages("1\tx\n"), rowsMessages("2\ty\n"))}, 1},
		{"bad row", []exchange{once(simple(copyT), rowsMessages("1\tx\n", "q\ty\n", "2\tz\n"))}, 1},
		{"copy is failed by the client", []exchange{once(simple(copyT), wire.AppendCopyFail(nil, "no more"))}, 1},
		{"extended copy", []exchange{once(copying(copyT), rowsMessages("1\tx\n"), syncs())}, 1},
		{"extended copy, bad row", []exchange{once(copying(copyT), rowsMessages("x\n"), syncs())}, 1},
		{"extended copy, sync before the data", []exchange{once(copying(copyT), syncs(), rowsMessages("1\tx\n"), syncs())}, 1},
		{"extended copy fails, sync before the data", []exchange{{messages(copying("COPY missing FROM STDIN"), syncs(), rowsMessages("1\tx\n"), syncs()), 2}}, 1},
		{"copy to a view, sync before the data", []exchange{{messages(copying("COPY v FROM STDIN"), syncs(), rowsMessages("1\tx\n"), syncs()), 2}}, 0},
		{"copies in flight", []exchange{{messages(simple(copyT), rowsMessages("1\tx\n"), simple("SELECT 1"), copying(copyT), rowsMessages("2\ty\n"),
			syncs(), simple("SELECT 2")), 4}}, 1},
		{"copy out", []exchange{once(simple("COPY (SELECT generate_series(1, 1000)) TO STDOUT"))}, 1},
		{"bad parse", []exchange{once(parse("", "SELEC"), bindText(""), executing(), flushing(), syncs())}, 1},
		{"bad bind", []exchange{once(parse("", "SELECT $1::int"), bindText("", "x"), executing(), flushing(), syncs())}, 1},
		{"bad describe", []exchange{once(parse("", "SELECT 1"), describing(), flushing(), bindText(""), executing(), syncs())}, 1},
		{"bad execute", []exchange{once(parse("", "SELECT 1 / 0"), bindText(""), executing(), flushing(), executing(), syncs())}, 1},
		{"bad insert between flushes", []exchange{once(parse("s", "INSERT INTO t VALUES ($1, $2)"), flushing(), bindText("s", "x", "y"),
			flushing(), executing(), syncs(), wire.AppendClose(nil, wire.Statement, "s"))}, 0},
		{"cursor", []exchange{once(simple("BEGIN")), once(parse("", "SELECT generate_series(1, 5)"),
			wire.AppendBind(nil, &wire.Bind{Portal: "c"}), cursor(2), syncs()), once(cursor(2), syncs()), once(cursor(0), syncs()), once(simple("COMMIT"))}, 1},
		{"query in a pipeline", []exchange{{messages(parse("", "SELECT 1"), bindText(""), executing(), simple("SELECT 2"), syncs()), 2}}, 0},
		{"query behind an error", []exchange{once(parse("", "SELEC"), bindText(""), executing(), simple("SELECT 2"), syncs())}, 0},
		{"function call", []exchange{{call, 1}}, 1},
		{"many in flight", []exchange{{repeated(200, func(i int) []byte {
			return messages(parse("", fmt.Sprintf("SELECT 1 / (%d %% 7)", i)), bindText(""), describing(), executing(), syncs())
		}), 200}}, 1},
		{"empty query", []exchange{once(simple("")), once(copying(""), syncs())}, 1},
		{"lone sync", []exchange{once(syncs()), {messages(syncs(), syncs()), 2}}, 1},
		{"insert of an unprepared statement", []exchange{once(bindText("nothing", "1"), executing(), syncs())}, 1},
		{"statement of a failed parse", []exchange{once(parse("s", "INSERT INTO nothing VALUES ($1, $2)"), syncs()),
			once(repeated(200, func(i int) []byte { return messages(bindText("s", "1", "x"), executing()) }), syncs())}, 1},
		{"statement that was there", []exchange{once(parse("s", "INSERT INTO t VALUES ($1, $2)"), syncs()), once(parse("s", "INSERT INTO u VALUES ($1, $2)"), syncs()),
			once(repeated(200, func(i int) []byte { return messages(bindText("s", "1", "x"), executing()) }), syncs())}, 1},
		{"deallocated", []exchange{once(parse("s", "INSERT INTO t VALUES ($1, $2)"), syncs()),
			once(repeated(200, func(i int) []byte { return messages(bindText("s", "1", "x"), executing()) }), syncs()), once(simple("DEALLOCATE ALL")),
			once(repeated(200, func(i int) []byte { return messages(bindText("s", "1", "x"), executing()) }), syncs())}, 201},
		{"table changes", []exchange{end, once(simple("ALTER TABLE t ALTER a TYPE bigint")), end, once(simple("CREATE RULE r AS ON INSERT TO t DO INSTEAD NOTHING")), end,
			once(simple("DROP RULE r ON t"))}, 2},
		{"another table of the name", []exchange{end, once(simple("CREATE TEMP TABLE t (a int, b text, c int DEFAULT 5)")), end,
			once(simple("SELECT count(*) FROM public.t")), once(simple("SELECT count(c) FROM t")), once(simple("DROP TABLE t"))}, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := &dialogue{
				setup: []string{"CREATE TABLE t (a int, b text)", "CREATE TABLE u (a int, b text)", "CREATE VIEW v AS SELECT * FROM t"},
				steps: append(test.steps, end, once(simple("SELECT count(*) FROM t"))), tables: contents,
				taken: map[Mode]int64{Strict: test.taken, Stream: test.taken},
			}
			compareDialogue(t, d, Strict, Stream)
		})
	}
}
