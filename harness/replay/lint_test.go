package replay_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
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
	l, err := replay.Lint(t.Context(), scenarios.Empty(), []string{dir})
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
	record, err := catalogue.Lookup("karpenter-4403-all-the-way-busy")
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

// A flag, a variable or a feature gate is refused that none of the builds in the store knows of those that a record names, or
// of those of the program if there is no record. Without a build nothing is said.
func TestLintFindsFlags(t *testing.T) {
	older, newer := buildstest.Get(t, builds.Ref{Name: "karpenter", Version: "v1.6.4"}), buildstest.Get(t, builds.Ref{Name: "karpenter", Version: "v1.7.0"})
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	record, err := catalogue.Lookup("karpenter-7515-not-ready-noexecute")
	if err != nil {
		t.Fatal(err)
	}
	const starts = "    And Karpenter with a NodePool \"default\"\n"
	for _, test := range []struct {
		name, given string
		builds      []builds.Target
		want        string // that it says, with and without the record; empty: nothing
	}{
		{"a flag of both", "Karpenter with the flags:\n| --batch-idle-duration | 2s |", []builds.Target{older, newer}, ""},
		{"a flag of the newer one", "Karpenter with the flags:\n| --ignore-dra-requests | true |", []builds.Target{older, newer}, ""},
		{"a flag of one that is not there", "Karpenter with the flags:\n| --ignore-dra-requests | true |", []builds.Target{older},
			"feature:16: no build in the store that the scenario is for takes this: the scenario: karpenter@v1.6.4 knows no flag --ignore-dra-requests (it has --"},
		{"almost a flag", "Karpenter with the flags:\n| --cpu-request | 2 |", []builds.Target{older, newer},
			"karpenter@v1.6.4 knows no flag --cpu-request: did you mean --cpu-requests?"},
		{"no flag", "Karpenter with the flags:\n| --sweep-depth | 2 |", []builds.Target{older, newer}, "karpenter@v1.6.4 knows no flag --sweep-depth"},
		{"no build", "Karpenter with the flags:\n| --sweep-depth | 2 |", nil, ""},
		{"no gate", "the target has the environment variables:\n| FEATURE_GATES | CapacityBuffer=true |\nAnd Karpenter", []builds.Target{older, newer},
			"karpenter@v1.6.4 knows no feature gate CapacityBuffer"},
		{"no variable", "the target has the environment variables:\n| BATCH_DEPTH | 2 |\nAnd Karpenter", []builds.Target{older, newer},
			"karpenter@v1.6.4 knows no environment variable BATCH_DEPTH"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("NODESTORM_CACHE", storeOf(t, test.builds...))
			folder := folderOf(t, catalogue, record)
			folder[record.ID+".yaml"], _, _ = strings.Cut(folder[record.ID+".yaml"], "\ntwins:")
			right := folder[record.Feature]
			if folder[record.Feature] = strings.Replace(right, starts, "    And "+test.given+"\n", 1); folder[record.Feature] == right {
				t.Fatalf("%s has no %q", record.Feature, starts)
			}
			for _, with := range []string{"a record", "no record"} {
				if got := linted(t, folder); (got == "") != (test.want == "") || !strings.Contains(got, test.want) || strings.Contains(got, "\n") {
					t.Errorf("with %s it says %q, want %q", with, got, test.want)
				}
				delete(folder, record.ID+".yaml")
			}
		})
	}
}

// storeOf is a store with some builds of another one.
func storeOf(t *testing.T, all ...builds.Target) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, of := range all {
		versions := filepath.Join(dir, "targets", of.Name)
		if err := errors.Join(os.MkdirAll(versions, 0o755), os.Symlink(filepath.Dir(of.Dir), filepath.Join(versions, of.Version))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
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
