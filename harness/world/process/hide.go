package process

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"nodestorm/reports/redact"
)

// hider writes whole lines, without the secrets that we know. What of a line has come
// waits for the rest; flush writes it.
type hider struct {
	to      io.Writer
	secrets [][]byte

	mu      sync.Mutex
	partial []byte
}

// hiding returns a writer to to, and how to end it. Without secrets it is to itself.
func hiding(to io.Writer, secrets []string) (w io.Writer, flush func() error) {
	if len(secrets) == 0 {
		return to, func() error { return nil }
	}
	h := &hider{to: to}
	for _, s := range secrets {
		h.secrets = append(h.secrets, []byte(s))
	}
	// One may be a part of another.
	slices.SortFunc(h.secrets, func(a, b []byte) int { return len(b) - len(a) })
	return h, h.flush
}

// Write implements io.Writer.
func (h *hider) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.partial = append(h.partial, p...)
	whole := bytes.LastIndexByte(h.partial, '\n') + 1
	if whole == 0 && len(h.partial) > maxLine {
		whole = len(h.partial) // a secret just here is the only one to get through
	}
	if whole == 0 {
		return len(p), nil
	}
	_, err := h.to.Write(h.clean(h.partial[:whole]))
	h.partial = append(h.partial[:0], h.partial[whole:]...)
	return len(p), err
}

func (h *hider) flush() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := h.to.Write(h.clean(h.partial))
	h.partial = nil
	return err
}

func (h *hider) clean(text []byte) []byte {
	text = slices.Clone(text)
	for _, s := range h.secrets {
		text = bytes.ReplaceAll(text, s, []byte(redact.Removed))
	}
	return text
}
