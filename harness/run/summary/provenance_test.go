package summary

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/sim/time/lag"
)

const scenario = "karpenter-7515-not-ready-noexecute"

const commit = "796b28ee0123456789abcdef0123456789abcdef"

// clean is a run of a release, of which nothing is other than its names say.
func clean() run.Run {
	return run.Run{
		ID: "x", Seed: 7, Commit: commit, Clock: lag.Figures{Mode: "auto"}, Started: time.Now(),
		Target:     builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.7.0"}, Source: builds.Source{Kind: builds.FromModule, Module: "sigs.k8s.io/karpenter", Version: "v1.7.0", Package: "./kwok"}, GoVersion: "go1.26.8", SHA256: "01"},
		Kubernetes: builds.Manifest{Ref: builds.Kubernetes, Source: builds.Source{Kind: builds.FromModule, Module: "nodestorm/sim/kubernetes"}, SHA256: "02"},
		Provenance: &run.Provenance{Nodestorm: run.Code{Commit: commit}, Features: run.Code{Commit: commit}, SHA256: "03"},
	}
}

// Each report lists what differed from what the names say, without a path.
func TestDepartures(t *testing.T) {
	const folder = "/home/someone/secret-project"
	mine := func(src builds.Source) func(*run.Run) {
		return func(r *run.Run) {
			src.Kind, src.Dir = builds.FromFolder, folder
			r.Target.Ref.Version, r.Target.Source = "mine", src
		}
	}
	order := []run.Input{{Name: "order.yaml", SHA256: "ab"}, {Name: "apps/dns.yaml", SHA256: "cd"}}
	tests := []struct {
		name   string
		change func(*run.Run)
		want   string // of the departures; empty: none
		source string
		repeat string
	}{
		{"a release", func(*run.Run) {}, "", "sigs.k8s.io/karpenter, v1.7.0, go1.26.8", "nodestorm run x --target karpenter@v1.7.0 --seed 7"},
		{"a branch", mine(builds.Source{Commit: commit, Sum: "h1:a="}), "", "796b28ee0123, source h1:a=, go1.26.8", "nodestorm run x --target karpenter@mine --seed 7"},
		{"a folder without git", mine(builds.Source{Sum: "h1:a="}), "", "a folder without git, source h1:a=, go1.26.8", "nodestorm run x --target karpenter@mine --seed 7"},
		{"a dirty target", mine(builds.Source{Commit: commit, Dirty: true, Sum: "h1:a="}), "karpenter@mine was built from 796b28ee0123 with uncommitted changes, source h1:a=",
			"796b28ee0123 with uncommitted changes, source h1:a=, go1.26.8", "nodestorm run x --target karpenter@mine --seed 7 # 'karpenter@mine was built from 796b28ee0123 with uncommitted changes"},
		{"a stale target", func(r *run.Run) { r.Provenance.Stale = []builds.Ref{r.Target.Ref} }, "the source of karpenter@v1.7.0 had changed since it was built", "", "# 'the source of"},
		{"a manifest", func(r *run.Run) {
			r.Provenance.Manifest = &run.Input{Name: "my deployment.yaml", SHA256: "0123456789abcdef"}
		}, "karpenter@v1.7.0 ran as my deployment.yaml (sha256 0123456789ab) has it", "", " --manifest 'my deployment.yaml' # "},
		{"another cloud", func(r *run.Run) { r.ID, r.Target.Provider, r.Target.Source.Graft = scenario, builds.Instances, "h1:a=" }, "the cloud was instances, and not kwok", "", " --cloud instances # "},
		{"the race detector", func(r *run.Run) { r.Target.Race = true }, "karpenter@v1.7.0 was built with Go's race detector", "sigs.k8s.io/karpenter, v1.7.0, with Go's race detector, go1.26.8", " --race # "},
		{"a part", func(r *run.Run) {
			r.Provenance.With = []builds.Manifest{{Ref: builds.Ref{Name: "ccm", Version: "v2"}, SHA256: "0123456789abcdef"}}
		}, "ccm@v2 (sha256 0123456789ab) was in the place of nodestorm's own", "", " --component ccm@v2 # "},
		{"a dirty part", func(r *run.Run) {
			r.Provenance.With = []builds.Manifest{{Ref: builds.Ref{Name: "ccm", Version: "v2"}, Source: builds.Source{Kind: builds.FromFolder, Dir: folder, Commit: commit, Dirty: true}}}
		}, "ccm@v2 was built from 796b28ee0123 with uncommitted changes", "", ""},
		{"an order", func(r *run.Run) {
			r.Target.Source = builds.Source{Kind: builds.FromOrder, File: folder + "/order.yaml"}
			r.Provenance.Order = order
		}, "the installer's order was that of order.yaml (sha256 ab), apps/dns.yaml (sha256 cd)", "an installer's order, order.yaml, go1.26.8", " --order order.yaml # "},
		{"another control plane", func(r *run.Run) {
			r.Provenance.ControlPlane = &run.ControlPlane{Name: "k8s", Version: "v1.33.2", Programs: []run.Input{{Name: "etcd", SHA256: "ab"}, {Name: "kube-apiserver", SHA256: "cd"}}}
			r.Clock.Mode = "real"
		}, "the control plane was that of the folder k8s, v1.33.2: etcd (sha256 ab), kube-apiserver (sha256 cd)", "", "nodestorm run x --target karpenter@v1.7.0 --seed 7 --clock real --kubernetes k8s # "},
		{"another Kubernetes", func(r *run.Run) {
			r.Provenance.ControlPlane = &run.ControlPlane{Version: "v1.36.3"}
		}, "", "", "nodestorm run x --target karpenter@v1.7.0 --seed 7 --kubernetes v1.36.3"},
		{"kind", func(r *run.Run) {
			r.Provenance.Cluster, r.Clock.Mode = run.Kind, "real"
		}, "the cluster was one of kind, with the control plane of kubernetes@v1.36.3 in containers, in real time", "", "nodestorm run x --target karpenter@v1.7.0 --seed 7 --cluster kind # 'the cluster was"},
		{"a dirty nodestorm", func(r *run.Run) {
			r.Provenance.Nodestorm.Dirty, r.Provenance.Features.Dirty = true, true
		}, "nodestorm itself is of 796b28ee0123 with uncommitted changes (program sha256 03)", "", "# 'nodestorm itself"},
		{"nodestorm without git", func(r *run.Run) {
			r.Provenance.Nodestorm, r.Provenance.Features = run.Code{}, run.Code{}
		}, "nodestorm itself is of no known commit (program sha256 03)", "", ""},
		{"other features", func(r *run.Run) { r.Provenance.Features.Dirty = true }, "the features are of 796b28ee0123 with uncommitted changes, and nodestorm of 796b28ee0123", "", ""},
		{"one's own scenario", func(r *run.Run) {
			r.Provenance.Feature = &run.Input{Name: "mine/a.feature", SHA256: "0123456789abcdef"}
		}, "", "", "nodestorm run x --target karpenter@v1.7.0 --seed 7 --catalogue mine"},
		{"one's own in place of ours", func(r *run.Run) {
			r.ID, r.Provenance.Feature = scenario, &run.Input{Name: "mine/a.feature", SHA256: "0123456789abcdef"}
		}, "the scenario is that of mine/a.feature (sha256 0123456789ab)", "", " --catalogue mine # 'the scenario"},
		{"a program as given", func(r *run.Run) {
			r.Target.Source = builds.Source{Kind: builds.FromBinary, File: folder + "/karpenter"}
		}, "karpenter@v1.7.0 is called so and is no build of that release: a program as given, karpenter (sha256 01)", "a program as given, karpenter, go1.26.8", " # 'karpenter@v1.7.0 is called so"},
		{"a program as given, of no release's name", func(r *run.Run) {
			r.Target.Version, r.Target.Source = "mine", builds.Source{Kind: builds.FromBinary, File: folder + "/karpenter"}
		}, "", "a program as given, karpenter, go1.26.8", ""},
		{"a control plane as given", func(r *run.Run) {
			r.Kubernetes.Source = builds.Source{Kind: builds.FromBinary, File: folder + "/kubernetes"}
		}, "kubernetes@v1.36.3 is called so and is no build of that release: a program as given, kubernetes (sha256 02)", "", ""},
		{"a part as given", func(r *run.Run) {
			r.Provenance.Parts = []builds.Manifest{{Ref: builds.CCM, SHA256: "04", Source: builds.Source{Kind: builds.FromImage, Digest: "sha256:05"}}}
		}, "ccm@v0.36.3 is called so and is no build of that release: an image, sha256:05 (sha256 04)", "", ""},
		{"a dirty target of before", func(r *run.Run) {
			mine(builds.Source{Commit: commit, Dirty: true})(r)
			r.Provenance = nil
		}, "karpenter@mine was built from 796b28ee0123 with uncommitted changes", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := clean()
			test.change(&r)
			described := Describe(r, nil)
			if test.want == "" && len(described.Departures) > 0 || test.want != "" && !strings.Contains(strings.Join(described.Departures, "\n"), test.want) {
				t.Errorf("departures %q, want %q", described.Departures, test.want)
			}
			if test.source != "" && described.Source != test.source {
				t.Errorf("source %q, want %q", described.Source, test.source)
			}
			if !strings.Contains(described.Repeat, test.repeat) || test.want == "" && strings.Contains(described.Repeat, "#") {
				t.Errorf("to repeat: %s; want %q", described.Repeat, test.repeat)
			}
			text, err := json.Marshal(described)
			if err != nil || strings.Contains(string(text), "someone") {
				t.Errorf("%s has a path (%v)", text, err)
			}
			if got := slices.Contains(described.Builds, "nodestorm sha256 03"); got != (r.Provenance != nil) || !slices.Contains(described.Builds, "kubernetes@v1.36.3 sha256 02") {
				t.Errorf("programs %q", described.Builds)
			}
		})
	}
}

// The command to repeat a run names files whose names are no words of a shell.
func TestRepeatIsOneCommand(t *testing.T) {
	r := clean()
	const hostile = `a'b; touch "$(id)" &.yaml`
	r.Provenance.Manifest = &run.Input{Name: hostile}
	described := Describe(r, nil).Repeat
	out, err := exec.Command("sh", "-c", "nodestorm() { for word; do echo \"$word\"; done; }; "+described).CombinedOutput()
	words := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(words) != 8 || words[7] != hostile {
		t.Errorf("%s is %q, %v", described, words, err)
	}
}
