package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// rig is a provider with a cloud that has two types, in one zone, and answers as a test says.
type rig struct {
	*provider
	launch     func(instance) *refusal // nil: all are launched
	instances  []instance
	announced  []interruption
	launched   []instance
	terminated []string
}

func newRig(t *testing.T, objects ...client.Object) *rig {
	t.Helper()
	r := &rig{}
	answer := func(w http.ResponseWriter, status int, body any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	api := http.NewServeMux()
	api.HandleFunc("GET /types", func(w http.ResponseWriter, _ *http.Request) {
		var all []instanceType
		for k, name := range []string{"small", "large"} {
			offers := []offer{{"here", "on-demand", float64(2 + k)}, {"here", "spot", float64(1 + k)}}
			all = append(all, instanceType{Name: name, CPU: 2 + 2*k, MemoryGiB: 8, DiskGB: 20, Architecture: "amd64", Offers: offers})
		}
		answer(w, http.StatusOK, all)
	})
	api.HandleFunc("GET /instances", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, r.instances) })
	api.HandleFunc("GET /interruptions", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, r.announced) })
	api.HandleFunc("GET /instances/{name}", func(w http.ResponseWriter, q *http.Request) {
		answer(w, http.StatusOK, instance{Name: q.PathValue("name"), Type: "small", Zone: "here", CapacityType: "spot"})
	})
	api.HandleFunc("DELETE /instances/{name}", func(w http.ResponseWriter, q *http.Request) {
		r.terminated = append(r.terminated, q.PathValue("name"))
		answer(w, http.StatusAccepted, nil)
	})
	api.HandleFunc("POST /instances", func(w http.ResponseWriter, q *http.Request) {
		var wanted instance
		if err := json.NewDecoder(q.Body).Decode(&wanted); err != nil {
			t.Error(err)
		}
		r.launched = append(r.launched, wanted)
		if r.launch != nil {
			if no := r.launch(wanted); no != nil {
				answer(w, no.Status, no)
				return
			}
		}
		answer(w, http.StatusCreated, wanted)
	})
	s := httptest.NewServer(api)
	t.Cleanup(s.Close)
	k := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).WithStatusSubresource(&FakeNodeClass{}).Build()
	r.provider = newProvider(k, &cloud{endpoint: s.URL, token: "token"})
	return r
}

// class is one of a generation, whose status is of the same or of another.
func class(image string, generation, observed int64, ready metav1.ConditionStatus) *FakeNodeClass {
	return &FakeNodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: generation}, Spec: FakeNodeClassSpec{Image: image},
		Status: FakeNodeClassStatus{Conditions: []status.Condition{{Type: status.ConditionReady, Status: ready, Reason: "Test",
			ObservedGeneration: observed}}},
	}
}

func claimNamed(name string) *v1.NodeClaim {
	return &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.NodePoolLabelKey: "pool"}},
		Spec:       v1.NodeClaimSpec{NodeClassRef: &v1.NodeClassReference{Name: "default"}},
		Status:     v1.NodeClaimStatus{ProviderID: idPrefix + name},
	}
}

// What the cloud says decides what Karpenter makes of a launch.
func TestCreate(t *testing.T) {
	says := func(status int, code string) func(instance) *refusal {
		return func(instance) *refusal { return &refusal{Status: status, Code: code, Message: "no"} }
	}
	short := func(i instance) *refusal {
		if i.CapacityType == "spot" {
			return &refusal{Status: 412, Code: "resource_unavailable", Message: "no"}
		}
		return nil
	}
	for name, test := range map[string]struct {
		launch func(instance) *refusal
		ready  metav1.ConditionStatus
		want   string // of the error
		asked  string // what the cloud was asked for
	}{
		"launched":         {nil, metav1.ConditionTrue, "", "small/spot"},
		"no spot capacity": {short, metav1.ConditionTrue, "", "small/spot large/spot small/on-demand"},
		"no capacity": {says(412, "resource_unavailable"), metav1.ConditionTrue, "capacity",
			"small/spot large/spot small/on-demand large/on-demand"},
		"quota":            {says(403, "resource_limit_exceeded"), metav1.ConditionTrue, "capacity", "small/spot"},
		"class, at launch": {says(409, "not_ready"), metav1.ConditionTrue, "class", "small/spot"},
		"class, before":    {nil, metav1.ConditionFalse, "class", ""},
		"there already":    {says(409, "uniqueness_error"), metav1.ConditionTrue, "", "small/spot"},
		"another error":    {says(500, "server_error"), metav1.ConditionTrue, "other", "small/spot"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, class("", 1, 1, test.ready))
			r.launch = test.launch
			created, err := r.Create(t.Context(), claimNamed("a"))
			got := ""
			switch {
			case cloudprovider.IsInsufficientCapacityError(err):
				got = "capacity"
			case cloudprovider.IsNodeClassNotReadyError(err):
				got = "class"
			case err != nil:
				got = "other"
			case created.Status.ProviderID != "instances://a":
				t.Errorf("provider ID %q", created.Status.ProviderID)
			}
			var asked []string
			for _, i := range r.launched {
				asked = append(asked, i.Type+"/"+i.CapacityType)
				if !strings.Contains(i.UserData, "karpenter.sh/unregistered:NoExecute") || i.Tags[v1.NodePoolLabelKey] != "pool" || i.Image != "linux" {
					t.Errorf("launched with %+v", i)
				}
			}
			if got != test.want || strings.Join(asked, " ") != test.asked {
				t.Errorf("error %q (%v), asked for %q; want %q and %q", got, err, asked, test.want, test.asked)
			}
		})
	}
}

// What has run out is not asked for again at once.
func TestRanOut(t *testing.T) {
	r := newRig(t, class("", 1, 1, metav1.ConditionTrue))
	r.launch = func(i instance) *refusal {
		if i.Type == "small" {
			return &refusal{Status: 412, Code: "resource_unavailable", Message: "no"}
		}
		return nil
	}
	for _, name := range []string{"a", "b"} {
		if _, err := r.Create(t.Context(), claimNamed(name)); err != nil {
			t.Fatal(err)
		}
	}
	var small int
	for _, i := range r.launched {
		if i.Type == "small" {
			small++
		}
	}
	if small != 1 {
		t.Errorf("small was asked for %d times, want once", small)
	}
}

func TestIsDrifted(t *testing.T) {
	for name, test := range map[string]struct {
		class *FakeNodeClass
		want  cloudprovider.DriftReason
	}{
		"as it was":       {class("linux", 1, 1, metav1.ConditionTrue), ""},
		"another image":   {class("linux-next", 2, 2, metav1.ConditionTrue), imageDrift},
		"of v1.0":         {class("linux-next", 2, 0, metav1.ConditionTrue), imageDrift},
		"not ready":       {class("none", 2, 2, metav1.ConditionFalse), ""},
		"not yet seen":    {class("none", 2, 1, metav1.ConditionTrue), ""},
		"of another name": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if test.class != nil {
				r = newRig(t, test.class)
			}
			claim := claimNamed("a")
			claim.Status.ImageID = "linux"
			if got, err := r.IsDrifted(t.Context(), claim); err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// gone tells whether an object is not there, or is being deleted.
func gone(t *testing.T, r *rig, o client.Object) bool {
	t.Helper()
	err := r.client.Get(context.Background(), client.ObjectKeyFromObject(o), o)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return apierrors.IsNotFound(err) || !o.GetDeletionTimestamp().IsZero()
}

func TestInterrupt(t *testing.T) {
	spot, lasting, other := claimNamed("spot"), claimNamed("lasting"), claimNamed("other")
	r := newRig(t, spot, lasting, other)
	for k, capacity := range []string{"spot", "on-demand", "spot"} {
		i := instance{Name: []string{"spot", "lasting", "nobody's"}[k], Type: []string{"small", "small", "large"}[k], Zone: "here",
			CapacityType: capacity}
		r.announced = append(r.announced, interruption{Instance: i, At: time.Now().Add(time.Minute)})
	}
	if err := errors.Join(r.interrupt(t.Context()), r.interrupt(t.Context())); err != nil { // it is announced until it is gone
		t.Fatal(err)
	}
	for claim, want := range map[*v1.NodeClaim]bool{spot: true, lasting: true, other: false} {
		if got := gone(t, r, claim); got != want {
			t.Errorf("NodeClaim %s is gone: %v, want %v", claim.Name, got, want)
		}
	}
	if len(r.catalogue.out) != 1 || r.catalogue.out[offering{"small", "here", "spot"}].IsZero() {
		t.Errorf("run out are %v, want the spot capacity that was taken back", r.catalogue.out)
	}
}

// Nobody but us misses an instance whose NodeClaim is gone.
func TestCollect(t *testing.T) {
	old, ours := time.Now().Add(-2*leakAfter), map[string]string{v1.NodePoolLabelKey: "pool"}
	unlaunched := claimNamed("launching")
	unlaunched.Status.ProviderID = ""
	nodes := map[string]*corev1.Node{}
	objects := []client.Object{claimNamed("known"), unlaunched}
	all := []instance{
		{Name: "known", Created: old, Tags: ours}, {Name: "launching", Created: old, Tags: ours}, {Name: "lost", Created: old, Tags: ours},
		{Name: "young", Created: time.Now(), Tags: ours}, {Name: "somebody's", Created: old}, {Name: "ending", Created: old, Tags: ours,
			State: "deleting"},
	}
	for k, i := range all {
		nodes[i.Name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", k)},
			Spec: corev1.NodeSpec{ProviderID: idPrefix + i.Name}}
		objects = append(objects, nodes[i.Name])
	}
	r := newRig(t, objects...)
	r.instances = all
	if err := r.collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.terminated, []string{"lost"}) {
		t.Errorf("terminated %q, want the one that is lost", r.terminated)
	}
	for name, node := range nodes {
		if got, want := gone(t, r, node), name == "lost"; got != want {
			t.Errorf("the Node of %q is gone: %v, want %v", name, got, want)
		}
	}
}
