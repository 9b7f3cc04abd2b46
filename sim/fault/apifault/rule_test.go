package apifault

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/fault"
	"nodestorm/sim/strict"
)

func TestLoad(t *testing.T) {
	rules, err := Load([]byte(`
rules:
- name: conflict
  match: {client: cluster-autoscaler, verbs: [update, patch], resource: machinedeployments.cluster.x-k8s.io, subresource: scale, namespace: default, name: "high-*"}
  when: {source: api, verb: create, resource: pods}
  at: 1s
  for: 5m
  skip: 1
  limit: 2
  act: {otherWriter: {patch: {metadata: {labels: {a: b}}}, settle: 1s}}
- name: busy
  match: {resource: "*"}
  act: {answer: {code: 429, retryAfter: 3s}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) != 2 {
		t.Fatalf("read %+v", rules)
	}
	writer, _ := rules[0].Effect.(OtherWriter)
	if rules[0].Limit != 2 || rules[0].For != strict.Duration(5*time.Minute) || rules[1].Effect != (Answer{Code: 429, RetryAfter: strict.Duration(3 * time.Second)}) ||
		writer.Patch["metadata"] == nil || writer.Settle != strict.Duration(time.Second) {
		t.Errorf("read %+v", rules)
	}
}

// What can never work is found before anything starts, in one line.
func TestLoadRefuses(t *testing.T) {
	rule := func(fields string) string { return "rules:\n- {name: one, " + fields + "}\n" }
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"empty"}},
		{"no rule", "rules: []", []string{"no rule"}},
		{"no YAML", "rules: [", []string{"yaml"}},
		{"unknown field", rule("match: {resource: pods, verb: get}, act: {drop: {}}"), []string{`unknown field "rules[0].match.verb"`, "verbs"}},
		{"unknown action", rule("match: {resource: pods}, act: {explode: {}}"), []string{`unknown field "rules[0].act.explode"`, "otherWriter"}},
		{"no name", "rules: [{match: {resource: pods}, act: {drop: {}}}]", []string{"rule 1 has no name"}},
		{"one name twice", "rules:\n- {name: a, match: {resource: pods}, act: {drop: {}}}\n- {name: a, match: {resource: nodes}, act: {drop: {}}}", []string{`rule "a" is there twice`}},
		{"no action", rule("match: {resource: pods}, act: {}"), []string{"act has 0 of", "want one"}},
		{"two actions", rule("match: {resource: pods}, act: {drop: {}, lose: {}}"), []string{"act has 2 of"}},
		{"no resource", rule("match: {verbs: [get]}, act: {drop: {}}"), []string{"match.resource is missing", "pods"}},
		{"unknown verb", rule("match: {resource: pods, verbs: [PUT]}, act: {drop: {}}"), []string{`unknown verb "PUT"`, "update"}},
		{"unknown resource", rule("match: {resource: podz}, act: {drop: {}}"), []string{`unknown resource "podz"`, "group"}},
		{"a singular", rule("match: {resource: node}, act: {drop: {}}"), []string{`want the plural, "nodes"`}},
		{"unknown in its group", rule("match: {resource: pods.apps}, act: {drop: {}}"), []string{`unknown resource "pods.apps"`}},
		{"a CRD's without group", rule("match: {resource: machinedeployments}, act: {drop: {}}"), []string{"machinedeployments.cluster.x-k8s.io"}},
		{"subresource in the resource", rule("match: {resource: pods/status}, act: {drop: {}}"), []string{"match.subresource"}},
		{"bad pattern", rule("match: {resource: pods, name: \"a[\"}, act: {drop: {}}"), []string{"match.name is no pattern"}},
		{"whole user agent", rule("match: {resource: pods, client: kubectl/v1.34}, act: {drop: {}}"), []string{`"kubectl"`}},
		{"create with a name", rule("match: {resource: pods, verbs: [create], name: a}, act: {drop: {}}"), []string{"can never match", "create"}},
		{"watch of a subresource", rule("match: {resource: pods, verbs: [watch], subresource: status}, act: {cut: {}}"), []string{"can never match", "watch"}},
		{"freeze of a get", rule("match: {resource: pods, verbs: [get]}, act: {freeze: {}}"), []string{"freeze is for watch, not for get"}},
		{"freeze of anything", rule("match: {resource: pods}, act: {freeze: {}}"), []string{"want match.verbs to say so"}},
		{"stale watch", rule("match: {resource: pods, verbs: [list, watch]}, act: {staleList: {}}"), []string{"staleList is for list, not for watch"}},
		{"other writer of a collection", rule("match: {resource: pods, verbs: [deletecollection]}, act: {otherWriter: {}}"), []string{"not for deletecollection"}},
		{"negative settling", rule("match: {resource: pods, verbs: [get]}, act: {otherWriter: {settle: -1s}}"), []string{"otherWriter.settle is -1s"}},
		{"no delay", rule("match: {resource: pods}, act: {delay: {}}"), []string{"delay.by is 0s"}},
		{"no duration", rule("match: {resource: pods}, act: {delay: {by: soon}}"), []string{"soon"}},
		{"good answer", rule("match: {resource: pods}, act: {answer: {code: 200}}"), []string{"400 to 599"}},
		{"retry after conflict", rule("match: {resource: pods}, act: {answer: {code: 409, retryAfter: 1s}}"), []string{"429 or 5xx, not with 409"}},
		{"in the past", rule("match: {resource: pods}, act: {answer: {code: 504, after: -1s}}"), []string{"answer.after"}},
		{"half a second", rule("match: {resource: pods}, act: {answer: {code: 429, retryAfter: 1500ms}}"), []string{"whole seconds"}},
		{"negative", rule("match: {resource: pods}, skip: -1, act: {drop: {}}"), []string{"skip is -1"}},
		{"negative hold", rule("match: {resource: pods}, act: {hold: {for: -1s}}"), []string{"hold.for is -1s"}},
		{"event without source", rule("match: {resource: pods}, when: {verb: create}, act: {drop: {}}"), []string{"when: source is missing"}},
		{"event with a capture", rule("match: {resource: pods}, when: {source: api, name: $pod}, act: {drop: {}}"), []string{"when: $pod"}},
		{"contradiction", "rules:\n- {name: a, match: {resource: pods}, act: {drop: {}}}\n- {name: b, match: {resource: pods}, act: {lose: {}}}", []string{`"b" contradicts rule "a"`}},
		{"in the shadow", "rules:\n- {name: a, match: {resource: \"*\", subresource: \"*\"}, act: {drop: {}}}\n- {name: b, match: {resource: pods, verbs: [get]}, act: {lose: {}}}", []string{`"b" can never act`, `"a"`}},
		{"in a pattern's shadow", "rules:\n- {name: a, match: {resource: pods, name: web-*}, act: {drop: {}}}\n- {name: b, match: {resource: pods, name: web-1}, act: {lose: {}}}", []string{`"b" can never act`, `"a"`}},
		{"the same resource in other words", "rules:\n- {name: a, match: {resource: deployments}, act: {drop: {}}}\n- {name: b, match: {resource: deployments.apps}, act: {lose: {}}}", []string{`"b" can never act`, `"a"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load([]byte(test.text))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, text := range test.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error %q, want %q in it", err, text)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
		})
	}
}

// Rules that overlap without hiding each other are no contradiction.
func TestCheckAllows(t *testing.T) {
	limited := fault.Fault{Name: "first", Match: Match{Resource: "pods"}, Plan: fault.Plan{Limit: 1}, Effect: Drop{}}
	rest := fault.Fault{Name: "rest", Match: Match{Resource: "pods"}, Effect: Lose{}}
	if err := checkTogether([]fault.Fault{limited, rest}); err != nil {
		t.Error(err)
	}
	one := fault.Fault{Name: "one", Match: Match{Resource: "pods", Name: "a"}, Effect: Drop{}}
	if err := checkTogether([]fault.Fault{one, rest}); err != nil {
		t.Error(err)
	}
}

func TestMatches(t *testing.T) {
	tests := []struct {
		match        Match
		method, path string
		want         bool
	}{
		{Match{Resource: "pods"}, "GET", "/api/v1/namespaces/default/pods/a", true},
		{Match{Resource: "pods", Verbs: []string{"list"}}, "GET", "/api/v1/namespaces/default/pods", true},
		{Match{Resource: "pods", Verbs: []string{"list"}}, "GET", "/api/v1/pods?watch=true", false},
		{Match{Resource: "pods", Verbs: []string{"watch"}}, "GET", "/api/v1/pods?watch=1", true},
		{Match{Resource: "pods", Name: "a"}, "GET", "/api/v1/pods?watch=1&fieldSelector=metadata.name%3Da", true},
		{Match{Resource: "pods"}, "PUT", "/api/v1/namespaces/default/pods/a/status", false},
		{Match{Resource: "pods", Subresource: "*"}, "PUT", "/api/v1/namespaces/default/pods/a/status", true},
		{Match{Resource: "pods", Subresource: "eviction", Verbs: []string{"create"}, Name: "a"}, "POST", "/api/v1/namespaces/default/pods/a/eviction", true},
		{Match{Resource: "pods"}, "GET", "/apis/metrics.k8s.io/v1/namespaces/default/pods/a", true},
		{Match{Resource: "machines.cluster.x-k8s.io"}, "GET", "/apis/cluster.x-k8s.io/v1beta1/machines", true},
		{Match{Resource: "machines.other.io"}, "GET", "/apis/cluster.x-k8s.io/v1beta1/machines", false},
		{Match{Resource: "nodes"}, "GET", "/apis/cluster.x-k8s.io/v1beta1/nodes", false},
		{Match{Resource: "*"}, "GET", "/healthz", false},
		{Match{Resource: "*"}, "GET", "/apis/apps/v1", false},
		{Match{Resource: "*", Namespace: "kube-*"}, "GET", "/api/v1/namespaces/kube-system/pods/a", true},
		{Match{Resource: "*", Namespace: "kube-*"}, "GET", "/api/v1/namespaces/default/pods/a", false},
		{Match{Resource: "deployments.apps", Subresource: "scale", Verbs: []string{"patch"}, Name: "w*"}, "PATCH", "/apis/apps/v1/namespaces/default/deployments/web/scale", true},
		{Match{Resource: "*", Client: "kubectl"}, "GET", "/api/v1/pods", false},
		{Match{Resource: "*", Client: "tester"}, "DELETE", "/api/v1/namespaces/default/pods", true},
	}
	for _, test := range tests {
		r, err := http.NewRequest(test.method, "https://x"+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		info, err := infos.NewRequestInfo(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := test.match.matches(info, "tester/v1 (linux)"); got != test.want {
			t.Errorf("%+v about %s %s: %v", test.match, test.method, test.path, got)
		}
	}
}
