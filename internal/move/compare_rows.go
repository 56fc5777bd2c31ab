package move

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

const (
	// namedRanges is how many differing ranges are looked at row by row, and namedKeys how many rows of each are told.
	namedRanges = 3
	namedKeys   = 5
	// keptKeys is how many differing rows of a range are kept to choose the smallest keys from.
	keptKeys = 1000
	// rowsToName is the number of rows beyond which a range is not looked at row by row: the server would sort for minutes.
	rowsToName = 5_000_000
	// shownColumns is how many columns stand for a row that has no key.
	shownColumns = 4
)

// rowDifference is a key whose rows are not the same on both sides.
type rowDifference struct {
	bucket int
	key    int64 // hash of the key, or of the row
	name   string
	counts [2]int // rows with this key
	// unequal: one row on each side, of different hash.
	unequal bool
	columns []string // which columns are unequal
}

// nameRows looks at the first differing ranges row by row. numbers are those of c.result.Different.
func (c *comparison) nameRows(ctx context.Context, numbers []int) error {
	var chosen []int
	for i, n := range numbers {
		d := &c.result.Different[i]
		switch {
		case len(c.buckets.key) == 0 && (c.result.Level == VerifyCount || len(c.forms) == 0):
			// Nothing tells one row from another.
		case d.SourceRows > rowsToName || d.TargetRows > rowsToName:
			c.result.Notes = append(c.result.Notes, fmt.Sprintf("The rows of %s are too many to be looked at one by one.", d.Range))
		case len(chosen) < namedRanges:
			chosen = append(chosen, n)
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	found, err := c.mergeRows(ctx, chosen)
	if err != nil {
		return err
	}
	var told []*rowDifference
	for _, n := range numbers {
		rows := found[n]
		slices.SortFunc(rows, func(a, b *rowDifference) int { return compareNames(a.name, b.name) })
		found[n] = rows[:min(namedKeys, len(rows))]
		told = append(told, found[n]...)
	}
	if err := c.nameColumns(ctx, told); err != nil {
		return err
	}
	for i, n := range numbers {
		for _, r := range found[n] {
			c.result.Different[i].Keys = append(c.result.Different[i].Keys, r.String())
		}
	}
	return nil
}

// compareNames orders "id=9" before "id=10".
func compareNames(a, b string) int {
	_, x, _ := strings.Cut(a, "=")
	_, y, _ := strings.Cut(b, "=")
	m, errM := strconv.ParseInt(x, 10, 64)
	n, errN := strconv.ParseInt(y, 10, 64)
	if errM == nil && errN == nil {
		return cmp.Compare(m, n)
	}
	return cmp.Compare(a, b)
}

// String tells the difference in words.
func (r *rowDifference) String() string {
	switch {
	case r.unequal && len(r.columns) > 0:
		return r.name + ": different in " + strings.Join(r.columns, ", ")
	case r.unequal:
		return r.name + ": different"
	case r.counts[1] == 0 && r.counts[0] == 1:
		return r.name + ": missing in the target"
	case r.counts[0] == 0 && r.counts[1] == 1:
		return r.name + ": only in the target"
	case r.counts[0] == r.counts[1]:
		return fmt.Sprintf("%s: the %d rows are different", r.name, r.counts[0])
	default:
		return fmt.Sprintf("%s: %d in the source, %d in the target", r.name, r.counts[0], r.counts[1])
	}
}

// mergeRows reads the rows of the given ranges from both sides in the order of their hashes, side by side, so that memory does not depend on
// their number.
func (c *comparison) mergeRows(ctx context.Context, numbers []int) (map[int][]*rowDifference, error) {
	var lists [2]*rowList
	group, starting := errgroup.WithContext(ctx)
	for i := range lists {
		group.Go(func() error {
			if err := context.Cause(starting); err != nil {
				return err
			}
			stream, err := c.sides[i].sessions[0].copyOut(ctx, c.rowsStatement(i, numbers))
			if err != nil {
				return fmt.Errorf("read rows of %s: %w", c.sides[i].name, err)
			}
			lists[i] = &rowList{stream: stream, side: c.sides[i].name}
			return lists[i].advance()
		})
	}
	err := group.Wait()
	found := map[int][]*rowDifference{}
	if err == nil {
		err = mergeLists(lists[0], lists[1], found)
	}
	for _, l := range lists {
		if l != nil {
			err = errors.Join(err, l.stream.close())
		}
	}
	return found, err
}

// rowsStatement reads number of the range, hash of the key, hash of the row, and name of the row.
func (c *comparison) rowsStatement(i int, numbers []int) string {
	s := c.sides[i]
	return fmt.Sprintf("COPY (SELECT %s, %s, %s, %s FROM %s%s ORDER BY 1, 2, 3) TO STDOUT",
		c.buckets.number(s.side, c.keyHash[i], c.rowHash[i]), c.keyHash[i], c.rowHash[i], c.rowName(i), s.from(),
		s.filter(c.buckets.condition(s.side, numbers, c.keyHash[i], c.rowHash[i])))
}

// rowName is the expression for the name of a row: "id=5", or "(a, b)=(1, x)" for several key columns, or the first values of a row without key.
func (c *comparison) rowName(i int) string {
	s := c.sides[i].side
	columns := c.buckets.key
	cut := 200
	if len(columns) == 0 {
		cut = 40
		for n, f := range c.forms {
			// Long bytes have no text: twice their size can be more than a text can hold.
			if !strings.Contains(strings.Join(f.of(i).small, " "), "sha256") && len(columns) < shownColumns {
				columns = append(columns, n)
			}
		}
	}
	var names, values []string
	for _, n := range columns {
		names = append(names, ident(c.sides[0].columns[n].Name))
		values = append(values, fmt.Sprintf("coalesce(left(%s, %d), 'NULL')", outputText(baseType(s.columns[n].Type), ident(s.columns[n].RealName())), cut))
	}
	joined := "concat_ws(', ', " + strings.Join(append(values, "NULL"), ", ") + ")"
	switch {
	case len(c.buckets.key) == 1:
		return quoted(names[0]+"=") + " || " + joined
	case len(c.buckets.key) > 1:
		return quoted("("+strings.Join(names, ", ")+")=(") + " || " + joined + " || ')'"
	default:
		return "'row (' || " + joined + " || ')'"
	}
}

// listedRow is one line of a rowList.
type listedRow struct {
	bucket   int
	key, row int64
	name     string
}

// order is the order in which both servers send rows.
func (r listedRow) order(o listedRow) int {
	return cmp.Or(cmp.Compare(r.bucket, o.bucket), cmp.Compare(r.key, o.key), cmp.Compare(r.row, o.row))
}

func (r listedRow) sameKey(o listedRow) bool { return r.bucket == o.bucket && r.key == o.key }

// rowList is a stream of listed rows, of which one is seen at a time.
type rowList struct {
	stream *copyOut
	side   string
	rest   []byte // bytes read behind the row
	row    listedRow
	ended  bool
}

// advance reads the next row.
func (l *rowList) advance() error {
	for {
		if line, rest, found := bytes.Cut(l.rest, []byte{'\n'}); found {
			l.rest = rest
			row, err := parseListedRow(line)
			l.row = row
			return err
		}
		piece, err := l.stream.next()
		if errors.Is(err, io.EOF) {
			l.ended = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("read rows of %s: %w", l.side, err)
		}
		l.rest = append(slices.Clip(l.rest), piece...)
	}
}

func parseListedRow(line []byte) (listedRow, error) {
	fields := strings.SplitN(string(line), "\t", 4)
	if len(fields) != 4 {
		return listedRow{}, fmt.Errorf("listed row has %d fields instead of 4", len(fields))
	}
	bucket, err := strconv.Atoi(fields[0])
	key, errKey := strconv.ParseInt(fields[1], 10, 64)
	row, errRow := strconv.ParseInt(fields[2], 10, 64)
	return listedRow{bucket: bucket, key: key, row: row, name: fields[3]}, errors.Join(err, errKey, errRow)
}

// mergeLists goes through both lists at once, one key after the other.
func mergeLists(source, target *rowList, found map[int][]*rowDifference) error {
	lists := [2]*rowList{source, target}
	for !source.ended || !target.ended {
		first := source.row
		if source.ended || (!target.ended && target.row.order(first) < 0) {
			first = target.row
		}
		d := &rowDifference{bucket: first.bucket, key: first.key, name: first.name}
		equal, err := mergeKey(lists, first, d)
		if err != nil {
			return err
		}
		if !equal && len(found[d.bucket]) < keptKeys {
			d.unequal = d.counts == [2]int{1, 1}
			found[d.bucket] = append(found[d.bucket], d)
		}
	}
	return nil
}

// mergeKey reads all rows of one key from both lists and reports whether they are the same, those that are there several times included.
func mergeKey(lists [2]*rowList, first listedRow, d *rowDifference) (bool, error) {
	equal := true
	for {
		var has [2]bool
		for i, l := range lists {
			has[i] = !l.ended && l.row.sameKey(first)
		}
		if !has[0] && !has[1] {
			return equal, nil
		}
		if has[0] && has[1] {
			order := lists[0].row.order(lists[1].row)
			has[0], has[1] = order <= 0, order >= 0
		}
		equal = equal && has[0] && has[1]
		for i, l := range lists {
			if !has[i] {
				continue
			}
			d.counts[i]++
			if err := l.advance(); err != nil {
				return false, err
			}
		}
	}
}

// nameColumns finds the columns in which the told rows differ.
func (c *comparison) nameColumns(ctx context.Context, told []*rowDifference) error {
	var numbers []int
	var keys []string
	byKey := map[int64]*rowDifference{}
	for _, r := range told {
		if r.unequal {
			numbers = append(numbers, r.bucket)
			keys = append(keys, fmt.Sprintf("'%d'", r.key))
			byKey[r.key] = r
		}
	}
	if len(keys) == 0 || c.result.Level != VerifyHash {
		return nil
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	hashes := [2]map[int64][]string{{}, {}}
	for i, s := range c.sides {
		columns := []string{c.keyHash[i]}
		for _, f := range c.forms {
			columns = append(columns, columnHash(f.of(i)))
		}
		rows, err := s.sessions[0].table(ctx, fmt.Sprintf("SELECT %s FROM %s%s", strings.Join(columns, ", "), s.from(),
			s.filter(c.buckets.condition(s.side, numbers, c.keyHash[i], c.rowHash[i]), c.keyHash[i]+" IN ("+strings.Join(keys, ", ")+")")))
		if err != nil {
			return fmt.Errorf("read differing rows of %s: %w", s.name, err)
		}
		for _, r := range rows {
			key, err := strconv.ParseInt(r[0], 10, 64)
			if err != nil {
				return fmt.Errorf("read differing rows of %s: %w", s.name, err)
			}
			hashes[i][key] = r[1:]
		}
	}
	for key, d := range byKey {
		for n := range c.forms {
			if a, b := hashes[0][key], hashes[1][key]; n < len(a) && n < len(b) && a[n] != b[n] {
				d.columns = append(d.columns, ident(c.sides[0].columns[n].Name))
			}
		}
	}
	return nil
}
