// Package output is how the command shows results, messages and what is under way: tables and
// machine formats on standard output, words on standard error.
package output

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Line shows what is under way: one line that changes on a terminal, a plain line now and then
// elsewhere.
type Line struct {
	w        io.Writer
	terminal *os.File // nil: w is none
	all      bool     // what changes is a line, and the detail is in it

	mu    sync.Mutex
	shown time.Time
	key   string
	dirty bool
}

const (
	redraw   = 100 * time.Millisecond
	plainGap = time.Minute // between plain lines about the same thing
)

// NewLine returns a line on w.
func NewLine(w io.Writer) *Line {
	l := &Line{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		l.terminal = f
	}
	return l
}

// NewPlainLine returns a line on w where what changes is a line of its own, details included.
func NewPlainLine(w io.Writer) *Line { return &Line{w: w, all: true} }

// Changes reports whether it is one line, on a terminal.
func (l *Line) Changes() bool { return l.terminal != nil }

// Steps reports whether each step of a world is shown: on a terminal, or where each is to be a line.
func (l *Line) Steps() bool { return l.all || l.terminal != nil }

// Show shows text about a subject. It may be called often: a plain line is printed at once when
// the subject changes.
func (l *Line) Show(subject, text, detail string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := time.Since(l.shown)
	if l.all && detail != "" {
		subject, text = subject+detail, text+"  "+detail
	}
	if l.terminal == nil {
		if since >= plainGap || subject != l.key {
			fmt.Fprintln(l.w, text)
			l.shown, l.key = time.Now(), subject
		}
		return
	}
	if since < redraw && subject == l.key {
		return
	}
	line := text
	if detail != "" {
		line += "  " + detail
	}
	width, _, err := term.GetSize(int(l.terminal.Fd())) // it may have changed
	if runes := []rune(line); err == nil && width > 0 && len(runes) >= width {
		line = string(runes[:width-1])
	}
	fmt.Fprintf(l.w, "\r\x1b[K%s", line)
	l.shown, l.key, l.dirty = time.Now(), subject, true
}

// Clear removes the line before something else is printed.
func (l *Line) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dirty {
		fmt.Fprint(l.w, "\r\x1b[K")
		l.dirty = false
	}
	l.key = "" // the next plain line is due at once
}
