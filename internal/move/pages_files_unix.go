//go:build unix

package move

import (
	"os"
	"syscall"
)

// openNoFollow keeps a link in a directory of the server's user from leading another user's pen elsewhere.
const openNoFollow = syscall.O_NOFOLLOW

// giveTo gives a file the owner of another one. Only root can; as the server's user it is so already.
func giveTo(file *os.File, like os.FileInfo) error {
	owner, ok := like.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return file.Chown(int(owner.Uid), int(owner.Gid))
}
