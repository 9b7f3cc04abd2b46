package issue_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"nodestorm/harness/draft/issue"
	"nodestorm/harness/replay"
	"nodestorm/scenarios"
)

// pair drafts from a file, and finds what nodestorm lint would.
func pair(t *testing.T, path string) issue.Pair {
	t.Helper()
	p, err := issue.Draft(t.Context(), path, "mine-one", "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"mine-one.feature": p.Feature, "mine-one.yaml": p.Record} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := replay.ReadFolder(dir).Own
	if err := scenarios.Empty().Add(own); err != nil {
		t.Errorf("%v:\n%s\n%s", err, p.Feature, p.Record)
	}
	if len(own.Scenarios) != 1 || own.Scenarios[0].Record.Bare() {
		t.Errorf("no scenario with a record:\n%s", p.Feature)
	}
	return p
}

// What people paste is found, whatever the shape of the issue.
func TestIssues(t *testing.T) {
	for _, test := range []struct {
		file, target                string
		pods, nodes, groups, flags  int
		inFeature, inRecord, absent []string
	}{
		{"karpenter-form", "karpenter@v1.6.4", 3, 0, 1, 0,
			[]string{"name: spot", "team: shop", "cpu: 1500m"},
			[]string{`title: "Pods of one NodePool wait although another one has room"`, "issue: kubernetes-sigs/karpenter#4711", "contains: \"failed launching nodeclaim\""}, nil},
		{"karpenter-chat", "karpenter@v1.7.0", 1, 1, 1, 0,
			[]string{"cart-0", "setting batchIdleDuration", "setting featureGates.spotToSpotConsolidation"}, []string{"reason: \"FailedDraining\"", "issue: owner/repository#123"},
			[]string{"cart-1"}},
		{"autoscaler-form", "cluster-autoscaler@1.32.5", 1, 0, 1, 1,
			[]string{"| pool1 | 0   | 5   | cx32 | fsn1 |", "| scan-interval | 20s", "Left out, as they were at their defaults: scale-down-unneeded-time"},
			[]string{"system: hetzner", "# The log of the issue has: Failed to scale up: failed to create all servers"}, nil},
		{"autoscaler-helm", "cluster-autoscaler@1.33.0", 1, 2, 2, 3,
			[]string{"workers-a", "| balance-similar-node-groups", "| skip-nodes-with-local-storage | false", "the cloud is aws", "node workers-b-1 was not Ready"},
			[]string{`title: "Balanced groups drift apart"`}, nil},
		{"cluster-api-form", "cluster-api@v1.9.5", 0, 0, 1, 0,
			[]string{`a MachineDeployment "pool-a" with 3 Running machines`, "maxUnhealthy: 1", `"timeout":"300s"`}, []string{"system: clusterapi", "actor: capi-manager"}, nil},
		{"cluster-api-unclosed", "cluster-api@v1.12.0", 0, 0, 1, 0,
			[]string{`a MachineDeployment "pool-a" with 2 Running machines`}, []string{`title: "A machine stays in Deleting"`, "The log of the issue has: \"Failed to drain node\""}, nil},
	} {
		t.Run(test.file, func(t *testing.T) {
			p := pair(t, filepath.Join("testdata", test.file+".md"))
			if p.Target != test.target || p.Pods != test.pods || p.Nodes != test.nodes || p.Groups != test.groups || p.Flags != test.flags {
				t.Errorf("%s, %d pods, %d nodes, %d groups, %d flags: %+v\n%s", p.Target, p.Pods, p.Nodes, p.Groups, p.Flags, p.Notes, p.Feature)
			}
			for of, want := range map[string][]string{p.Feature: test.inFeature, p.Record: test.inRecord} {
				for _, text := range want {
					if !strings.Contains(of, text) {
						t.Errorf("no %q in\n%s", text, of)
					}
				}
			}
			for _, text := range test.absent {
				if strings.Contains(p.Feature+p.Record, text) {
					t.Errorf("%q is there:\n%s", text, p.Feature)
				}
			}
		})
	}
}

// Whatever a text has, what comes of it lints, or is a refusal in one line.
func TestHostileIssues(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := '1'; i < '9'; i++ {
		a := string(i - 1)
		bomb += "a" + string(i) + ": &a" + string(i) + " [" + strings.TrimSuffix(strings.Repeat("*a"+a+", ", 10), ", ") + "]\n"
	}
	for _, test := range []struct{ name, text, refused, noted string }{
		{"a YAML bomb", "Karpenter\n```\napiVersion: v1\nkind: Pod\n" + bomb + "```\n", "", "left out"},
		{"fences within fences", "Karpenter\n~~~\n```\napiVersion: v1\nkind: Pod\n```\n~~~~\n```", "", ""},
		{"ten thousand fences", "Karpenter\n" + strings.Repeat("```\nx\n```\n", 10_000), "", "pieces between fences; the first 500 were read"},
		{"a long text", "Karpenter\n" + strings.Repeat("nodepool karpenter --nodes=1:2:a "+strings.Repeat("x", 900)+"\n", 8_000), "", "is larger than"},
		{"one line", "Karpenter " + strings.Repeat("x", 9<<20), "names none of karpenter", ""},
		{"steps in names", "# a\"\n    When nothing\n\"\"\"\nCluster Autoscaler\n```\napiVersion: v1\nkind: Pod\nmetadata: {name: \"a\\\"\\n    When nothing\"}\n```\n", "", ""},
		{"YAML in a title", "# \": {x: &a [*a]} # $(rm -rf /) \\ \x01 {{\nKarpenter 1.6.4\n", "", ""},
		{"no program", "It does not work.\n", "names none of karpenter, cluster-autoscaler, cluster-api; say with --system", ""},
		{"a program", "\x7fELF\x02\x01\x01\x00\x00", "is no text", ""},
		{"nothing", "", "is empty", ""},
		{"a health check with steps", "Cluster API\n```\napiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineHealthCheck\nmetadata: {name: x}\nspec: {maxUnhealthy: \"\\\"\\\"\\\"\\n Then\"}\n```\n", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "issue.md")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if test.refused == "" {
				if p := pair(t, path); !strings.Contains(strings.Join(p.Notes, "\n"), test.noted) {
					t.Errorf("notes %q, want %q", p.Notes, test.noted)
				}
				return
			}
			_, err := issue.Draft(t.Context(), path, "mine-one", "")
			if err == nil || !strings.Contains(err.Error(), test.refused) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.refused)
			}
		})
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := issue.Draft(t.Context(), fifo, "mine-one", ""); err == nil {
		t.Error("a FIFO is read")
	}
}
