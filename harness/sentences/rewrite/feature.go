package rewrite

import (
	"bytes"
	"strings"

	gherkin "github.com/cucumber/gherkin/go/v26"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/sentences/words"
	"nodestorm/scenarios"
)

// Feature are the changes of a feature. One that cannot be read has none.
func Feature(text []byte) (changes []Change) {
	ids := &messages.Incrementing{}
	document, err := scenarios.ParseFeature(bytes.TrimPrefix(text, []byte("\ufeff")), ids.NewId)
	if err != nil || document.Feature == nil {
		return nil
	}
	clouds := cloudsOf(gherkin.Pickles(*document, "", ids.NewId))
	lines := strings.Split(string(text), "\n")
	for _, step := range stepsOf(document.Feature) {
		now, is := words.Newer(step.Text, clouds[step.Id])
		if !is {
			continue
		}
		was := lines[step.Location.Line-1]
		at := strings.LastIndex(was, step.Text)
		if at < 0 { // it is escaped in a way of which nothing is known
			continue
		}
		// mutant: what stands behind a step is lost
		changed := was[:at] + now + was[at+len(step.Text):]
		changes = append(changes, Change{int(step.Location.Line), []string{was}, []string{changed}})
	}
	return changes
}

// cloudsOf are the clouds of the scenarios that steps are in, by the steps' IDs. Of steps of several there is none.
func cloudsOf(pickles []*messages.Pickle) map[string]string {
	clouds := map[string]string{}
	for _, pickle := range pickles {
		cloud := requirements.System(pickle.Steps)
		for _, step := range pickle.Steps {
			id := step.AstNodeIds[0]
			if other, is := clouds[id]; is && other != cloud {
				clouds[id] = ""
			} else {
				clouds[id] = cloud
			}
		}
	}
	return clouds
}

// stepsOf are all steps of a feature, in the order of the file.
func stepsOf(feature *messages.Feature) (all []*messages.Step) {
	add := func(background *messages.Background, scenario *messages.Scenario) {
		if background != nil {
			all = append(all, background.Steps...)
		}
		if scenario != nil {
			all = append(all, scenario.Steps...)
		}
	}
	for _, child := range feature.Children {
		add(child.Background, child.Scenario)
		if child.Rule != nil {
			for _, inside := range child.Rule.Children {
				add(inside.Background, inside.Scenario)
			}
		}
	}
	return all
}
