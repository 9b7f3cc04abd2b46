package breaks

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/harness/builds"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/sentences/scene"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/strict"
)

// faultOf is the fault that a sentence says.
func faultOf(t *testing.T, text string) fault.Fault {
	t.Helper()
	these, err := Read(text)
	if err != nil || len(these) != 1 {
		t.Fatalf("%s: %v, %v", text, these, err)
	}
	return these[0]
}

// Every sentence's example is a fault, and nothing that can break has no sentence.
func TestFaultSentences(t *testing.T) {
	spoken := map[string]bool{}
	for _, example := range Examples() {
		f := faultOf(t, example)
		for _, b := range breakables() {
			for _, k := range b.List.Kinds() {
				if reflect.TypeOf(k.Effect) == reflect.TypeOf(f.Effect) {
					spoken[b.List.Name+" "+k.Key] = true
				}
			}
		}
	}
	can := 0
	for _, b := range breakables() {
		for _, k := range b.List.Kinds() {
			if can++; !spoken[b.List.Name+" "+k.Key] {
				t.Errorf("no sentence says %s of %s", k.Key, b.List.Name)
			}
		}
	}
	if len(spoken) != can || can < 40 {
		t.Errorf("sentences say %d effects, and there are %d", len(spoken), can)
	}
}

func TestFaultWords(t *testing.T) {
	const from = `, once {source: api, verb: create, detail: {message: {contains: "a, b}"}}}, from 3s on, for 2m30s, with probability 0.25`
	s := strict.Duration(time.Second)
	r := faultOf(t, `the third call "update,patch machinedeployments.cluster.x-k8s.io/scale default/web" of the program "cluster-autoscaler" is delayed by 30s`+from)
	want := apifault.Match{
		Client: "cluster-autoscaler", Verbs: []string{"update", "patch"}, Resource: "machinedeployments.cluster.x-k8s.io", Subresource: "scale", Namespace: "default", Name: "web",
	}
	if !reflect.DeepEqual(r.Match, want) || r.Effect != (apifault.Delay{By: 30 * s}) {
		t.Errorf("got %+v", r)
	}
	if r.When == nil || r.At != 3*s || r.For != 150*s || r.Skip != 2 || r.Limit != 1 || r.Probability != 0.25 {
		t.Errorf("got %+v", r.Plan)
	}
	f := faultOf(t, `each of the first 3 calls "delete servers" to the cloud for servers of the group "pool1" is refused with "conflict"`)
	if f.Match != (cloudfault.Match{Operation: "DELETE /servers/{id}", Group: "pool1"}) || f.Limit != 3 || f.Skip != 0 || f.Effect != (cloudfault.Refuse{Code: "conflict"}) {
		t.Errorf("got %+v", f)
	}
	for words, want := range map[string]fault.Plan{
		"every": {}, "the first": {Limit: 1}, "the 12th": {Skip: 11, Limit: 1}, "each of the first 2": {Limit: 2},
	} {
		noun := "server"
		if strings.HasPrefix(words, "each") {
			noun = "servers"
		}
		if got := faultOf(t, words+" "+noun+" turns off 5m after it is running").Plan; got != want {
			t.Errorf("%s: got %+v, want %+v", words, got, want)
		}
	}
	if got := faultOf(t, "every server from the third on turns off 5m after it is running").Plan; got != (fault.Plan{Skip: 2}) {
		t.Errorf("from the third on: got %+v", got)
	}
	if hang := faultOf(t, `the first call "create servers" to the cloud is carried out, but not answered`).Effect; hang != (cloudfault.LoseReply{Hang: true}) {
		t.Errorf("got %+v", hang)
	}
	if out := faultOf(t, `the server type "cx22" is out of stock in "fsn1", for 1h`); out.Effect != (cloudfault.Unavailable{Type: "cx22", Location: "fsn1"}) || out.For != 3600*s {
		t.Errorf("got %+v", out)
	}
}

// What is about Cluster API needs it.
func TestWithoutClusterAPI(t *testing.T) {
	these, err := Parse([]byte("rules: [{name: refused, match: {client: cluster-api, resource: machines.cluster.x-k8s.io}, act: {answer: {code: 503}}}]"))
	if err != nil {
		t.Fatal(err)
	}
	s := &scene.Scene{Rig: scene.Rig{Target: builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.7.0"}}}}}
	if err := Arm(s, these); !errors.Is(err, clusterapi.Needed.Missing) || len(s.Rules) > 0 {
		t.Errorf("got %v, and %d rules for the target", err, len(s.Rules))
	}
}
