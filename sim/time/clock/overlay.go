package clock

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"go/version"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// edit replaces the one place where old stands in a file of the standard library.
type edit struct{ file, old, new string }

// edits are all that a program needs to live in virtual time. Each is as small
// as it can be; what they call is in overlay/runtime/nodestorm.go.txt.
//
// The runtime's own business keeps raw time: preemption and the retaking of Ps
// in system calls (sysmon), and the starvation test of sync.Mutex.
var edits = []edit{
	// Time as the program reads it.
	{"runtime/time_nofake.go", "func nanotime() int64 {\n\treturn nanotime1()\n}", "func nanotime() int64 {\n\treturn stormNow()\n}"},
	{"runtime/timestub.go", "sec, nsec = walltime()", "sec, nsec = stormWall()"},
	{"runtime/proc.go", "\tgoenvs()\n\tsecure()\n", "\tgoenvs()\n\tstormInit()\n\tsecure()\n"},
	// Virtual waits become real ones in the poller, and only there.
	{"runtime/netpoll_epoll.go", "linux.EpollWait(epfd, events[:], int32(len(events)), waitms)", "stormEpollWait(epfd, events[:], waitms, delay)"},
	{"runtime/netpoll_epoll.go", "\tnetpollEventFd = uintptr(efd)\n}", "\tnetpollEventFd = uintptr(efd)\n\tstormPoller(epfd, efd)\n}"},
	// Whether there is anything to do.
	{"runtime/proc.go", "\tsched.npidle.Add(1)\n", "\tsched.npidle.Add(1)\n\tstormBusy()\n"},
	{"runtime/proc.go", "\t\tsched.npidle.Add(-1)\n", "\t\tsched.npidle.Add(-1)\n\t\tstormBusy()\n"},
	// How late timers fire.
	{"runtime/time.go", "\tt.unlockAndRun(now, bubble)\n\tassertLockHeld(&ts.mu) // t is unlocked now", "\tstormLag(now - t.when)\n\tt.unlockAndRun(now, bubble)\n\tassertLockHeld(&ts.mu) // t is unlocked now"},
	// Raw time.
	{"runtime/proc.go", "if retake(now) != 0 {", "if retake(nanotime1()) != 0 {"},
	// A P at work for 10 ms is else taken in its next system call, however short, and the
	// program looks idle in it: one that naps or reads a disk 1 ms at a time, say.
	{"runtime/proc.go", "\t\t\tsysretake = true\n", ""},
	{"runtime/sema.go", "func internal_sync_nanotime() int64 {\n\treturn nanotime()\n}", "func internal_sync_nanotime() int64 {\n\treturn nanotime1()\n}"},
	// On loopback only.
	{"net/tcpsock_posix.go", "internetSocket(ctx, sl.network, laddr, nil, syscall.SOCK_STREAM, proto, \"listen\"", "internetSocket(ctx, sl.network, stormLoopback(sl.network, laddr), nil, syscall.SOCK_STREAM, proto, \"listen\""},
}

// On amd64 time.now is assembly: it keeps its code under another name, and the
// portable time.now of the other architectures takes its place.
var editsAMD64 = []edit{
	{"runtime/timestub.go", "//go:build !faketime && !windows && !(linux && amd64) && !plan9", "//go:build !faketime && !windows && !plan9"},
	{"runtime/timeasm.go", "//go:linkname time_now time.now\nfunc time_now() (sec int64, nsec int32, mono int64)", "func stormUnixNow() (sec int64, nsec int32, mono int64)"},
	{"runtime/time_linux_amd64.s", "TEXT time·now<ABIInternal>(SB)", "TEXT runtime·stormUnixNow<ABIInternal>(SB)"},
}

// unixTime is how a program without a clock page gets the wall time.
var unixTime = map[string]string{
	"amd64": "sec, nsec, _ := stormUnixNow()\n\t\treturn sec, nsec",
	"arm64": "return walltime()",
}

// additions are files that join a package, overlay/PACKAGE/nodestorm.go.txt.
//
//go:embed overlay
var additions embed.FS

// toolchains are the Go releases that the edits were written for, with all of their
// patch releases, which mend faults and keep to the runtime's design. In another
// release the same lines may mean something else, so that the edits fit it proves
// nothing: read its runtime first, and then name it here.
var toolchains = []string{"go1.26"}

// Supported reports whether programs can be built with the clock for goos and
// goarch. Elsewhere worlds run in real time.
func Supported(goos, goarch string) bool {
	return goos == "linux" && (goarch == "amd64" || goarch == "arm64")
}

// WriteOverlay writes the edited standard library files of the toolchain at goroot for
// linux and goarch ("amd64" or "arm64") into dir, which it makes. It returns
// the path of the overlay.json that `go build -overlay` takes, and the hex
// SHA-256 over everything the overlay puts into a build. An error names the
// toolchain's release when it is none that the edits were written for, and the file
// when the source is not what they expect.
func WriteOverlay(goroot, goarch, dir string) (path, hash string, err error) {
	if !Supported("linux", goarch) {
		return "", "", fmt.Errorf("the clock overlay knows linux/amd64 and linux/arm64, not linux/%s; use --clock real", goarch)
	}
	release, err := toolchainRelease(goroot)
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", fmt.Errorf("making the overlay folder: %w", err)
	}
	todo := edits
	if goarch == "amd64" {
		todo = append(append([]edit{}, editsAMD64...), edits...)
	}
	content := map[string]string{}
	for _, e := range todo {
		src, ok := content[e.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(goroot, "src", e.file))
			if err != nil {
				return "", "", fmt.Errorf("%s has no %s, so it can't be given the clock; use another %s, or --clock real: %w", release, e.file, known(), err)
			}
			src = string(b)
		}
		if n := strings.Count(src, e.old); n != 1 {
			return "", "", fmt.Errorf("%s of %s is not as the clock overlay expects it (%d places instead of 1 for %q); use another %s, or --clock real",
				e.file, release, n, firstLine(e.old), known())
		}
		content[e.file] = strings.Replace(src, e.old, e.new, 1)
	}
	constants := strings.NewReplacer(
		"@UNIXTIME@", unixTime[goarch],
		"@MAGIC@", strconv.Itoa(pageMagic),
		"@PAGE@", strconv.Itoa(pageSize),
		"@SLOTSIZE@", strconv.Itoa(slotSize),
		"@SLOTS@", strconv.Itoa(slotCount),
		"@LAGBUCKETS@", strconv.Itoa(lagBuckets),
	)
	for _, pkg := range []string{"runtime", "net"} {
		b, err := additions.ReadFile("overlay/" + pkg + "/nodestorm.go.txt")
		if err != nil {
			return "", "", err
		}
		content[pkg+"/nodestorm.go"] = constants.Replace(string(b))
	}

	replace := map[string]string{}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(content)) {
		out := filepath.Join(dir, strings.ReplaceAll(name, "/", "_")+".overlay")
		if err := os.WriteFile(out, []byte(content[name]), 0o644); err != nil {
			return "", "", fmt.Errorf("writing the overlay: %w", err)
		}
		replace[filepath.Join(goroot, "src", name)] = out
		fmt.Fprintf(sum, "%s %d\n%s", name, len(content[name]), content[name])
	}
	index, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, index, 0o644); err != nil {
		return "", "", fmt.Errorf("writing the overlay: %w", err)
	}
	return path, hex.EncodeToString(sum.Sum(nil)), nil
}

// released is the name of a release: none of a candidate ("go1.27rc1"), of what is
// between two ("devel go1.28-abc"), or of somebody's own ("go1.26.8-mine").
var released = regexp.MustCompile(`^go1\.\d+(\.\d+)?$`)

// toolchainRelease is the first line of GOROOT/VERSION, "go1.26.8".
func toolchainRelease(goroot string) (string, error) {
	b, err := os.ReadFile(filepath.Join(goroot, "VERSION"))
	if err != nil {
		return "", fmt.Errorf("the Go toolchain at %s does not say which release it is, so it can't be given the clock; use %s, or --clock real: %w", goroot, known(), err)
	}
	release := firstLine(string(b))
	if !released.MatchString(release) || !slices.Contains(toolchains, version.Lang(release)) {
		return "", fmt.Errorf("the clock overlay was not written for %s (the Go toolchain at %s); use %s, or --clock real", release, goroot, known())
	}
	return release, nil
}

// known are the releases for people: "Go 1.26.x".
func known() string {
	var names []string
	for _, t := range toolchains {
		names = append(names, "Go "+strings.TrimPrefix(t, "go")+".x")
	}
	return strings.Join(names, " or ")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
