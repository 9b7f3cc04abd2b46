package invariants

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
)

var (
	ca = Subject{
		Actor: "cluster-autoscaler", Facts: []Fact{Runs, LaunchesForGroups, LimitsDeclared, CallsCreate, CountsServers},
		Settings: []string{"--nodes=0:2:cx22:fsn1:pool"},
	}
	unpaused = Subject{Actor: "cluster-autoscaler", Facts: []Fact{Runs, LaunchesForGroups, LimitsDeclared, ScalesObjects}}
	capi     = Subject{Actor: "cluster-autoscaler", Facts: append(slices.Clip(unpaused.Facts), LeavesPaused)}
	grpc     = Subject{Actor: "cluster-autoscaler", Facts: []Fact{Runs, LaunchesForGroups}}
	karp     = Subject{Actor: "karpenter", Facts: []Fact{Runs, MakesClaims}}
	quiet    = "60m harness ended"
)

func with(s Subject, settings ...string) Subject {
	s.Settings = append(slices.Clip(s.Settings), settings...)
	return s
}

// parseHistory reads a history, a line an event: when, source, verb, object, actor and code as far
// as there are, and details as key=value, with underscores for spaces, commas for lists.
func parseHistory(t *testing.T, text string) (events []history.Entry) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		at, err := time.ParseDuration(words[0])
		if err != nil {
			t.Fatal(err)
		}
		r := history.Entry{Seq: uint64(len(events) + 1), Virtual: at, Event: history.Event{Source: history.Source(words[1]), Verb: strings.ReplaceAll(words[2], "_", " "), Detail: map[string]any{}}}
		for _, word := range words[3:] {
			key, value, detail := strings.Cut(word, "=")
			code, notCode := strconv.Atoi(word)
			switch {
			case detail && (key == "taints" || key == "added" || key == "removed"):
				r.Detail[key] = []any{}
				for _, item := range strings.Split(value, ",") {
					if item != "" {
						r.Detail[key] = append(r.Detail[key].([]any), item)
					}
				}
			case detail && key == "conditions": // those that are true, each perhaps with its reason
				conditions := map[string]any{}
				for _, item := range strings.Split(value, ",") {
					condition, reason, _ := strings.Cut(item, ":")
					conditions[condition] = strings.TrimSuffix("True: "+reason, ": ")
				}
				r.Detail[key] = conditions
			case detail && (key == "NodeClaim"):
				r.Detail[key] = map[string]any{"name": value}
			case detail && value == "true":
				r.Detail[key] = true
			case detail:
				value = strings.ReplaceAll(value, "_", " ")
				if n, err := strconv.ParseFloat(value, 64); err == nil {
					r.Detail[key] = n
				} else {
					r.Detail[key] = value
				}
			case strings.Contains(word, "/"):
				parts := strings.SplitN(word, "/", 3)
				r.Object = history.Object{Resource: parts[0], Namespace: parts[1], Name: strings.Join(parts[2:], "/")}
			case notCode == nil:
				r.Code = code
			default:
				r.Actor = word
			}
		}
		events = append(events, r)
	}
	return events
}

func TestInvariants(t *testing.T) {
	seen := map[string][2]bool{}
	for _, test := range cases {
		t.Run(test.invariant+"/"+test.name, func(t *testing.T) {
			var found *Broken
			for _, b := range Judge(slices.Values(parseHistory(t, test.text)), test.of) {
				if b.Name == test.invariant {
					found = &b
				}
			}
			if (found != nil) != (test.evidence != nil) {
				t.Fatalf("broken: %v, want evidence %v", found, test.evidence)
			}
			if found != nil && (!slices.Equal(found.Evidence, test.evidence) || found.Reason == "" || found.Statement == "") {
				t.Errorf("got %+v, want evidence %v", found, test.evidence)
			}
			has := seen[test.invariant]
			has[map[bool]int{true: 0, false: 1}[found != nil]] = true
			seen[test.invariant] = has
		})
	}
	for _, name := range Names() {
		if seen[name] != [2]bool{true, true} {
			t.Errorf("%s is not shown both broken and held", name)
		}
	}
}

func TestList(t *testing.T) {
	if !slices.IsSorted(Names()) || len(slices.Compact(Names())) != len(all) {
		t.Errorf("%v is not sorted, or has a name twice", Names())
	}
	for _, i := range all {
		if i.Statement == "" || i.When == "" || len(i.Of) == 0 || i.begin == nil {
			t.Errorf("%s is not complete: %+v", i.Name, i)
		}
	}
	if Known("no-such") || !Known("no-crash") {
		t.Error("Known does not know the names")
	}
}

// A history is read once, however many invariants judge: twice as much of it takes twice as long, and
// what has no object is kept nowhere.
func BenchmarkJudge(b *testing.B) {
	var events []history.Entry
	for i := range 100_000 {
		events = append(events, history.Entry{Seq: uint64(i + 1), Virtual: time.Duration(i) * time.Second, Event: history.Event{
			Source: history.API, Verb: "patch", Actor: "kube-scheduler", Code: 200,
			Object: history.Object{Resource: "pods", Namespace: "default", Name: fmt.Sprint("pod-", i%1000)},
			Detail: map[string]any{"subresource": "status", "reason": "Unschedulable"},
		}})
	}
	for b.Loop() {
		Judge(slices.Values(events), ca)
	}
}
