package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ownerFile holds the process ID of a folder's owner and when that started, guardFile
// the Guard's process ID.
const (
	ownerFile = "owner"
	guardFile = "guard"
)

// Swept is a folder that Sweep removed.
type Swept struct {
	Folder string
	Ended  []string // programs that still ran: "etcd (process 4711)"
}

// String says what was done, in a line.
func (s Swept) String() string {
	if len(s.Ended) == 0 {
		return "removed " + s.Folder
	}
	return fmt.Sprintf("removed %s, after ending %s", s.Folder, strings.Join(s.Ended, ", "))
}

// Sweep removes the folders whose names begin with a prefix, in dir and wherever else
// they were noted, whose owner and guard are both dead, after ending the programs that
// were left. used are those that are still in use.
func Sweep(dir string, prefixes ...string) (swept []Swept, used []string, err error) {
	folders := noted()
	for _, prefix := range prefixes {
		found, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
		if err != nil {
			return nil, nil, err
		}
		folders = append(folders, found...)
	}
	folders = slices.DeleteFunc(folders, func(folder string) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(filepath.Base(folder), prefix) })
	})
	slices.Sort(folders)
	var errs []error
	for _, folder := range slices.Compact(folders) {
		owner, rest, ok := readPID(filepath.Join(folder, ownerFile))
		if !ok {
			continue
		}
		start, place, _ := strings.Cut(rest, " ")
		guard, _, guarded := readPID(filepath.Join(folder, guardFile))
		if place != "" && place != pidNamespace()+" "+machine() { // whom we cannot see, in another container or on another machine
			used = append(used, folder)
			continue
		}
		if alive(owner, start) || guarded && procContains(guard, "cmdline", folder) { // the guard is about to do all this
			used = append(used, folder)
			continue
		}
		ended, err := endPrograms(folder)
		if err = errors.Join(err, removeAll(folder)); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", folder, err))
			continue
		}
		if folders, err := registry(); err == nil {
			_ = os.Remove(entry(folders, folder)) // the next Sweep does
		}
		swept = append(swept, Swept{Folder: folder, Ended: ended})
	}
	return swept, used, errors.Join(errs...)
}

// endPrograms ends those of a folder's programs that still run, with what they started.
func endPrograms(folder string) (ended []string, err error) {
	files, _ := filepath.Glob(filepath.Join(folder, "pids", "*"))
	ending, _ := filepath.Glob(filepath.Join(folder, "ending", "*")) // of a guard that was killed at its work
	for _, file := range append(files, ending...) {
		leader, ok := leftPID(file)
		if !ok {
			continue
		}
		for _, pid := range append(group(leader), leader) {
			if !belongs(pid, folder) {
				continue
			}
			if e := syscall.Kill(pid, syscall.SIGKILL); e != nil && !errors.Is(e, syscall.ESRCH) {
				err = errors.Join(err, fmt.Errorf("ending %s (process %d): %w", filepath.Base(file), pid, e))
				continue
			}
			ended = append(ended, fmt.Sprintf("%s (process %d)", filepath.Base(file), pid))
		}
	}
	return ended, err
}

// group are the other members of the process group of that number, whose leader may
// be gone.
func group(leader int) (members []int) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		pid, err := strconv.Atoi(filepath.Base(p))
		if err != nil || pid == leader {
			continue
		}
		if of, err := syscall.Getpgid(pid); err == nil && of == leader {
			members = append(members, pid)
		}
	}
	return members
}

// removeAll removes a folder in which a program that was just killed may still write.
func removeAll(folder string) (err error) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if err = os.RemoveAll(folder); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// leftPID reads the process ID that a program has left. It may have made the file, and not written it yet: a sweep that removes
// the file then leaves the program running for ever.
func leftPID(file string) (pid int, ok bool) {
	for range 50 {
		// mutant: a program that is just leaving its ID outlives a sweep
		if info, err := os.Stat(file); err != nil || info.Size() > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	pid, _, ok = readPID(file)
	return pid, ok
}

// readPID reads a process ID, and the word behind it, if there is one.
func readPID(file string) (pid int, rest string, ok bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, "", false
	}
	id, rest, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	pid, err = strconv.Atoi(id)
	return pid, rest, err == nil && pid > 1
}

// alive reports whether the process that began at start, if that is known, is there: its
// ID may be another process's by now.
func alive(pid int, start string) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	now := started(pid)
	return start == "" || now == "" || now == start
}

// started is when the process began, in the kernel's ticks since it did; "" if that is
// not known.
func started(pid int) string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	// Field 22. The second, the program's name, may have spaces and brackets in it.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19])
}

// belongs reports whether a process is one of the folder's world, whose programs have the
// folder in their environment (the clock page) or are started from it. An ID may be
// another process's by now.
func belongs(pid int, folder string) bool {
	return procContains(pid, "environ", folder+"/") || procContains(pid, "cmdline", folder+"/")
}

// procContains looks for text in a file of /proc/PID.
func procContains(pid int, file, text string) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
	return err == nil && strings.Contains(string(b), text)
}
