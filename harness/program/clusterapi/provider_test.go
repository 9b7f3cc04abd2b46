package clusterapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/world"
	worldclock "nodestorm/sim/time/clock"
)

// A provider that waits for the API server does not outlive the world. Here it waits
// because the CRDs are not installed.
func TestStartEndsWithTheWorld(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	w, err := world.Start(t.Context(), world.Config{Kubernetes: kubernetes.Bin(), Out: t.TempDir(), Clock: worldclock.Auto, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Stop() }() // it is dead
	cloud, err := fakecloud.New(fakecloud.Config{Clock: w.Clock(), Seed: 1, Recorder: w.History(), GroupLabel: groupLabel})
	if err != nil {
		t.Fatal(err)
	}
	defer cloud.Close()
	a := &ClusterAPI{cfg: Config{World: w, Management: w.Cluster}, cloud: cloud}
	started := make(chan error, 1)
	go func() { started <- a.startProvider(t.Context()) }()
	scheduler, ok := w.Component("kube-scheduler")
	if !ok {
		t.Fatal("there is no kube-scheduler")
	}
	if err := syscall.Kill(scheduler.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-started:
		if err == nil || !errors.Is(err, w.Err()) {
			t.Errorf("error %v, want the world's: %v", err, w.Err())
		}
	case <-time.After(time.Minute):
		t.Fatal("it still waits a minute after the world's end")
	}
}

// After Close nothing of the provider looks at the API server any more.
func TestCloseWaitsForInformers(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			fmt.Fprint(rw, `{"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": "1"}, "items": []}`)
			return
		}
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			fmt.Fprintln(rw, `{"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "Any", "metadata": {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}`)
		}
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	}))
	defer api.Close()
	cloud, err := fakecloud.New(fakecloud.Config{Clock: clock.RealClock{}, Seed: 1, GroupLabel: groupLabel})
	if err != nil {
		t.Fatal(err)
	}
	defer cloud.Close()
	p, err := StartProvider(t.Context(), ProviderConfig{Client: &rest.Config{Host: api.URL}, Clock: clock.RealClock{}, Cloud: cloud})
	if err != nil {
		t.Fatal(err)
	}
	const informer = "(*sharedIndexInformer).Run"
	if !strings.Contains(goroutines(), informer) {
		t.Fatalf("no goroutine runs %s", informer)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if strings.Contains(goroutines(), informer) {
		t.Error("an informer still runs")
	}
}

func goroutines() string {
	stacks := make([]byte, 1<<20)
	return string(stacks[:runtime.Stack(stacks, true)])
}
