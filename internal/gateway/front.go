package gateway

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pghaul/pghaul/internal/encode"
	"github.com/pghaul/pghaul/internal/sqltext"
	"github.com/pghaul/pghaul/internal/wire"
)

const (
	// lookLimit is the largest message that front looks at, in bytes. Larger ones pass.
	lookLimit = 8 << 20

	// holdLimit is how much of a group of messages is held until its Sync comes, in bytes.
	holdLimit = 16 << 20

	// holdTime is how long a group is held whose Sync does not come: its client may wait for what the server does with it.
	holdTime = 20 * time.Millisecond

	// settleTime is how long a unit waits for the answers to what was sent before it. After that it passes.
	settleTime = time.Second

	// mostStatements and mostText bound the prepared statements that a session's front remembers, in number and in bytes.
	mostStatements = 10000
	mostText       = 4 << 20
)

// errSessionEnded leaves it to back to tell the client why.
var errSessionEnded = &relayError{direction: toTheServer, cause: errors.New("the server has closed the session")}

// accel turns a session's INSERTs into COPY. All but owes and settings belong to whoever holds turn: front while it deals with
// what it has read, else the timer or a cancel request, which only ever try to get it.
type accel struct {
	s        *session
	owes     *expectations
	settings settings
	start    Mode // that RESET returns to

	turn  sync.Mutex
	mine  bool // front holds turn; front's own
	timer *time.Timer
	armed bool
	gone  atomic.Bool // the server's direction has ended

	turns, turnsThen uint64 // of front that left something open, now and when the timer was set

	readyNow bool    // back's: a ReadyForQuery is not written yet
	ended    *errand // back's: it has its last message

	mode       Mode
	loose      bool // messages of the extended protocol have gone to the server, and no Sync behind them
	group      group
	stream     *stream
	cancel     mark
	doom       *doom
	skipping   bool // of a group whose first message got the doom
	ends       bool // the skipped group would have ended the transaction
	statements map[string]*statement
	remembered int // bytes of their texts
	block      block
	cache      map[string]*facts // to be checked by each unit or block
	checking   bool              // the statement checkName is prepared
	unnesting  string            // the text of the prepared statement unnestName
	given      []byte            // body of the last Parse of the unnamed statement that the server has got
	refused    map[string]refusal
	work       rows
	spare      []byte // buffer of the last stream
	said       []byte // buffer of answers
	broken     error

	seen     int64 // version of settings
	lex      sqltext.LexOptions
	encoding encode.Settings
	utf8     bool
}

// block is what is known while a transaction block lasts.
type block struct {
	locked map[string]lock // INSERTs have gone to the server: their lock keeps the table as it is
	facts  map[string]*facts
}

func (b *block) clear() {
	if len(b.locked) > 0 {
		clear(b.locked)
	}
	if len(b.facts) > 0 {
		clear(b.facts)
	}
}

// statement is a prepared INSERT, or a statement that ends a transaction.
type statement struct {
	name   string
	sql    []byte
	oids   []uint32 // as declared
	word   string   // how it begins
	insert *sqltext.Insert
	typed  bool // types are known
	types  []uint32

	facts  *facts // target and reason are of these
	target *target
	reason string
	inText bool  // a value had no binary form
	mixed  bool  // nor would text do
	seen   int64 // version of the settings under which it was read
}

// accelerate adds acceleration to a session. Sessions of replication are not looked at.
func accelerate(s *session) *hooks {
	if _, replication := s.params["replication"]; replication {
		return nil
	}
	a := &accel{
		s: s, owes: newExpectations(), settings: settings{values: map[string]string{}}, seen: -1,
		start: startMode(s.params, s.gateway.config.Mode), statements: map[string]*statement{}, cache: map[string]*facts{},
		refused: map[string]refusal{},
		block:   block{locked: map[string]lock{}, facts: map[string]*facts{}},
	}
	a.mode = a.start
	s.counts.SetMode(a.mode.String())
	return &hooks{front: &frontHook{a}, back: &backHook{a}, cancelled: a.cancelled, ended: a.leave}
}

// frontHook sees what the client sends.
type frontHook struct{ *accel }

func (f *frontHook) wants(kind byte, length int) verdict {
	a := f.accel
	a.begin()
	busy := a.busy()
	if length > lookLimit {
		return a.large(kind, busy)
	}
	switch kind {
	case wire.TypeQuery:
		return whole
	case wire.TypeParse:
		if busy || a.mode != Off {
			return whole
		}
		a.given = nil
	case wire.TypeBind, wire.TypeClose:
		if busy || a.mode != Off && len(a.statements) > 0 {
			return whole
		}
	}
	if busy {
		return whole
	}
	a.note(kind)
	return pass
}

// begin makes the accel front's own until quiet.
func (a *accel) begin() {
	if !a.mine {
		a.turn.Lock()
		a.mine = true
	}
}

// send writes to the server. The cutter is front's, who may already be filling it while another has the turn; what it has
// then was decided before, and is written.
func (a *accel) send(b []byte) error {
	if a.mine {
		return a.s.toServer.send(b)
	}
	return a.s.writeServer(b)
}

// busy: the next message cannot simply pass.
func (a *accel) busy() bool {
	return a.group.held() || a.stream != nil || a.doom != nil || a.skipping
}

// large deals with a message that is too large to be looked at.
func (a *accel) large(kind byte, busy bool) verdict {
	if busy {
		if a.skipping {
			return drop
		}
		if err := a.clear(false); err != nil {
			a.broken = err
			return drop
		}
		if a.skipping { // a held group has got the doom
			return drop
		}
		if a.doom != nil && kind != wire.TypeTerminate {
			a.broken = a.punish(kind, "", false)
			return drop
		}
	}
	a.block.clear()
	a.note(kind)
	return pass
}

// note keeps account of a message that goes to the server as it came.
func (a *accel) note(kind byte) {
	switch kind {
	case wire.TypeSync:
		a.loose = false
		a.owes.sent(kind, false)
	case wire.TypeQuery, typeFunctionCall:
		if a.loose {
			// Whether it is answered depends on what comes before it.
			a.owes.lose()
		}
		a.given = nil
		a.owes.sent(kind, false)
	case wire.TypeCopyDone, wire.TypeCopyFail:
		a.owes.sent(kind, a.loose)
	case wire.TypeCopyData, wire.TypeFlush, wire.TypeTerminate, wire.TypePassword:
	case wire.TypeExecute:
		a.loose = true
		a.block.clear()
	default:
		a.loose = true
	}
}

func (f *frontHook) take(message []byte) (bool, error) {
	a := f.accel
	// A message of several blocks comes in a later turn than the one in which it was asked for.
	a.begin()
	if a.broken != nil {
		return false, a.broken
	}
	a.refresh()
	if a.skipping {
		return a.skip(message)
	}
	kind := message[0]
	switch kind {
	case wire.TypeQuery:
		return a.query(message)
	case wire.TypeParse:
		return a.parse(message)
	case wire.TypeBind:
		return a.bind(message)
	case wire.TypeDescribe:
		return a.describe(message)
	case wire.TypeExecute:
		return a.execute(message)
	case wire.TypeSync:
		return a.sync(message)
	}
	return a.pass(message, "", false)
}

// quiet ends front's turn.
func (f *frontHook) quiet() error {
	a := f.accel
	if !a.mine {
		return nil
	}
	err := a.broken
	if err == nil && a.cancel.taken() {
		err = a.abandon()
	}
	if err == nil && (a.stream != nil || a.group.held()) {
		a.arm()
	}
	a.mine = false
	a.turn.Unlock()
	return err
}

// pass lets a message go to the server as it came, behind all that is held or open.
func (a *accel) pass(message []byte, word string, single bool) (bool, error) {
	kind := message[0]
	back := single && (word == "ROLLBACK" || word == "ABORT")
	if err := a.clear(back || kind == wire.TypeTerminate); err != nil {
		return false, err
	}
	if a.skipping {
		return a.skip(message)
	}
	if a.doom != nil && kind != wire.TypeSync && kind != wire.TypeFlush {
		if !back && kind != wire.TypeTerminate {
			return false, a.punish(kind, word, single)
		}
		a.doom = nil
	}
	switch kind {
	case wire.TypeClose:
		a.dropStatement(message)
		a.block.clear()
	case typeFunctionCall:
		a.block.clear()
	}
	a.note(kind)
	return true, nil
}

// clear sends what is held and closes the stream; back: what follows undoes it anyway.
func (a *accel) clear(back bool) error {
	var err error
	switch {
	case a.stream == nil:
	case back:
		err = a.drop()
	default:
		err = a.close()
	}
	if err != nil {
		return err
	}
	if a.doom != nil && a.group.held() {
		a.group.reset()
		return a.punish(wire.TypeBind, "", false)
	}
	return a.release()
}

// run sends messages to the server and waits for the errand's end.
func (a *accel) run(e *errand, messages []byte) error {
	if err := a.launch(e, messages); err != nil {
		return err
	}
	return a.await(e)
}

func (a *accel) launch(e *errand, messages []byte) error {
	if !a.owes.begin(e) {
		return errSessionEnded
	}
	return a.send(messages)
}

func (a *accel) await(e *errand) error {
	<-e.done
	if e.gone {
		return errSessionEnded
	}
	return nil
}

// free tells whether nothing is owed and front may speak, and the session's status then. What was decided to pass goes to the
// server before: its answers are waited for.
func (a *accel) free() (status wire.Status, ok bool, err error) {
	if a.loose {
		return 0, false, nil
	}
	if a.mine {
		if err := a.s.toServer.flush(); err != nil {
			return 0, false, err
		}
	}
	status, ok = a.owes.settle(settleTime)
	return status, ok, nil
}

// refresh reads settings that the server has reported.
func (a *accel) refresh() {
	values, version := a.settings.changed(a.seen)
	if values == nil {
		return
	}
	a.seen = version
	a.lex = sqltext.LexFor(values["client_encoding"], values["server_encoding"], values["standard_conforming_strings"])
	a.utf8 = values["client_encoding"] == "UTF8"
	a.encoding = encode.Settings{Version: major(values["server_version"])}
	switch _, order, _ := strings.Cut(values["DateStyle"], ","); strings.TrimSpace(order) {
	case "DMY":
		a.encoding.Order = encode.DMY
	case "YMD":
		a.encoding.Order = encode.YMD
	}
	zone := values["TimeZone"]
	a.encoding.UTC = zone == "UTC" || zone == "Etc/UTC"
	for _, s := range a.statements {
		s.facts = nil
	}
}

// major reads the first number of a server's version.
func major(version string) int {
	n := 0
	for _, c := range version {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}

func (a *accel) process() uint32 {
	a.settings.mu.Lock()
	defer a.settings.mu.Unlock()
	return a.settings.process
}

// leave ends acceleration with the server's direction. It is called once, by the session.
func (a *accel) leave() {
	a.gone.Store(true)
	a.owes.leave()
}
