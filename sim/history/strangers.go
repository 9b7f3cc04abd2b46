package history

import "sync"

// Uninvited is the verb of the harness's events of callers without credentials: of anybody on the machine, and no program of
// the world. The object is listeners/NAME, detail "of" how many calls came there so far. Nothing that they said is in it.
const Uninvited = "uninvited"

// Listeners is the resource of the objects of such events.
const Listeners = "listeners"

// Strangers counts what comes to a listener from callers without its credentials. Whatever they do, the history has a few
// events of it: of the first call, of each power of two, and in the end of all. Its methods are safe for concurrent use.
type Strangers struct {
	history Recorder
	where   string

	mu             sync.Mutex
	came, recorded uint64
	closed         bool
}

// CountStrangers counts for the listener of that name, until Close.
func CountStrangers(history Recorder, where string) *Strangers {
	return &Strangers{history: history, where: where}
}

// Came counts one more call.
func (s *Strangers) Came() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came++
	// mutant: each call of a stranger is an event
	if s.came&(s.came-1) == 0 {
		s.recordCount()
	}
}

// Close records how many came in all.
func (s *Strangers) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recorded < s.came {
		s.recordCount()
	}
	s.closed = true
	return nil
}

// recordCount records the count. The caller holds s.mu.
func (s *Strangers) recordCount() {
	if s.closed {
		return
	}
	s.recorded = s.came
	s.history.Record(Event{
		Source: Harness, Verb: Uninvited, Object: Object{Resource: Listeners, Name: s.where}, Detail: map[string]any{"of": s.came},
	})
}
