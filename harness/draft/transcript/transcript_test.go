package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/replay"
	"nodestorm/sim/history"
	"nodestorm/sim/history/audit"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// hearsay feeds lines of an audit log to a transcript, as a world does.
type hearsay struct {
	t       *testing.T
	script  *Transcript
	convert audit.Converter
}

func (h *hearsay) call(after time.Duration, user, verb, ref, rest string) {
	h.t.Helper()
	groups := ""
	if user == "admin" {
		groups = `,"groups":["system:masters","` + audit.UserGroup + `"]`
	}
	if !strings.Contains(rest, "responseStatus") {
		rest = `"responseStatus":{"code":200}` + rest
	}
	line := fmt.Appendf(nil, `{"stage":"ResponseComplete","verb":%q,"userAgent":"kubectl/v1.36.3","user":{"username":%q%s},"objectRef":{%s},"stageTimestamp":%q,%s}`,
		verb, user, groups, ref, start.Add(after).Format("2006-01-02T15:04:05.000000Z07:00"), rest)
	events, err := h.convert.Events(line)
	if err != nil || len(events) != 1 {
		h.t.Fatalf("%s: %v, %v", line, events, err)
	}
	h.script.Call(line, events[0])
}

func TestFeature(t *testing.T) {
	script := New("Feature: f\n\n  Scenario: s\n" + Givens([]*messages.PickleStep{GivenStep("a cluster", ""), GivenStep("2 simulated nodes", "")}))
	script.Begin(start)
	h := &hearsay{t: t, script: script}
	const deployments, pods = `"resource":"deployments","apiGroup":"apps","apiVersion":"v1","namespace":"default","name":"web"`, `"resource":"pods","apiVersion":"v1","namespace":"default"`
	h.call(time.Second, "admin", "create", `"resource":"configmaps","apiVersion":"v1","namespace":"default","name":"c"`,
		`,"requestObject":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c","namespace":"default","uid":"1","creationTimestamp":null},"data":{"restartPolicy":"Always","a":"\"\"\"\nb"}}`)
	h.call(1100*time.Millisecond, "admin", "create", `"resource":"secrets","apiVersion":"v1","namespace":"other","name":"s"`, `,"requestObject":{"data":{"password":"aHVudGVyMg=="}}`)
	h.call(11*time.Second, "admin", "create", deployments,
		`,"requestObject":{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web"},"spec":{"replicas":2,"strategy":{},"template":{"metadata":{"creationTimestamp":null,"labels":{"restartPolicy":"Always"}},"spec":{"restartPolicy":"Always","containers":[{"name":"web","resources":{}}]}}},"status":{}}`)
	for _, name := range []string{"web-abc12-bbbbb", "web-abc12-ccccc"} {
		h.call(12*time.Second, "system:serviceaccount:kube-system:replicaset-controller", "create", pods, `,"responseObject":{"metadata":{"name":"`+name+`"}}`)
	}
	h.call(12*time.Second, "system:serviceaccount:karpenter:karpenter", "create", `"resource":"nodes","apiVersion":"v1","name":"happy-turing"`, "")
	h.call(71*time.Second, "admin", "patch", deployments+`,"subresource":"scale"`, `,"requestObject":{"spec":{"replicas":3}}`)
	h.call(72*time.Second, "admin", "delete", pods+`,"name":"web-abc12-ccccc"`, `,"requestObject":{"kind":"DeleteOptions","gracePeriodSeconds":0}`)
	h.call(73*time.Second, "admin", "create", pods+`,"name":"web-abc12-bbbbb","subresource":"eviction"`, `,"responseObject":{"kind":"Status","status":"Success"}`)
	h.call(74*time.Second, "admin", "patch", deployments, `,"requestURI":"/x?dryRun=All","requestObject":{"spec":{"replicas":9}}`)
	h.call(75*time.Second, "admin", "patch", deployments, `,"requestObject":{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"x"}},"spec":{"template":{"spec":{"tolerations":[{"key":"a"}]}}}}`)
	h.call(76*time.Second, "admin", "delete", `"resource":"namespaces","apiVersion":"v1","namespace":"other","name":"other"`, "")
	h.call(77*time.Second, "admin", "create", `"resource":"pods","apiVersion":"v1","namespace":"default","name":"web"`, `"responseStatus":{"code":409,"message":"there"}`)
	h.call(78*time.Second, "admin", "patch", `"resource":"widgets","apiGroup":"example.com","apiVersion":"v1","name":"w"`, `,"requestObject":[{"op":"remove","path":"/spec/a"}]`)
	script.Fault(start.Add(79*time.Second), `the simulated node "happy-turing" is NotReady, for 2m`, "")
	script.AddStep(start.Add(80*time.Second), `the fault "late" is cleared`, "")
	script.Nodes([]history.Entry{
		{Event: history.Event{Source: history.API, Verb: "create", Actor: "sim-node", Object: history.Object{Resource: "nodes", Name: "node-1"}}},
		{Event: history.Event{Source: history.API, Verb: "create", Actor: "sim-node", Object: history.Object{Resource: "nodes", Name: "node-2"}}},
		{Event: history.Event{Source: history.Node, Verb: "ready", Object: history.Object{Resource: "nodes", Name: "node-1"}}},
		{Event: history.Event{Source: history.Node, Verb: "ready", Object: history.Object{Resource: "nodes", Name: "node-2"}}},
		{Event: history.Event{Source: history.Node, Verb: "notready", Object: history.Object{Resource: "nodes", Name: "node-1"}}},
	})
	text := string(script.Feature(start.Add(2 * time.Minute)))
	const want = `    When the scenario waits for 1s
    And these objects are created:
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: c
      data:
        a: |-
          \"\"\"
          b
        restartPolicy: Always
      ---
      # What was in it is not recorded.
      apiVersion: v1
      kind: Secret
      metadata:
        name: s
        namespace: other
      """
    And the scenario waits for 9.9s
    And these objects are created:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        replicas: 2
        template:
          metadata:
            labels:
              restartPolicy: Always
          spec:
            containers:
            - name: web
      """
    And the scenario waits for 1m0s
    And "Deployment/web" is scaled to 3
    And the scenario waits for 1s
    # web-abc12-ccccc when this was written: the name is another one in every world.
    And "Pod/$name" is deleted by force once "replicaset-controller" has ever sent "create" of "pods" 2 times
    And the scenario waits for 1s
    # web-abc12-bbbbb when this was written: the name is another one in every world.
    And "Pod/$name" is evicted once "replicaset-controller" has ever sent "create" of "pods"
    And the scenario waits for 2s
    # The log does not say of which type the next patch was: its lists are merged by their keys, as kubectl patch does.
    And "Deployment/web" is patched with:
      """
      spec:
        template:
          spec:
            tolerations:
            - key: a
      """
    And the scenario waits for 1s
    And "Namespace/other" is deleted
    # Here the API server refused to create pods/default/web with 409.
    And the scenario waits for 2s
    And "widgets.example.com/w" is patched with:
      """
      - op: remove
        path: /spec/a
      """
    And the scenario waits for 1s
    And the simulated node "$name" is NotReady, for 2m once "karpenter" has ever sent "create" of "nodes"
    And the scenario waits for 1s
    And the fault "late" is cleared
    And the scenario waits for 40s
`
	if !strings.Contains(text, want) {
		t.Errorf("the feature is\n%s", text)
	}
	if !strings.HasSuffix(text, "    Then the Node \"node-2\" is Ready within 5m\n") {
		t.Errorf("it has no Then of a node that was Ready: %s", text)
	}
	if strings.Contains(text, "aHVudGVyMg") {
		t.Error("the data of a secret is in it")
	}
	path := filepath.Join(t.TempDir(), "f.feature")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if folder := replay.ReadFolder(path); len(folder.Problems) > 0 || len(folder.Scenarios) != 1 {
		t.Errorf("%d scenarios, and wrong is %v", len(folder.Scenarios), folder.Problems)
	}
}

// A feature stays one that catalogues take, and says that it has left something out.
func TestTooMuch(t *testing.T) {
	for name, quoted := range map[string]string{"actions": "", "bytes": strings.Repeat("a: b\n", 10_000)} {
		script := New("Feature: f\n")
		for range mostActions + 1 {
			script.AddStep(start, "the scenario waits for 1s", quoted)
		}
		text := script.Feature(start)
		if len(text) > 1<<20 || script.Len() > mostActions+1 || !strings.Contains(string(text), "What came after this is left out") {
			t.Errorf("%s: %d actions, %d bytes", name, script.Len(), len(text))
		}
	}
}

// Givens are written as they were read, tables too.
func TestGivens(t *testing.T) {
	step := GivenStep("the target has the environment variables:", "")
	step.Argument = &messages.PickleStepArgument{DataTable: &messages.PickleTable{Rows: []*messages.PickleTableRow{{Cells: []*messages.PickleTableCell{{Value: "A"}, {Value: "a|b\\c\nd"}}}}}}
	when := &messages.PickleStep{Type: messages.PickleStepType_ACTION, Text: "the scenario waits for 1s"}
	got := Givens([]*messages.PickleStep{GivenStep("a cluster", ""), step, when, GivenStep("no more", "")})
	want := "    Given a cluster\n    And the target has the environment variables:\n      | A | a\\|b\\\\c\\nd |\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
