package history

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// flushInterval is the longest real time that an event stays out of the file,
// so that a killed run loses a second of its history at most.
const flushInterval = time.Second

// ErrClosed is what Wait returns when the log is closed before an event matches.
var ErrClosed = errors.New("history is closed")

// Log is the history of a running world: in memory, and in a file when made by
// Create. Record only appends to memory; one goroutine writes the file.
type Log struct {
	clk         clock.PassiveClock
	start       time.Time // virtual
	realStart   time.Time
	file        *os.File      // nil for memory only
	stop        chan struct{} // closed by Close
	writerEnded chan struct{}

	mu       sync.Mutex
	events   []Entry // append-only
	grown    chan struct{}
	closed   bool
	writeErr error
	written  Digest
}

// Digest identifies a history's file.
type Digest struct {
	Events uint64 `json:"records"`
	SHA256 string `json:"sha256"` // of the file
}

// New returns a Log that lives in memory only. start is the virtual wall time of
// the run's start, from which offsets count; zero means clk's now.
func New(start time.Time, clk clock.PassiveClock) *Log {
	if start.IsZero() {
		start = clk.Now()
	}
	return &Log{
		clk: clk, start: start, realStart: time.Now(),
		stop: make(chan struct{}), grown: make(chan struct{}),
	}
}

// Create returns a Log that also writes path, which must not exist yet. See New
// for start. Close it to have all events in the file.
func Create(path string, start time.Time, clk clock.PassiveClock) (*Log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("creating history: %w", err)
	}
	return newWithFile(file, start, clk), nil
}

func newWithFile(file *os.File, start time.Time, clk clock.PassiveClock) *Log {
	l := New(start, clk)
	l.file, l.writerEnded = file, make(chan struct{})
	go l.write()
	return l
}

// Start is the virtual wall time from which Entry.Virtual counts.
func (l *Log) Start() time.Time { return l.start }

// Record implements Recorder. After Close it does nothing.
func (l *Log) Record(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if e.At.IsZero() {
		// mutant: an event's time is real time
		e.At = l.clk.Now()
	}
	l.events = append(l.events, Entry{
		// mutant: the recorder numbers events in another order
		Seq:     uint64(len(l.events) + 1),
		Virtual: e.At.Sub(l.start),
		Real:    time.Since(l.realStart),
		Event:   e,
	})
	close(l.grown)
	l.grown = make(chan struct{})
}

// Events returns all events so far in the order of Sort. The slice is the
// caller's; the events' details are shared and must not be changed.
func (l *Log) Events() []Entry {
	events, _, _ := l.since(0)
	sorted := slices.Clone(events)
	Sort(sorted)
	return sorted
}

// Since returns the events that arrived after the one numbered seq, in the
// order of arrival; Since(0) returns all. It copies nothing and is cheap to
// poll; the caller must not change what it returns.
func (l *Log) Since(seq uint64) []Entry {
	events, _, _ := l.since(seq)
	return events
}

func (l *Log) since(seq uint64) (events []Entry, grown <-chan struct{}, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := uint64(len(l.events))
	return l.events[min(seq, n):n:n], l.grown, l.closed
}

// Wait returns the first event, in the order of arrival, for which match holds,
// whether it is there already or comes later. It ends with the context's cause,
// or with ErrClosed when the log is closed first.
func (l *Log) Wait(ctx context.Context, match func(Entry) bool) (Entry, error) {
	return l.WaitAfter(ctx, 0, match)
}

// WaitAfter is Wait for the events that arrive after the one numbered seq.
func (l *Log) WaitAfter(ctx context.Context, seq uint64, match func(Entry) bool) (Entry, error) {
	for {
		events, grown, closed := l.since(seq)
		for _, r := range events {
			if match(r) {
				return r, nil
			}
			seq = r.Seq
		}
		if closed {
			return Entry{}, ErrClosed
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return Entry{}, fmt.Errorf("waiting for an event (none of %d matches): %w", seq, context.Cause(ctx))
		}
	}
}

// Close ends the log: later events are dropped, waiters get ErrClosed, and the
// file, if any, is complete. The error says whether the file could not be
// written at some time, for example because the disk was full; the events in
// memory are complete all the same. Further calls return the same error.
func (l *Log) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.stop)
		close(l.grown)
	}
	l.mu.Unlock()
	if l.writerEnded != nil {
		<-l.writerEnded
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writeErr
}

// Digest is that of the file, once the log is closed: of what was to be in it, also
// where the disk was full. It is zero for a log in memory.
func (l *Log) Digest() Digest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written
}

// write copies events to the file each flushInterval and once more at the end.
func (l *Log) write() {
	defer close(l.writerEnded)
	sum := sha256.New()
	buffer := bufio.NewWriter(io.MultiWriter(sum, l.file)) // a sum takes whatever the file does not
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	var seq uint64
	var err error
	for last := false; !last && err == nil; {
		select {
		case <-ticker.C:
		case <-l.stop:
			last = true
		}
		// mutant: the writer of the history leaves an event out
		for _, r := range l.Since(seq) {
			_, _ = buffer.Write(line(r)) // a failed write stays in the buffer until Flush
			seq = r.Seq
		}
		err = buffer.Flush()
	}
	err = errors.Join(err, l.file.Close())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written = Digest{Events: seq, SHA256: hex.EncodeToString(sum.Sum(nil))}
	if err != nil {
		l.writeErr = fmt.Errorf("writing history: %w", err)
	}
}

// line is the event's line in the file. A detail that JSON cannot express is
// replaced by the reason, so that the event itself is kept.
func line(r Entry) []byte {
	text, err := json.Marshal(r)
	if err != nil {
		r.Detail = map[string]any{"unwritable": err.Error()}
		text, _ = json.Marshal(r) // strings and numbers only
	}
	return append(text, '\n')
}
