package formats

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"nodestorm/reports/story"
)

// traceEvent is one of Chrome's Trace Event Format, which ui.perfetto.dev and
// chrome://tracing read. Times are in microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	TS    float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Trace writes a process a run, in virtual time: lives as slices on a thread
// each, events as instants on a thread for each actor, curves as counters.
func Trace(w io.Writer, stories []*story.Story) error {
	out := &tracer{w: bufio.NewWriter(w)}
	out.text(`{"displayTimeUnit":"ms","traceEvents":[`)
	for n, s := range stories {
		out.story(n+1, s)
	}
	out.text("\n]}\n")
	if out.err != nil {
		return out.err
	}
	return out.w.Flush()
}

type tracer struct {
	w     *bufio.Writer
	count int
	err   error
}

func (t *tracer) text(s string) {
	if t.err == nil {
		_, t.err = t.w.WriteString(s)
	}
}

func (t *tracer) event(e traceEvent) {
	encoded, err := json.Marshal(e)
	if err != nil {
		t.err = fmt.Errorf("writing a trace: %w", err)
		return
	}
	if t.count > 0 {
		t.text(",")
	}
	t.count++
	t.text("\n")
	t.text(string(encoded))
}

func (t *tracer) story(pid int, s *story.Story) {
	t.event(traceEvent{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": title(s.Run)}})
	tid := 0
	thread := func(name string) int { // they are shown in the order in which they come
		tid++
		t.event(traceEvent{Name: "thread_name", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"name": name}})
		t.event(traceEvent{Name: "thread_sort_index", Phase: "M", PID: pid, TID: tid, Args: map[string]any{"sort_index": tid}})
		return tid
	}
	for _, l := range s.Lives {
		for _, part := range []struct {
			of    string
			spans []story.Span
		}{{"", l.Spans}, {", taints", l.Under}} { // slices of a thread must not overlap
			if len(part.spans) == 0 {
				continue
			}
			tid := thread(l.Group + ": " + l.Label + part.of)
			for _, x := range part.spans {
				if x.Label == "" { // a step without a text
					continue
				}
				long := float64(x.To-x.From) / 1000
				t.event(traceEvent{Name: x.Label, Cat: l.Group, Phase: "X", TS: float64(x.From) / 1000, Dur: &long, PID: pid, TID: tid,
					Args: map[string]any{"seq": s.Events[x.Event].Seq}})
			}
		}
	}
	threads := map[string]int{}
	for i, e := range s.Events {
		k := s.Kinds[e.Kind]
		row := k.Source + ": " + k.Actor
		if threads[row] == 0 {
			threads[row] = thread(row)
		}
		args := map[string]any{"seq": e.Seq}
		if detail := s.Details[e.Detail]; detail != "" {
			args["detail"] = json.RawMessage(detail)
		}
		t.event(traceEvent{Name: s.Sentence(i), Cat: k.Source, Phase: "i", TS: float64(e.Virtual) / 1000, PID: pid,
			TID: threads[row], Scope: "t", Args: args})
	}
	for _, c := range s.Curves {
		points := c.Points
		if n := len(points); n > 0 && points[n-1].At < s.End { // a curve lasts as long as the run
			points = append(slices.Clip(points), story.Point{At: s.End, Value: points[n-1].Value})
		}
		for _, p := range points {
			t.event(traceEvent{Name: c.Name, Phase: "C", TS: float64(p.At) / 1000, PID: pid, Args: map[string]any{"value": p.Value}})
		}
	}
}
