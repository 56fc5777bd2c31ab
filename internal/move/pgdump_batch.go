package move

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// argumentBytes bounds the names on one command line. Systems take 128 kB and more; Windows, which takes 32 kB, has no such pg_dump.
const argumentBytes = 100_000

// ask gets the statements of all tables, by one call of pg_dump for each section, or several where the names are too many for one.
func (d *pgDump) ask(ctx context.Context, config *pgx.ConnConfig, dumped []*dumping) error {
	for _, batch := range dumpBatches(dumped, argumentBytes) {
		keys, owners := batch.relations()
		var before, after string
		both, bctx := errgroup.WithContext(ctx)
		both.Go(func() (err error) { before, err = d.run(bctx, config, "pre-data", keys); return err })
		both.Go(func() (err error) { after, err = d.run(bctx, config, "post-data", keys); return err })
		if err := both.Wait(); err != nil {
			return err
		}
		if err := owners.deal(before, func(d *dumping, s dumpStatement) { d.before = append(d.before, s) }); err != nil {
			return err
		}
		if err := owners.deal(after, func(d *dumping, s dumpStatement) { d.after = append(d.after, s) }); err != nil {
			return err
		}
	}
	return nil
}

// dumpBatch is what one call of pg_dump is asked about.
type dumpBatch []*dumping

// dumpBatches cuts a run into batches whose arguments have at most that many bytes. A table and its partitions stay together.
func dumpBatches(dumped []*dumping, limit int) []dumpBatch {
	var all []dumpBatch
	size := limit
	for _, d := range dumped {
		n := 0
		for _, key := range d.asked() {
			n += len(tableArgument(key)) + 1
		}
		if size += n; size > limit {
			all, size = append(all, nil), n
		}
		all[len(all)-1] = append(all[len(all)-1], d)
	}
	return all
}

// asked are the relations that pg_dump is to be asked about for the sake of one table. Indexes and sequences of a table come with it.
func (d *dumping) asked() []tableKey {
	var keys []tableKey
	for _, t := range d.tables {
		keys = append(keys, t.tableKey)
	}
	for _, u := range d.used {
		keys = append(keys, u.key)
	}
	return keys
}

// relations are those that are asked about, each once, and to which tables every name belongs: a partition that is copied by itself belongs
// to its parent too.
func (b dumpBatch) relations() ([]tableKey, dumpOwners) {
	var keys []tableKey
	asked := map[tableKey]bool{}
	owners := dumpOwners{of: map[tableKey][]*dumping{}, using: map[tableKey][]*usedSequence{}}
	for _, d := range b {
		for _, key := range d.asked() {
			if !asked[key] {
				asked[key] = true
				keys = append(keys, key)
			}
		}
		for _, key := range d.members() {
			owners.of[key] = append(owners.of[key], d)
		}
		for i := range d.used {
			key := d.used[i].key
			owners.using[key] = append(owners.using[key], &d.used[i])
		}
	}
	return keys, owners
}

// dumpOwners tells whose a relation is, and who uses a sequence that may be somebody else's.
type dumpOwners struct {
	of    map[tableKey][]*dumping
	using map[tableKey][]*usedSequence
}

func (o dumpOwners) known(key tableKey) bool { return len(o.of[key]) > 0 || len(o.using[key]) > 0 }

// deal gives each statement of a dump to the tables that it is for: those that own the first relation which it names. pg_dump qualifies all
// relations, and what it prints for a table names that table, or something of its own, before any other. Who only uses a sequence is given
// no more than its CREATE.
func (o dumpOwners) deal(text string, give func(*dumping, dumpStatement)) error {
	var last tableKey
	for _, s := range splitDump(text) {
		key := firstRelation(s.sql, o.known)
		if key.name == "" && !s.first { // What belongs to one entry stands together.
			key = last
		}
		if !o.known(key) {
			return unknownStatement(s.sql)
		}
		last = key
		for _, d := range o.of[key] {
			give(d, s)
		}
		if rest, ok := cutCreateSequence(s.sql); ok {
			for _, u := range o.using[key] {
				u.sql = "CREATE SEQUENCE IF NOT EXISTS " + rest
			}
		}
	}
	return nil
}

// cutCreateSequence cuts the words off. An unlogged sequence is made as a logged one, which PostgreSQL 14 knows too.
func cutCreateSequence(sql string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(sql, "CREATE SEQUENCE "); ok {
		return rest, ok
	}
	return strings.CutPrefix(sql, "CREATE UNLOGGED SEQUENCE ")
}
