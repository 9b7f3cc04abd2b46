package karpenter

import (
	"encoding/json"
	"time"

	"nodestorm/sim/history"
)

// logLines turns the controller's JSON log lines into history. What is no such
// line (a panic, say) stays in the log file only.
func logLines(to history.Recorder) func([]byte) {
	return func(line []byte) {
		var entry map[string]any
		if json.Unmarshal(line, &entry) != nil {
			return
		}
		message, _ := entry["message"].(string)
		if message == "" {
			return
		}
		e := history.Event{Source: history.Logged, Verb: "log", Actor: Name, Detail: map[string]any{"message": message}}
		if at, err := time.Parse(time.RFC3339Nano, text(entry, "time")); err == nil {
			e.At = at
		}
		for _, key := range []string{"level", "error", "controller", "NodePool", "NodeClaim", "Node", "Pods", "reason", "taints"} {
			if v, ok := entry[key]; ok {
				e.Detail[key] = v
			}
		}
		to.Record(e)
	}
}

func text(entry map[string]any, key string) string {
	s, _ := entry[key].(string)
	return s
}
