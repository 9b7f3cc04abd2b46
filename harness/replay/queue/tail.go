package queue

import (
	"bytes"
	"strings"
	"sync"
)

// tail keeps the last of what a worker writes to standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailKept = 16 << 10

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if more := len(t.text) - tailKept; more > 0 {
		t.text = bytes.Clone(t.text[more:])
	}
	return len(text), nil
}

// explain returns how the worker ended, with the line that says why, if there is one.
func (t *tail) explain(ended error) string {
	how := "exit status 0"
	if ended != nil {
		how = ended.Error()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	why := lines[len(lines)-1]
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			why = line // what follows is where
			break
		}
	}
	if why == "" {
		return how
	}
	return how + ": " + strings.TrimPrefix(why, "nodestorm: ")
}
