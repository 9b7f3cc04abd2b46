package process

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ownerFile holds the process ID of the Guard's owner, guardFile the Guard's.
const (
	ownerFile = "owner"
	guardFile = "guard"
)

// Sweep removes the guarded folders dir/prefix* whose owner and guard are both
// dead, after ending the processes that were left, and returns their paths.
func Sweep(dir, prefix string) (removed []string, err error) {
	folders, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, folder := range folders {
		owner, ok := readPID(filepath.Join(folder, ownerFile))
		if !ok || alive(owner) {
			continue
		}
		if guard, ok := readPID(filepath.Join(folder, guardFile)); ok && procContains(guard, "cmdline", folder) {
			continue // it is about to do all this
		}
		files, _ := filepath.Glob(filepath.Join(folder, "pids", "*"))
		ending, _ := filepath.Glob(filepath.Join(folder, "ending", "*")) // of a guard that was killed at its work
		for _, f := range append(files, ending...) {
			// The ID may be somebody else's by now: ours has the folder in its
			// environment (the clock page) or is gone.
			if pid, ok := readPID(f); ok && procContains(pid, "environ", folder+"/") {
				errs = append(errs, syscall.Kill(pid, syscall.SIGKILL))
			}
		}
		if err := os.RemoveAll(folder); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, folder)
	}
	return removed, errors.Join(errs...)
}

func readPID(file string) (int, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid, err == nil && pid > 1
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// procContains looks for text in a file of /proc/PID.
func procContains(pid int, file, text string) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
	return err == nil && strings.Contains(string(b), text)
}
