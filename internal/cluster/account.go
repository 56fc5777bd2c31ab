//go:build unix

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// account is the operating system user that runs a server.
type account struct {
	name     string
	uid, gid int
	switched bool // not the user of this process
}

// serverAccount is this process's own user, or for root, whom PostgreSQL refuses, the first of postgres and nobody.
func serverAccount() (*account, error) {
	if uid := os.Geteuid(); uid != 0 {
		return &account{name: "uid " + strconv.Itoa(uid), uid: uid, gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("read the ids of user %s: %w", name, err)
		}
		return &account{name: "user " + name, uid: uid, gid: gid, switched: true}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as")
}

// apply makes cmd run as the account, out of reach of the terminal's Ctrl-C, with an environment free of PG* variables.
func (a *account) apply(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if a.switched {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	// The programs ask for the current directory, and fail where this user cannot read it.
	cmd.Dir = "/"
	cmd.Env = []string{"LC_ALL=C"}
	for _, name := range []string{"PATH", "TZ", "LD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
}

// own gives a file or directory of this process to the account.
func (a *account) own(path string) error {
	if !a.switched {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid)
}

// canEnter reports the first directory on the way to dir that the account cannot pass through. It judges by mode bits, for
// a process of root cannot try it out; for its own user the process does try.
func (a *account) canEnter(dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	at := "/"
	for _, part := range strings.Split(dir, "/") {
		at = filepath.Join(at, part)
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		if a.switched && !a.mayPass(info) {
			return fmt.Errorf("%s cannot enter directory %s (mode %v)", a.name, at, info.Mode().Perm())
		}
	}
	return nil
}

func (a *account) mayPass(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return mode&0o001 != 0
	case int(st.Uid) == a.uid:
		return mode&0o100 != 0
	case int(st.Gid) == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}

// ownedByUs tells whether path is a real directory that belongs to the user of this process.
func ownedByUs(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
