package world

import (
	"fmt"
	"syscall"

	"nodestorm/sim/history"
)

// What a world needs of its disks, in bytes: etcd makes two files of 64 MB to begin
// with, and with the least that has to be left a run can still say why it ended.
const (
	roomToBegin = 192 << 20 // for what is temporary
	roomAtLeast = 1 << 20
)

// disk is a folder of the world, and what to do when there is no room for it.
type disk struct{ folder, wayOut string }

// check says that fewer bytes are left than are needed.
func (d disk) check(needed uint64) error {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(d.folder, &stat); err != nil {
		return fmt.Errorf("looking how much room %s has: %w", d.folder, err)
	}
	if stat.Blocks == 0 {
		return nil // as of file systems that do not say
	}
	if left := stat.Bavail * uint64(stat.Bsize); left < needed {
		return fmt.Errorf("disk of %s is full: %w: %d KiB are left, and %d KiB are needed; make room, or %s", d.folder, syscall.ENOSPC,
			left>>10, needed>>10, d.wayOut)
	}
	return nil
}

func (w *World) disks() []disk {
	return []disk{{w.cfg.Out, "put the runs on another disk with --out"}, {w.tmp, "name a folder on another disk in TMPDIR"}}
}

// watchDisks ends the world when one of its disks is full: programs go on without
// their logs, and time with them, and nothing of that would be in the run.
func (w *World) watchDisks(least uint64) {
	w.lookout(func() bool {
		for _, d := range w.disks() {
			if err := d.check(least); err != nil {
				w.Died(history.Disk, err)
				return true
			}
		}
		return false
	})
}
