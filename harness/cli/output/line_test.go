package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"nodestorm/harness/cli/output/outputtest"
)

// On a terminal one line changes, and never wraps, also after a resize.
func TestStatusOnTerminal(t *testing.T) {
	screen, tty := outputtest.Terminal(t, 40)
	s := NewLine(tty)
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
		outputtest.Resize(t, tty, columns)
		s.Show(fmt.Sprint(columns), long, "")
		line, found := strings.CutPrefix(read(), "\r\x1b[K")
		if n := utf8.RuneCountInString(line); !found || n != int(columns)-1 || strings.Contains(line, "\n") {
			t.Errorf("on %d columns: %q", columns, line)
		}
	}
	s.Clear()
	if got := read(); got != "\r\x1b[K" {
		t.Errorf("cleared with %q", got)
	}
}

// Elsewhere a line is printed for each new subject, and now and then for the same.
func TestStatusElsewhere(t *testing.T) {
	var out bytes.Buffer
	s := NewLine(&out)
	s.Show("a", "first", "")
	s.Show("a", "first again", "")
	s.Show("b", "second", "")
	s.shown = s.shown.Add(-plainGap - time.Second)
	s.Show("b", "second again", "")
	s.Clear()
	if got, want := out.String(), "first\nsecond\nsecond again\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}
