package rowfile

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/pghaul/pghaul/internal/clustertest"
)

// jsonPieces are what random lines are made of: all kinds of token, whole and broken.
var jsonPieces = []string{
	"{", "}", "[", "]", ",", ":", `"a"`, `"b"`, `"a":`, `,"b":`, `{"a":`, "}", "1", "-0", "0.5", "1e5", "-1.5E-3", "01", "1.", "true", "false", "null", "nul",
	`""`, `"x\n\u00e9\"\\\/"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\u0000"`, `"\x"`, `"é"`, " ", "\t", "\r", "\"\x01\"", `"\`, `"`, "x",
	`{"a":[1,{"b":null}]}`, `[{"x":"]"},[]]`, `{}`, `"\u0061":`, "\xff",
}

// randomLine makes a line that is an object more often than chance would have it.
func randomLine(random *rand.Rand) string {
	var b strings.Builder
	value := func() {
		for range 1 + random.IntN(3)/2 {
			b.WriteString(jsonPieces[random.IntN(len(jsonPieces))])
		}
	}
	if random.IntN(4) == 0 {
		for range 1 + random.IntN(8) {
			value()
		}
		return b.String()
	}
	b.WriteString("{")
	for i := range random.IntN(4) {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString([]string{`"a":`, `"b" :`, `"\u0061":`, `"b":`}[random.IntN(4)])
		value()
	}
	b.WriteString("}")
	return b.String()
}

// serverRow is what the server's json type makes of a line: of equal keys the last.
func serverRow(ctx context.Context, conn *pgx.Conn, line string) (string, error) {
	values := map[string]string{"a": "~", "b": "~"}
	rows, err := conn.Query(ctx, "SELECT key, coalesce(value, '~') FROM json_each_text($1::text::json) WITH ORDINALITY ORDER BY ordinality", line)
	if err != nil {
		return "", err
	}
	var key, value string
	if _, err := pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		values[key] = value
		return nil
	}); err != nil {
		return "", err
	}
	// The type that most documents go to agrees on which lines are objects, and on their keys.
	var keys int
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM json_object_keys($1::text::json)", line).Scan(&keys); err != nil {
		return "", err
	}
	return values["a"] + "|" + values["b"], nil
}

// TestNDJSONAsServer holds the parser against the server's.
func TestNDJSONAsServer(t *testing.T) {
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, clustertest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	good := 0
	for range 4000 {
		line := randomLine(random)
		if isBlank([]byte(line)) {
			continue
		}
		got := parsedLine(t, line, []string{"a", "b"}, nil)
		want, err := serverRow(ctx, conn, line)
		if err == nil {
			good++
		}
		if (err == nil) == strings.HasPrefix(got, "!") && !strings.HasPrefix(got, "!22P04") || err == nil && got != want && !strings.HasPrefix(got, "!22P04") {
			t.Fatalf("seed %d, line %q: got %q, the server %q, %v", seed, line, got, want, err)
		}
		p := newNDJSONParser([]string{"a", "b"}, nil)
		_, bad := p.LargeFields(&Block{Large: &Large{Raw: strings.NewReader(line), Size: int64(len(line))}})
		if (bad != nil) != strings.HasPrefix(got, "!") {
			t.Fatalf("seed %d, line %q: got %q, as a large row %v", seed, line, got, bad)
		}
	}
	if good < 200 {
		t.Errorf("only %d lines were good", good)
	}
}

// TestNDJSONArraysAsServer: arrays of JSON become the arrays that the server makes of the same elements.
func TestNDJSONArraysAsServer(t *testing.T) {
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, clustertest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, array := range []string{
		`[]`, `["a","b\"c\\d",null,"","NULL","{x}","é, \n"]`, `[1,-2.5,null]`, `[true,false]`, `[{"a":[1,2]},{"b":"x\"y"}]`,
	} {
		got := parsedLine(t, `{"a":`+array+`}`, []string{"a"}, []byte{','})
		var equal bool
		query := "SELECT $1::text::text[] = ARRAY(SELECT json_array_elements_text($2::text::json))"
		if err := conn.QueryRow(ctx, query, got, array).Scan(&equal); err != nil || !equal {
			t.Errorf("%s: %s, equal %v, error %v", array, got, equal, err)
		}
	}
}

// TestInferredTypesLoad: each type that is inferred takes the values that it was inferred from without changing them.
func TestInferredTypesHold(t *testing.T) {
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, clustertest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	random := rand.New(rand.NewPCG(rand.Uint64(), 0))
	pieces := []string{"1", "0", "-", "+", ".", "e", "9999999999", "2024", "-02-", "29", " ", "T", "12:30", ":59", ".123456", "Z", "+01", "00", "true", "NaN", "{", "}", `"a"`, ":", "[]", "x"}
	typed := 0
	for range 6000 {
		value := ""
		for range 1 + random.IntN(5) {
			value += pieces[random.IntN(len(pieces))]
		}
		g := guess{}
		g.see([]byte(value), 0)
		if g.pgType() == "text" {
			continue
		}
		typed++
		var text string
		if err := conn.QueryRow(ctx, fmt.Sprintf("SELECT $1::text::%s::text", g.pgType()), value).Scan(&text); err != nil {
			t.Errorf("%q as %s: %v", value, g.pgType(), err)
		}
		switch g.pgType() {
		case "integer", "bigint", "numeric", "date":
			mustEqual(t, g.pgType(), text, value)
		}
	}
	if typed < 100 {
		t.Errorf("only %d values had a type", typed)
	}
}
