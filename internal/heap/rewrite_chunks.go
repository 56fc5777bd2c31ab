package heap

import "fmt"

// ChunkSum is a sum over chunks of TOAST values. That of the chunks that a table's TOAST pointers lead to is that of the chunks in its TOAST table
// where each is there once, in its full length, and no other is: then two numbers prove that no value lacks a part, whatever the size of the table.
type ChunkSum uint64

// add counts one chunk.
func (s *ChunkSum) add(value, number uint32, length int) {
	// The finalizer of splitmix64: chunks that differ in one bit have sums that differ in half of them.
	x := uint64(value)<<32 | uint64(number)
	for range 2 {
		x ^= x >> 30
		x *= 0xBF58476D1CE4E5B9
		x ^= x >> 27
		x *= 0x94D049BB133111EB
		x ^= x >> 31
		x += uint64(length)
	}
	*s += ChunkSum(x)
}

// addValue counts the chunks of a value, which are all of the same size but the last (toast_save_datum of toast_internals.c).
func (s *ChunkSum) addValue(p ToastPointer, size int) {
	left := int(p.StoredSize)
	for n := uint32(0); left > 0; n++ {
		s.add(p.ValueID, n, min(left, size))
		left -= size
	}
}

// addTuple counts a tuple of a TOAST table: chunk_id, chunk_seq, chunk_data.
func (s *ChunkSum) addTuple(t Tuple, values []Value) error {
	if t.Natts() < 3 || len(values[0].Data) != 4 || len(values[1].Data) != 4 || values[2].Null {
		return fmt.Errorf("the tuple is no chunk of a TOAST value")
	}
	data, _, err := ParseVarlena(values[2].Data)
	if err != nil {
		return err
	}
	s.add(le.Uint32(values[0].Data), le.Uint32(values[1].Data), len(data.Payload))
	return nil
}
