package explore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nodestorm/harness/replay"
	"nodestorm/harness/search/schedule"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
	"nodestorm/sim/history/checker"
)

// The draft of a record is one: it reads without a problem, whatever the history says, and its
// symptom is in the run that it was drafted from, and not in one that lacks a part of it.
func TestDraft(t *testing.T) {
	launched := history.Event{Source: history.API, Verb: "create", Actor: "karpenter", Object: history.Object{Resource: "nodeclaims", Name: "default-x"}, Code: 201}
	refused := history.Event{Source: history.API, Verb: "delete", Actor: `k: "{x`, Object: history.Object{Resource: "nodeclaims", Name: "default-x"}, Code: 409}
	killed := history.Event{Source: history.Harness, Verb: "killed", Object: history.Object{Resource: "programs", Name: "karpenter"}}
	another := refused
	another.Object.Name = "default-y"
	launchedToo := launched
	launchedToo.Object.Name = "default-y"
	all := records(launched, refused, killed)
	crash := func(function string) history.Event {
		return history.Death("karpenter", errors.New("karpenter ended (exit status 2): panic: boom\nits last lines:\n    "+
			"goroutine 12 [running, locked to thread]:\n    example.com/karpenter/pkg/"+function+"({0x1})\n    \tpkg/a.go:1"))
	}
	asked := history.Event{Source: history.API, Verb: "create", Actor: "replicaset-controller", Object: history.Object{Resource: "pods", Namespace: "default", Name: "web"}, Code: 201}
	runs := history.Event{Source: history.Node, Verb: "running", Object: asked.Object}
	for _, test := range []struct {
		key                    string
		evidence, shows, lacks []history.Entry
	}{
		{"no-leak", all, all, records(launched, another, killed)},
		{"back-off", records(refused, refused), records(refused, refused), records(refused)},                // the same once more
		{"no-overshoot", records(launched, launchedToo), records(launched, launchedToo), records(launched)}, // two that nothing more is said of
		{"no-leak", nil, nil, nil},
		{"no-crash", records(crash("state.(*Cluster).Update")), records(crash("state.(*Cluster).Update")), records(crash("state.New"))},
		{Liveness, nil, records(asked), records(asked, runs)},
	} {
		for _, site := range schedule.Sites() {
			s, err := schedule.Drawing{Site: site, Profile: "small"}.Draw(1)
			if err != nil {
				t.Fatal(err)
			}
			d := Draft{ID: DraftID(site, test.key, "Schedule 12"), Key: test.key, Schedule: s, Evidence: test.evidence, On: []BuildResult{
				{"karpenter@v1.7.0", 10, 10}, {"karpenter@v1.6.4", 0, 3}, {"karpenter@v1.5.0", 1, 3}, {"karpenter@v1.0.6", 0, 0},
			}}
			program, _, _ := schedule.Program(site)
			for i := range d.On {
				d.On[i].Target = strings.Replace(d.On[i].Target, "karpenter@v", map[string]string{
					"karpenter": "karpenter@v", "karpenter-aws": "karpenter-aws@v", "cluster-autoscaler": "cluster-autoscaler@",
				}[program], 1)
			}
			dir := t.TempDir()
			feature, err := s.Feature(d.ID)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{d.ID + ".feature": feature, d.ID + ".yaml": d.Record(), "schedule.yaml": string(s.YAML())} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			own := new(scenarios.Catalogue)
			if err := own.Add(replay.ReadFolder(dir).Own); err != nil {
				t.Fatalf("%v\n%s", err, d.Record())
			}
			record, err := own.Lookup(d.ID)
			if err != nil {
				t.Fatal(err)
			}
			if len(record.Targets) != 2 || record.Expected(d.On[0].Target) != scenarios.Reproduced || record.Expected(d.On[1].Target) != scenarios.Healthy {
				t.Errorf("%s: it expects %v", d.ID, record.Targets)
			}
			if test.key == "no-crash" && record.Title != "karpenter ended (exit status 2): panic: boom, in state.(*Cluster).Update" {
				t.Errorf("the title is %q", record.Title)
			}
			if test.shows == nil {
				continue
			}
			if found := checker.Find(test.shows, record.Symptom); found.Result != checker.Valid {
				t.Errorf("the symptom is not in its own run: %s\n%s", found.Reason, d.Record())
			}
			if found := checker.Find(test.lacks, record.Symptom); found.Result == checker.Valid {
				t.Errorf("the symptom is in a run without a part of it:\n%s", d.Record())
			}
		}
	}
}
