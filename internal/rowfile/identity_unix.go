//go:build unix

package rowfile

import (
	"io/fs"
	"syscall"
)

// place is where a file is kept.
func place(info fs.FileInfo) (device, inode uint64) {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Dev), sys.Ino //nolint:unconvert // the type of Dev differs by system
	}
	return 0, 0
}
