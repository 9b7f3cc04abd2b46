package given_test

import (
	"strings"
	"testing"

	"nodestorm/scenarios/given"
	"nodestorm/sim/history/checker"

	"nodestorm/sim/strict"
)

// A name or a namespace that a slip of the pen has made another one is found; all that a scenario's text has may be one.
func TestMade(t *testing.T) {
	m := &given.Names{}
	m.AddStep(`a pod "shop/frontend" that requests 1 CPU is created`, "")
	m.AddStep("these objects:", "kind: Deployment\nmetadata: {name: backend, namespace: team-a}\nspec: {replicas: 2}\n---\nkind: NodePool\nmetadata:\n  name: 'spot'\n")
	m.AddStep(`a NodePool "pool-1"`, "")
	for _, test := range []struct{ pattern, want string }{
		{"name: frontend", ""},
		{"name: frontedn", `never: name: the scenario makes no "frontedn", did you mean "frontend"? Say {matches: "frontedn"} if it comes otherwise`},
		{"name: [web, bakcend]", `did you mean "backend"?`},
		{"name: {not: spto}", `did you mean "spot"?`},
		{"name: {matches: spto}", ""},
		{"name: pool-2", ""}, // numbered
		{"name: pol-1", `did you mean "pool-1"?`},
		{"name: default-x7k2p", ""}, // another's
		{"namespace: shop", ""},
		{"namespace: team-a", ""},
		{"namespace: kube-system", ""},
		{"namespace: kube-sysetm", `namespace: "kube-sysetm" is none that the scenario makes or each world has (default, kube-system,`},
		{"namespace: elsewhere", `say {matches: "elsewhere"} if it comes otherwise`},
		{"namespace: {matches: elsewhere}", ""},
	} {
		statement := parse(t, "statement: s\nnever: {source: api, verb: delete, "+test.pattern+"}")
		err := m.Check(&statement)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.pattern, err, test.want)
		}
		if err := (*given.Names)(nil).Check(&statement); err != nil {
			t.Errorf("%s, of an unknown scenario: %v", test.pattern, err)
		}
	}
	for text, want := range map[string]string{
		"sequence: [{match: {source: api, name: frontend}}, {match: {source: api, name: frontedn}}]":                                     "sequence[1]: match: name: ",
		"sequence: [{match: {source: api}, while: [{source: api, resource: nodes, name: spto, detail: {ready: {contains: \"True\"}}}]}]": "sequence[0]: while[0]: name: ",
		"noSequence: [{match: {source: api}, absent: [{source: api}, {source: api, namespace: shpo}]}]":                                  "noSequence[0]: absent[1]: namespace: ",
		"throughout: {value: detail.replicas, of: {source: api, resource: deployments, name: bakcend}, atMost: 3}":                       "of: name: ",
		"first: {source: api, verb: create}\nthen: {source: api, verb: delete, name: bakcend}":                                           "then: name: ",
	} {
		statement := parse(t, "statement: s\n"+text)
		if err := m.Check(&statement); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A Then names what a Given or a When has named; what other programs call it is not looked at.
func TestCheckOutcome(t *testing.T) {
	m := &given.Names{}
	m.AddStep(`a pod "shop/web" that requests 1 CPU is created`, "")
	m.AddStep("these objects:", "kind: Deployment\nmetadata: {name: backend}\n")
	for step, want := range map[string]string{
		`the pod "web" is Running within 5m`:                                "",
		`the pod "shop/web" is Running within 5m`:                           "",
		`the pod "wbe" is Running within 5m`:                                `no Given and no When names "wbe"`,
		`the pod "shoq/web" is Running within 5m`:                           `no Given and no When names "shoq", did you mean "shop"?`,
		`a pod of the Deployment "backend" is Running within 5m`:            "",
		`a pod of the Deployment "eb" is Running within 5m`:                 `no Given and no When names "eb"`,
		`"karpenter" has sent "create" of "nodeclaims" within 5m`:           "",
		`the log of "karpenter" has "found provisionable pod(s)" within 5m`: "",
	} {
		err := m.CheckOutcome(step)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
}

func parse(t *testing.T, text string) (s checker.Statement) {
	t.Helper()
	if err := strict.Unmarshal([]byte(text), &s); err != nil || s.Check() != nil {
		t.Fatal(err, s.Check())
	}
	return s
}
