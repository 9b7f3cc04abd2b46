package process

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
)

// Self names this process among all of the machine: its ID, when it began, and the kernel's name
// of the processes that it is one of.
func Self() string {
	return strings.Join([]string{strconv.Itoa(os.Getpid()), started(os.Getpid()), pidNamespace()}, " ")
}

// HasEnded reports whether the process of that name has ended. Of one that we cannot see, because it
// was in another container, it is not known.
func HasEnded(name string) bool {
	fields := strings.Fields(name)
	if len(fields) != 3 || fields[2] != pidNamespace() {
		return false
	}
	pid, err := strconv.Atoi(fields[0])
	return err == nil && pid > 1 && !alive(pid, fields[1])
}

func pidNamespace() string {
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "unknown"
	}
	return name
}

// machine identifies this machine among others that share a folder with it, "-" if nothing does.
func machine() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil || len(id) == 0 {
		return "-"
	}
	sum := sha256.Sum256(id) // the ID itself is not for others
	return hex.EncodeToString(sum[:6])
}
