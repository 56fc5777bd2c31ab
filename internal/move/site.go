package move

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pghaul/pghaul/internal/catalog"
	"github.com/pghaul/pghaul/planner"
)

// site is one database that a run reads from or writes to, with the sessions that are open to it.
type site struct {
	config *pgx.ConnConfig
	server planner.Server
	// directory is set for a data directory that is read without a server. It has no sessions and no snapshots.
	directory *directory
	lock      sync.Mutex
	idle      map[string][]*session // by client encoding
	pids      map[uint32]bool       // of the sessions that are open
}

// newSite returns a site without sessions.
func newSite(config *pgx.ConnConfig, server planner.Server) *site {
	return &site{config: config, server: server, idle: map[string][]*session{}, pids: map[uint32]bool{}}
}

// take returns an idle session or opens one.
func (s *site) take(ctx context.Context, encoding string) (*session, error) {
	s.lock.Lock()
	if free := s.idle[encoding]; len(free) > 0 {
		last := free[len(free)-1]
		s.idle[encoding] = free[:len(free)-1]
		s.lock.Unlock()
		return last, nil
	}
	s.lock.Unlock()
	return s.fresh(ctx, encoding)
}

// fresh opens a session, where an idle one might be in a transaction.
func (s *site) fresh(ctx context.Context, encoding string) (*session, error) {
	opened, err := openSession(ctx, s.config, encoding, s.server.Address)
	if err != nil {
		return nil, err
	}
	opened.pooled = s.server.Pooled
	s.lock.Lock()
	s.pids[opened.pid()] = true
	s.lock.Unlock()
	return opened, nil
}

// adopt makes an open connection with the settings of encoding an idle session of the site.
func (s *site) adopt(encoding string, conn *pgconn.PgConn) {
	opened := &session{conn: conn, address: s.server.Address, pooled: s.server.Pooled}
	s.lock.Lock()
	s.pids[opened.pid()] = true
	s.lock.Unlock()
	s.give(encoding, opened)
}

// give takes a session back for others to use.
func (s *site) give(encoding string, free *session) {
	if free.broken() {
		s.drop(free)
		return
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.idle[encoding] = append(s.idle[encoding], free)
}

// drop closes a session whose state is not known any more.
func (s *site) drop(lost *session) {
	lost.close()
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.pids, lost.pid())
}

// open lists the backends of the sessions that are open.
func (s *site) open() []uint32 {
	s.lock.Lock()
	defer s.lock.Unlock()
	pids := make([]uint32, 0, len(s.pids))
	for pid := range s.pids {
		pids = append(pids, pid)
	}
	return pids
}

// close closes the idle sessions.
func (s *site) close() {
	s.lock.Lock()
	idle := s.idle
	s.idle = map[string][]*session{}
	s.lock.Unlock()
	for _, sessions := range idle {
		for _, each := range sessions {
			each.close()
		}
	}
}

// snapshot is one view of a source database that all of a run's sessions there share.
type snapshot struct {
	site     *site
	encoding string
	names    namePath
	holder   *session // exported it and keeps it alive; nil once lent for good
	id       string   // what pg_export_snapshot returned; empty when the holder is the only one to read
	text     string   // pg_current_snapshot(), to tell later which rows it did not show
	running  string   // see record
	listed   string
}

// takeSnapshot begins a read-only transaction, locks the given tables against being changed in shape, truncated or dropped, and takes a
// snapshot, which is exported when several sessions will read. The locks come first: a TRUNCATE between a snapshot and its lock would
// show an empty table.
func takeSnapshot(ctx context.Context, s *site, encoding string, names namePath, tables []string, export bool) (*snapshot, error) {
	holder, err := s.take(ctx, encoding)
	if err != nil {
		return nil, err
	}
	snap := &snapshot{site: s, encoding: encoding, names: names, holder: holder}
	err = snap.begin(ctx, tables, export)
	if hasState(err, stateNoPrivilege) {
		err = snap.beginByReading(ctx, tables, export)
	}
	if err != nil {
		s.drop(holder)
		return nil, fmt.Errorf("take a snapshot on %s: %w", s.server.Address, err)
	}
	return snap, nil
}

func (n *snapshot) begin(ctx context.Context, tables []string, export bool) error {
	if err := n.listRunning(ctx); err != nil {
		return err
	}
	if _, err := n.holder.exec(ctx, beginLocking); err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := n.holder.exec(ctx, "LOCK TABLE "+table+" IN ACCESS SHARE MODE"); err != nil {
			return err
		}
	}
	return n.look(ctx, export)
}

// beginByReading is begin for a role that may read some columns only: LOCK TABLE wants a privilege on the whole table, a SELECT of no
// column on any of them. The SELECT takes its snapshot before its lock, so a table that was rewritten in between is noticed by its file.
func (n *snapshot) beginByReading(ctx context.Context, tables []string, export bool) error {
	const attempts = 5
	for range attempts {
		if _, err := n.holder.exec(ctx, "ROLLBACK"); err != nil {
			return err
		}
		if _, err := n.holder.exec(ctx, beginLocking); err != nil {
			return err
		}
		var names []string
		for _, table := range tables {
			if _, err := n.holder.exec(ctx, "SELECT FROM "+table+" LIMIT 0"); err != nil {
				return err
			}
			names = append(names, quoted(table)+"::pg_catalog.regclass")
		}
		rewritten, err := n.holder.value(ctx, `SELECT pg_catalog.count(*) FROM pg_catalog.pg_class AS c WHERE c.relfilenode <> 0
AND c.relfilenode IS DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid) AND c.oid IN (SELECT t FROM pg_catalog.unnest(ARRAY[`+
			strings.Join(names, ", ")+`]::pg_catalog.regclass[]) AS r(root), pg_catalog.pg_partition_tree(root) AS p(t)
UNION SELECT t FROM pg_catalog.unnest(ARRAY[`+strings.Join(names, ", ")+`]::pg_catalog.regclass[]) AS r(t))`)
		if err != nil {
			return err
		}
		if rewritten == "0" {
			return n.look(ctx, export)
		}
	}
	return &planner.Error{Message: "the tables of the source are truncated or rewritten again and again",
		Hint: "Copy when that is over, or as a role with the SELECT privilege on the whole table."}
}

// look makes the settings and notes the snapshot.
func (n *snapshot) look(ctx context.Context, export bool) error {
	_, err := n.holder.exec(ctx, catalog.LocalSettings(n.encoding)+string(n.names))
	if err != nil {
		return err
	}
	if n.text, err = n.holder.value(ctx, "SELECT pg_catalog.pg_current_snapshot()"); err != nil {
		return err
	}
	if export {
		n.id, err = n.holder.value(ctx, "SELECT pg_catalog.pg_export_snapshot()")
	}
	return err
}

// listRunning lists what is on the way before the snapshot is taken: each transaction and subtransaction with an ID holds a lock on it.
func (n *snapshot) listRunning(ctx context.Context) error {
	if n.site.server.Standby {
		return nil
	}
	rows, err := n.holder.table(ctx, "SELECT pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()), pg_catalog.string_agg(transactionid::text, ',') "+
		"FROM pg_catalog.pg_locks WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted")
	if err != nil || len(rows) == 0 {
		return err
	}
	n.listed, n.running = rows[0][0], rows[0][1]
	return nil
}

// reader returns a session that sees the snapshot.
func (n *snapshot) reader(ctx context.Context) (*session, error) {
	if n.id == "" {
		if n.holder == nil {
			return nil, errSnapshotLost
		}
		return n.holder, nil
	}
	s, err := n.site.take(ctx, n.encoding)
	if err != nil || s.conn.TxStatus() != 'I' { // one that is in a transaction has the snapshot already
		return s, err
	}
	if _, err := s.exec(ctx, beginRead(n.encoding, n.id, n.names)); err != nil {
		n.site.drop(s)
		return nil, importFailed(err, n.site.server)
	}
	return s, nil
}

// release takes a reader back. One that failed is closed, and with it a snapshot that was not exported.
func (n *snapshot) release(s *session, failed bool) {
	switch {
	case !failed && n.id != "":
		n.site.give(n.encoding, s)
	case failed:
		if s == n.holder {
			n.holder = nil
		}
		n.site.drop(s)
	}
}

// end gives the snapshot up.
func (n *snapshot) end() {
	if n.holder != nil {
		n.site.drop(n.holder)
		n.holder = nil
	}
}
