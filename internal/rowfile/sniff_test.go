package rowfile

import (
	"slices"
	"strings"
	"testing"
)

func TestSniff(t *testing.T) {
	wide := func(s string) string { return "\xff\xfe" + string(appendUTF16(nil, []byte(s), false)) }
	tests := []struct {
		name, head string
		spec       Layout
		want       Layout
		fails      string
	}{
		{"commas", "1,2\n3,4\n", Layout{}, Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF}, ""},
		{"semicolons, with commas in numbers", "a;1,5;2,5\r\nb;2,5;3,5\r\nc;1,5,5;1\r\n", Layout{}, Layout{Format: CSV, Delimiter: ';', Width: 3, Ends: EndCRLF}, ""},
		{"the target's width decides", "1;2;9,3\n4;5;9,6\n", Layout{Columns: []string{"a", "b"}}, Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF}, ""},
		{"tabs", "1\t2\n3\t4\n", Layout{}, Layout{Format: CSV, Delimiter: '\t', Width: 2, Ends: EndLF}, ""},
		{"delimiters in quotes", "\"a;b;c\",1\n\"a;b;c\",2\n", Layout{}, Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF}, ""},
		{"a first row unlike the others", "garbage\n1,x,2\n2,y,3\n", Layout{Columns: []string{"a", "b", "c"}}, Layout{Format: CSV, Delimiter: ',', Width: 3, Ends: EndLF}, ""},
		{"one column", "abc\ndef\n", Layout{}, Layout{Format: CSV, Delimiter: ',', Width: 1, Ends: EndLF}, ""},
		{"COPY text by its NULLs", "1\t\\N\n2\tx\n", Layout{}, Layout{Format: Text, Delimiter: '\t', Width: 2, Ends: EndLF}, ""},
		{"COPY text by its escapes", "1\ta\\nb\n2\tx\n", Layout{}, Layout{Format: Text, Delimiter: '\t', Width: 2, Ends: EndLF}, ""},
		{"CSV with backslashes", "1\t\"a\\nb\"\n2\tx\n", Layout{}, Layout{Format: CSV, Delimiter: '\t', Width: 2, Ends: EndLF}, ""},
		{"JSON", " {\"a\": 1}\n", Layout{}, Layout{Format: NDJSON}, ""},
		{"an array of objects", "[\n {\"a\": 1},\n {\"a\": 2}]\n", Layout{}, Layout{Format: NDJSON}, ""},
		{"an array is no JSON", "{1,2},x\n{3},y\n", Layout{}, Layout{Format: CSV, Delimiter: ',', Width: 3, Ends: EndLF}, ""},
		{"Parquet", "PAR1\x15\x00", Layout{}, Layout{Format: Parquet}, ""},
		{"COPY binary", "PGCOPY\n\xff\r\n\x00\x00\x00", Layout{}, Layout{Format: Binary}, ""},
		{"junk", "\x7fELF\x02\x01\x00\x00\x00", Layout{}, Layout{}, "this is not a text file"},
		{"a header of known columns", "ID,name\n1,x\n", Layout{Columns: []string{"id", "name", "age"}},
			Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF, Header: WithHeader, Names: []string{"ID", "name"}, Lead: []byte("ID,name\n")}, ""},
		{"a header with a misspelt name", "id,naam\n1,x\n", Layout{Columns: []string{"id", "name"}},
			Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF, Header: WithHeader, Names: []string{"id", "naam"}, Lead: []byte("id,naam\n")}, ""},
		{"no header", "x,y\n1,z\n", Layout{Columns: []string{"id", "name"}}, Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF}, ""},
		{"a header above numbers", "id,first name\n1,x\n2,y\n", Layout{},
			Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF, Header: WithHeader, Names: []string{"id", "first name"}, Lead: []byte("id,first name\n")}, ""},
		{"text above text", "x,y\nz,w\n", Layout{}, Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF}, ""},
		{"the header twice", "a,a\n1,2\n", Layout{Header: WithHeader}, Layout{}, `the header has the name "a" twice, in fields 1 and 2`},
		{"a header without a name", "a,,b\n1,2,3\n", Layout{Header: WithHeader}, Layout{}, "the header has no name for field 2"},
		{"a quoted header of two lines", "\"a\nb\",c\n1,2\n", Layout{Header: WithHeader},
			Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF, Header: WithHeader, Names: []string{"a\nb", "c"}, Lead: []byte("\"a\nb\",c\n")}, ""},
		{"skipped lines", "# it's; one; two\n# b\na,b\n1,2\n", Layout{Skip: 2, Header: WithHeader, Format: CSV},
			Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF, Header: WithHeader, Names: []string{"a", "b"}, Lead: []byte("a,b\n")}, ""},
		{"UTF-16", wide("a,ä\n1,2\n"), Layout{Header: WithHeader},
			Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF, Header: WithHeader, Names: []string{"a", "ä"}, Encoding: utf16LE, Lead: []byte(wide("a,ä\n"))}, ""},
		{"LATIN1", "a,\xe4\n1,2\n", Layout{Header: WithHeader, Encoding: "latin-1"},
			Layout{Format: CSV, Delimiter: ',', Width: 2, Ends: EndLF, Header: WithHeader, Names: []string{"a", "ä"}, Encoding: "LATIN1", Lead: []byte("a,\xe4\n")}, ""},
		{"an unknown encoding", "a\n", Layout{Encoding: "EUC_TW"}, Layout{}, `encoding "EUC_TW" cannot be read`},
		{"a NULL with the delimiter", "a\n", Layout{Format: CSV, Null: null("x,")}, Layout{}, "COPY delimiter character must not appear in the NULL specification"},
		{"a letter for a delimiter", "a\n", Layout{Format: Text, Delimiter: 'x'}, Layout{}, `COPY delimiter cannot be "x"`},
		{"the quote for a delimiter", "a\n", Layout{Format: CSV, Delimiter: '"'}, Layout{}, "COPY delimiter and quote must be different"},
		{"nothing", "", Layout{Columns: []string{"a"}}, Layout{Format: CSV, Delimiter: ','}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := sniff([]byte(tt.head), true, tt.spec)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("got error %v, want %q", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if got.Format != want.Format || got.Width != want.Width || got.Ends != want.Ends || !slices.Equal(got.Names, want.Names) ||
				string(got.Lead) != string(want.Lead) || got.hasHeader() != want.hasHeader() || want.Delimiter != 0 && got.Delimiter != want.Delimiter ||
				want.Encoding != "" && got.Encoding != want.Encoding {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestCheckHeader(t *testing.T) {
	for _, tt := range []struct{ names, want string }{
		{"a,b", ""}, {"a", "wrong number of fields in header line: got 1, expected 2"},
		{"a,c", `column name mismatch in header line field 2: got "c", expected "b"`},
	} {
		err := CheckHeader(strings.Split(tt.names, ","), []string{"a", "b"})
		if err == nil && tt.want != "" || err != nil && err.Error() != tt.want {
			t.Errorf("%s: got %v, want %q", tt.names, err, tt.want)
		}
	}
}

func TestCheckForced(t *testing.T) {
	tests := []struct {
		name  string
		l     Layout
		fails string
	}{
		{"columns", Layout{Format: CSV, ForceNull: []string{"a"}, ForceNotNull: []string{"b"}}, ""},
		{"all", Layout{Format: TSV, ForceNull: []string{"*"}}, ""},
		{"a field's name", Layout{Format: CSV, Names: []string{"A"}, ForceNull: []string{"A"}}, ""},
		{"no column", Layout{Format: CSV, ForceNull: []string{"a", "x"}}, `FORCE_NULL column "x" is not loaded`},
		{"no column not null", Layout{Format: CSV, ForceNotNull: []string{"y"}}, `FORCE_NOT_NULL column "y" is not loaded`},
		{"no quotes", Layout{Format: Text, ForceNull: []string{"a"}}, "FORCE_NULL and FORCE_NOT_NULL are for CSV"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.l.CheckForced([]string{"a", "b", ""})
			if tt.fails == "" && err != nil || tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)) {
				t.Errorf("got error %v, want %q", err, tt.fails)
			}
		})
	}
}
