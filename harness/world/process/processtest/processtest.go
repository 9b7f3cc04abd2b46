// Package processtest shows tests what processes there are and where they listen,
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
	"testing"
)

// Process is one that was running a moment ago.
type Process struct {
	PID     int
	Command string // with its arguments
}

// WithEnv are the processes that were started with pair, NAME=value, in their
// environment: all descendants of one that put it there.
func WithEnv(pair string) []Process {
	return all(func(p Process, _ []string) bool { return slices.Contains(Env(p.PID), pair) })
}

// ProcessesUnder are the processes that have dir, or what is below it, as the value of a
// variable, as an argument or as the value of a flag: the programs of the worlds whose
// folders are in it, and their guards.
func ProcessesUnder(dir string) []Process {
	below := func(s string) bool {
		if name, value, ok := strings.Cut(s, "="); ok && !strings.Contains(name, "/") {
			s = value
		}
		return s == dir || strings.HasPrefix(s, dir+"/")
	}
	return all(func(p Process, args []string) bool {
		return slices.ContainsFunc(Env(p.PID), below) || slices.ContainsFunc(args, below)
	})
}

// Env is the environment that a process was started with; nil if it is gone, or
// another user's.
func Env(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// all are the processes that is says yes to.
func all(is func(p Process, args []string) bool) (found []Process) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, path := range paths {
		command, err := os.ReadFile(path)
		if err != nil || len(command) == 0 { // gone; a zombie has none
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		p := Process{pid, string(bytes.TrimSpace(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))}
		if is(p, strings.Split(string(command), "\x00")) {
			found = append(found, p)
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

// poison is in the value of every variable that Poison sets.
const poison = "nodestorm-poison"

// Poison sets, for a test, what programs of a world must not get: credentials, and
// settings that change what they do.
func Poison(t *testing.T) {
	for _, name := range []string{
		"AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_SECRET", "HCLOUD_TOKEN", "HCLOUD_NETWORK",
		"GITHUB_TOKEN", "KUBECONFIG", "SSH_AUTH_SOCK", "KUBE_CLIENT_QPS", "LOG_OUTPUT_PATHS", "KUBERNETES_SERVICE_HOST", "ALL_PROXY",
		"NODESTORM_POISON",
	} {
		t.Setenv(name, poison)
	}
}

// CheckUnpoisoned looks for what Poison has set in the environments of the programs of
// the worlds in dir, of which there are at least so many.
func CheckUnpoisoned(t *testing.T, dir string, atLeast int) {
	t.Helper()
	programs := 0
	for _, p := range ProcessesUnder(dir) {
		env := Env(p.PID)
		if len(env) == 0 { // it has just ended
			continue
		}
		programs++
		var ours []string
		for _, pair := range env {
			if name, value, _ := strings.Cut(pair, "="); strings.Contains(value, poison) {
				ours = append(ours, name)
			}
		}
		if len(ours) > 0 {
			program, _, _ := strings.Cut(p.Command, " ")
			t.Errorf("%s has %s of ours", filepath.Base(program), strings.Join(ours, ", "))
		}
	}
	if programs < atLeast {
		t.Errorf("%d programs, want %d: the world's four, its guard, and more", programs, atLeast)
	}
}
