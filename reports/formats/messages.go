package formats

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/reports/story"
)

// Messages writes Cucumber messages, one JSON object a line: each run as a
// scenario of its own, whose text is that of the steps as they were run, with
// what a person would want to see attached. Times are virtual, since 1970 where
// the run's own beginning is not known.
func Messages(w io.Writer, stories []*story.Story) error {
	out := &messenger{encoder: json.NewEncoder(w)}
	out.send(&messages.Envelope{Meta: &messages.Meta{
		ProtocolVersion: "21.0.1", Implementation: &messages.Product{Name: "nodestorm"},
		Runtime: &messages.Product{Name: "go", Version: runtime.Version()},
		Os:      &messages.Product{Name: runtime.GOOS}, Cpu: &messages.Product{Name: runtime.GOARCH},
	}})
	var cases []*acted
	for n, s := range stories {
		c, err := out.scenario(n, s)
		if err != nil {
			return fmt.Errorf("messages of %s: %w", title(s.Run), err)
		}
		cases = append(cases, c)
	}
	begin, end := time.Time{}, time.Time{}
	for _, s := range stories {
		if at := instant(s, s.Begin); begin.IsZero() || at.Before(begin) {
			begin = at
		}
		if at := instant(s, s.End); at.After(end) {
			end = at
		}
	}
	out.send(&messages.Envelope{TestRunStarted: &messages.TestRunStarted{Timestamp: stamp(begin)}})
	success := true
	for n, s := range stories {
		success = out.act(s, cases[n]) && success
	}
	out.send(&messages.Envelope{TestRunFinished: &messages.TestRunFinished{Success: success, Timestamp: stamp(end)}})
	return out.err
}

type messenger struct {
	encoder *json.Encoder
	id      int
	err     error
}

func (m *messenger) send(e *messages.Envelope) {
	if m.err == nil {
		m.err = m.encoder.Encode(e)
	}
}

func (m *messenger) next() string {
	m.id++
	return fmt.Sprint(m.id)
}

// acted are the IDs of a test case and of its steps.
type acted struct {
	id    string
	steps []string
}

// scenario sends a run's source, document, pickle and test case.
func (m *messenger) scenario(n int, s *story.Story) (*acted, error) {
	uri, text := featureURI(n), feature(s)
	document, err := gherkin.ParseGherkinDocument(strings.NewReader(text), m.next)
	if err != nil {
		return nil, err
	}
	document.Uri = uri
	m.send(&messages.Envelope{Source: &messages.Source{Uri: uri, Data: text,
		MediaType: messages.SourceMediaType_TEXT_X_CUCUMBER_GHERKIN_PLAIN}})
	m.send(&messages.Envelope{GherkinDocument: document})
	c := &acted{}
	for _, pickle := range gherkin.Pickles(*document, uri, m.next) {
		m.send(&messages.Envelope{Pickle: pickle})
		test := &messages.TestCase{Id: m.next(), PickleId: pickle.Id, TestSteps: []*messages.TestStep{}}
		c.id = test.Id
		for _, step := range pickle.Steps {
			id := m.next()
			c.steps = append(c.steps, id)
			test.TestSteps = append(test.TestSteps,
				&messages.TestStep{Id: id, PickleStepId: step.Id, StepDefinitionIds: []string{},
					StepMatchArgumentsLists: []*messages.StepMatchArgumentsList{}})
		}
		m.send(&messages.Envelope{TestCase: test})
	}
	return c, nil
}

func featureURI(n int) string { return fmt.Sprintf("run-%d.feature", n+1) }

// scenarioLine is where in feature the scenario is; its steps follow, a line each.
const scenarioLine = 3

// feature is the run's scenario as Gherkin. No text of it can end its line.
func feature(s *story.Story) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Feature: %s\n\n  Scenario: %s\n", title(s.Run), title(s.Run))
	for _, step := range s.Steps() {
		fmt.Fprintf(&b, "    %s %s\n", keyword(step), strings.TrimSpace(step.Text))
	}
	return b.String()
}

func keyword(step story.Step) string { return cmp.Or(step.Keyword, "*") }

// act sends what happened, and reports whether all passed.
func (m *messenger) act(s *story.Story, c *acted) bool {
	if c.id == "" {
		return false
	}
	started := m.next()
	m.send(&messages.Envelope{TestCaseStarted: &messages.TestCaseStarted{Id: started, TestCaseId: c.id,
		Timestamp: stamp(instant(s, s.Begin))}})
	success := true
	last := ""
	for n, step := range s.Steps() {
		if n >= len(c.steps) {
			break
		}
		last = c.steps[n]
		m.send(&messages.Envelope{TestStepStarted: &messages.TestStepStarted{TestCaseStartedId: started, TestStepId: last,
			Timestamp: stamp(instant(s, step.From))}})
		status := messages.TestStepResultStatus(strings.ToUpper(step.Status))
		switch status {
		case messages.TestStepResultStatus_PASSED:
		case messages.TestStepResultStatus_SKIPPED, messages.TestStepResultStatus_FAILED, messages.TestStepResultStatus_UNDEFINED,
			messages.TestStepResultStatus_PENDING, messages.TestStepResultStatus_AMBIGUOUS:
			success = false
		default:
			status, success = messages.TestStepResultStatus_UNKNOWN, false
		}
		m.send(&messages.Envelope{TestStepFinished: &messages.TestStepFinished{
			TestCaseStartedId: started, TestStepId: last, Timestamp: stamp(instant(s, step.To)),
			TestStepResult: &messages.TestStepResult{Status: status, Message: step.Error,
				Duration: &messages.Duration{Seconds: int64((step.To - step.From) / time.Second), Nanos: int64((step.To - step.From) % time.Second)}},
		}})
	}
	for _, a := range attachments(s) {
		m.send(&messages.Envelope{Attachment: &messages.Attachment{
			TestCaseStartedId: started, TestStepId: last, FileName: a.name, MediaType: a.media,
			ContentEncoding: messages.AttachmentContentEncoding_BASE64, Body: base64.StdEncoding.EncodeToString(a.body),
		}})
	}
	m.send(&messages.Envelope{TestCaseFinished: &messages.TestCaseFinished{TestCaseStartedId: started, Timestamp: stamp(instant(s, s.End))}})
	return success
}

type attachment struct {
	name, media string
	body        []byte
}

// attachments are what a person would want to see of a run.
func attachments(s *story.Story) []attachment {
	var text strings.Builder
	issue(&text, s)
	all := []attachment{{"issue.md", "text/markdown", []byte(text.String())}}
	var run bytes.Buffer
	if err := JSON(&run, []*story.Story{s}); err == nil { // into memory
		all = append(all, attachment{"run.json", "application/json", run.Bytes()})
	}
	return all
}

// instant is a virtual time as a date.
func instant(s *story.Story, at time.Duration) time.Time {
	epoch := s.Run.Epoch
	if epoch.IsZero() {
		epoch = time.Unix(0, 0)
	}
	return epoch.Add(at)
}

func stamp(at time.Time) *messages.Timestamp {
	return &messages.Timestamp{Seconds: at.Unix(), Nanos: int64(at.Nanosecond())}
}
