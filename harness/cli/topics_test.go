package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/externalgrpc"
	"nodestorm/fakecloud/hcloud"
	orders "nodestorm/harness/program/installer"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
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
		"cloud|hcloud|--check|--faults|faults-hcloud.yaml":             "good: 17 fault(s)",
		"cloud|externalgrpc|--check|--faults|faults-externalgrpc.yaml": "good: 4 fault(s)",
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

// No kind of fault, act or step is left out.
func TestTopicsAreComplete(t *testing.T) {
	effects := map[string]bool{"interrupted": true} // of clouds of instances, which no command serves with a file of faults
	for name, operations := range map[string][]string{"faults-hcloud.yaml": hcloud.Operations(), "faults-externalgrpc.yaml": externalgrpc.Operations()} {
		faults, err := cloudfault.Load(filepath.Join(exampleFiles, name), operations)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults {
			effects[f.Effect.String()] = true
		}
	}
	for _, k := range cloudfault.Faults.Kinds() {
		if !effects[k.Key] {
			t.Errorf("no example has the effect %s", k.Key)
		}
	}
	text, err := os.ReadFile(filepath.Join(exampleFiles, "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := apifault.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range apifault.Rules.Kinds() {
		if !slices.ContainsFunc(rules, func(r fault.Fault) bool { return apifault.Rules.Key(r.Effect) == k.Key }) {
			t.Errorf("no example has the act %s", k.Key)
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
