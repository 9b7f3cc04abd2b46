package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// status shows what is going on: one line that changes on a terminal, a plain
// line now and then elsewhere.
type status struct {
	w        io.Writer
	terminal *os.File      // nil: w is none
	all      bool          // what changes is a line, and the detail is in it
	of, next string        // of a build: which of how many, and which comes after it
	beside   func() string // what else goes on, for a terminal's line; may be nil

	mu    sync.Mutex
	shown time.Time
	key   string
	dirty bool
}

const (
	redraw   = 100 * time.Millisecond
	plainGap = 10 * time.Second // between plain lines about the same thing
)

func (e *env) newStatus() *status {
	if e.quiet {
		return newStatus(io.Discard)
	}
	s := newStatus(e.stderr)
	if e.verbose {
		s.terminal, s.all = nil, true
	}
	return s
}

func newStatus(w io.Writer) *status {
	s := &status{w: w}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.terminal = f
	}
	return s
}

// show shows text. It may be called often.
func (s *status) show(text string) { s.about("", text, "") }

// alone is show without what else goes on, which it is.
func (s *status) alone(text string) { s.draw("", text, "", nil) }

// about is show for a subject: a plain line is printed at once when it changes.
func (s *status) about(key, text, detail string) { s.draw(key, text, detail, s.beside) }

func (s *status) draw(key, text, detail string, beside func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := time.Since(s.shown)
	if s.all && detail != "" {
		key, text = key+detail, text+"  "+detail
	}
	if s.terminal == nil {
		if since >= plainGap || key != s.key {
			fmt.Fprintln(s.w, text)
			s.shown, s.key = time.Now(), key
		}
		return
	}
	if since < redraw && key == s.key {
		return
	}
	line := text
	if detail != "" {
		line += "  " + detail
	}
	if beside != nil {
		line += "  " + beside()
	}
	width, _, err := term.GetSize(int(s.terminal.Fd())) // it may have changed
	if runes := []rune(line); err == nil && width > 0 && len(runes) >= width {
		line = string(runes[:width-1])
	}
	fmt.Fprintf(s.w, "\r\x1b[K%s", line)
	s.shown, s.key, s.dirty = time.Now(), key, true
}

// clear removes the line before something else is printed.
func (s *status) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dirty {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.dirty = false
	}
	s.key = "" // the next plain line is due at once
}
