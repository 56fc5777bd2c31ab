package datadir

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pghaul/pghaul/internal/datum"
	"github.com/pghaul/pghaul/internal/heap"
)

// chunkColumns are the columns of every TOAST table (create_toast_table of toasting.c).
var chunkColumns = []heap.Attribute{
	{Name: "chunk_id", Len: 4, Align: 'i', ByVal: true}, {Name: "chunk_seq", Len: 4, Align: 'i', ByVal: true},
	{Name: "chunk_data", Len: -1, Align: 'i'},
}

// chunkTypes are their types.
var chunkTypes = []*datum.Type{datum.BuiltinNamed("oid"), datum.BuiltinNamed("int4"), datum.BuiltinNamed("bytea")}

// keptBuffer is the largest buffer that a Toaster keeps from one value to the next, in bytes.
const keptBuffer = 4 << 20

// Toaster turns varlenas as they lie on a page into their payload: decompressed, and fetched from the TOAST table, by its index where
// that is whole and else by reading the table. One goroutine uses it at a time; it must be closed.
type Toaster struct {
	db      *Database
	toast   *ToastRelation
	tx      heap.Transactions
	chunk   int        // bytes of every chunk but the last
	heap    *pageCache // of the TOAST table, opened with the first external value
	index   *btree     // nil: none that can be read
	values  []heap.Value
	stored  []byte
	raw     []byte
	window  []byte // of Stream
	openErr error
}

// Toaster makes one for the values of a table.
func (db *Database) Toaster(t *Table) (*Toaster, error) {
	if err := db.Describe(t); err != nil {
		return nil, err
	}
	c, err := db.open()
	if err != nil {
		return nil, err
	}
	return &Toaster{db: db, toast: t.Toast, tx: c.tx, chunk: db.dir.control.TOASTChunk}, nil
}

// Close closes the files of the TOAST table.
func (x *Toaster) Close() error {
	var errs []error
	if x.heap != nil {
		errs = append(errs, x.heap.relation.Close())
	}
	if x.index != nil {
		errs = append(errs, x.index.pages.relation.Close())
	}
	x.heap, x.index = nil, nil
	return errors.Join(errs...)
}

// Payload returns the payload of a varlena, which is Value.Data of a column of length -1. It is a part of varlena, or good until the
// next call. The error is a *Damage without place, so that a visit of Scan can return it.
func (x *Toaster) Payload(varlena []byte) ([]byte, error) {
	v, _, err := heap.ParseVarlena(varlena)
	if err == nil && !v.External && v.Compression == heap.NoCompression {
		return v.Payload, nil
	}
	if err == nil {
		v.Payload, err = x.whole(&x.stored, &x.raw, v)
	}
	x.stored, x.raw = kept(x.stored), kept(x.raw)
	if err != nil {
		return nil, &Damage{Cause: err}
	}
	return v.Payload, nil
}

// whole fetches and decompresses a value as far as it needs it, into the memory given. The stored bytes of a compressed external
// value begin with the word of its header that has the size and the method (toast_save_datum of toast_internals.c).
func (x *Toaster) whole(stored, raw *[]byte, v heap.Varlena) (payload []byte, err error) {
	payload, compression := v.Payload, v.Compression
	if v.External {
		if *stored, err = x.Fetch((*stored)[:0], v.Pointer); err != nil {
			return nil, err
		}
		payload, compression = *stored, v.Pointer.Compression
		if compression != heap.NoCompression {
			const word = 4
			if len(payload) < word || int(le.Uint32(payload)&0x3FFFFFFF) != v.RawSize {
				return nil, fmt.Errorf("TOAST value %d states another size than the pointer to it", v.Pointer.ValueID)
			}
			payload = payload[word:]
		}
	}
	if compression == heap.NoCompression {
		return payload, nil
	}
	if v.RawSize == 0 {
		return nil, errors.New("a compressed value states that it has no bytes")
	}
	*raw, err = heap.Decompress((*raw)[:0], compression, payload, v.RawSize)
	return *raw, err
}

func kept(buffer []byte) []byte {
	if cap(buffer) > keptBuffer {
		return nil
	}
	return buffer
}

// Open reads a varlena nested in another value, as datum.Open wants it. What must be decompressed gets memory of its own.
func (x *Toaster) Open(varlena []byte) (payload []byte, size int, err error) {
	v, size, err := heap.ParseVarlena(varlena)
	if err != nil {
		return nil, 0, err
	}
	var stored, raw []byte
	payload, err = x.whole(&stored, &raw, v)
	return payload, size, err
}

// Fetch appends the stored bytes of an external value, still compressed, to dst.
func (x *Toaster) Fetch(dst []byte, p heap.ToastPointer) ([]byte, error) {
	begin := len(dst)
	err := x.Chunks(p, func(chunk []byte) error {
		dst = append(dst, chunk...)
		return nil
	})
	if err != nil {
		return dst[:begin], err
	}
	return dst, nil
}

// Chunks visits the stored bytes of an external value, still compressed, chunk by chunk; each is good during its visit. Their order,
// sizes and number are checked. An error of visit ends it.
func (x *Toaster) Chunks(p heap.ToastPointer, visit func(chunk []byte) error) error {
	if err := x.open(p); err != nil {
		return err
	}
	a := assembly{toaster: x, pointer: p, visit: visit}
	a.last = (int64(p.StoredSize) + int64(x.chunk) - 1) / int64(x.chunk)
	var err error
	if x.index != nil {
		err = x.index.chunks(p.ValueID, a.entry)
	}
	if a.visitErr != nil {
		return a.visitErr
	}
	if a.next == a.last && err == nil {
		return nil
	}
	// The index is damaged, or does not lead to every chunk: go on where it failed.
	if err := x.search(&a); err != nil {
		return err
	}
	if a.next < a.last {
		return fmt.Errorf("chunk %d of %d of TOAST value %d is missing in relation %d%s", a.next, a.last, p.ValueID, p.RelationID,
			because(a.fault, err))
	}
	return nil
}

// because adds what was found wrong with the chunk and the index.
func because(reasons ...error) string {
	text := ""
	for _, err := range reasons {
		if err != nil {
			text += ": " + err.Error()
		}
	}
	return text
}

// open opens the TOAST table and its index. An index that cannot be opened is done without.
func (x *Toaster) open(p heap.ToastPointer) error {
	switch {
	case x.toast == nil:
		return fmt.Errorf("a value is in TOAST relation %d, and the table has none", p.RelationID)
	case x.toast.OID != p.RelationID && x.toast.path == "":
		return fmt.Errorf("a value is in TOAST relation %d, and the table's is %d", p.RelationID, x.toast.OID)
	case x.toast.File == 0 && x.toast.path == "":
		return fmt.Errorf("TOAST relation %d is not in pg_class", p.RelationID)
	case x.heap != nil || x.openErr != nil:
		return x.openErr
	}
	control := &x.db.dir.control
	path := x.toast.path
	if path == "" {
		path = filepath.Join(x.db.dir.path, x.db.Path(x.toast.Tablespace, x.toast.File))
	}
	r, err := openRelation(path, control, 0)
	if err != nil {
		x.openErr = err
		return err
	}
	x.heap = newPageCache(r, control)
	if x.toast.IndexFile == 0 {
		return nil
	}
	index, err := openRelation(filepath.Join(x.db.dir.path, x.db.Path(x.toast.IndexTablespace, x.toast.IndexFile)), control, 0)
	if err == nil {
		x.index = &btree{pages: newPageCache(index, control)}
	}
	return nil
}

// assembly puts the chunks of one value together.
type assembly struct {
	toaster    *Toaster
	pointer    heap.ToastPointer
	visit      func(chunk []byte) error
	next, last int64 // the chunk that is due, and how many there are
	visitErr   error // what ended it
	fault      error // why the due chunk was not taken
}

// entry takes the tuple at an index entry if it is the chunk that is due. Entries that lead elsewhere are passed over: a tuple that
// VACUUM removed leaves its entry for a while where the server died.
func (a *assembly) entry(seq int64, at position) error {
	if seq != a.next {
		return nil
	}
	chunk, err := a.toaster.tuple(at, a.pointer.ValueID, seq)
	if a.fault = err; chunk == nil {
		return nil
	}
	return a.take(chunk)
}

// take hands the due chunk on.
func (a *assembly) take(chunk []byte) error {
	if a.next >= a.last {
		return nil
	}
	want := int64(a.toaster.chunk)
	if a.next == a.last-1 {
		want = int64(a.pointer.StoredSize) - a.next*want
	}
	if int64(len(chunk)) != want {
		a.fault = fmt.Errorf("it has %d bytes and not %d", len(chunk), want)
		return nil
	}
	a.next++
	a.fault = nil
	a.visitErr = a.visit(chunk)
	return a.visitErr
}

// tuple reads the chunk at a place; nil where something else is there.
func (x *Toaster) tuple(at position, id uint32, seq int64) ([]byte, error) {
	p, err := x.heap.page(at.block)
	if err != nil {
		return nil, err
	}
	return x.chunkAt(p, int(at.line), id, seq)
}

// chunkAt reads the chunk at a line of a page; nil where the line is free, or has another value's chunk, or one whose writer was
// rolled back. That it was deleted since does not matter to who has a pointer to it (HeapTupleSatisfiesToast).
func (x *Toaster) chunkAt(p heap.Page, line int, id uint32, seq int64) ([]byte, error) {
	l, err := p.Line(line)
	if err != nil || l.State != heap.LineNormal {
		return nil, err
	}
	t, err := p.Tuple(line)
	if err != nil {
		return nil, err
	}
	if x.values, err = t.Values(chunkColumns, x.values); err != nil {
		return nil, err
	}
	v := x.values
	if v[0].Null || v[1].Null || v[2].Null {
		return nil, errors.New("a chunk has a NULL")
	}
	if le.Uint32(v[0].Data) != id || int64(int32(le.Uint32(v[1].Data))) != seq {
		return nil, nil
	}
	verdict, err := heap.Judge(t, x.tx)
	if err != nil || verdict == heap.Never {
		return nil, err
	}
	data, _, err := heap.ParseVarlena(v[2].Data)
	if err != nil {
		return nil, err
	}
	if data.External || data.Compression != heap.NoCompression {
		return nil, errors.New("a chunk is compressed itself")
	}
	return data.Payload, nil
}
