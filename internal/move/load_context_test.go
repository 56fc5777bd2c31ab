package move

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/planner"
)

func TestPlaceOf(t *testing.T) {
	t.Parallel()
	columns := []planner.LoadColumn{{Name: "a"}, {Name: "a b"}, {Name: "Zeile 7, Spalte x"}}
	for _, c := range []struct {
		relation, where string
		line            int64
		column          string
		value           bool
	}{
		{"t", "COPY t, line 3", 3, "", false},
		{"t", "COPY t, line 3, column a", 3, "a", true},
		{"t", `COPY t, line 12, column a b: "5"`, 12, "a b", true},
		{"t", `COPY t, line 12: "1 a: 5, 6"`, 12, "", false},
		{"t", "COPY t, line 4, column a: null input", 4, "a", true},
		{"t", "COPY t, line 4, column a: \"x\nCOPY t, line 99\"", 4, "a", true},
		{"t", "PL/pgSQL function f() line 3 at RAISE\nCOPY t, line 5", 5, "", false},
		{"t", "PL/pgSQL function f() line 3 at RAISE\nCOPY t, line 5, column a: \"1\"", 5, "a", false},
		{"t", `SQL statement "COPY t, line 9"` + "\nCOPY t, line 6", 6, "", false},
		{"t", "COPY tt, line 5", 0, "", false},
		{"t, line 8", "COPY t, line 8, line 2", 2, "", false},
		{"two\nlines 1", "COPY two\nlines 1, line 2", 2, "", false},
		{"t", "COPY t, Zeile 3, Spalte Zeile 7, Spalte x: »y«", 3, "Zeile 7, Spalte x", true},
		{"t", "COPY t, ligne 3, colonne a : « y »", 3, "a", true},
		{"t", "tのCOPY、行 3、列 a: \"y\"", 3, "a", true},
		{"t", "tのCOPY、行 3", 3, "", false},
		{"t", "t 복사, 3번째 줄, a 열: \"y\"", 3, "", true},
		{"t", "COPY t, 第 3 行, 列 a: \"y\"", 3, "", true},
		{"t", "", 0, "", false},
	} {
		at := placeOf(&pgconn.PgError{Code: "22P02", Where: c.where}, c.relation)
		if column := at.column(columns); at.line != c.line || column != c.column || at.value != c.value {
			t.Errorf("%q: line %d, column %q, of a value: %t", c.where, at.line, column, at.value)
		}
	}
}

func TestAboutRow(t *testing.T) {
	t.Parallel()
	plain, inLine, ofValue := copyPlace{}, copyPlace{line: 1}, copyPlace{line: 1, value: true}
	for _, c := range []struct {
		state, routine           string
		plain, inLine, whileRead bool
	}{
		{"22P02", "", true, true, true}, {"23503", "", true, true, true}, {"44000", "", true, true, true}, {"P0001", "", true, true, true},
		{"54000", "", true, true, true}, {"54011", "", false, false, false}, {"0A000", "", false, true, true}, {"39004", "", false, true, true},
		{"42601", "", false, false, true}, {"42883", "", false, false, true}, {"3F000", "", false, false, true}, {"42501", "", false, false, true},
		{"42501", "ExecWithCheckOptions", true, true, true}, {"XX000", "", false, false, true}, {"XX001", "", false, false, false},
		{"53100", "", false, false, false}, {"57014", "", false, false, false}, {"40P01", "", false, false, false}, {"", "", false, false, false},
	} {
		e := &pgconn.PgError{Code: c.state, Routine: c.routine}
		if a, b, d := plain.aboutRow(e), inLine.aboutRow(e), ofValue.aboutRow(e); a != c.plain || b != c.inLine || d != c.whileRead {
			t.Errorf("%s %s: %t, with a line %t, with a value %t", c.state, c.routine, a, b, d)
		}
	}
}
