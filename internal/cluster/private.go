//go:build unix

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	privatePrefix = "pghaul-"
	markerName    = "owner.json"

	// socketPathLimit is what struct sockaddr_un holds on Linux, without its final zero byte.
	socketPathLimit = 107

	// unmarkedAge is how long a directory without marker is left alone: its maker may be about to write it.
	unmarkedAge = 10 * time.Minute
)

// marker names the process that made a private directory.
type marker struct {
	PID int `json:"pid"`

	// Started tells the process from a later one with the same id; Space is the boot and the container that ids belong to.
	Started string `json:"started"`
	Space   string `json:"space"`

	// Data is the data directory, which may be outside the private one.
	Data string `json:"data"`

	// Kept servers outlive their process on purpose.
	Kept bool `json:"kept,omitempty"`
}

// makePrivate makes a private directory, with its marker first, and decides where the data directory will be. The data
// directory's name repeats that of the private one, so that removing by a marker can never hit anything else.
func makePrivate(who *account, parent string) (base, data string, err error) {
	place, err := privatePlace(who)
	if err != nil {
		return "", "", err
	}
	if base, err = os.MkdirTemp(place, privatePrefix); err != nil {
		return "", "", fmt.Errorf("make a private directory: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, removeTrees(base, data))
		}
	}()
	data = filepath.Join(base, "data")
	if parent != "" {
		if parent, err = filepath.Abs(parent); err != nil {
			return base, "", err
		}
		if err = who.canEnter(parent); err != nil {
			return base, "", fmt.Errorf("make a data directory in %s: %w", parent, err)
		}
		data = filepath.Join(parent, filepath.Base(base))
	}
	self, err := ownMarker(data)
	if err != nil {
		return base, data, err
	}
	if err = self.write(base); err != nil {
		return base, data, err
	}
	return base, data, makeOwned(who, base, data)
}

// makeOwned makes the directories that belong to the server's user, whom the private directory lets pass but not write.
func makeOwned(who *account, base, data string) error {
	if who.switched {
		if err := os.Chmod(base, 0o711); err != nil {
			return err
		}
	}
	for _, dir := range []string{filepath.Join(base, "s"), data} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make a private directory: %w", err)
		}
		if err := who.own(dir); err != nil {
			return fmt.Errorf("give a private directory to %s: %w", who.name, err)
		}
	}
	return nil
}

// privatePlaces are where private directories are made and looked for by Reap.
func privatePlaces() []string { return []string{os.TempDir(), "/tmp", "/var/tmp"} }

// privatePlace picks the first place that the server's user can enter and where a socket's path is short enough.
func privatePlace(who *account) (string, error) {
	var refusals []error
	for _, place := range privatePlaces() {
		if err := who.canEnter(place); err != nil {
			refusals = append(refusals, err)
			continue
		}
		longest := filepath.Join(place, privatePrefix+"4294967295", "s", ".s.PGSQL.65535.lock")
		if len(longest) > socketPathLimit {
			refusals = append(refusals, fmt.Errorf("a socket's path in %s would exceed %d bytes", place, socketPathLimit))
			continue
		}
		return place, nil
	}
	return "", fmt.Errorf("find a place for a server's private directory: %w", errors.Join(refusals...))
}

func ownMarker(data string) (marker, error) {
	started, err := processStarted(os.Getpid())
	if err != nil {
		return marker{}, fmt.Errorf("read the start time of this process: %w", err)
	}
	return marker{PID: os.Getpid(), Started: started, Space: processSpace(), Data: data}, nil
}

func (m marker) write(base string) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	fresh := filepath.Join(base, markerName+".new")
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return fmt.Errorf("write a private directory's marker: %w", err)
	}
	return os.Rename(fresh, filepath.Join(base, markerName))
}

func readMarker(base string) (marker, error) {
	text, err := os.ReadFile(filepath.Join(base, markerName))
	if err != nil {
		return marker{}, err
	}
	var m marker
	err = json.Unmarshal(text, &m)
	return m, err
}

// abandoned tells whether the process that made the private directory is gone. Processes of another container on the same
// boot cannot be judged from here, so theirs are left alone.
func (m marker) abandoned() bool {
	if m.Kept || !sameBoot(m.Space, processSpace()) {
		return !m.Kept
	}
	if m.Space != processSpace() {
		return false
	}
	started, err := processStarted(m.PID)
	return err != nil || started != m.Started
}

// Reap stops the servers of processes that ended without removing them and deletes their directories. It leaves servers of
// other users, and kept ones, alone.
func Reap() error {
	var failures []error
	seen := map[string]bool{}
	for _, place := range privatePlaces() {
		// A place that cannot be listed holds nothing that we could remove.
		entries, _ := os.ReadDir(place)
		for _, entry := range entries {
			base := filepath.Join(place, entry.Name())
			if !strings.HasPrefix(entry.Name(), privatePrefix) || seen[base] || !ownedByUs(base) {
				continue
			}
			seen[base] = true
			if err := reapOne(base); err != nil {
				failures = append(failures, fmt.Errorf("remove %s: %w", base, err))
			}
		}
	}
	return errors.Join(failures...)
}

func reapOne(base string) error {
	m, err := readMarker(base)
	if err != nil {
		info, statErr := os.Stat(base)
		if statErr != nil || time.Since(info.ModTime()) < unmarkedAge {
			return nil //nolint:nilerr // gone meanwhile, or its maker is still at it
		}
		return os.RemoveAll(base)
	}
	if !m.abandoned() {
		return nil
	}
	if filepath.Base(m.Data) != filepath.Base(base) {
		m.Data = filepath.Join(base, "data")
	}
	if err := stopOrphan(m.Data); err != nil {
		return err
	}
	return removeTrees(base, m.Data)
}

// removeTrees deletes a server's directories, the marker's last: if it fails midway, the next Reap goes on.
func removeTrees(base, data string) error {
	if data != "" {
		if err := os.RemoveAll(data); err != nil {
			return err
		}
	}
	return os.RemoveAll(base)
}
