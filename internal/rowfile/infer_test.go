package rowfile

import (
	"strings"
	"testing"
)

func TestInfer(t *testing.T) {
	cases := []struct {
		values string // of one column, a line each
		want   string
	}{
		{"true\nfalse\nTRUE", "boolean"},
		{"t\nf", "text"},
		{"1\n-2\n2147483647", "integer"},
		{"1\n2147483648", "bigint"},
		{"9223372036854775808", "numeric"},
		{"1\n2.50", "numeric"},
		{"007\n008", "text"},
		{"0\n10", "integer"},
		{"+1", "text"},
		{"-0", "double precision"},
		{"1e3\n2", "double precision"},
		{"NaN\n1.5", "double precision"},
		{"1e999", "text"},
		{"2024-02-29\n1999-12-31", "date"},
		{"2023-02-29", "text"},
		{"29.02.2024", "text"},
		{"2024-02-29 12:30\n2024-02-29T12:30:59.123456", "timestamp without time zone"},
		{"2024-02-29\n2024-02-29 12:30", "timestamp without time zone"},
		{"2024-02-29 12:30:00.1234567", "text"},
		{"2024-02-29 12:30:00Z\n2024-02-29 12:30+01\n2024-02-29 12:30:00-03:30", "timestamp with time zone"},
		{"2024-02-29 12:30Z\n2024-02-29 12:30", "text"},
		{"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\nA0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "uuid"},
		{"\"{\"\"a\"\": 1}\"\n[]", "jsonb"},
		{"\"{1,2}\"", "text"},
		{"x\n1", "text"},
	}
	for _, c := range cases {
		content := "x;v\n"
		for _, v := range strings.Split(c.values, "\n") {
			content += "1;" + v + "\n2;\n"
		}
		in := opened(t, nil, Layout{Format: CSV, Delimiter: ';', Header: WithHeader}, fileOf(t, "f", []byte(content)))
		got, err := in.Infer(t.Context(), 0)
		if err != nil {
			t.Fatalf("%q: %v", c.values, err)
		}
		mustEqual(t, c.values, got[1], Inferred{Name: "v", Type: c.want})
	}
}

func TestInferNames(t *testing.T) {
	in := opened(t, nil, Layout{}, fileOf(t, "f", []byte("1,x\n2,y\n")))
	got, err := in.Infer(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "columns", got, []Inferred{{"column1", "integer"}, {"column2", "text"}})
	in = opened(t, nil, Layout{}, fileOf(t, "f", []byte(`{"id":1,"code":"12","at":"2024-01-01","doc":{"a":1},"flag":true,"nothing":null}`)))
	if got, err = in.Infer(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	mustEqual(t, "columns", got, []Inferred{
		{"id", "integer"}, {"code", "text"}, {"at", "date"}, {"doc", "jsonb"}, {"flag", "boolean"}, {"nothing", "text"},
	})
	long := strings.Repeat("n", 63)
	in = opened(t, nil, Layout{Header: WithHeader, Format: CSV}, fileOf(t, "f", []byte(long+"a,"+long+"b\n1,2\n")))
	_, err = in.Infer(t.Context(), 0)
	mustFail(t, err, "the same name")
}

// TestInferOfStream looks at a stream twice and then reads all of it.
func TestInferOfStream(t *testing.T) {
	content, lines := someLines(40_000)
	in := opened(t, strings.NewReader(string(content)), Layout{Format: CSV, Header: NoHeader}, "-")
	for range 2 {
		got, err := in.Infer(t.Context(), 20_000)
		if err != nil {
			t.Fatal(err)
		}
		mustEqual(t, "columns", got, []Inferred{{"column1", "integer"}, {"column2", "text"}, {"column3", "text"}})
	}
	if rows := allRows(t, in); strings.Join(rows, "\n") != strings.Join(lines, "\n") {
		t.Errorf("%d rows, want %d equal ones", len(rows), len(lines))
	}
	_, err := in.Infer(t.Context(), 1)
	mustFail(t, err, "a second time")
}
