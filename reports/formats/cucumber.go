package formats

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"nodestorm/reports/story"
)

// Cucumber's JSON, as cucumber-jvm writes it and most readers of it expect it:
// https://github.com/cucumber/cucumber-json-schema.
type cucumberFeature struct {
	URI         string            `json:"uri"`
	ID          string            `json:"id"`
	Line        int               `json:"line"`
	Keyword     string            `json:"keyword"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Elements    []cucumberElement `json:"elements"`
}

type cucumberElement struct {
	ID          string         `json:"id"`
	Line        int            `json:"line"`
	Type        string         `json:"type"`
	Keyword     string         `json:"keyword"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Start       string         `json:"start_timestamp"`
	Steps       []cucumberStep `json:"steps"`
}

type cucumberStep struct {
	Keyword    string              `json:"keyword"`
	Line       int                 `json:"line"`
	Name       string              `json:"name"`
	Match      struct{}            `json:"match"` // readers want it, with or without a location
	Result     cucumberResult      `json:"result"`
	Embeddings []cucumberEmbedding `json:"embeddings,omitempty"`
}

type cucumberResult struct {
	Status   string `json:"status"`
	Duration int64  `json:"duration"` // ns
	Error    string `json:"error_message,omitempty"`
}

type cucumberEmbedding struct {
	Data string `json:"data"` // Base64
	Type string `json:"mime_type"`
	Name string `json:"name"`
}

// Cucumber writes Cucumber JSON: the same scenarios as Messages, with the same
// attachments, and in virtual time as well.
func Cucumber(w io.Writer, stories []*story.Story) error {
	features := make([]cucumberFeature, 0, len(stories))
	for n, s := range stories {
		scenario := cucumberElement{
			ID: fmt.Sprintf("run-%d;scenario", n+1), Line: scenarioLine, Type: "scenario", Keyword: "Scenario", Name: title(s.Run),
			Start: instant(s, s.Begin).UTC().Format("2006-01-02T15:04:05.000Z"), Steps: []cucumberStep{},
		}
		for i, step := range s.Steps() {
			scenario.Steps = append(scenario.Steps, cucumberStep{
				Keyword: keyword(step) + " ", Line: scenarioLine + 1 + i, Name: strings.TrimSpace(step.Text),
				Result: cucumberResult{Status: cucumberStatus(step.Status), Duration: int64((step.To - step.From) / time.Nanosecond),
					Error: step.Error},
			})
		}
		if last := len(scenario.Steps) - 1; last >= 0 {
			for _, a := range attachments(s) {
				scenario.Steps[last].Embeddings = append(scenario.Steps[last].Embeddings,
					cucumberEmbedding{base64.StdEncoding.EncodeToString(a.body), a.media, a.name})
			}
		}
		features = append(features, cucumberFeature{
			URI: featureURI(n), ID: fmt.Sprintf("run-%d", n+1), Line: 1, Keyword: "Feature", Name: title(s.Run),
			Elements: []cucumberElement{scenario},
		})
	}
	return indented(w, features)
}

// cucumberStatus is one that all readers know: some stop at any other.
func cucumberStatus(status string) string {
	switch status {
	case "passed", "failed", "skipped", "pending":
		return status
	}
	return "undefined"
}
