// Package processtest tells tests what processes there are and where they listen,
// as /proc has it. It knows Linux only.
package processtest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Process is one that was running a moment ago.
type Process struct {
	PID     int
	Command string // with its arguments
}

// WithEnv are the processes that were started with pair, NAME=value, in their
// environment: all descendants of one that put it there.
func WithEnv(pair string) (found []Process) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is right
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), pair) {
			continue // gone, or somebody else's
		}
		command, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && len(command) > 0 { // a zombie has none
			found = append(found, Process{pid, string(bytes.TrimSpace(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))})
		}
	}
	return found
}

// Listening are the TCP addresses that a process listens on.
func Listening(pid int) (addresses []netip.AddrPort, err error) {
	sockets := map[string]bool{}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil {
			sockets[to] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			// sl, local address, remote address, state (0A: listening), …, inode
			fields := strings.Fields(line)
			if len(fields) < 10 || fields[3] != "0A" || !sockets["socket:["+fields[9]+"]"] {
				continue
			}
			address, err := parse(fields[1])
			if err != nil {
				return nil, err
			}
			addresses = append(addresses, address)
		}
	}
	return addresses, nil
}

// parse reads an address of /proc/net/tcp: hexadecimal words in the machine's byte
// order, which is little-endian wherever we run, and the port.
func parse(s string) (netip.AddrPort, error) {
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %q: %w", s, err)
	}
	for i := 0; i+4 <= len(b); i += 4 {
		slices.Reverse(b[i : i+4])
	}
	ip, ok := netip.AddrFromSlice(b)
	n, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil {
		return netip.AddrPort{}, fmt.Errorf("address %q is none of /proc/net/tcp", s)
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), nil
}
