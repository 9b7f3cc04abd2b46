package formats

import (
	"io"

	"nodestorm/reports/story"
	"nodestorm/reports/wording"
)

type jsonRun struct {
	story.Run
	Events    int            `json:"records"`
	Steps     []jsonStep     `json:"steps"`
	Shown     []jsonEvent    `json:"shown"` // the evidence
	Decisions []jsonDecision `json:"decisions"`
}

type jsonStep struct {
	Keyword string  `json:"keyword"`
	Text    string  `json:"text"`
	Status  string  `json:"status"`
	Error   string  `json:"error,omitempty"`
	At      float64 `json:"at"` // when it ended, in seconds of virtual time
}

type jsonEvent struct {
	Seq  uint64  `json:"seq"`
	At   float64 `json:"at"` // seconds of virtual time
	Text string  `json:"text"`
}

type jsonDecision struct {
	jsonEvent
	What string `json:"what"` // with names by their order of appearance
}

// JSON writes what is known of each run: an array, [] for none.
func JSON(w io.Writer, stories []*story.Story) error {
	runs := make([]jsonRun, 0, len(stories))
	for _, s := range stories {
		r := jsonRun{Run: s.Run, Events: len(s.Events), Steps: []jsonStep{}, Shown: []jsonEvent{}, Decisions: []jsonDecision{}}
		r.Reason = wording.Clean(r.Reason)
		event := func(i int) jsonEvent {
			return jsonEvent{s.Events[i].Seq, s.Events[i].Virtual.Seconds(), s.Sentence(i)}
		}
		for _, step := range s.Steps() {
			r.Steps = append(r.Steps, jsonStep{step.Keyword, step.Text, step.Status, step.Error, step.To.Seconds()})
		}
		for i, e := range s.Events {
			if e.Flags&story.Evidence != 0 {
				r.Shown = append(r.Shown, event(i))
			}
		}
		for _, d := range s.Decisions {
			r.Decisions = append(r.Decisions, jsonDecision{event(int(d.Event)), d.What})
		}
		runs = append(runs, r)
	}
	return indented(w, runs)
}
