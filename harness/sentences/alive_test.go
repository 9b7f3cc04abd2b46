package sentences

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/acts"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/stepdef"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

// The tests share a world without nodes, which the last of them ends.
func TestInAWorld(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w, err := world.Start(ctx, world.Config{Kubernetes: kubernetes.Bin(), Out: t.TempDir(), Clock: clock.Auto, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Stop() }() // it is dead
	t.Run("nothing holds of what never was", func(t *testing.T) { testThensOfNothing(ctx, t, w) })
	t.Run("a Then counts from the Whens before it", func(t *testing.T) { testBegin(t, w) })
	t.Run("the world dies", func(t *testing.T) { testDeploymentOfADyingWorld(ctx, t, w) })
}

func testThensOfNothing(ctx context.Context, t *testing.T, w *world.World) {
	s := &scene.Scene{World: w}
	given := history.Outcome{Role: history.Given, Text: "a cluster", Status: "passed"}.Event()
	thens, err := os.ReadFile("../run/then/testdata/nothing.txt")
	if err != nil {
		t.Fatal(err)
	}
	for said := range strings.Lines(string(thens)) {
		o, found, err := then.Find(strings.TrimSpace(said), "")
		if !found || err != nil {
			t.Fatalf("%s: %t, %v", said, found, err)
		}
		w.History().Record(given)
		if acts.Holds(ctx, s, o) == nil {
			t.Errorf("%q holds without anything to hold of", said)
		}
	}
	if err := doWhen(ctx, s, `a pod "web" that requests 1 CPU is created`); err != nil {
		t.Fatal(err)
	}
	if err := doWhen(ctx, s, `"Pod/web" is deleted`); err != nil {
		t.Fatal(err)
	}
	gone, _, err := then.Find(`the pod "web" is gone within 1m`, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.History().Wait(ctx, func(r history.Entry) bool { return r.Verb == "create" && r.Object.Name == "web" })
	if err != nil {
		t.Fatal(err)
	}
	w.History().Record(given)
	if err := acts.Holds(ctx, s, gone); err != nil {
		t.Errorf("a pod that has been is gone: %v", err)
	}
}

func testBegin(t *testing.T, w *world.World) {
	const given, when, outcome = messages.PickleStepType_CONTEXT, messages.PickleStepType_ACTION, messages.PickleStepType_OUTCOME
	p := &play{Scene: &scene.Scene{World: w}}
	var counts []uint64
	for _, kind := range []messages.PickleStepType{given, when, when, outcome, outcome, when, outcome} {
		p.begin(kind)
		w.History().Record(history.Event{Source: history.Harness, Verb: "step"})
		if kind == outcome {
			counts = append(counts, acts.Asked(p.Scene))
		}
	}
	if counts[0] == 0 || counts[1] != counts[0] || counts[2] < counts[0]+4 {
		t.Errorf("the Thens count from %d, want the first two from before the two Whens, and the third from before the last", counts)
	}
}

// A step that waits for a record sees the world die.
func testDeploymentOfADyingWorld(ctx context.Context, t *testing.T, w *world.World) {
	s := &scene.Scene{World: w}
	ran := make(chan error, 1)
	if err := doWhen(ctx, s, `a Deployment "web" of 1 pod that requests 1 CPU is created`); err != nil {
		t.Fatal(err)
	}
	go func() { ran <- doWhen(ctx, s, `"node" has recorded "running" of "pods"`) }() // there is no node
	_, err := w.History().Wait(ctx, func(r history.Entry) bool {
		return r.Source == history.API && r.Verb == "create" && r.Object.Resource == "pods" && r.Object.Name != "web"
	})
	if err != nil {
		t.Fatal(err)
	}
	scheduler, ok := w.Component("kube-scheduler")
	if !ok {
		t.Fatal("there is no kube-scheduler")
	}
	if err := syscall.Kill(scheduler.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-ran; err == nil || !errors.Is(err, w.Err()) {
		t.Errorf("error %v, want the world's: %v", err, w.Err())
	}
}

// doWhen does what a When says.
func doWhen(ctx context.Context, s *scene.Scene, text string) error {
	said, err := stepdef.Find(&messages.PickleStep{Type: messages.PickleStepType_ACTION, Text: text}, nil)
	if err != nil {
		return err
	}
	return act(ctx, s, said)
}
