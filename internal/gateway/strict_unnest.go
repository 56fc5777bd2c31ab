package gateway

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/pghaul/pghaul/internal/wire"
)

const (
	// unnestName is the name of the prepared INSERT ... SELECT unnest(...) that stays for the next unit of the same table.
	unnestName = "pghaul_unnest"

	// unnestRows is up to where INSERT ... SELECT unnest(...) is faster than COPY: a COPY of fewer rows is slowed down by its
	// start, whose cost grows with the square of the rows up to 1000 (copyfrom.c keeps the tuple descriptor once for each).
	unnestRows = 2000
)

// unnests tells whether the target's rows can be sent as one array for each column.
func (t *target) unnests() bool {
	for _, column := range t.columns {
		if c := &t.facts.Columns[column]; c.Class != "b" && c.Class != "e" || c.IsArray {
			return false
		}
	}
	return len(t.columns) <= 100
}

// unnest is the INSERT that takes a column's values as one array each. It names the table as the client does. The function's
// name stands alone: only so is unnest of several arrays the server's own (gram.y, transformRangeFunction).
func (t *target) unnest(table string) string {
	arrays := make([]string, len(t.columns))
	for n, column := range t.columns {
		arrays[n] = "$" + strconv.Itoa(n+1) + "::" + t.facts.Columns[column].SQLType + "[]"
	}
	return "INSERT INTO " + table + " " + t.list() + " SELECT * FROM unnest(" + strings.Join(arrays, ", ") + ")"
}

// appendUnnest adds the messages that insert the rows of r, which are in binary and without frames.
func (a *accel) appendUnnest(m []byte, u *unit, t *target, r *rows) []byte {
	if u.raw == nil {
		m = wire.AppendClose(m, wire.Statement, "")
		a.given = nil
	}
	sql := t.unnest(quotedTable(u.statement.insert))
	if sql != a.unnesting {
		m = wire.AppendClose(m, wire.Statement, unnestName)
		m = wire.AppendParse(m, unnestName, sql, nil)
	}
	a.unnesting = sql
	columns, nulls := transpose(r.buffer, len(t.columns))
	start := len(m)
	m = wire.AppendHeader(m, wire.TypeBind, 0)
	m = append(append(m, 0), unnestName...)
	m = append(m, 0, 0, 1, 0, 1) // all in binary
	m = binary.BigEndian.AppendUint16(m, uint16(len(columns)))
	for n, column := range columns {
		m = binary.BigEndian.AppendUint32(m, uint32(20+len(column)))
		m = appendArrayHead(m, nulls[n], t.facts.Columns[t.columns[n]].Type, r.count)
		m = append(m, column...)
	}
	m = append(m, 0, 0)
	binary.BigEndian.PutUint32(m[start+1:], uint32(len(m)-start-1))
	return wire.AppendExecute(m, "", 0)
}

// appendArrayHead adds the start of an array of one dimension as array_recv takes it.
func appendArrayHead(m []byte, nulls bool, elem uint32, n int) []byte {
	flags := uint32(0)
	if nulls {
		flags = 1
	}
	for _, v := range []uint32{1, flags, elem, uint32(n), 1} {
		m = binary.BigEndian.AppendUint32(m, v)
	}
	return m
}

// transpose makes columns of rows in the form of COPY binary. The lengths in them are the gateway's own.
func transpose(rows []byte, width int) (columns [][]byte, nulls []bool) {
	columns, nulls = make([][]byte, width), make([]bool, width)
	for n := range columns {
		columns[n] = make([]byte, 0, len(rows)/width)
	}
	for len(rows) > 0 {
		rows = rows[2:]
		for n := range columns {
			length := int(int32(binary.BigEndian.Uint32(rows)))
			if length < 0 {
				nulls[n] = true
				length = 0
			}
			columns[n] = append(columns[n], rows[:4+length]...)
			rows = rows[4+length:]
		}
	}
	return columns, nulls
}
