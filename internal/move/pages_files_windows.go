package move

import "os"

// openNoFollow has no counterpart.
const openNoFollow = 0

// giveTo has nothing to do: files belong to who makes them.
func giveTo(*os.File, os.FileInfo) error { return nil }
