package formats

import (
	"encoding/xml"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"nodestorm/reports/story"
	"nodestorm/reports/wording"
)

// The elements and attributes are those that the schema of Jenkins' xUnit plugin,
// the strictest of the readers, has: junit-10.xsd.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     seconds      `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Errors     int             `xml:"errors,attr"`
	Time       seconds         `xml:"time,attr"`
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    seconds       `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// seconds have three decimals, no more.
type seconds float64

func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s), 'f', 3, 64), nil
}

// JUnit writes a suite a run, with one case: whether its verdict is the expected
// one. An inconclusive run is a skipped case, for it counts neither way. What the
// steps did is in the case's output.
func JUnit(w io.Writer, stories []*story.Story) error { return JUnitOf(w, slices.Values(stories)) }

// JUnitOf is JUnit for more stories than there is memory for.
func JUnitOf(w io.Writer, stories iter.Seq[*story.Story]) error {
	all := junitSuites{Name: "nodestorm"}
	for s := range stories {
		r := s.Run
		c := junitCase{Name: title(r), Class: wording.Clean(r.Autoscaler), Time: seconds(took(r) / 1000)}
		if c.Class == "" {
			c.Class = "nodestorm"
		}
		suite := junitSuite{Name: wording.Clean(r.ID), Tests: 1, Time: c.Time, Properties: []junitProperty{
			{"target", wording.Clean(r.Target)}, {"kubernetes", wording.Clean(r.Kubernetes)}, {"verdict", wording.Clean(r.Verdict)},
			{"expected", wording.Clean(r.Expected)}, {"issue", wording.Clean(r.Issue)}, {"repeat", wording.Clean(r.Repeat)},
		}}
		if !r.Started.IsZero() {
			suite.Timestamp = r.Started.UTC().Format("2006-01-02T15:04:05")
		}
		switch outcomeOf(r) {
		case failed:
			c.Failure = &junitMessage{Message: explained(r), Type: wording.Clean(r.Outcome), Text: strings.Join(evidenceLines(s), "\n")}
			suite.Failures, all.Failures = 1, all.Failures+1
		case skipped:
			c.Skipped = &junitMessage{Message: explained(r)}
			suite.Skipped = 1
		}
		c.Out = output(s)
		suite.Cases = []junitCase{c}
		all.Suites = append(all.Suites, suite)
		all.Tests++
		all.Time += c.Time
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// output are a run's steps, and why it was judged as it was.
func output(s *story.Story) string {
	lines := []string{explained(s.Run)}
	for _, step := range s.Steps() {
		line := strings.TrimSpace(step.Status + ": " + step.Keyword + " " + step.Text)
		if step.Error != "" {
			line += " — " + step.Error
		}
		lines = append(lines, line)
	}
	for _, d := range s.Run.Departures {
		lines = append(lines, "other than the names say: "+wording.Clean(d))
	}
	for _, problem := range s.Run.Problems {
		lines = append(lines, "not read: "+wording.Clean(problem))
	}
	return strings.Join(lines, "\n")
}
