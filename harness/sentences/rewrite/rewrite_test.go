package rewrite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const before = "\ufeff# A comment: the node \"a\" is Ready within 1m\n" + `Feature: the node "a" is Ready within 1m

  Background:
    Given a cluster whose API server adds no default tolerations   # stays a part of the step
    Given a cluster whose API server adds no default tolerations
      # also Ready: the node "a" is Ready within 1m

  Rule: somebody has sent
    Scenario Outline: 1m pass
	Given a cloud of node groups
      And every server of the group "a" goes off <span> after it runs
      And the second further simulated node is not heard of, from 2m on
      * these nodes:
        | name                                | the node "a" is Ready within 1m |
      When 1m pass
      And these objects are created once somebody has sent "create" of "pods":
        """
        the node "a" is Ready within 1m
        """
      Then   the node "<node>" is Ready within <span>  

      Examples:
        | span | node    |
        | 1m   | 1m pass |
    Scenario: a Hetzner Cloud
      Given a Hetzner Cloud project
      And every server of the group "a" goes off 1m after it runs
`

const after = "\ufeff# A comment: the node \"a\" is Ready within 1m\n" + `Feature: the node "a" is Ready within 1m

  Background:
    Given a cluster whose API server adds no default tolerations   # stays a part of the step
    Given a cluster without the admission plugin DefaultTolerationSeconds
      # also Ready: the node "a" is Ready within 1m

  Rule: somebody has sent
    Scenario Outline: 1m pass
	Given a cloud of node groups
      And every instance of the group "a" turns off <span> after it is running
      And the second new simulated node stops sending heartbeats, from 2m on
      * these Ready Nodes:
        | name                                | the node "a" is Ready within 1m |
      When the scenario waits for 1m
      And these objects are created once a client has sent "create" of "pods":
        """
        the node "a" is Ready within 1m
        """
      Then   the Node "<node>" is Ready within <span>  

      Examples:
        | span | node    |
        | 1m   | 1m pass |
    Scenario: a Hetzner Cloud
      Given a Hetzner Cloud project
      And every server of the group "a" turns off 1m after it is running
`

const schedule = `# fault: the first server goes off 1m after it runs
site: cluster-autoscaler/externalgrpc
acts:
  - {do: fault, fault: the first server is owed by the cloud and not created, for: 3m} # fault: 1m pass
  - {do: fault, fault: 'the first call "list groups" to the cloud gets no answer'}
  - {"do": "fault", "fault": "the server type \"cx22\" cannot be had"}
  - do: fault
    fault: the first server of the group "a" is not deleted, nor what its call
      names after it, for 2m
    for: 1m
  - do: fault
    fault: >-
      the first server
      goes off 1m after it runs
title: 1m pass
`

const drawn = `# fault: the first server goes off 1m after it runs
site: cluster-autoscaler/externalgrpc
acts:
  - {do: fault, fault: 'the first instance counts towards its group''s target size, but is not created', for: 3m} # fault: 1m pass
  - {do: fault, fault: 'the first call "list groups" to the cloud is not answered'}
  - {"do": "fault", "fault": "the instance type \"cx22\" is out of stock"}
  - do: fault
    fault: the first instance of the group "a" fails to be deleted, as does all that the same call names after it, for 2m
    for: 1m
  - do: fault
    fault: the first instance turns off 1m after it is running
title: 1m pass
`

// What is no step stays as it is to the byte, and what was rewritten stays.
func TestRewritten(t *testing.T) {
	for name, test := range map[string]struct {
		was, now string
		of       func([]byte) []Change
	}{
		"feature": {before, after, Feature}, "schedule": {schedule, drawn, YAML},
		"with carriage returns": {strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(after, "\n", "\r\n"), Feature},
		"without an end":        {strings.TrimSpace(before), strings.TrimSpace(after), Feature},
		"broken":                {"Scenario", "Scenario", Feature}, "no YAML": {"a: [", "a: [", YAML},
	} {
		got := Apply([]byte(test.was), test.of([]byte(test.was)))
		if string(got) != test.now {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.now)
		}
		if again := test.of(got); len(again) > 0 {
			t.Errorf("%s: what was rewritten is again: %+v", name, again)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"sub/a.feature": before, "b.yaml": schedule, "c.md": before, ".git/d.feature": before, "e.feature": after} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Files([]string{dir})
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if diff := files[0].Diff(); !strings.Contains(diff, "\n@@ -8,2 +8,1 @@\n-    fault: the first server of") ||
		!strings.Contains(diff, "\n@@ -12,3 +11,1 @@\n-    fault: >-\n") {
		t.Errorf("the diff is\n%s", diff)
	}
	for _, f := range files {
		if err := f.Write(); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := Files([]string{dir}); err != nil || len(again) > 0 {
		t.Errorf("there is still something to rewrite: %v, %v", again, err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "sub/a.feature"))
	info, err := os.Stat(filepath.Join(dir, "sub/a.feature"))
	if string(text) != after || err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%s, %v, %v", text, info, err)
	}
	if _, err := Files([]string{filepath.Join(dir, "none")}); err == nil {
		t.Error("a folder that is not there is no error")
	}
}
