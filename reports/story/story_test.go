package story_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/reports/story"
	"nodestorm/sim/history"
)

func readStory(t testing.TB, about story.Run, text string) *story.Story {
	t.Helper()
	b := story.NewBuilder(about)
	for _, problem := range history.Scan(strings.NewReader(text), b.Add) {
		t.Log(problem)
	}
	return b.Story()
}

func stored(t testing.TB, name string, about story.Run) *story.Story {
	t.Helper()
	text, err := os.ReadFile("../page/testdata/" + name + ".ndjson")
	if err != nil {
		t.Fatal(err)
	}
	return readStory(t, about, string(text))
}

// lives are the states of one group's lives, in seconds.
func lives(s *story.Story, group string) string {
	var all []string
	for _, l := range s.Lives {
		if l.Group != group {
			continue
		}
		states := []string{l.Label + ":"}
		for _, x := range l.Spans {
			states = append(states, fmt.Sprintf("%.0f–%.0f %s", x.From.Seconds(), x.To.Seconds(), x.Label))
		}
		all = append(all, strings.Join(states, " "))
	}
	return strings.Join(all, "; ")
}

func curve(s *story.Story, name string) string {
	for _, c := range s.Curves {
		if c.Name == name {
			var points []string
			for _, p := range c.Points {
				points = append(points, fmt.Sprintf("%.0f:%.4g", p.At.Seconds(), p.Value))
			}
			return strings.Join(points, " ")
		}
	}
	return ""
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestRealRun(t *testing.T) {
	s := stored(t, "fixed", story.Run{Autoscaler: "karpenter"})
	same(t, "pods", lives(s, "Pods"), "web: 29–29 pending 29–216 unschedulable 216–218 bound to interesting-cori-2015631447 218–329 running on interesting-cori-2015631447")
	same(t, "claims", lives(s, "NodeClaims"), "default-f9db6: 30–30 created 30–60 launched 60–216 registered 216–329 initialized")
	same(t, "pending", curve(s, story.Pending), "4:0 29:1 216:0")
	same(t, "Ready", curve(s, story.NodesReady), "4:0 14:1 210:2")
	var chain []string
	for _, l := range s.Links {
		chain = append(chain, s.Objects[l.From].Resource+" "+l.Why+" "+s.Objects[l.To].Resource)
	}
	same(t, "links", strings.Join(chain, "; "), "pods made room for nodeclaims; nodeclaims same provider ID nodes; nodes runs there pods")
	from, to := s.Focus()
	if from > 29*time.Second || from < 10*time.Second || to < 329*time.Second {
		t.Errorf("the story is from %s to %s", from, to)
	}
}

func TestFirstDifference(t *testing.T) {
	a, b := stored(t, "affected", story.Run{Autoscaler: "karpenter"}), stored(t, "fixed", story.Run{Autoscaler: "karpenter"})
	if n := story.FirstDifference(a.Course(), b.Course()); n != 2 || a.Decisions[n].What != "create NodeClaim 2" {
		t.Errorf("decision %d of %v and %v differs first", n, a.Decisions, b.Decisions)
	}
	if n := story.FirstDifference(a.Course(), a.Course()); n != -1 {
		t.Errorf("decision %d of the same differs", n)
	}
}

// An installer's steps are what it decides: what was done, and what was waited for in vain.
func TestInstaller(t *testing.T) {
	s := readStory(t, story.Run{Autoscaler: "kubespray"}, line(1, 1, "harness", "started", "programs", "kubelet", "harness", 0, `{}`)+
		line(2, 2, "harness", "apply", "manifests", "approver.yaml", "order", 0, `{"failed":false,"step":1,"of":2}`)+
		line(3, 9, "harness", "rollout", "deployments", "approver", "order", 0, `{"failed":true,"step":2,"of":2}`))
	var steps []string
	for _, d := range s.Decisions {
		steps = append(steps, d.What)
	}
	same(t, "steps", strings.Join(steps, "; "), "apply approver.yaml; rollout approver, in vain")
}

func TestCloud(t *testing.T) {
	s := readStory(t, story.Run{Autoscaler: "cluster-autoscaler"}, line(1, 1, "log", "target", "nodegroups", "pool1", "cluster-autoscaler", 0, `{"from":0,"to":2}`)+
		line(2, 2, "cloud", "POST /servers", "servers", "a", "cluster-autoscaler", 201, `{"group":"pool1"}`)+
		line(3, 2, "cloud", "created", "instances", "a", "fakecloud", 0, `{"id":7,"hourlyEUR":3.6}`)+
		line(4, 12, "cloud", "running", "instances", "a", "fakecloud", 0, `{}`)+
		line(5, 20, "api", "create", "nodes", "a", "sim-node", 201, `{"providerID":"hcloud://7","ready":"False: KubeletNotReady","taints":["x:NoSchedule"]}`)+
		line(6, 22, "cloud", "POST /servers", "servers", "b", "cluster-autoscaler", 422, `{"error":"limit"}`)+
		line(7, 30, "fault", "armed", "", "", "fakecloud", 0, `{"fault":"no list"}`)+
		line(8, 40, "fault", "effective", "instances", "a", "fakecloud", 0, `{"fault":"no list"}`)+
		line(9, 41, "fault", "matched", "instances", "a", "fakecloud", 0, `{"fault":"no list"}`)+
		line(10, 50, "fault", "cleared", "", "", "fakecloud", 0, `{"fault":"no list"}`)+
		line(11, 1002, "cloud", "deleted", "instances", "a", "fakecloud", 0, `{}`)+
		line(12, 1010, "log", "target", "nodegroups", "pool1", "cluster-autoscaler", 0, `{"from":2,"to":0}`))
	same(t, "instances", lives(s, "Instances"), "a: 2–12 creating 12–1002 running")
	same(t, "faults", lives(s, story.Faults), "no list: 30–40 armed 40–50 effective")
	same(t, "target size", curve(s, story.Size), "1:2 1010:0")
	same(t, "cost", curve(s, story.Costs), "2:0 1002:1 1010:1")
	var decided []string
	for _, d := range s.Decisions {
		decided = append(decided, d.What)
	}
	same(t, "decisions", strings.Join(decided, "; "), "create server 1; create server 2, refused with 422")
	if !slices.ContainsFunc(s.Links, func(l story.Link) bool {
		return s.Objects[l.From].Resource == "servers" && s.Objects[l.To].Resource == "instances"
	}) || !slices.ContainsFunc(s.Links, func(l story.Link) bool { return s.Objects[l.To].Resource == "nodes" }) {
		t.Errorf("links %v of %v", s.Links, s.Objects)
	}
}

// A cloud that keeps groups at a size: calls about an instance are no states of it, and what is decided is
// the size.
func TestNodeGroups(t *testing.T) {
	ca := "cluster-autoscaler"
	s := readStory(t, story.Run{Autoscaler: ca}, line(1, 1, "cloud", "target", "nodegroups", "a", "fakecloud", 0, `{"from":0,"to":1}`)+
		line(2, 1, "cloud", "created", "instances", "a-1", "fakecloud", 0, `{"id":7,"group":"a"}`)+
		line(3, 1, "cloud", "NodeGroupIncreaseSize", "nodegroups", "a", ca, 200, `{}`)+
		line(4, 2, "cloud", "NodeGroupForNode", "instances", "a-1", ca, 200, `{"group":"a"}`)+
		line(5, 8, "cloud", "running", "instances", "a-1", "fakecloud", 0, `{}`)+
		line(6, 9, "cloud", "target", "nodegroups", "a", "fakecloud", 0, `{"from":1,"to":0}`)+
		line(7, 9, "cloud", "deleting", "instances", "a-1", "fakecloud", 0, `{}`)+
		line(8, 9, "cloud", "NodeGroupDeleteNodes", "instances", "a-1", ca, 200, `{"group":"a"}`)+
		line(9, 11, "cloud", "deleted", "instances", "a-1", "fakecloud", 0, `{}`))
	same(t, "instances", lives(s, "Instances"), "a-1: 1–8 creating 8–9 running 9–11 deleting")
	same(t, "target size", curve(s, story.Size), "1:1 9:0")
	var decided []string
	for _, d := range s.Decisions {
		decided = append(decided, d.What)
	}
	same(t, "decisions", strings.Join(decided, "; "), "scale node group a to 1; scale node group a to 0")
}

// Of what an autoscaler does, decisions keep what and in which order: not what others do,
// what is no decision, or when.
func TestDecisions(t *testing.T) {
	api := func(seq int, verb, resource, name, actor string, code int, detail string) string {
		return line(seq, float64(seq), "api", verb, resource, name, actor, code, detail)
	}
	history := api(1, "create", "nodeclaims", "default-x7", "karpenter", 201, `{}`) +
		api(2, "create", "nodes", "busy-bee", "sim-node", 201, `{}`) +
		api(3, "create", "nodeclaims", "default-q2", "karpenter", 409, `{}`) +
		api(4, "create", "nodeclaims", "default-k1", "karpenter", 201, `{}`) +
		api(5, "create", "pods", "web", "karpenter", 201, `{}`) +
		api(6, "delete", "nodes", "busy-bee", "karpenter", 200, `{}`) +
		api(7, "delete", "nodes", "busy-bee", "karpenter", 200, `{}`) +
		api(8, "update", "machinedeployments", "workers", "karpenter", 200, `{"subresource":"scale","replicas":2}`) +
		api(9, "update", "machinedeployments", "workers", "karpenter", 200, `{"subresource":"scale","replicas":3}`)
	decisions := func(text string) []story.Decision {
		return readStory(t, story.Run{Autoscaler: "karpenter"}, text).Decisions
	}
	got := decisions(history)
	var what []string
	for _, d := range got {
		what = append(what, d.What)
	}
	same(t, "decisions", strings.Join(what, "; "), "create NodeClaim 1; create NodeClaim 2; delete Node 1; "+
		"scale MachineDeployment workers to 2; scale MachineDeployment workers to 3")
	end := got[len(got)-1].At + time.Second
	for name, test := range map[string]struct {
		list  []story.Decision
		end   time.Duration
		first int
	}{
		"the same":               {decisions(history), end, -1},
		"other names":            {decisions(strings.ReplaceAll(history, "busy-bee", "lazy-cat")), end, -1},
		"other":                  {decisions(strings.ReplaceAll(history, `"replicas":3`, `"replicas":4`)), end, 4},
		"nothing more":           {got[:3], end, 3},
		"over before it":         {got[:3], got[3].At - time.Millisecond, -1},
		"over when it came":      {got[:3], got[3].At, 3},
		"nothing, and soon over": {nil, 0, 0},
	} {
		whole, other := story.Course{Decisions: got, End: end}, story.Course{Decisions: test.list, End: test.end}
		for _, first := range []int{story.FirstDifference(whole, other), story.FirstDifference(other, whole)} {
			if first != test.first {
				t.Errorf("%s: first difference %d, want %d", name, first, test.first)
			}
		}
	}
}

// A Node belongs to the machine that its provider ID names, whatever it is called.
func TestNodeOfAnotherServer(t *testing.T) {
	s := readStory(t, story.Run{Autoscaler: "cluster-autoscaler"}, line(1, 1, "cloud", "created", "instances", "a", "fakecloud", 0, `{"id":7}`)+
		line(2, 2, "cloud", "created", "instances", "b", "fakecloud", 0, `{"id":8}`)+
		line(3, 3, "api", "create", "nodes", "a", "sim-node", 201, `{"providerID":"hcloud://8"}`))
	var got []string
	for _, l := range s.Links {
		got = append(got, fmt.Sprintf("%s %s → %s %s: %s", s.Objects[l.From].Resource, s.Objects[l.From].Name, s.Objects[l.To].Resource, s.Objects[l.To].Name, l.Why))
	}
	same(t, "links", strings.Join(got, "; "), "instances b → nodes a: same provider ID")
}

// line is an event of a history.
func line(seq int, at float64, source, verb, resource, name, actor string, code int, detail string) string {
	return fmt.Sprintf(`{"seq":%d,"virtual":%.0f,"real":0,"source":%q,"verb":%q,"object":{"resource":%q,"name":%q},"actor":%q,"code":%d,"detail":%s}`+"\n", seq, at*1e9, source, verb, resource, name, actor, code, detail)
}

// A pod leads to the scale-up that it caused, and on to the machine of that, not to
// one of an earlier or later scale-up of the group.
func TestScaleUps(t *testing.T) {
	const ca = "cluster-autoscaler"
	plan := func(seq int, at float64, group string, from, to int, pods string) string {
		return line(seq, at, "log", "plan", "nodegroups", group, ca, 0, fmt.Sprintf(`{"message":"plans","from":%d,"to":%d,"Pods":%q}`, from, to, pods))
	}
	s := readStory(t, story.Run{Autoscaler: ca}, line(1, 1, "api", "create", "pods", "web", "admin", 201, `{}`)+line(2, 1, "api", "create", "pods", "api", "admin", 201, `{}`)+
		plan(3, 10, "pool1", 0, 1, "web")+
		plan(4, 20, "pool1", 0, 1, "web")+
		line(5, 21, "cloud", "POST /servers", "servers", "pool1-a", ca, 201, `{"group":"pool1"}`)+
		line(6, 21, "cloud", "created", "instances", "pool1-a", "fakecloud", 0, `{"group":"pool1","hourlyEUR":0.5}`)+
		plan(7, 30, "pool1", 1, 2, "api")+
		line(8, 31, "cloud", "POST /servers", "servers", "pool1-b", ca, 201, `{"group":"pool1"}`)+
		plan(9, 40, "MachineDeployment/default/first", 1, 2, "api")+
		line(10, 41, "api", "create", "machines", "first-x-y", "capi", 201, `{}`)+
		line(11, 42, "cloud", "created", "instances", "first-x-y", "fakecloud", 0, `{"group":"first"}`))
	var got []string
	for _, l := range s.Links {
		got = append(got, fmt.Sprintf("%s %s > %s %s", s.Objects[l.From].Resource, s.Objects[l.From].Name, s.Objects[l.To].Resource, s.Objects[l.To].Name))
	}
	same(t, "links", strings.Join(got, "\n"), `servers pool1-a > instances pool1-a
pods web > scaleups pool1 0 → 1
scaleups pool1 0 → 1 > servers pool1-a
pods api > scaleups pool1 1 → 2
scaleups pool1 1 → 2 > servers pool1-b
pods api > scaleups MachineDeployment/default/first 1 → 2
scaleups MachineDeployment/default/first 1 → 2 > machines first-x-y
machines first-x-y > instances first-x-y`)
	if first, second := s.Events[2].Object, s.Events[3].Object; first == second || s.Links[1].To != second {
		t.Errorf("two plans are objects %d and %d, and the machine belongs to %d", first, second, s.Links[1].To)
	}
	same(t, "target size", curve(s, story.Size), "") // what is planned is not yet asked for
}

// What Cluster Autoscaler decides with Cluster API is the size of a group.
func TestScaleIsDecided(t *testing.T) {
	scale := func(seq int, at float64, actor, name string, code int) string {
		return line(seq, at, "api", "update", "machinedeployments", name, actor, code, `{"subresource":"scale"}`)
	}
	s := readStory(t, story.Run{Autoscaler: "cluster-autoscaler"}, scale(1, 1, "cluster-autoscaler", "first", 409)+scale(2, 2, "cluster-autoscaler", "first", 409)+
		scale(3, 3, "a user", "first", 200)+scale(4, 4, "cluster-autoscaler", "second", 200))
	var decided []string
	for _, d := range s.Decisions {
		decided = append(decided, d.What)
	}
	same(t, "decisions", strings.Join(decided, "; "), "scale MachineDeployment first, refused with 409; scale MachineDeployment second")
	same(t, "sentence", s.Sentence(3), "cluster-autoscaler scales MachineDeployment second")
	if f := s.Events[1].Flags; f&story.Noise != 0 || f&story.Bad == 0 || f&story.Decided == 0 {
		t.Errorf("a refused call has the flags %b", f)
	}
}

// The clock's own events make the curves of factor and lag; what they say wrongly
// is left out.
func TestPace(t *testing.T) {
	s := readStory(t, story.Run{}, line(1, 0, "step", "passed", "", "", "godog", 0, `{}`)+
		line(2, 10, "clock", "pace", "", "", "", 0, `{"seconds":8,"factor":32,"lagP99Ms":20,"lagMaxMs":40}`)+
		line(3, 11, "clock", "pace", "", "", "", 0, `{"seconds":1e300,"factor":-1,"lagP99Ms":"x"}`)+
		line(4, 20, "clock", "pace", "", "", "", 0, `{"seconds":1000,"factor":4,"lagP99Ms":1,"lagMaxMs":2}`))
	same(t, "factor", curve(s, story.Factor), "2:32 2:4")
	same(t, "lag", curve(s, story.Lag), "2:40 2:2")
}

// How long rounds took is a curve where it was recorded, and is not where a history says nonsense.
// What strangers did is said, and is no failure of the run's.
func TestUninvited(t *testing.T) {
	s := readStory(t, story.Run{}, line(1, 0, "step", "passed", "", "", "godog", 0, `{}`)+line(2, 10, "harness", "uninvited", "listeners", "the way out", "", 0, `{"of":2001}`))
	same(t, "sentence", s.Sentence(1), "2001 calls came to the way out from no program of the world: without credentials")
	if f := s.Events[1].Flags; f&story.Bad != 0 {
		t.Errorf("it has the flags %b", f)
	}
}

func TestRounds(t *testing.T) {
	s := readStory(t, story.Run{}, line(1, 0, "step", "passed", "", "", "godog", 0, `{}`)+
		line(2, 10, "harness", "rounds", "", "", "cluster-autoscaler", 0, `{"of":1,"seconds":0.5}`)+
		line(3, 20, "harness", "rounds", "", "", "cluster-autoscaler", 0, `{"of":1,"seconds":1e300}`)+
		line(4, 20, "harness", "rounds", "", "", "cluster-autoscaler", 0, `{"of":1,"seconds":-1}`)+
		line(5, 30, "harness", "rounds", "", "", "cluster-autoscaler", 0, `{"of":2,"seconds":7}`))
	same(t, "rounds", curve(s, story.Round), "10:0.5 30:7")
	same(t, "sentence", s.Sentence(1), "a round of cluster-autoscaler takes 0.5 s")
	if f := s.Events[1].Flags; f&story.Bad != 0 || f&story.Noise == 0 {
		t.Errorf("a round has the flags %b", f)
	}
	if s := readStory(t, story.Run{}, line(1, 0, "step", "passed", "", "", "godog", 0, `{}`)); curve(s, story.Round) != "" {
		t.Errorf("without any there are %s", curve(s, story.Round))
	}
}

func TestHostileEvents(t *testing.T) {
	b := story.NewBuilder(story.Run{})
	long := strings.Repeat("long ", 1<<18)
	many := map[string]any{}
	for n := range 5000 {
		many[fmt.Sprint("key", n)] = n
	}
	b.Add(history.Entry{Seq: 1, Virtual: 1<<63 - 1, Event: history.Event{Source: "\x1b[31m", Verb: long, Actor: "\u202e"}})
	b.Add(history.Entry{Seq: 2, Virtual: -1 << 63, Event: history.Event{Source: history.Logged, Detail: map[string]any{"message": long, "func": func() {}}}})
	b.Add(history.Entry{Seq: 3, Virtual: time.Second, Event: history.Event{Source: history.Logged, Detail: map[string]any{"message": long, "list": []any{long, long}}}})
	b.Add(history.Entry{Seq: 4, Virtual: 2 * time.Second, Event: history.Event{Source: history.Logged, Detail: many}})
	s := b.Story()
	if s.Absurd != 2 || s.Begin != time.Second || s.End != 2*time.Second {
		t.Errorf("%d absurd times, from %s to %s", s.Absurd, s.Begin, s.End)
	}
	for _, detail := range s.Details {
		if len(detail) > 40<<10 {
			t.Errorf("a detail has %d bytes", len(detail))
		}
	}
	for i := range s.Events {
		if text := s.Sentence(i); len(text) > 4<<10 || strings.ContainsAny(text, "\x1b\u202e\n") {
			t.Errorf("sentence %q", text[:min(len(text), 200)])
		}
	}
	if k := s.Kinds[0]; strings.ContainsAny(k.Source+k.Actor, "\x1b\u202e") || len(k.Verb) > 1000 {
		t.Errorf("kind %q", k.Source)
	}
}

// A curve of more points than a screen can show keeps its highest and lowest.
func TestLongCurve(t *testing.T) {
	b := story.NewBuilder(story.Run{})
	seq := uint64(0)
	add := func(at time.Duration, verb, name string) {
		seq++
		b.Add(history.Entry{Seq: seq, Virtual: at, Event: history.Event{Source: history.Cloud, Verb: verb, Object: history.Object{Resource: "instances", Name: name}}})
	}
	for n := range 120_000 {
		at := time.Duration(n) * time.Second
		add(at, "created", fmt.Sprint(n))
		if n != 70_000 {
			add(at+time.Millisecond, "deleted", fmt.Sprint(n))
		}
	}
	for _, c := range b.Story().Curves {
		if c.Name != story.Alive {
			continue
		}
		most := 0.0
		for _, p := range c.Points {
			most = max(most, p.Value)
		}
		if len(c.Points) > 100_000 || most != 2 {
			t.Errorf("%d points, at most %g", len(c.Points), most)
		}
		return
	}
	t.Error("no curve of instances")
}
