package gateway

import (
	"encoding/binary"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/pghaul/pghaul/internal/wire"
)

// noticeLimit is the largest message out of turn that is held until it is whole, in bytes. A larger one would let front speak
// in the middle of it, so it ends acceleration in its session.
const noticeLimit = 1 << 20

// settings are what the server reports of its session.
type settings struct {
	mu      sync.Mutex
	values  map[string]string
	version atomic.Int64 // changes with each report
	process uint32
}

func (t *settings) set(name, value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.values[name] = value
	t.version.Add(1)
}

// changed returns all values when they are newer than version.
func (t *settings) changed(version int64) (values map[string]string, now int64) {
	if version == t.version.Load() {
		return nil, version
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.values), t.version.Load()
}

// backHook sees what the server sends.
type backHook struct{ *accel }

func (b *backHook) wants(kind byte, length int) verdict {
	if b.owes.errand.Load() != nil {
		return whole
	}
	switch kind {
	case wire.TypeReadyForQuery, wire.TypeParameterStatus, wire.TypeBackendKeyData:
		if length <= noticeLimit {
			return whole
		}
		b.owes.lose()
	case wire.TypeNotice, wire.TypeNotification:
		if length <= noticeLimit {
			return whole
		}
		b.owes.lose()
	case wire.TypeCopyIn:
		b.owes.copyIn()
	case wire.TypeError:
		b.owes.failed()
	case wire.TypeCommandComplete:
		b.owes.done()
	case wire.TypeCopyBoth:
		b.owes.lose()
	}
	return pass
}

func (b *backHook) take(message []byte) (bool, error) {
	kind, body := message[0], message[wire.HeaderSize:]
	e := b.owes.errand.Load()
	switch kind {
	case wire.TypeParameterStatus:
		if name, value, err := wire.ParseParameter(body); err == nil {
			b.settings.set(name, value)
		}
		return true, nil
	case wire.TypeNotification:
		return true, nil
	case wire.TypeNotice:
		if e != nil && e.keep {
			e.notices = append(e.notices, message...)
			return false, nil
		}
		return true, nil
	case wire.TypeBackendKeyData:
		if len(body) >= 4 {
			b.settings.mu.Lock()
			b.settings.process = binary.BigEndian.Uint32(body)
			b.settings.mu.Unlock()
		}
		return true, nil
	}
	if e == nil {
		b.readyNow = true
		status, err := wire.ParseReady(body)
		if err != nil {
			b.owes.lose()
		}
		b.owes.ready(status)
		return true, nil
	}
	if kind == wire.TypeError && isFatal(body) {
		// The server closes; the client is told why.
		e.failed.Store(true)
		return true, nil
	}
	if e.take(kind, body) {
		b.ended = e
		// What comes behind it belongs to the client, and nothing does before front speaks again.
		b.owes.errand.CompareAndSwap(e, nil)
	}
	return false, nil
}

// quiet tells front of what has come, once it is written.
func (b *backHook) quiet() error {
	if b.readyNow {
		b.readyNow = false
		b.owes.said()
	}
	if e := b.ended; e != nil {
		b.ended = nil
		b.owes.finish(e, e.status)
	}
	return nil
}

func isFatal(body []byte) bool {
	r, err := wire.ParseReport(body)
	return err == nil && r.Fatal()
}
