package gateway

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/pghaul/pghaul/internal/wire"
)

// doom is an error that the client is to get for its next statement.
type doom struct {
	body []byte // of ErrorResponse
}

// appendError adds the error to what the client gets.
func (d *doom) appendError(dst []byte) []byte {
	return append(wire.AppendHeader(dst, wire.TypeError, len(d.body)), d.body...)
}

// span are INSERTs of a stream that have the same number of rows.
type span struct{ inserts, rows int }

// spans tells which INSERT of a stream a row came in.
type spans []span

func (s spans) add(rows int) spans {
	if n := len(s); n > 0 && s[n-1].rows == rows {
		s[n-1].inserts++
		return s
	}
	return append(s, span{1, rows})
}

// find tells for a row, counted from 1, the INSERT it came in and which row of that it was, both from 1.
func (s spans) find(row int) (insert, within int, ok bool) {
	row--
	for _, p := range s {
		if row < p.inserts*p.rows {
			return insert + row/p.rows + 1, row%p.rows + 1, true
		}
		insert += p.inserts
		row -= p.inserts * p.rows
	}
	return 0, 0, false
}

// streamError makes of a COPY's error that of the INSERT whose row was refused: all fields but the context, which speaks of a
// COPY that the client knows nothing of.
func streamError(body []byte, table string, s spans) []byte {
	var out []byte
	line := 0
	eachField(body, func(field byte, value []byte) {
		if field == 'W' {
			line = lineOf(value, table)
			return
		}
		out = append(append(append(out, field), value...), 0)
	})
	if insert, row, ok := s.find(line); ok && line > 0 {
		out = append(out, "WINSERT "+strconv.Itoa(insert)+" of the stream, row "+strconv.Itoa(row)...)
		out = append(out, 0)
	}
	return append(out, 0)
}

// notices are those that a COPY has raised, as its INSERT would have raised them: the last line of the context, which is the
// COPY's, goes.
func notices(all []byte, table string) []byte {
	var out []byte
	frames(all, func(kind byte, body []byte) bool {
		start := len(out)
		out = wire.AppendHeader(out, kind, 0)
		eachField(body, func(field byte, value []byte) {
			if field == 'W' {
				if value = withoutCopy(value, table); len(value) == 0 {
					return
				}
			}
			out = append(append(append(out, field), value...), 0)
		})
		out = append(out, 0)
		binary.BigEndian.PutUint32(out[start+1:], uint32(len(out)-start-1))
		return true
	})
	return out
}

// withoutCopy takes the COPY's line from a context. It is the outermost, so the last, and names the table.
func withoutCopy(where []byte, table string) []byte {
	at := bytes.LastIndexByte(where, '\n')
	if bytes.HasPrefix(where[at+1:], []byte("COPY "+table)) {
		return where[:max(at, 0)]
	}
	return where
}

// eachField calls visit with each field of an error or a notice.
func eachField(body []byte, visit func(field byte, value []byte)) {
	for len(body) > 0 && body[0] != 0 {
		value, after, ok := bytes.Cut(body[1:], []byte{0})
		if !ok {
			return
		}
		visit(body[0], value)
		body = after
	}
}

// lineOf reads the row's number in the context of a COPY, "COPY t, line 3, column a" in the server's language: the first
// number behind the table's name. It only serves to tell the user where to look. 0 is for none.
func lineOf(where []byte, table string) int {
	at := bytes.Index(where, []byte(table))
	if at < 0 {
		return 0
	}
	rest := where[at+len(table):]
	start := bytes.IndexAny(rest, "0123456789")
	if start < 0 {
		return 0
	}
	end := start
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(string(rest[start:end]))
	if err != nil {
		return 0
	}
	return n
}

// sqlState is the SQLSTATE of an error.
func sqlState(body []byte) string {
	r, err := wire.ParseReport(body)
	if err != nil {
		return ""
	}
	return r.Code
}

// cancelledBody is the error of a statement that the client has cancelled.
func cancelledBody() []byte {
	return []byte("SERROR\x00VERROR\x00C57014\x00Mcanceling statement due to user request\x00\x00")
}
