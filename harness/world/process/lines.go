package process

import (
	"bytes"
	"sync"
)

// maxLine bounds what Lines keeps of one line; of a longer one each gets the
// beginning.
const maxLine = 8 << 20

// Lines returns a writer that calls each with every whole line written to it,
// without the newline and only during the call. It is safe for concurrent use.
func Lines(each func(line []byte)) *LineWriter { return &LineWriter{each: each} }

// LineWriter is made by Lines.
type LineWriter struct {
	each func([]byte)

	mu      sync.Mutex
	partial []byte
}

func (w *LineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		w.partial = append(w.partial, line[:min(len(line), maxLine-len(w.partial))]...)
		if !whole {
			return n, nil
		}
		w.each(w.partial)
		w.partial = w.partial[:0]
		p = rest
	}
}
