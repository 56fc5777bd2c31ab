package pghaul

import (
	"io"

	"github.com/pghaul/pghaul/internal/rowfile"
)

// Input says how files are written. The zero value leaves all of it to what the files show: Plan.Load.Input tells what was found.
type Input struct {
	// Format is "csv", "tsv", "text" (of COPY), "binary" (of COPY), "fixed", "ndjson" or "parquet". Compression is found by content in any
	// case: gzip, zstd, lz4, bzip2 and xz. Defaults to what the first file's bytes show.
	Format string

	// Delimiter stands between fields, one ASCII character. Defaults to what the file shows in CSV, and to a tab in text.
	Delimiter byte

	// Quote and Escape are those of CSV. Defaults to the double quote, and for Escape to Quote.
	Quote, Escape byte

	// Null is the text of NULL. Defaults to the unquoted empty string in CSV, and to \N in text.
	Null *string

	// ForceNull are columns where a quoted Null is NULL too, and ForceNotNull those where no text is NULL; "*" means all. Defaults to none.
	ForceNull, ForceNotNull []string

	// Header says whether the first line holds the fields' names: "auto", "yes", "no", or "match" where it must name the target's columns in
	// their order. Defaults to "auto", which takes a first line for a header when it names columns of the target.
	Header string

	// Encoding is the files' encoding, as PostgreSQL names it, or UTF16. Defaults to UTF8.
	Encoding string

	// Skip is the number of lines that are dropped at the start of each file, before its header. Defaults to 0.
	Skip int64

	// Limit is the number of rows read of each file. Defaults to all.
	Limit int64

	// Fixed are the fields of format "fixed", in order, as pg_bulkload's COL has them: "INTEGER(4)", "CHAR(10)", "VARCHAR(5+20) NULLIF 'none'".
	// Required there. FixedStride is the length of a record in bytes; it defaults to the end of the last field. With FixedLines each record is a
	// line, and its fields are text.
	Fixed       []string
	FixedStride int
	FixedLines  bool

	// Stdin is read for the file name "-". Defaults to no such input.
	Stdin io.Reader
}

// layout turns the options into what the reader takes.
func (in *Input) layout(c *complaints) rowfile.Layout {
	l := rowfile.Layout{
		Format: rowfile.Format(in.Format), Delimiter: in.Delimiter, Quote: in.Quote, Escape: in.Escape, Null: in.Null,
		ForceNull: in.ForceNull, ForceNotNull: in.ForceNotNull, Encoding: in.Encoding, Skip: in.Skip, Limit: in.Limit,
	}
	switch in.Header {
	case "", "auto":
	case "yes":
		l.Header = rowfile.WithHeader
	case "no":
		l.Header = rowfile.NoHeader
	case "match":
		l.Header = rowfile.MatchHeader
	default:
		c.add("no such header mode: \""+in.Header+"\"", "", `The modes are "auto", "yes", "no" and "match".`)
	}
	c.negative("the number of lines to skip", in.Skip)
	c.negative("the limit of rows", in.Limit)
	if len(in.Fixed) > 0 {
		var err error
		if l.Fixed.Fields, err = rowfile.ParseFixed(in.Fixed, false); err != nil {
			*c = append(*c, err)
		}
		l.Fixed.Stride, l.Fixed.Lines = in.FixedStride, in.FixedLines
	}
	return l
}
