package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	orders "nodestorm/harness/program/installer"
	"nodestorm/sim/fault"
)

const exampleFiles = "../../features/examples"

// What help shows is read as it is by the commands that it is for.
func TestTopics(t *testing.T) {
	for _, topic := range topics {
		code, text, stderr := said(t, "help", topic.name)
		if code != AsExpected || stderr != "" {
			t.Errorf("help %s: status %d, %q", topic.name, code, stderr)
		}
		for _, name := range topic.examples {
			sample, err := os.ReadFile(filepath.Join(exampleFiles, name))
			if err != nil || !strings.Contains(text, strings.TrimSpace(string(sample))) {
				t.Errorf("help %s has no %s, %v", topic.name, name, err)
			}
		}
	}
	t.Setenv("HCLOUD_TOKEN", "any")
	for args, want := range map[string]string{
		"cloud|hcloud|--check|--faults|faults-hcloud.yaml":             "good: 18 fault(s)",
		"cloud|externalgrpc|--check|--faults|faults-externalgrpc.yaml": "good: 4 fault(s)",
		"cloud|aws|--check|--faults|faults-aws.yaml":                   "good: 6 fault(s)",
		"cloud|aws|--check|--state|account.yaml":                       "good: 0 fault(s), 0 instance(s)",
		"proxy|--check|--rules|rules.yaml":                             "12 rule(s) good",
	} {
		words := strings.Split(args, "|")
		words[len(words)-1] = filepath.Join(exampleFiles, words[len(words)-1])
		if code, text, stderr := said(t, words...); code != AsExpected || !strings.Contains(text, want) {
			t.Errorf("%v: status %d, %q, %q; want %q", words, code, text, stderr, want)
		}
	}
	if _, text, _ := said(t, "--help"); !strings.Contains(text, "faults") || !strings.Contains(text, "orders") {
		t.Errorf("the topics are in no list: %s", text)
	}
}

// No kind of fault, act or step is left out: each has an example, and is in the text.
func TestTopicsAreComplete(t *testing.T) {
	for _, topic := range topics {
		if topic.faults == nil {
			continue
		}
		shown := map[reflect.Type]bool{}
		for _, name := range topic.examples {
			faults, err := fault.Load(filepath.Join(exampleFiles, name), topic.faults)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range faults {
				shown[reflect.TypeOf(f.Effect)] = true
			}
		}
		_, text, _ := said(t, "help", topic.name)
		for _, k := range topic.faults.Kinds() {
			if _, one, is := strings.Cut(text, "\n# --- "+k.Key+"\n"); is { // made of its sentence
				one, _, _ = strings.Cut(one, "\n# --- ")
				if faults, err := fault.Parse([]byte(one), topic.faults); err == nil && len(faults) == 1 {
					shown[reflect.TypeOf(faults[0].Effect)] = true
				}
			}
			if !shown[reflect.TypeOf(k.Effect)] {
				t.Errorf("no example of help %s has the effect %s", topic.name, k.Key)
			}
			if !strings.Contains(text, topic.faults.Written(k.Key, k.Fields()...)) || !strings.Contains(text, k.Says[0].Text) {
				t.Errorf("help %s does not say %s", topic.name, k.Key)
			}
		}
	}
	o, _, err := orders.Load(filepath.Join(exampleFiles, "order.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var apply, rollout, label, taint bool
	for _, s := range o.Steps {
		apply, rollout, label, taint = apply || s.Apply != "", rollout || s.Rollout != nil, label || s.Label != nil, taint || s.Taint != nil
	}
	if !apply || !rollout || !label || !taint {
		t.Error("a kind of step is missing")
	}
}
