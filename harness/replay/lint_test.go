package replay_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/program/installer"
	"nodestorm/harness/replay"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/scenarios"
)

// Lint has nothing to say of the catalogue, as if it were a folder of a user's. The steps start the program that a record is of;
// an installer has no such step.
func TestLintOfCatalogue(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, record := range catalogue.Records() {
		maps.Copy(all, folderOf(t, catalogue, record))
	}
	dir := written(t, all)
	for _, s := range replay.ReadFolder(dir).Scenarios {
		of, want := requirements.Target(s.Pickle()), s.Record.Autoscaler
		if !s.Record.Bare() && of != want && want != installer.Kubespray.Name {
			t.Errorf("the steps of %s start %q, and its record is of %s", s.Record.ID, of, want)
		}
	}
	l, err := replay.Lint(scenarios.Empty(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if l.Recorded < len(catalogue.Records()) {
		t.Errorf("it looks at %d of %d records", l.Recorded, len(catalogue.Records()))
	}
	for _, p := range l.Problems {
		t.Error(p)
	}
}

// A step may name a release that the catalogue knows, one that is like none of those, and one that the store has, whether or not
// the scenario has a record.
func TestLintFindsReleases(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("karpenter-4403-upgraded")
	if err != nil {
		t.Fatal(err)
	}
	recorded := folderOf(t, catalogue, record)
	bare := maps.Clone(recorded)
	delete(bare, record.ID+".yaml")
	for name, folder := range map[string]map[string]string{"with a record": recorded, "without one": bare} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("NODESTORM_CACHE", t.TempDir())
			lintsReleases(t, folder, record.Feature)
		})
	}
}

func lintsReleases(t *testing.T, folder map[string]string, feature string) {
	t.Helper()
	right := folder[feature]
	for version, want := range map[string]string{"v1.7.0": "", "v1.14.1": "", "v1.7.1": "",
		"v1.77.0": "the step names karpenter@v1.77.0, and the store has no build of it: did you mean v1.7.0?",
		"v1.41.1": "did you mean v1.14.1?", "1.7.0": "did you mean v1.7.0?"} {
		folder[feature] = strings.ReplaceAll(right, "upgraded to v1.7.0", "upgraded to "+version)
		if got := linted(t, folder); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: it says %q, want %q", version, got, want)
		}
	}
	if err := os.MkdirAll(filepath.Join(os.Getenv("NODESTORM_CACHE"), "targets", "karpenter", "v1.77.0"), 0o755); err != nil {
		t.Fatal(err)
	}
	folder[feature] = strings.ReplaceAll(right, "upgraded to v1.7.0", "upgraded to v1.77.0")
	if got := linted(t, folder); got != "" {
		t.Errorf("of a build in the store it says %q", got)
	}
}

// What lint says of slips of newcomers has the line, the field, and what to write. What follows from a slip is left out.
func TestLintSays(t *testing.T) {
	t.Setenv("NODESTORM_CACHE", t.TempDir())
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("karpenter-7515-not-ready-noexecute")
	if err != nil {
		t.Fatal(err)
	}
	story, file := record.Feature, record.ID+".yaml"
	for _, test := range []struct {
		name, file, from, to string
		want                 []string
	}{
		{"a number", file, "count: 3", "count: three", []string{`.yaml:28: field "work.count": found string, want a number`}},
		{"a duration", file, "symptom:", "symptom:\n  within: 30 minutes", []string{`symptom.within: "30 minutes" is no duration: write 30m`}},
		{"a bare duration", file, "symptom:", "symptom:\n  within: 30", []string{`symptom.within: 30 is no duration above zero`}},
		{"a target", file, "fixed:", "targets:\n- {name: karpenter@1.6.4, expected: reproduced}\n- {name: karpenter@v1.7.0, expected: healthy}\nfixed:",
			[]string{"targets[0].name: the store has no build karpenter@1.6.4: did you mean karpenter@v1.6.4?"}},
		{"a keyword", story, "    Then ", "    Thn ", []string{`"Thn" begins no line of a feature: a step begins with Given, When, Then, And or But, did you mean "Then"?`}},
		{"the first keyword", story, "    Given a cluster", "    Gven a cluster", []string{`"Gven" begins no step: did you mean "Given"?`}},
		{"a keyword in small letters", story, "    Given a cluster", "    given a cluster", []string{`"given" begins no step: did you mean "Given"?`}},
		{"a duration of a step", story, "Then 5m from now", "Then 5 minutes from now", []string{`durations have units of a letter: write "5m from now`}},
		{"a resource", story, "    Then ", "    Then \"karpenter\" has sent \"delete\" of \"nodeclaim\" within 5m\n    And ",
			[]string{`"karpenter" has sent "delete" of "nodeclaim": resource: "nodeclaim" is none, did you mean "nodeclaims"?`}},
		{"what follows", story, "a NodePool \"", "a NodePol \"", []string{`did you mean "Given Karpenter with a NodePool \"NAME\""`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := folderOf(t, catalogue, record)
			folder[file], _, _ = strings.Cut(folder[file], "\ntwins:") // whose features are not there
			right := folder[test.file]
			if folder[test.file] = strings.Replace(right, test.from, test.to, 1); folder[test.file] == right {
				t.Fatalf("%s has no %q", test.file, test.from)
			}
			said := strings.Split(linted(t, folder), "\n")
			for i, want := range test.want {
				if len(said) != len(test.want) || !strings.Contains(said[i], want) {
					t.Errorf("it says %q, want %q", said, want)
				}
			}
		})
	}
}
