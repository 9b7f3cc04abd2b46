package validation

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/stepdef"
)

// ofRelease is the end of a step that names a release, or leaves something out.
var ofRelease = regexp.MustCompile(` (?:v[0-9].*|…)$`)

// unmet are the steps that need something which no step before brings, and those that bring a second cloud. Lint alone looks for
// them: whether a step brings something is seen by how it begins.
func unmet(steps []*messages.PickleStep) (wrong []Problem) {
	cloudy := false
	for i, said := range steps {
		m, _ := stepdef.Find(said, nil)
		if m.Definition == nil {
			continue
		}
		for _, need := range m.Definition.Needs {
			second := cloudy && need.Missing == scene.NoCloud.Missing
			// mutant: a step may need what no step before brings
			if second || !brought(need.Missing, steps[:i]) {
				wrong = append(wrong, Problem{i, need.Missing})
				break
			}
			cloudy = cloudy || need.Missing == scene.NoCloud.Missing
		}
	}
	return wrong
}

// brought reports whether steps bring what is missing. That the target runs is checked with the steps themselves.
func brought(missing scene.Missing, before []*messages.PickleStep) bool {
	givens := missing.Givens()
	if len(givens) == 0 || missing == scene.TargetRuns.Missing {
		return true
	}
	return slices.ContainsFunc(givens, func(given string) bool {
		begin := ofRelease.ReplaceAllString(given, "")
		return slices.ContainsFunc(before, func(step *messages.PickleStep) bool { return strings.HasPrefix(step.Text, begin) })
	})
}
