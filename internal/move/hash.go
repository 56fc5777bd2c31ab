package move

import (
	"fmt"
	"strings"

	"github.com/pghaul/pghaul/internal/sqltext"
)

// The hash of a row is computed by the servers, as a sum over rows it does not depend on their order, and rows that are there twice
// count twice. What it is made of:
//
//   - hash_record_extended over a ROW of the small columns, because it costs 150 ns for four columns where the text of the row costs
//     350 ns (PostgreSQL 15, 2 million rows);
//   - hashtextextended over each column that can be long, with a seed of its own, so that no value is copied into a ROW: three values
//     of 1 GB would not fit in one;
//   - hashint4extended over both, since hash_record_extended adds up 31^k times each column's hash: a plain sum of it over the rows
//     would not change when two rows exchanged the values of one column.
//
// The functions are those of hash indexes and hash partitions (access/hash/hashfunc.c, common/hashfn.c) and give the same in
// PostgreSQL 14 to 18 on machines of the same byte order. A big-endian server and a little-endian one cannot be compared by hash.
// Two different rows have the same hash with a probability of 1 in 2^64.

const (
	// rowWidth is the number of values of one ROW; it can have at most 1664 (MaxTupleAttributeNumber).
	rowWidth = 100
	// longValue is the number of bytes or characters from which a value enters the ROW by its SHA-256 instead.
	longValue = 2000
	// rowSeed is the seed of the first ROW; columns have the seeds from 1 on.
	rowSeed = 100_000
	// nullStep is the odd number by whose multiples NULLs of different columns are told apart: 2^64 divided by the golden ratio.
	nullStep = 0x9E3779B97F4A7C15
)

// ingredient is what one column of one side adds to the hash of its row.
type ingredient struct {
	small []string // expressions of types with a hash function, for the ROW
	text  string   // an expression of type text, which may be long, or empty
}

// rowHash is the SQL expression, of type bigint and never NULL, for the hash of a row with the given columns.
func rowHash(columns []ingredient) string {
	var small, terms []string
	for i, c := range columns {
		small = append(small, c.small...)
		if c.text != "" {
			terms = append(terms, textHash(c.text, i+1))
		}
	}
	for n := 0; n*rowWidth < len(small); n++ {
		row := small[n*rowWidth : min((n+1)*rowWidth, len(small))]
		terms = append(terms, smallHash(row, rowSeed+n))
	}
	if len(terms) == 0 {
		return "0::bigint"
	}
	return "hashint4extended(0, " + exclusiveOr(terms) + ")"
}

// columnHash is the expression for the hash of a single column.
func columnHash(c ingredient) string { return rowHash([]ingredient{c}) }

// textHash has the value of a NULL depend on the column, as that of every other value does.
func textHash(text string, seed int) string {
	return fmt.Sprintf(`coalesce(hashtextextended(%s COLLATE "C", %d), '%d'::bigint)`, text, seed, int64(uint64(seed)*nullStep))
}

func smallHash(values []string, seed int) string {
	return fmt.Sprintf("hash_record_extended(ROW(%s), %d)", strings.Join(values, ", "), seed)
}

// exclusiveOr joins the terms as a balanced tree: 1600 of them in a row would nest 1600 deep.
func exclusiveOr(terms []string) string {
	if len(terms) == 1 {
		return terms[0]
	}
	half := len(terms) / 2
	return "(" + exclusiveOr(terms[:half]) + " # " + exclusiveOr(terms[half:]) + ")"
}

// bytesIngredient takes bytes into the ROW, long ones by their digest: a ROW is one value and ends at 1 GB.
func bytesIngredient(expression, length string) ingredient {
	return ingredient{small: []string{fmt.Sprintf("CASE WHEN %s <= %d THEN %s ELSE sha256(%s) END", length, longValue, expression, expression)}}
}

// ident is a column as it stands in the SQL of its server.
func ident(name string) string { return sqltext.QuoteIdent(name) }

// quoted is a string constant.
func quoted(s string) string { return sqltext.QuoteLiteral(s) }
