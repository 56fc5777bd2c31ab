package move

import "sync/atomic"

// step of a table's move, for progress and for the stall watchdog.
const (
	stageWaiting int32 = iota // for a connection or another table
	stageBefore
	stageRows
	stageMerge // staged rows go on into the target
	stageLog   // method pages: VACUUM puts the pages into the WAL
	stageIndexes
	stageVerify
	stageCommit
	stageDone
)

// stage holds the step that a table's move is in. It is safe for concurrent use.
type stage struct{ at atomic.Int32 }

func (s *stage) set(step int32) { s.at.Store(step) }

// String names the step as progress shows it.
func (s *stage) String() string {
	switch s.at.Load() {
	case stageBefore:
		return "prepare"
	case stageRows:
		return "rows"
	case stageMerge:
		return "merge"
	case stageLog:
		return "logging"
	case stageIndexes:
		return "indexes"
	case stageVerify:
		return "verify"
	case stageCommit:
		return "commit"
	case stageDone:
		return "done"
	}
	return "waiting"
}
