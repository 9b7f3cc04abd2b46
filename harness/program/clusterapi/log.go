package clusterapi

import (
	"bytes"

	"nodestorm/sim/history"
)

// panics records those that the controllers have recovered from: they go on, and only their log
// reports them, in the words of client-go and controller-runtime.
func panics(to history.Recorder) func(line []byte) {
	words := []byte("Observed a panic")
	return func(line []byte) {
		if at := bytes.Index(line, words); at >= 0 {
			to.Record(history.Event{Source: history.Logged, Verb: "log", Actor: Name,
				Detail: map[string]any{"message": history.Short(string(line[at:]))}})
		}
	}
}
