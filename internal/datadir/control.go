package datadir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

var le = binary.LittleEndian

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// State is what the server was doing when it last wrote the control file (DBState of pg_control.h).
type State uint32

// The states.
const (
	StartingUp State = iota
	ShutDown
	ShutDownInRecovery // a standby that was stopped
	ShuttingDown
	CrashRecovery
	ArchiveRecovery // a standby that runs, or did when it died
	InProduction    // a server that runs, or did when it died
)

// String says it in pg_controldata's words.
func (s State) String() string {
	names := [...]string{
		"starting up", "shut down", "shut down in recovery", "shutting down", "in crash recovery", "in archive recovery",
		"in production",
	}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("unknown state %d", uint32(s))
}

// Clean reports whether everything was on disk when the server stopped, so that no write-ahead log needs to be replayed.
func (s State) Clean() bool { return s == ShutDown || s == ShutDownInRecovery }

// Control is the control file (ControlFileData of src/include/catalog/pg_control.h). The transaction numbers are those of the last
// checkpoint: a server that died had given out more.
type Control struct {
	SystemID uint64
	Version  uint32 // of the control file's format, for example 1300
	Catalog  uint32 // catalog version number
	State    State

	CheckpointLSN, RedoLSN uint64
	Timeline               uint32
	FullPageWrites         bool
	NextXID                uint64 // with its epoch in the upper half
	NextOID                uint32
	NextMulti              uint32
	NextMultiOffset        uint32
	OldestXID              uint32
	OldestMulti            uint32
	CheckpointTime         int64 // seconds since 1970

	MaxAlign         int     // bytes
	FloatFormat      float64 // 1234567 where floats are those of IEEE 754
	BlockSize        int     // bytes
	SegmentBlocks    uint32  // blocks in a full segment file
	WALBlock         int     // bytes
	WALSegment       int     // bytes
	NameLength       int     // bytes, with the final NUL
	IndexKeys        int
	TOASTChunk       int // bytes in every chunk of a TOAST value but its last
	LargeObjectChunk int // bytes
	Float8ByVal      bool
	Checksums        bool // pages have checksums
}

// Offsets in ControlFileData on a 64-bit machine. They are the same from 14 to 18: wal_level, which 17 added to CheckPoint, took the
// place of padding, and default_char_signedness of 18 stands behind all that is read here.
const (
	checkpointCopy    = 40
	controlEnd        = 256
	checksumsOffset   = 252
	controlFileSize   = 8192 // PG_CONTROL_FILE_SIZE
	floatFormatSample = 1234567.0
)

// parseControl reads and checks the control file of a given release.
func parseControl(b []byte, r *release) (Control, error) {
	if len(b) < r.controlCRC+4 {
		return Control{}, fmt.Errorf("there are %d bytes where a control file has %d", len(b), controlFileSize)
	}
	version := le.Uint32(b[8:])
	if version&0xFFFF == 0 && version != 0 {
		return Control{}, errors.New("the numbers are in the byte order of another architecture")
	}
	if version != r.controlVersion {
		return Control{}, fmt.Errorf("the format is version %d, where PostgreSQL %d has %d", version, r.major, r.controlVersion)
	}
	stored, computed := le.Uint32(b[r.controlCRC:]), crc32.Checksum(b[:r.controlCRC], castagnoli)
	if stored != computed {
		return Control{}, errors.New("the checksum does not fit: the file is damaged, or of another architecture")
	}
	c := fields(b)
	err := c.check()
	return c, err
}

// fields reads the fields; b has controlEnd bytes at least.
func fields(b []byte) Control {
	b = b[:controlEnd]
	p := b[checkpointCopy:]
	number := func(offset int) int { return int(le.Uint32(b[offset:])) }
	return Control{
		SystemID: le.Uint64(b), Version: le.Uint32(b[8:]), Catalog: le.Uint32(b[12:]), State: State(le.Uint32(b[16:])),
		CheckpointLSN: le.Uint64(b[32:]), RedoLSN: le.Uint64(p), Timeline: le.Uint32(p[8:]), FullPageWrites: p[16] != 0,
		NextXID: le.Uint64(p[24:]), NextOID: le.Uint32(p[32:]), NextMulti: le.Uint32(p[36:]), NextMultiOffset: le.Uint32(p[40:]),
		OldestXID: le.Uint32(p[44:]), OldestMulti: le.Uint32(p[52:]), CheckpointTime: int64(le.Uint64(p[64:])),
		MaxAlign: number(204), FloatFormat: math.Float64frombits(le.Uint64(b[208:])), BlockSize: number(216),
		SegmentBlocks: le.Uint32(b[220:]), WALBlock: number(224), WALSegment: number(228), NameLength: number(232),
		IndexKeys: number(236), TOASTChunk: number(240), LargeObjectChunk: number(244), Float8ByVal: b[248] != 0,
		Checksums: le.Uint32(b[checksumsOffset:]) != 0,
	}
}

// check refuses what the readers of pages cannot deal with.
func (c *Control) check() error {
	switch {
	case c.BlockSize < 1024 || c.BlockSize > 32768 || c.BlockSize&(c.BlockSize-1) != 0:
		return fmt.Errorf("the block size is %d bytes", c.BlockSize)
	case c.SegmentBlocks == 0:
		return errors.New("the segment size is 0")
	case c.MaxAlign != 8:
		return fmt.Errorf("the alignment is %d bytes, as on a 32-bit machine", c.MaxAlign)
	case c.FloatFormat != floatFormatSample:
		return errors.New("floating-point numbers have another format than on this architecture")
	case c.NameLength != 64:
		return fmt.Errorf("names have %d bytes: the server was built with another NAMEDATALEN", c.NameLength)
	case c.TOASTChunk < 1 || c.TOASTChunk > c.BlockSize:
		return fmt.Errorf("TOAST chunks have %d bytes", c.TOASTChunk)
	}
	return nil
}
