package cri

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// log is a container's, in the format that kubelets read: time, stream, F for a full
// line, line. All output counts as stdout.
type log struct {
	path  string
	clock clock.PassiveClock

	mu   sync.Mutex
	file *os.File
}

func newLog(path string, c clock.PassiveClock) *log { return &log{path: path, clock: c} }

func (l *log) open() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err == nil {
		l.file = file
	}
	return err
}

// line adds one. What cannot be written is lost, as it would be on a full disk.
func (l *log) line(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	b := l.clock.Now().AppendFormat(nil, time.RFC3339Nano)
	b = append(b, " stdout F "...)
	b = append(append(b, text...), '\n')
	_, _ = l.file.Write(b)
}

func (l *log) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}
