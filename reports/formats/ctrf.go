package formats

import (
	"encoding/json"
	"io"
	"strings"

	"nodestorm/reports/story"
	"nodestorm/reports/wording"
)

// The Common Test Report Format, https://ctrf.io, version 0.0.0 of its schema.
type ctrfReport struct {
	Format  string      `json:"reportFormat"`
	Version string      `json:"specVersion"`
	Results ctrfResults `json:"results"`
}

type ctrfResults struct {
	Tool    ctrfTool    `json:"tool"`
	Summary ctrfSummary `json:"summary"`
	Tests   []ctrfTest  `json:"tests"`
}

type ctrfTool struct {
	Name string `json:"name"`
}

// ctrfSummary's times are in milliseconds since 1970.
type ctrfSummary struct {
	Tests   int   `json:"tests"`
	Passed  int   `json:"passed"`
	Failed  int   `json:"failed"`
	Pending int   `json:"pending"`
	Skipped int   `json:"skipped"`
	Other   int   `json:"other"`
	Start   int64 `json:"start"`
	Stop    int64 `json:"stop"`
}

type ctrfTest struct {
	Name      string         `json:"name"`
	Status    string         `json:"status"`
	RawStatus string         `json:"rawStatus,omitempty"`
	Duration  int64          `json:"duration"` // ms
	Start     int64          `json:"start,omitempty"`
	Stop      int64          `json:"stop,omitempty"`
	Suite     []string       `json:"suite,omitempty"`
	Message   string         `json:"message,omitempty"`
	Trace     string         `json:"trace,omitempty"`
	Type      string         `json:"type,omitempty"`
	Tags      []string       `json:"tags,omitempty"`
	Steps     []ctrfStep     `json:"steps,omitempty"`
	Extra     map[string]any `json:"extra,omitempty"`
}

type ctrfStep struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

// CTRF writes a test a run. An inconclusive run is "other", for it counts neither
// way.
func CTRF(w io.Writer, stories []*story.Story) error {
	report := ctrfReport{Format: "CTRF", Version: "0.0.0", Results: ctrfResults{Tool: ctrfTool{"nodestorm"}, Tests: []ctrfTest{}}}
	sum := &report.Results.Summary
	for _, s := range stories {
		r := s.Run
		test := ctrfTest{
			Name: title(r), RawStatus: wording.Clean(r.Verdict), Duration: int64(took(r)),
			Suite: []string{"nodestorm", wording.Clean(r.ID)}, Type: "e2e",
			Message: explained(r), Extra: map[string]any{
				"target": wording.Clean(r.Target), "expected": wording.Clean(r.Expected), "outcome": wording.Clean(r.Outcome),
				"virtualSeconds": r.Clock.Virtual / 1000, "factor": r.Clock.Factor, "lagP99Ms": r.Clock.LagP99, "seed": r.Seed,
				"repeat": wording.Clean(r.Repeat),
			},
		}
		if r.Issue != "" {
			test.Tags = []string{wording.Clean(r.Issue)}
		}
		if !r.Started.IsZero() {
			test.Start = r.Started.UnixMilli()
			test.Stop = test.Start + test.Duration
			if sum.Start == 0 || test.Start < sum.Start {
				sum.Start = test.Start
			}
			sum.Stop = max(sum.Stop, test.Stop)
		}
		switch outcomeOf(r) {
		case passed:
			test.Status = "passed"
			sum.Passed++
		case failed:
			test.Status, test.Trace = "failed", strings.Join(evidenceLines(s), "\n")
			sum.Failed++
		default:
			test.Status = "other"
			sum.Other++
		}
		for _, step := range s.Steps() {
			status := map[string]string{"passed": "passed", "failed": "failed", "skipped": "skipped", "pending": "pending"}[step.Status]
			if status == "" {
				status = "other"
			}
			test.Steps = append(test.Steps, ctrfStep{strings.TrimSpace(step.Keyword + " " + step.Text), status})
		}
		sum.Tests++
		report.Results.Tests = append(report.Results.Tests, test)
	}
	return indented(w, report)
}

func indented(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
