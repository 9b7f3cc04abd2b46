package breaks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"nodestorm/fakecloud/cloudfault"
	clouds "nodestorm/harness/cloud/all"
	"nodestorm/sim/fault"
	"nodestorm/sim/oneline"
)

// Parse reads and checks lists of faults in YAML. Those of the cloud and of the API server's proxy are those of
// `nodestorm cloud --faults` and `nodestorm proxy --rules`. An error is one line that names the fault and the
// field, and what is allowed there.
func Parse(text []byte) ([]fault.Fault, error) {
	var lists []*fault.List
	var known []string
	for _, b := range breakables() {
		lists, known = append(lists, b.List), append(known, b.List.Name)
	}
	slices.Sort(known)
	var whole any
	if err := yaml.UnmarshalStrict(text, &whole); err != nil {
		return nil, errors.New(oneline.Of(err.Error()))
	}
	in, is := whole.(map[string]any)
	if !is && whole != nil {
		return nil, fmt.Errorf("it is no mapping: want lists below one of the fields %s, as in faults: [{name: …}]", strings.Join(known, ", "))
	}
	if len(in) == 0 {
		return nil, fmt.Errorf("there is no fault: want one of the fields %s", strings.Join(known, ", "))
	}
	faults, err := fault.Parse(text, lists...)
	if err != nil {
		return nil, err
	}
	for _, f := range faults {
		if cloudfault.Faults.Has(f.Effect) {
			if err := cloudfault.Check(f, cloudCalls()); err != nil {
				return nil, err
			}
		}
	}
	return faults, nil
}

// cloudCalls are the calls and actions of all clouds. Each of them refuses those of the others.
func cloudCalls() (all []string) {
	for _, k := range clouds.Kinds {
		if k.Operations != nil {
			all = append(all, k.Operations()...)
		}
	}
	return all
}

// Page is what a list of faults can have, in Markdown.
func Page() string {
	var page strings.Builder
	page.WriteString("\n`these faults:` takes lists between two `\"\"\"` below the step. Each fault has a `name` and one effect.\n" +
		"It may have `at`, `for`, `skip`, `limit` and `probability`, which count what the sentence counts. It may have\n" +
		"`when`, a pattern of the event that it waits for, as in symptoms; of nodes, of what happens on them.\n\n" +
		"| list | what breaks | its other fields | effect |\n|---|---|---|---|\n")
	for _, s := range allSentences() {
		inside := slices.Clone(s.says.Fields)
		if s.says.Sets != "" {
			inside = append(inside, s.says.Sets)
		}
		list := s.subject.List
		row := fmt.Sprintf("| `%s` | %s | `%s`%s | `%s` |\n",
			list.Name, list.About, list.MatchFields(), list.Note, list.Written(s.kind.Key, inside...))
		if !strings.Contains(page.String(), row) {
			page.WriteString(row)
		}
	}
	return page.String()
}
