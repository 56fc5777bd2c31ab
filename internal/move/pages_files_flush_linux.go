package move

import (
	"os"
	"syscall"
)

// syncFileRangeWrite is SYNC_FILE_RANGE_WRITE of linux/fs.h.
const syncFileRangeWrite = 2

// startFlush lets the kernel begin to write bytes to disk, so that the fsync at the end finds little left to do. It promises nothing,
// so a file system that cannot is no error.
func startFlush(file *os.File, offset, length int64) {
	conn, err := file.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { _ = syscall.SyncFileRange(int(fd), offset, length, syncFileRangeWrite) })
}
