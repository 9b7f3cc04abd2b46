package then

import (
	"strings"
	"testing"

	"nodestorm/sim/history"
)

// Events in words match what they say and nothing else.
func TestInWords(t *testing.T) {
	call := func(actor, verb, resource, part string, code int) history.Entry {
		r := history.Entry{Event: history.Event{Source: history.API, Actor: actor, Verb: verb, Code: code, Object: history.Object{Resource: resource, Namespace: "shop", Name: "a"}}}
		if part != "" {
			r.Detail = map[string]any{"subresource": part}
		}
		return r
	}
	evicted := call("karpenter", "create", "pods", "eviction", 201)
	refused := call("karpenter", "create", "pods", "eviction", 429)
	refused.Detail["error"] = "it would violate the pod's disruption budget"
	created := call("kubectl", "create", "pods", "", 201)
	for words, want := range map[string]string{
		`"karpenter" has sent "create" of "pods/eviction"`:                                     "evicted",
		`a client has sent "create" of "pods/eviction" "shop/a"`:                               "evicted",
		`a client has sent "create" of "pods/eviction" "default/a"`:                            "",
		`"karpenter" has been refused "create" of "pods/eviction"`:                             "refused",
		`a client has been refused "create" of "pods/eviction" "shop/a" with "budget" 2 times`: "refused",
		`a client has been refused "create" of "pods/eviction" with "percent"`:                 "",
		`a client has ever sent "create" of "pods" "a" 3 times`:                                "created",
		`"kubectl" has sent "create" of "pods" "b"`:                                            "",
		`"node" has recorded "running" of "pods"`:                                              "",
		`"api" has recorded "create" of "pods" "shop/a"`:                                       "evicted created",
	} {
		a, err := InWords(words)
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		var got []string
		for i, r := range []history.Entry{evicted, refused, created} {
			if a.Matches(r) {
				got = append(got, []string{"evicted", "refused", "created"}[i])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s matches %v, want %q", words, got, want)
		}
		if _, err := InWords(strings.Replace(words, "been refused", "sent", 1)); strings.Contains(words, " with ") && err == nil {
			t.Errorf("%s: what was not refused has an answer", words)
		}
		if a.Ever != strings.Contains(words, " ever ") || (a.Count == 3) != strings.Contains(words, "3 times") {
			t.Errorf("%s: ever %t, count %d", words, a.Ever, a.Count)
		}
	}
}

// Of a wait for one that never does it, it is said who does.
func TestByOthers(t *testing.T) {
	did := func(actor, verb string) history.Entry {
		return history.Entry{Event: history.Event{Source: history.API, Actor: actor, Verb: verb, Code: 201, Object: history.Object{Resource: "pods", Name: "a"}}}
	}
	events := []history.Entry{
		did("kubectl", "create"), did("replicaset-controller", "create"), did("replicaset-controller", "create"), did("kubectl", "delete"),
	}
	for words, want := range map[string]string{
		`"job-controller" has sent "create" of "pods"`:        "others have: replicaset-controller 2, kubectl 1",
		`"replicaset-controller" has sent "create" of "pods"`: "others have: kubectl 1",
		`"kubectl" has sent "patch" of "pods"`:                "",
		`a client has sent "create" of "pods" "b"`:            "",
	} {
		a, err := InWords(words)
		if got := a.ByOthers(events); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", words, got, err, want)
		}
	}
}
