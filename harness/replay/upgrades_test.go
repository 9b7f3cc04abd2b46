package replay_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

// upgradable is a request for the record of an upgrade of Cluster Autoscaler, with programs that do nothing as its releases. The
// older one does not know the flags that are left out.
func upgradable(t *testing.T, kubernetes builds.Target, steps, without string) replay.Request {
	t.Helper()
	t.Setenv("NODESTORM_CACHE", t.TempDir())
	store, err := buildstore.Open("")
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs("testdata/inert")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var newer builds.Target
	for version, flags := range map[string]string{"1.32.5": "-X main.without=" + without, "1.33.0": ""} {
		ref := builds.Ref{Name: "cluster-autoscaler", Version: version, Provider: "externalgrpc"}
		built, err := store.Build(ctx, buildstore.Recipe{Ref: ref, Dir: source, LDFlags: flags}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if version == "1.33.0" {
			newer = built
		}
	}
	record := lookup(t, "externalgrpc-7663-roles-left-behind")
	text, err := features.Files.ReadFile(record.Feature)
	if err != nil {
		t.Fatal(err)
	}
	background, _, _ := strings.Cut(string(text), "    And Cluster Autoscaler\n")
	feature := background + "    And Cluster Autoscaler with the flags:\n      | --max-nodes-total | 9 |\n\n  @" + record.ID + "\n  Scenario: It is upgraded\n" + steps
	return replay.Request{
		Record: record, Features: fstest.MapFS{record.Feature: {Data: []byte(feature)}}, Target: newer,
		Settings: replay.Settings{World: world.Config{Seed: 1, Clock: clock.Auto}, Kubernetes: kubernetes, Out: t.TempDir()},
	}
}

// A Cluster Autoscaler is replaced and rolled back, each release with its own rights, but where these are left behind.
func TestUpgradeOfAutoscaler(t *testing.T) {
	r := upgradable(t, buildstest.Get(t, builds.Kubernetes), `    When the target is upgraded
    And the scenario waits for 20s
    And the target is rolled back
    And the scenario waits for 30s
    And the target is upgraded, and its roles are left behind
    And the scenario waits for 40s
`, "")
	seen := map[string]bool{}
	look := func(when string, want bool) func(*world.World) {
		return func(w *world.World) {
			seen[when] = true
			if may := mayList(t, w, "volumeattachments"); may != want {
				t.Errorf("%s, it may list volume attachments: %t", when, may)
			}
		}
	}
	w := watcher{at: map[string]func(*world.World){
		"the target is upgraded": look("first", false), "the scenario waits for 20s": look("upgraded", true),
		"the scenario waits for 30s": look("rolled back", false), "the scenario waits for 40s": look("with its roles left behind", false),
	}}
	r.Watch, r.Ready = w.step, w.ready
	result := undistorted(t, r)
	if len(seen) != len(w.at) {
		t.Errorf("%s: %s; seen: %v", result.Verdict, result.Reason, seen)
	}
	var ran []string
	all := &history.Stored{Path: filepath.Join(result.Dir, run.HistoryFile), Context: t.Context()}
	for e := range all.Arrived() {
		if e.Actor == "cluster-autoscaler" && slices.Contains([]string{"installed", "upgraded", "stopped", "started", "died"}, e.Verb) {
			ran = append(ran, strings.TrimSpace(e.Verb+" "+e.Detail.Text("version")))
		}
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
	replaced := []string{"started", "stopped"} // a Deployment's new pod is there before the old one goes
	if !process.NamesHosts() {
		slices.Reverse(replaced)
	}
	want := slices.Concat([]string{"installed 1.32.5", "upgraded 1.33.0"}, replaced, []string{"upgraded 1.32.5"}, replaced,
		[]string{"upgraded 1.33.0"}, replaced)
	if !slices.Equal(ran, want) {
		t.Errorf("%q, want %q", ran, want)
	}
}

// mayList reports whether Cluster Autoscaler may list a resource of storage.
func mayList(t *testing.T, w *world.World, resource string) bool {
	t.Helper()
	client, err := kubernetes.NewForConfig(w.Admin())
	if err != nil {
		t.Fatal(err)
	}
	review, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:kube-system:cluster-autoscaler",
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Group: "storage.k8s.io", Resource: resource},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

// What cannot be upgraded is refused before anything starts.
func TestUpgradeRefused(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes) // before the store is another one
	for steps, want := range map[string]string{
		"    When the target is upgraded\n":                               "",
		"    When the target is upgraded, and its CRDs are left behind\n": "cluster-autoscaler@1.33.0 brings no CRDs that could be left behind",
		"    When the target is upgraded to 1.36.1\n":                     "cluster-autoscaler@1.36.1",
		"    When the target is rolled back\n":                            "nothing took the place of the target that could be rolled back",
	} {
		err := upgradable(t, kubernetes, steps, "").Check(t.Context())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", steps, err, want)
		}
	}
	err := upgradable(t, kubernetes, "    When the target is upgraded\n", "max-nodes-total").Check(t.Context())
	want := "the upgrade from cluster-autoscaler@1.32.5 to cluster-autoscaler@1.33.0: the scenario: cluster-autoscaler@1.32.5 knows no flag --max-nodes-total"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a flag that the release before does not know: %v, want %q", err, want)
	}
}
