package cloudfault_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/strict"
)

var operations = []string{"POST /servers", "GET /servers", "DELETE /servers/{id}", "GET /networks", "GET /actions",
	"GET /servers/{id}/actions", "start_server"}

// parse reads faults of a cloud with those operations.
func parse(text []byte) ([]fault.Fault, error) {
	faults, err := fault.Parse(text, cloudfault.Faults)
	for _, f := range faults {
		err = cmp.Or(err, cloudfault.Check(f, operations))
	}
	if err != nil {
		return nil, err
	}
	return faults, nil
}

func TestParse(t *testing.T) {
	faults, err := parse([]byte(`
faults:
- {name: stockout, match: {operation: POST /servers, group: pool1}, limit: 3, refuse: {code: resource_unavailable}}
- name: slow
  match: {operation: start_server, instance: "pool1-*"}
  at: 1m
  for: 1h30m
  skip: 1
  probability: 0.5
  actionTakes: {time: 140s}
- {name: any, hang: {}}
- {name: short, match: {operation: "GET /servers/*/actions"}, partial: {}}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := fault.Fault{
		Name: "slow", Match: cloudfault.Match{Operation: "start_server", Instance: "pool1-*"},
		Plan:   fault.Plan{At: strict.Duration(time.Minute), For: strict.Duration(90 * time.Minute), Skip: 1, Probability: 0.5},
		Effect: cloudfault.ActionTakes{Time: strict.Duration(140 * time.Second)},
	}
	if len(faults) != 4 || faults[1] != want {
		t.Errorf("got %+v, want %+v second of four", faults, want)
	}
}

// What a cloud cannot show is refused.
func TestNotShown(t *testing.T) {
	for _, text := range []string{"impaired: {}", "maintained: {kind: a}"} {
		_, err := parse([]byte("faults: [{name: a, " + text + "}]"))
		if err == nil || !strings.Contains(err.Error(), "shows in DescribeInstanceStatus only") {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

func TestAlterReply(t *testing.T) {
	reply := func() map[string]any {
		return map[string]any{"size": 3.0, "all": []any{map[string]any{"id": "a", "state": 1.0}, map[string]any{"id": "b"}}}
	}
	for name, test := range map[string]struct {
		does cloudfault.AlterReply
		want string // empty: no difference
	}{
		"omit":             {cloudfault.AlterReply{Omit: []string{"size"}}, `map[all:[map[id:a state:1] map[id:b]]]`},
		"omit in a list":   {cloudfault.AlterReply{Omit: []string{"all.state"}}, `map[all:[map[id:a] map[id:b]] size:3]`},
		"omit what is not": {cloudfault.AlterReply{Omit: []string{"all.size", "size.all", "none"}}, ""},
		"set":              {cloudfault.AlterReply{Set: map[string]any{"size": 0}}, `map[all:[map[id:a state:1] map[id:b]] size:0]`},
		"set in a list": {cloudfault.AlterReply{Set: map[string]any{"all.state": 2}},
			`map[all:[map[id:a state:2] map[id:b state:2]] size:3]`},
		"set where nothing is": {cloudfault.AlterReply{Set: map[string]any{"size.all": 2, "none.all": 2}}, ""},
	} {
		got := reply()
		changed := test.does.Apply(got)
		if want := cmp.Or(test.want, fmt.Sprint(reply())); fmt.Sprint(got) != want || changed != (test.want != "") {
			t.Errorf("%s: %v, %v, want %s", name, changed, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     {"empty"},
		"[]":                   {"allowed: faults"},
		"faults: [{name: a}]":  {`fault "a"`, "no effect", "refuse, rateLimit"},
		"faults: [{hang: {}}]": {"no name"},
		"faults: [{name: a, hang: {}, stale: {}}]":                                {`fault "a"`, "two effects", "hang and stale"},
		"faults: [{name: a, hang: {}}, {name: a, hang: {}}]":                      {`fault "a"`, "twice"},
		"faults: [{name: a, hang: {}, limit: -1}]":                                {`fault "a"`, "limit is -1", "zero or more"},
		"faults: [{name: a, hang: {}, probability: 2}]":                           {"probability is 2", "0 to 1"},
		"faults: [{name: a, hang: {}, for: soon}]":                                {`"soon"`, "90s"},
		"faults: [{name: a, hang: {}, match: {operation: GET /pods}}]":            {"match.operation", "GET /pods", "POST /servers"},
		"faults: [{name: a, hang: {}, match: {group: '['}}]":                      {"match.group", "no pattern"},
		"faults: [{name: a, alterReply: {}}]":                                     {"changes nothing"},
		"faults: [{name: a, alterReply: {set: {a: [1]}}}]":                        {"alterReply.set.a", "number"},
		"faults: [{name: a, delay: {}}]":                                          {"delay.by"},
		"faults: [{name: a, notCreated: {}, match: {operation: POST /servers}}]":  {"match.operation", "leave it empty"},
		"faults: [{name: a, refuse: {}}]":                                         {"code", "status"},
		"faults: [{name: a, refuse: {code: x, status: 200}}]":                     {"refuse.status is 200", "400 to 599"},
		"faults: [{name: a, refuse: {kode: x}}]":                                  {"kode", "allowed: code"},
		"faults: [{name: a, actionTakes: {}}]":                                    {"actionTakes.time", "more than zero"},
		"faults: [{name: a, partial: {keep: -1}}]":                                {"partial.keep is -1"},
		"faults: [{name: a, unavailable: {}}]":                                    {"unavailable.type", "server type"},
		"faults: [{name: a, unavailable: {type: cx22}, limit: 1}]":                {"no match"},
		"faults: [{name: a, turnsOff: {}, match: {operation: POST /servers}}]":    {"does not act on calls"},
		"faults: [{name: a, actionHangs: {}, match: {operation: POST /servers}}]": {"actionHangs acts on", "start_server"},
		"faults: [{name: a, stale: {}, match: {operation: GET /actions}}]":        {`"GET /actions" fits nothing that stale acts on (such as GET /servers)`},
		"faults: [{name: a, missing: {}, match: {operation: GET /networks}}]":     {"missing acts on (such as GET /servers, GET /actions, GET /servers/{id}/actions)"},
		"faults: [{name: a, partial: {}, match: {operation: 'POST *'}}]":          {"partial acts on (such as GET /servers, "},
		"faults: [{name: a, stale: {by: -1s}}]":                                   {"stale.by", "zero or more"},
		"faults: [{name: a, hang: {}, limit: many}]":                              {"limit", "number"},
	} {
		_, err := parse([]byte(text))
		if err == nil {
			t.Errorf("%q is taken, want an error", text)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: got %q, want %q in it", text, err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: not one line: %q", text, err)
		}
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "faults.yaml")
	if _, err := cloudfault.Load(file, nil); !os.IsNotExist(err) {
		t.Errorf("got %v, want that there is no such file", err)
	}
	if err := os.WriteFile(file, []byte("faults: [{name: a}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cloudfault.Load(file, nil); err == nil || !strings.Contains(err.Error(), "faults.yaml") {
		t.Errorf("got %v, want the file's name in it", err)
	}
	if err := os.WriteFile(file, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cloudfault.Load(file, nil); err == nil || !strings.Contains(err.Error(), "more than 1 MiB") {
		t.Errorf("got %v, want that it is too large", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("faults: [{name: a, match: {operation: POST /servers}, for: 1s, refuse: {code: x}}]"))
	f.Add([]byte("faults: [{name: a, match: {operation: e}, for: 1s, refuse: {code: x}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		faults, err := parse(text)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("not one line: %q", err)
		}
		// What is taken can be armed, all of it at once.
		s := cloudfault.NewSet(testclock.NewFakeClock(time.Unix(0, 0)), 1, history.New(time.Time{}, testclock.NewFakeClock(time.Unix(0, 0))))
		for _, a := range faults {
			if err := s.Inject(a); err != nil {
				t.Errorf("%+v is taken, and cannot be armed: %v", a, err)
			}
		}
	})
}

// acts says on which of n equal calls, a second apart, a fault acts.
func acts(t *testing.T, seed uint64, f fault.Fault, n int) (acted []int, verbs []string) {
	t.Helper()
	clk := testclock.NewFakeClock(time.Unix(0, 0))
	log := history.New(time.Time{}, clk)
	s := cloudfault.NewSet(clk, seed, log)
	f.Name, f.Effect = "f", cloudfault.Hang{}
	if err := s.Inject(f); err != nil {
		t.Fatal(err)
	}
	for k := range n {
		if hit := s.First(cloudfault.Before, cloudfault.Call{Operation: "POST /servers", Group: "pool1", Instance: "pool1-a"}); hit != nil {
			hit.Effective()
			acted = append(acted, k)
		}
		clk.Step(time.Second)
	}
	for _, r := range log.Events() {
		verbs = append(verbs, r.Verb)
	}
	if unmet := len(s.Unmet()) > 0; unmet != (len(acted) == 0) {
		t.Errorf("unmet is %v after it acted on %v", unmet, acted)
	}
	return acted, verbs
}

// Of every instance in whose life a fault is felt there is an event, of calls only of the first.
func TestEffectiveOnEach(t *testing.T) {
	for _, test := range []struct {
		effect fault.Effect
		at     cloudfault.Point
		want   []string
	}{
		{cloudfault.ActionHangs{}, cloudfault.Action, []string{"a", "b"}},
		{cloudfault.Refuse{Code: "server_error"}, cloudfault.Before, []string{"a"}},
	} {
		clk := testclock.NewFakeClock(time.Unix(0, 0))
		log := history.New(time.Time{}, clk)
		s := cloudfault.NewSet(clk, 1, log)
		if err := s.Inject(fault.Fault{Name: "f", Effect: test.effect}); err != nil {
			t.Fatal(err)
		}
		for _, instance := range []string{"a", "b", "a"} {
			s.First(test.at, cloudfault.Call{Operation: "start_server", Instance: instance}).Effective()
		}
		var felt []string
		for _, r := range log.Events() {
			if r.Verb == history.Effective {
				felt = append(felt, r.Object.Name)
			}
		}
		if !slices.Equal(felt, test.want) {
			t.Errorf("%T is felt by %q, want %q", test.effect, felt, test.want)
		}
	}
}

const second = strict.Duration(time.Second)

func TestPlan(t *testing.T) {
	for _, test := range []struct {
		fault fault.Fault
		want  []int
	}{
		{fault.Fault{}, []int{0, 1, 2, 3, 4, 5}},
		{fault.Fault{Plan: fault.Plan{Skip: 2}}, []int{2, 3, 4, 5}},
		{fault.Fault{Plan: fault.Plan{Limit: 2}}, []int{0, 1}},
		{fault.Fault{Plan: fault.Plan{Skip: 1, Limit: 2}}, []int{1, 2}},
		{fault.Fault{Plan: fault.Plan{At: 2 * second}}, []int{2, 3, 4, 5}},
		{fault.Fault{Plan: fault.Plan{For: 2 * second}}, []int{0, 1}},
		{fault.Fault{Plan: fault.Plan{At: second, For: 2 * second}}, []int{1, 2}},
		{fault.Fault{Match: cloudfault.Match{Operation: "POST *", Group: "pool?", Instance: "pool1-*"}}, nil}, // * ends at /
		{fault.Fault{Match: cloudfault.Match{Operation: "POST /*", Group: "pool?", Instance: "pool1-*"}}, []int{0, 1, 2, 3, 4, 5}},
		{fault.Fault{Match: cloudfault.Match{Group: "pool2"}}, nil},
	} {
		if got, _ := acts(t, 1, test.fault, 6); !slices.Equal(got, test.want) {
			t.Errorf("%+v acted on %v, want %v", test.fault, got, test.want)
		}
	}
}

func TestRecords(t *testing.T) {
	_, verbs := acts(t, 1, fault.Fault{Plan: fault.Plan{Limit: 2}}, 4)
	if got := strings.Join(verbs, " "); got != "armed matched effective matched cleared" {
		t.Errorf("the history says %q", got)
	}
}

func TestProbability(t *testing.T) {
	half := fault.Fault{Plan: fault.Plan{Probability: 0.5}}
	first, _ := acts(t, 1, half, 1000)
	again, _ := acts(t, 1, half, 1000)
	other, _ := acts(t, 2, half, 1000)
	if n := len(first); n < 400 || n > 600 {
		t.Errorf("it acted on %d of 1000 calls, want about half", n)
	}
	if !slices.Equal(first, again) || slices.Equal(first, other) {
		t.Error("the same seed chose other calls, or another seed the same")
	}
}

func TestInjectAndClear(t *testing.T) {
	clk := testclock.NewFakeClock(time.Unix(0, 0))
	s := cloudfault.NewSet(clk, 1, history.Discard())
	f := fault.Fault{Name: "f", Effect: cloudfault.Hang{}}
	if err := s.Inject(f); err != nil {
		t.Fatal(err)
	}
	if err := s.Inject(f); err == nil {
		t.Error("a second fault of the name is taken")
	}
	if err := s.Inject(fault.Fault{Name: "g"}); err == nil {
		t.Error("a fault without effect is taken")
	}
	if err := s.Clear("f"); err != nil {
		t.Error(err)
	}
	if s.First(cloudfault.Before, cloudfault.Call{}) != nil {
		t.Error("it acts after Clear")
	}
	if err := s.Clear("h"); err == nil {
		t.Error("an unknown fault is cleared")
	}
}

// A limit counts the calls that a fault acts on, whether or not anybody has seen a difference by then.
func TestLimitBeforeEffect(t *testing.T) {
	clk := testclock.NewFakeClock(time.Unix(0, 0))
	s := cloudfault.NewSet(clk, 1, history.Discard())
	if err := s.Inject(fault.Fault{Name: "f", Effect: cloudfault.Hang{}, Plan: fault.Plan{Limit: 1}}); err != nil {
		t.Fatal(err)
	}
	call := cloudfault.Call{Operation: "POST /servers"}
	if s.First(cloudfault.Before, call) == nil {
		t.Error("it does not act on the first call")
	}
	if s.First(cloudfault.Before, call) != nil {
		t.Error("it acts on a second call while the first still runs")
	}
}
