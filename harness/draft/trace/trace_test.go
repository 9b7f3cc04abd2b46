package trace

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ugorji/go/codec"

	"nodestorm/harness/search/workload"
)

const replayed = `{"cluster": "c", "captured": "2026-01-02T05:00:00Z", "events": [
{"type": "create", "kind": "Deployment", "key": "kubereplay/deployment-0", "timestamp": "2026-01-02T03:00:00Z", "deployment": {
  "metadata": {"namespace": "kubereplay", "name": "deployment-0"}, "spec": {"replicas": 3, "template": {
    "metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true", "secret": "x"}}, "spec": {
      "containers": [{"resources": {"requests": {"cpu": "250m", "memory": "512Mi"}}}, {"resources": {"requests": {"cpu": 1, "nvidia.com/gpu": 1}}}],
      "initContainers": [{"resources": {"requests": {"memory": "1Gi"}}}],
      "nodeSelector": {"karpenter.sh/capacity-type": "spot"}, "priorityClassName": "high",
      "tolerations": [{"key": "a", "operator": "Exists"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
      "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}],
      "affinity": {"nodeAffinity": {}}}}}}},
{"type": "scale", "kind": "Deployment", "key": "kubereplay/deployment-0", "timestamp": "2026-01-02T03:10:00.4Z", "replicas": 5},
{"type": "scale", "kind": "Deployment", "key": "kubereplay/deployment-0", "timestamp": "2026-01-02T03:10:00.2Z", "replicas": 9},
{"type": "delete", "kind": "Deployment", "key": "kubereplay/deployment-0", "timestamp": "2026-01-02T04:00:00Z"},
{"type": "create", "kind": "Deployment", "key": "kubereplay/deployment-0", "timestamp": "2026-01-02T04:10:00Z", "deployment": {"spec": {"replicas": 0, "template": {}}}},
{"type": "scale", "kind": "Deployment", "key": "kubereplay/deployment-0", "timestamp": "2026-01-02T04:20:00Z", "replicas": 2},
{"type": "scale", "kind": "Deployment", "key": "kubereplay/other", "timestamp": "2026-01-02T04:21:00Z", "replicas": 2},
{"type": "create", "kind": "Job", "key": "kubereplay/job-0", "timestamp": "2026-01-02T03:30:00Z", "job": {"spec": {"parallelism": 2, "completions": 4,
  "template": {"spec": {"containers": [{"command": ["sh", "-c", "sleep 30"]}]}}}}},
{"type": "create", "kind": "Job", "key": "kubereplay/job-1", "timestamp": "2026-01-02T03:31:00Z", "job": {"spec": {"template": {"spec": {"containers": [{}]}}}}}
]}`

const replayedWorkload = `# Made of a trace of kubereplay.
# does not have all of its pods at a time, as it has here: kubereplay/job-0
# does not say how long it runs: give it runs, such as 5m: job-1
# has a node affinity, which is left out: deployment-0
# has a priority that is left out: its value is not in the trace, or is one of the system's: deployment-0
# is changed and was not seen before, and is left out: kubereplay/other
# must be spread over zones, and is spread as far as that is possible: deployment-0
# requests nvidia.com/gpu, which is left out: deployment-0
lasts: 1h31m0s
loads:
- annotations:
    karpenter.sh/do-not-disrupt: "true"
  cpu: 1250m
  ends: 1h0m0s
  kind: Deployment
  memory: 1Gi
  name: deployment-0
  nodeSelector:
    karpenter.sh/capacity-type: spot
  pods: "3"
  spread: zones
  steps:
  - at: 10m0s
    pods: 5
  tolerations:
  - key: a
    operator: Exists
- kind: Job
  name: job-0
  pods: "4"
  runs: 30s
  starts: 30m0s
- kind: Job
  name: job-1
  pods: "1"
  starts: 31m0s
- kind: Deployment
  name: deployment-0-2
  pods: "2"
  starts: 1h20m0s
`

// A replay log becomes a workload: what it cannot have is noted, and a Job without a time is to be given one.
func TestKubereplay(t *testing.T) {
	d, err := Read([]byte(replayed), "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := d.YAML()
	if err != nil || text != replayedWorkload {
		t.Errorf("%v:\n%s\nwant:\n%s", err, text, replayedWorkload)
	}
	if _, err := workload.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), `load "job-1": runs: it is missing`) {
		t.Errorf("a Job without a time: %v", err)
	}
	if d, err = Read([]byte(replayed), "5m"); err != nil || !slices.ContainsFunc(d.Workload.Loads, func(l workload.Load) bool { return l.Runs == "5m" }) ||
		!slices.Contains(d.Notes, "does not say how long it runs, and runs 5m: job-1") {
		t.Errorf("a Job that is to run 5m: %+v, %v", d, err)
	}
	if _, err := Read([]byte(replayed), "long"); err == nil || !strings.Contains(err.Error(), `load "job-1": runs: "long": want an amount`) {
		t.Errorf("a Job that is to run long: %v", err)
	}
	if _, err := workload.Read([]byte(strings.ReplaceAll(text, "starts: 31m0s", "starts: 31m0s\n  runs: 5m"))); err != nil {
		t.Error(err)
	}
}

// pairs are a map whose keys are lists.
type pairs []any

func (pairs) MapBySlice() {}

type object = map[string]any

func packed(t testing.TB, version int, events []any, lives pairs) []byte {
	t.Helper()
	var text bytes.Buffer
	trace := object{"version": version, "config": object{}, "index": object{"v1.Pod": object{"a/b": uint64(1) << 63}}, "events": events, "pod_lifecycles": lives}
	if err := codec.NewEncoder(&text, handle()).Encode(trace); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func at(seconds int, applied, deleted []any) any {
	return object{"ts": 1700000000 + seconds, "applied_objs": applied, "deleted_objs": deleted}
}

func named(kind, name string, spec object) any {
	return object{"apiVersion": "v1", "kind": kind, "metadata": object{"namespace": "default", "name": name}, "spec": spec}
}

func sized(pods int, cpu string) object {
	return object{"replicas": pods, "template": object{"spec": object{"containers": []any{object{"resources": object{"requests": object{"cpu": cpu}}}},
		"affinity": object{"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []any{object{"topologyKey": "kubernetes.io/hostname"}}}}}}}
}

func cronJobOf(name, schedule string, suspended bool) any {
	return named("CronJob", name, object{"schedule": schedule, "suspend": suspended, "jobTemplate": object{"spec": object{"parallelism": 2,
		"completions": 2, "template": object{"spec": object{"containers": []any{object{"command": []any{"sleep", "40"}}}}}}}})
}

const tracedWorkload = `# Made of a trace of SimKube.
# has another template later, which is left out: my-web
# is a CronJob of irregular times, and comes as often on average: office
# is a CronJob with a schedule that cannot be read, and is left out: odd
# is a CronJob without a Job in the time of the trace, and is left out: nightly
# is a suspended CronJob, and is left out: held
lasts: 15m0s
loads:
- cpu: "1"
  kind: Deployment
  name: my-web
  pods: "2"
  spread: nodes
  steps:
  - at: 1m0s
    pods: 7
- ends: 5m0s
  every: 5m
  kind: Job
  name: tick
  pods: "2"
  runs: 40s
  starts: 1m40s
- every: 30m
  kind: Job
  name: office
  pods: "2"
  runs: 40s
  starts: 40s
- kind: Pod
  name: bare
  pods: "1"
  runs: 20s
  starts: 1m0s
- kind: Pod
  name: stays
  pods: "1"
  starts: 1m0s
- kind: Pod
  name: gone
  pods: "1"
  runs: 4m
  starts: 1m0s
`

// A trace becomes a workload: how long pods ran is in their lifecycles, or known from when they were deleted.
func TestSimKube(t *testing.T) {
	text := packed(t, 2, []any{
		at(0, []any{named("Deployment", "1My_Web", sized(2, "1")), cronJobOf("nightly", "0 3 * * *", false), cronJobOf("odd", "often", false),
			cronJobOf("held", "* * * * *", true), cronJobOf("tick", "*/5 * * * *", false), cronJobOf("office", "14,16 * * * *", false)}, nil),
		at(60, []any{named("Deployment", "1My_Web", sized(7, "1")), named("Pod", "bare", object{}), named("Pod", "stays", object{}), named("Pod", "gone", object{})}, nil),
		at(90, []any{named("Deployment", "1My_Web", sized(7, "2"))}, nil),
		at(300, nil, []any{named("Pod", "gone", object{}), named("CronJob", "tick", nil)}),
	}, pairs{
		[]any{"v1.Pod", "default/bare"}, map[uint64]any{uint64(1) << 63: []any{object{"Finished": []any{1700000061, 1700000081}}, object{"Running": []any{1700000090}}}},
		[]any{"v1.Pod", "default/stays"}, map[uint64]any{7: []any{"Empty", object{"Finished": []any{9, 3}}}}, []any{"odd"}, 3,
	})
	d, err := Read(text, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.YAML(); err != nil || got != tracedWorkload {
		t.Errorf("%v:\n%s\nwant:\n%s", err, got, tracedWorkload)
	}
}

// What is no trace is refused in a line that says what is wanted.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "it is neither a replay log of kubereplay in JSON nor a trace of SimKube in MessagePack",
		"{":                               "it is no replay log of kubereplay: unexpected end of JSON input",
		"{}":                              "it has no events: want a replay log of kubereplay, or a trace of SimKube",
		`{"events": [{}]}`:                `events: row 1: type is "": want create, scale or delete`,
		`{"events": [{"type": "scale"}]}`: "events: row 1: there is no timestamp",
		`{"events": [{"type": "create", "kind": "Pod", "timestamp": "2026-01-02T03:00:00Z"}]}`:                                    `events: row 1: it creates a "Pod" without one: want a Deployment or a Job`,
		`{"events": [{"type": "scale", "kind": "Deployment", "key": "a/b", "timestamp": "2026-01-02T03:00:00Z", "replicas": 2}]}`: "none of its objects ever has a pod: is changed and was not seen before, and is left out: a/b",
		`{"events": [{"type": "create", "kind": "Job", "key": "a/b", "timestamp": "2026-01-02T03:00:00Z", "job": {}},
			{"type": "delete", "kind": "Job", "key": "a/c", "timestamp": "2027-01-02T03:00:00Z"}]}`: "lasts: 8760h10m: want more than zero, and at most 168h",
		string(packed(t, 1, nil, nil)): "it is a trace of the version 1 of SimKube's format: want 2",
		string(packed(t, 2, nil, nil)): "it has no event of a Deployment, a Job, a CronJob or a pod",
		string(packed(t, 2, []any{at(0, []any{named("CronJob", "n", nil)}, nil)}, nil)): "it has no event of a Deployment, a Job, a CronJob or a pod: is a CronJob with a schedule that cannot be read, and is left out: n",
		string(packed(t, 2, []any{at(0, []any{object{"kind": 3}}, nil)}, nil)):          "an object of the trace is no object of Kubernetes",
		strings.Repeat("\x91", 1<<20):     "it is neither a replay log",
		"\xdf\xff\xff\xff\xff\xa7version": "it is neither a replay log",
	} {
		_, err := Read([]byte(text), "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

// Whatever a trace holds, what is made of it is a workload but for what its notes say, or an error in a line.
func FuzzRead(f *testing.F) {
	f.Add([]byte(replayed))
	f.Add(packed(f, 2, []any{at(0, []any{named("Deployment", "a", sized(2, "1")), named("Pod", "b", object{})}, nil)}, pairs{[]any{"v1.Pod", "default/b"}, map[uint64]any{}}))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Read(text, "")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("not one line: %q", err)
			}
			return
		}
		file, err := d.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := workload.Read([]byte(file)); err != nil && !strings.Contains(err.Error(), "runs: it is missing") {
			t.Errorf("%v\n%s", err, file)
		}
	})
}
