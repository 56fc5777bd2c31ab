package move

import (
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/pghaul/pghaul/internal/wire"
)

// A server that is shut down between two ranges says so behind the ReadyForQuery that ended the first, often in the same block.
func TestGiveBackHearsTheFarewell(t *testing.T) {
	encoded := func(messages ...pgproto3.BackendMessage) []byte {
		var out []byte
		for _, m := range messages {
			var err error
			if out, err = m.Encode(out); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	fatal := &pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: stateAdminShutdown, Message: "terminating connection"}
	for name, c := range map[string]struct {
		rest  []byte
		state string
		text  string
	}{
		"shut down":         {encoded(fatal), stateAdminShutdown, "terminating connection"},
		"notice before":     {encoded(&pgproto3.NoticeResponse{Message: "hello"}, fatal), stateAdminShutdown, "terminating"},
		"half a message":    {encoded(fatal)[:9], "", "in the middle of a message"},
		"no message at all": {[]byte{'Z', 0, 0, 0, 1}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			defer far.Close()
			r := &raw{conn: near, scan: wire.NewScanner(0), tx: 'I', rest: c.rest}
			err := r.giveBack()
			if err == nil || !strings.Contains(err.Error(), c.text) || c.state != "" && !hasState(err, c.state) {
				t.Errorf("%v", err)
			}
			if _, err := near.Write([]byte{0}); err == nil {
				t.Error("the connection is still open")
			}
		})
	}
}
