package rowfile

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// attempt makes a function that converts bytes as COPY would, and answers with the error where it refuses them.
const attempt = `CREATE FUNCTION attempt(b bytea, e name) RETURNS text LANGUAGE plpgsql AS $$
BEGIN RETURN encode(convert_to(convert_from(b, e), 'UTF8'), 'hex');
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM; END $$`

// TestEncodingsAsServer converts all characters of one and two bytes as the server does.
func TestEncodingsAsServer(t *testing.T) {
	uri := clustertest.Database(t)
	clustertest.Exec(t, uri, attempt)
	var names []string
	for _, c := range charsets {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		c := charsetOf(name)
		second := "generate_series(1, 255) j"
		if c.length(0x81, 0xa1) == 1 {
			second = "(VALUES (97)) v(j)"
		}
		answers := clustertest.Query(t, uri, fmt.Sprintf(
			`SELECT encode(b, 'hex'), attempt(b, '%s') FROM generate_series(128, 255) i, %s, LATERAL (SELECT decode(to_hex(i) || lpad(to_hex(j), 2, '0'), 'hex') b) x`, c.name, second))
		if c.longer != nil {
			// Of the characters of three and four bytes every 17th.
			answers += "\n" + clustertest.Query(t, uri, fmt.Sprintf(`SELECT encode(b, 'hex'), attempt(b, '%s') FROM generate_series(0, 1600000, 17) n,
				LATERAL (SELECT CASE WHEN '%[1]s' = 'EUC_JP' THEN decode('8f' || lpad(to_hex(n %% 65536), 4, '0'), 'hex')
					ELSE decode(lpad(to_hex(129 + n / 12600 %% 126), 2, '0') || to_hex(48 + n / 1260 %% 10) || to_hex(129 + n / 10 %% 126) || to_hex(48 + n %% 10), 'hex') END b) x`, c.name))
		}
		all, differ, messages := 0, 0, 0
		var first []string
		for s := bufio.NewScanner(strings.NewReader(answers)); s.Scan(); all++ {
			in, want, _ := strings.Cut(s.Text(), "|")
			raw, err := hex.DecodeString(in)
			if err != nil {
				t.Fatal(err)
			}
			out, bad := c.convert(nil, raw)
			got := hex.EncodeToString(out)
			if bad != nil {
				got = bad.State + " " + bad.Message
			}
			if got == want {
				continue
			}
			if bad != nil && strings.Contains(want, " ") {
				messages++
			} else {
				differ++
			}
			if len(first) < 6 {
				first = append(first, fmt.Sprintf("%s: got %s, the server %s", in, got, want))
			}
		}
		if differ+messages > 0 {
			t.Errorf("%s: %d of %d differ, and %d in their refusal:\n%s", name, differ, all, messages, strings.Join(first, "\n"))
		}
	}
}
