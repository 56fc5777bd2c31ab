package gateway

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/pghaul/pghaul/internal/wire"
)

// OIDs and lengths of the types that the console answers with (pg_type.dat).
var (
	typeText = consoleType{25, -1}
	typeInt8 = consoleType{20, 8}
	typeBool = consoleType{16, 1}
	typeTime = consoleType{1184, 8}
)

type consoleType struct {
	oid    uint32
	length int16
}

type consoleColumn struct {
	name string
	kind consoleType
}

// consoleResult is the answer to one command.
type consoleResult struct {
	columns []consoleColumn
	rows    [][]string
}

func (r *consoleResult) add(values ...any) {
	row := make([]string, len(values))
	for i, v := range values {
		row[i] = consoleText(v)
	}
	r.rows = append(r.rows, row)
}

// consoleText is a value in the server's text form.
func consoleText(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)[:1]
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.999999") + "+00"
	}
	return fmt.Sprint(v)
}

// append adds RowDescription, the rows and CommandComplete.
func (r *consoleResult) append(dst []byte) []byte {
	body := binary.BigEndian.AppendUint16(nil, uint16(len(r.columns)))
	for _, c := range r.columns {
		body = append(append(body, c.name...), 0)
		body = append(body, 0, 0, 0, 0, 0, 0) // of no table
		body = binary.BigEndian.AppendUint32(body, c.kind.oid)
		body = binary.BigEndian.AppendUint16(body, uint16(c.kind.length))
		body = append(body, 0xff, 0xff, 0xff, 0xff, 0, 0) // no type modifier, in text
	}
	dst = append(wire.AppendHeader(dst, wire.TypeRowDescription, len(body)), body...)
	for _, row := range r.rows {
		body = binary.BigEndian.AppendUint16(body[:0], uint16(len(row)))
		for _, v := range row {
			body = append(binary.BigEndian.AppendUint32(body, uint32(len(v))), v...)
		}
		dst = append(wire.AppendHeader(dst, wire.TypeDataRow, len(body)), body...)
	}
	const tag = "SHOW\x00"
	return append(wire.AppendHeader(dst, wire.TypeCommandComplete, len(tag)), tag...)
}

// consoleCommand is one thing the console can be asked for.
type consoleCommand struct {
	words   string
	meaning string
	table   func(*Gateway) *consoleResult
}

// consoleList lists the commands. A function, since HELP is one of them and shows all.
func consoleList() []consoleCommand {
	return []consoleCommand{
		{"SHOW STATS", "what the gateway has done since its start", (*Gateway).showStats},
		{"SHOW SESSIONS", "the sessions that are open", (*Gateway).showSessions},
		{"SHOW TABLES", "what became of the INSERTs, by table", (*Gateway).showTables},
		{"SHOW CONFIG", "the settings", (*Gateway).showConfig},
		{"SHOW VERSION", "the version of pghaul", (*Gateway).showVersion},
		{"HELP", "this list", (*Gateway).showHelp},
		{"SHOW HELP", "this list", (*Gateway).showHelp},
	}
}

// consoleTable answers one command.
func (g *Gateway) consoleTable(words []string) (*consoleResult, error) {
	asked := strings.ToUpper(strings.Join(words, " "))
	for _, c := range consoleList() {
		if c.words == asked {
			return c.table(g), nil
		}
	}
	return nil, fmt.Errorf("the console of pghaul has no command \"%s\"", clip(strings.Join(words, " ")))
}

// consoleCommands cuts a query into its commands, and these into words. Comments vanish; no command has quotes.
func consoleCommands(sql string) [][]string {
	var commands [][]string
	for _, text := range strings.Split(withoutComments(sql), ";") {
		if words := strings.Fields(text); len(words) > 0 {
			commands = append(commands, words)
		}
	}
	return commands
}

func withoutComments(sql string) string {
	var b strings.Builder
	for sql != "" {
		line, block := strings.Index(sql, "--"), strings.Index(sql, "/*")
		end := "\n"
		start := line
		if block >= 0 && (line < 0 || block < line) {
			start, end = block, "*/"
		}
		if start < 0 {
			b.WriteString(sql)
			break
		}
		b.WriteString(sql[:start])
		b.WriteByte(' ')
		_, sql, _ = strings.Cut(sql[start+2:], end)
	}
	return b.String()
}

func (g *Gateway) showStats() *consoleResult {
	r := &consoleResult{columns: []consoleColumn{{"name", typeText}, {"value", typeInt8}}}
	for _, n := range g.totals() {
		r.add(n.name, n.value)
	}
	return r
}

func (g *Gateway) showSessions() *consoleResult {
	r := &consoleResult{columns: []consoleColumn{
		{"id", typeInt8}, {"client", typeText}, {"user", typeText}, {"database", typeText}, {"application_name", typeText},
		{"tls", typeBool}, {"started", typeTime}, {"mode", typeText}, {"copying", typeBool},
		{"bytes_received", typeInt8}, {"bytes_sent", typeInt8},
		{"inserts", typeInt8}, {"inserts_taken", typeInt8}, {"rows_taken", typeInt8},
	}}
	for _, s := range g.Stats().Sessions {
		r.add(s.ID, s.Client, s.User, s.Database, s.Application, s.TLS, s.Started, s.Mode, s.Copying,
			s.Received, s.Sent, s.Inserts, s.Taken, s.Rows)
	}
	return r
}

func (g *Gateway) showTables() *consoleResult {
	r := &consoleResult{columns: []consoleColumn{
		{"database", typeText}, {"schema", typeText}, {"table", typeText}, {"form", typeText},
		{"inserts_taken", typeInt8}, {"rows_taken", typeInt8}, {"statements_sent", typeInt8}, {"replayed", typeInt8},
		{"inserts_passed", typeInt8}, {"passed_by_reason", typeText},
	}}
	for _, t := range g.Stats().Tables {
		inserts, rows := t.TakenTotal()
		r.add(t.Database, t.Schema, t.Table, t.Form, inserts, rows, t.UnitsTotal(), t.Replayed, t.PassedTotal(), t.Reasons())
	}
	return r
}

func (g *Gateway) showConfig() *consoleResult {
	r := &consoleResult{columns: []consoleColumn{{"name", typeText}, {"value", typeText}}}
	c := g.config
	for _, s := range [][2]any{
		{"listen", strings.Join(c.Listen, ",")}, {"upstream", c.Upstream}, {"mode", c.Mode}, {"stream-idle", c.StreamIdle},
		{"receive-buffer", c.ReceiveBuffer}, {"send-buffer", c.SendBuffer}, {"tls-cert", c.TLSCert}, {"tls-key", c.TLSKey},
		{"upstream-sslmode", c.UpstreamSSLMode}, {"upstream-root-cert", c.UpstreamRootCert},
		{"channel-binding", c.ChannelBinding}, {"drain-timeout", max(0, c.DrainTimeout)},
		{"admin-users", strings.Join(c.AdminUsers, ",")}, {"http", c.HTTP},
	} {
		r.add(s[0], s[1])
	}
	return r
}

func (g *Gateway) showVersion() *consoleResult {
	r := &consoleResult{columns: []consoleColumn{{"version", typeText}}}
	r.add(fmt.Sprintf("pghaul %s (%s, %s/%s)", g.config.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH))
	return r
}

func (g *Gateway) showHelp() *consoleResult {
	r := &consoleResult{columns: []consoleColumn{{"command", typeText}, {"meaning", typeText}}}
	for _, c := range consoleList() {
		r.add(c.words, c.meaning)
	}
	return r
}
