package karpenter

import (
	"encoding/json"
	"time"

	"nodestorm/harness/program/deploy"
	"nodestorm/sim/history"
)

// logged are the fields of its log lines that become history, as its releases and people's reports name them.
var logged = []string{
	"level", "error", "controller", "NodePool", "NodeClaim", "Node", "Pod", "Pods", "reason", "taints",
	// What is launched, and for how much.
	"requests", "instance-types", "instance-type", "zone", "capacity-type",
	// What is disrupted, and how.
	"decision", "disrupted-node-count", "replacement-node-count", "pod-count",
}

// logLines turns a process's JSON log lines into history. What is no such
// line (a panic, say) stays in the log file only. leader hears of each.
func logLines(to history.Recorder, process string, leader *deploy.Leader) func([]byte) {
	return func(line []byte) {
		leader.Logged(process, line)
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
		if process != Name {
			e.Detail["replica"] = process
		}
		for _, key := range logged {
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
