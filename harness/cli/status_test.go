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
