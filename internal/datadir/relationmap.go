package datadir

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/pghaul/pghaul/planner"
)

const relationMapMagic = 0x592717 // RELMAPPER_FILEMAGIC

// relationMap is a pg_filenode.map: the files of those catalogs of which pg_class cannot tell, because it is read through them or
// shared (relmapper.c). The key is the relation's OID.
type relationMap map[uint32]uint32

func readRelationMap(directory string, r *release) (relationMap, error) {
	name := filepath.Join(directory, "pg_filenode.map")
	bytes, err := os.ReadFile(name)
	if err != nil {
		return nil, unreadable(name, err, "Without that file the catalogs cannot be found: restore it from a backup of the same database.")
	}
	m, err := parseRelationMap(bytes, r)
	if err != nil {
		return nil, &planner.Error{
			Message: "cannot use " + name, Detail: sentence(err.Error()),
			Hint: "Without that file the catalogs cannot be found: restore it from a backup of the same database.",
		}
	}
	return m, nil
}

// parseRelationMap reads RelMapFile: magic, number of mappings, the mappings, and at a fixed place the checksum.
func parseRelationMap(b []byte, r *release) (relationMap, error) {
	if len(b) < r.mapCRC+4 {
		return nil, fmt.Errorf("it has %d bytes, too few for a map of relations", len(b))
	}
	if magic := le.Uint32(b); magic != relationMapMagic {
		return nil, fmt.Errorf("it does not begin as a map of relations does: %#x", magic)
	}
	if crc32.Checksum(b[:r.mapCRC], castagnoli) != le.Uint32(b[r.mapCRC:]) {
		return nil, fmt.Errorf("its checksum does not fit")
	}
	count, room := le.Uint32(b[4:]), uint32(r.mapCRC-8)/8
	if count > room {
		return nil, fmt.Errorf("it states %d mappings, where %d have room", count, room)
	}
	m := relationMap{}
	for i := range int(count) {
		m[le.Uint32(b[8+8*i:])] = le.Uint32(b[12+8*i:])
	}
	return m, nil
}
