package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
)

// terminal is a pseudo terminal of so many columns: what is written to tty comes
// out of screen.
func terminal(t *testing.T, columns uint16) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminals: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	resize(t, tty, columns)
	return screen, tty
}

func resize(t *testing.T, tty *os.File, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

// On a terminal one line changes, and never wraps, also after a resize.
func TestStatusOnTerminal(t *testing.T) {
	screen, tty := terminal(t, 40)
	s := newStatus(tty)
	read := func() string {
		b := make([]byte, 4096)
		n, err := screen.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	long := strings.Repeat("é", 100)
	for _, columns := range []uint16{40, 20, 80} {
		resize(t, tty, columns)
		s.about(fmt.Sprint(columns), long, "")
		line, found := strings.CutPrefix(read(), "\r\x1b[K")
		if n := utf8.RuneCountInString(line); !found || n != int(columns)-1 || strings.Contains(line, "\n") {
			t.Errorf("on %d columns: %q", columns, line)
		}
	}
	s.clear()
	if got := read(); got != "\r\x1b[K" {
		t.Errorf("cleared with %q", got)
	}
}

// Elsewhere a line is printed for each new subject, and now and then for the same.
func TestStatusElsewhere(t *testing.T) {
	var out bytes.Buffer
	s := newStatus(&out)
	s.about("a", "first", "")
	s.about("a", "first again", "")
	s.about("b", "second", "")
	s.shown = s.shown.Add(-plainGap - time.Second)
	s.about("b", "second again", "")
	s.clear()
	if got, want := out.String(), "first\nsecond\nsecond again\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// Progress of a build says which phase it is, how much of the expected time has passed, and
// what comes next.
func TestProgress(t *testing.T) {
	karpenter := builds.Ref{Name: "karpenter", Version: "v1.7.0"}
	for want, u := range map[string]buildstore.Update{
		"karpenter@v1.7.0: downloading (phase 1 of 3), 2s of about 4m0s (0 %), then compiling":                       {Stage: buildstore.Downloading, Elapsed: 2 * time.Second, Expected: 4 * time.Minute},
		"karpenter@v1.7.0: compiling (phase 2 of 3), 1m17s of about 4m0s (32 %), 18 packages compiled, then linking": {Stage: buildstore.Compiling, Done: 18, Total: 899, Elapsed: 77 * time.Second, Expected: 4 * time.Minute},
		"karpenter@v1.7.0: linking (phase 3 of 3), 5m0s, longer than the 4m0s expected":                              {Stage: buildstore.Linking, Done: 899, Total: 899, Elapsed: 5 * time.Minute, Expected: 4 * time.Minute},
		"karpenter@v1.7.0: compiling (phase 2 of 3), 3s, then linking":                                               {Stage: buildstore.Compiling, Elapsed: 3 * time.Second},
		"karpenter@v1.7.0: unpacking layer 1 of 3, 3s":                                                               {Stage: buildstore.Unpacking, Total: 3, Elapsed: 3 * time.Second, Expected: time.Minute},
		"karpenter@v1.7.0: pulling 3 of 9 MiB, 3s":                                                                   {Stage: buildstore.Pulling, Done: 3, Total: 9, Elapsed: 3 * time.Second},
	} {
		u.Ref = karpenter
		if got := progressOf(u); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var out bytes.Buffer
	s := newStatus(&out)
	s.of, s.next = "[2/3] ", "; next: ccm@v0.36.3"
	s.all = true
	s.update(buildstore.Update{Ref: karpenter, Stage: buildstore.Compiling, Package: "p"})
	if got := out.String(); !strings.HasPrefix(got, "[2/3] karpenter@v1.7.0: compiling") || !strings.HasSuffix(got, "  p; next: ccm@v0.36.3\n") {
		t.Errorf("%q", got)
	}
}
