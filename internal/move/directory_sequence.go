package move

import (
	"context"
	"strconv"

	"github.com/pghaul/pghaul/internal/datadir"
	"github.com/pghaul/pghaul/planner"
)

// sequences tells which sequences feed the columns of a table.
func (d *directory) sequences(t *datadir.Table, r *planner.Relation) error {
	all, err := d.db.Sequences(t)
	if err != nil {
		return err
	}
	for _, s := range all {
		r.Sequences = append(r.Sequences, planner.OwnedSequence{Column: s.Column, Schema: s.Schema, Name: s.Name, File: s.Path})
	}
	return nil
}

// sequence is the sequenceReader of a directory, by the sequence's file.
func (d *directory) sequence(_ context.Context, file string) ([][]byte, error) {
	last, called, err := d.dir.SequenceState(file)
	if err != nil {
		return nil, err
	}
	return [][]byte{strconv.AppendInt(nil, last, 10), strconv.AppendBool(nil, called)}, nil
}
