package then

import (
	"slices"
	"strings"
	"testing"

	"nodestorm/sim/history"
)

// machine costs one a second.
func machine(name, currency string) history.Event {
	e := server("created", name)
	e.Detail["hourly"], e.Detail["currency"] = 3600.0, currency
	return e
}

func bind(pod string) history.Event {
	return api("create", "pods", pod, "subresource", "binding", "node", "a")
}

// Each Then about a measure, both ways, live and judged again. Its window ends at 62 s.
func TestMeasures(t *testing.T) {
	pod, second := at{4, api("create", "pods", "web")}, at{4, api("create", "pods", "api")}
	tests := []named{
		{`the cost of the cluster within 1m is at most 58 EUR`, set(at{4, machine("a", "EUR")}), set(at{3, machine("a", "EUR")}),
			"the cost of the cluster is 59.00 EUR, and not at most 58 EUR"},
		{`pods wait at most 20s in total within 1m`, set(pod, second, at{14, bind("web")}, at{14, bind("api")}),
			set(pod, second, at{14, bind("web")}, at{15, bind("api")}), "is 21s, and not at most 20s"},
		{`no pod waits longer than 10s within 1m`, set(pod, at{14, bind("web")}), set(pod, at{15, bind("web")}), "is 11s"},
		{`95 in 100 pods wait at most 10s within 1m`, set(pod, at{14, bind("web")}), set(pod), "is 58s"},
		{`no more than 1 node is launched within 1m`, set(at{4, machine("a", "EUR")}), set(at{4, machine("a", "EUR")}, at{5, machine("b", "EUR")}),
			"is 2, and not at most 1"},
		{`no more than 1 pod is evicted within 1m`, set(pod, second, at{5, evicted("web")}, at{6, refused(evicted("api"))}),
			set(pod, second, at{5, evicted("web")}, at{6, evicted("api")}), "is 2, and not at most 1"},
	}
	for _, test := range tests {
		for _, want := range []string{passed, failed} {
			events, why := test.holds, ""
			if want == failed {
				events, why = test.fails, test.why
			}
			status, said, second := judgedLive(t, test.then, "", events)
			if status != want || !strings.Contains(said, why) {
				t.Errorf("%s: live %s: %s, want %s with %q", test.then, status, said, want, why)
			}
			agrees(t, test.then, "", status, second, events)
		}
	}
	for _, s := range Measures {
		if !slices.ContainsFunc(tests, func(test named) bool {
			o, found, err := Find(test.then, "")
			return found && err == nil && len(o.stated) == 1 && strings.Contains(test.then, strings.Fields(s.Words)[2])
		}) {
			t.Errorf("no story shows when it holds that %s", s.Words)
		}
	}
}

// What a run does not have is neither within a bound nor beyond it, and what was before the Whens does not count.
func TestMeasuresUnknown(t *testing.T) {
	cost := `the cost of the cluster within 1m is at most 60 EUR`
	for name, test := range map[string]struct {
		events []at
		want   string
	}{
		"no price":   {set(at{4, server("created", "a")}), "undecided"},
		"in another": {set(at{4, machine("a", "USD")}), "undecided"},
		"before it":  {set(at{0.1, machine("a", "EUR")}, at{4, api("create", "pods", "web")}), passed}, // 60 s, and not 61.9
	} {
		if status, why, _ := judgedLive(t, cost, "", test.events); !strings.HasPrefix(status, test.want) {
			t.Errorf("%s: %s, %s", name, status, why)
		}
	}
}
