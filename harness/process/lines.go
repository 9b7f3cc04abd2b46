package process

import (
	"bytes"
	"sync"
)

// maxLine bounds what Lines keeps of one line; a longer one is dropped.
const maxLine = 8 << 20

// Lines returns a writer that calls each with every whole line written to it,
// without the newline and only during the call. It is safe for concurrent use.
func Lines(each func(line []byte)) *LineWriter { return &LineWriter{each: each} }

// LineWriter is made by Lines.
type LineWriter struct {
	each func([]byte)

	mu      sync.Mutex
	partial []byte
	tooLong bool
}

func (w *LineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		if len(w.partial)+len(line) > maxLine {
			w.partial, w.tooLong = nil, true
		}
		if !w.tooLong {
			w.partial = append(w.partial, line...)
		}
		if !whole {
			return n, nil
		}
		if !w.tooLong {
			w.each(w.partial)
		}
		w.partial, w.tooLong = w.partial[:0], false
		p = rest
	}
}
