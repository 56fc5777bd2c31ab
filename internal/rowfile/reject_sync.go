package rowfile

import (
	"os"
	"path/filepath"
	"runtime"
)

// syncDirectory makes sure that a new file's name survives a crash.
func syncDirectory(path string) error {
	if runtime.GOOS == "windows" { // which cannot flush a directory
		return nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}
