package kubelet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/time/clock"
)

// differences are the ways in which the API server sees a simulated kubelet and its
// pods otherwise than a real one, and why that stays.
var differences = map[string]string{
	`registers\.message`: "at its start a real kubelet also waits for its CSINode",
	`node\.status\.daemonEndpoints\.kubeletEndpoint\.Port`: "real kubelets share this host's loopback; simulated ones do not listen",
	`.*pod\.containerStatuses\[c\]\.volumeMounts.*`:        "sim/machine/node does not report volume mounts",
	`events\..*`: "sim/machine/node sends no events: ten thousand pods would send fifty thousand",
	`history\.nodes/NAME\.register\.(adopted|again)`: "a real kubelet does not know whether its machine is another's",
}

// What a simulated kubelet does and a real one does is the same in the eyes of the API
// server, but for what is listed. This is a test of sim/machine/node.
func TestSimulatedAndRealAgree(t *testing.T) {
	r := newRig(t, clock.Auto)
	const gib = kubelet.GiB
	seen := map[string]map[string]string{"real": {}, "simd": {}}
	nodes, err := r.Client().CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes.Stop()
	// What a node says of itself as it registers: a moment later its CSINode may be there.
	registers := func(name string) {
		for e := range nodes.ResultChan() {
			if n, ok := e.Object.(*corev1.Node); ok && e.Type == watch.Added && n.Name == name {
				note(t, seen[name], "registers", name, condition(n))
				return
			}
		}
		t.Fatalf("%s did not register", name)
	}
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("40Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	err = r.Fleet().Boot(node.Spec{
		Name: "simd", ProviderID: "test://simd", Labels: map[string]string{"team": "red"}, Capacity: capacity,
		Taints:    []corev1.Taint{{Key: "dedicated", Value: "red", Effect: corev1.TaintEffectNoSchedule}},
		Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.1.0.2"}, {Type: corev1.NodeHostName, Address: "simd"}},
		Profile:   node.Profile{ReadyDelay: 30 * time.Second, PodStopDelay: 3 * time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	registers("simd")
	r.boot(t, kubelet.Machine{
		Name: "real", Cores: 2, Memory: 4 * gib, Disk: 40 * gib, NetworkDelay: 30 * time.Second, StopDelay: 3 * time.Second,
		Addresses: []netip.Addr{netip.MustParseAddr("10.1.0.1")},
		Args:      []string{"--node-labels=team=red", "--register-with-taints=dedicated=red:NoSchedule", "--provider-id=test://real", "--eviction-hard="},
	})
	registers("real")
	for name, as := range seen {
		n := r.is(t, name, corev1.ConditionTrue, 2*time.Minute)
		r.within(t, time.Minute, "taints lifted", func(ctx context.Context) (err error) {
			if n, err = r.node(ctx, name); err == nil && len(n.Spec.Taints) != 1 {
				err = fmt.Errorf("taints %v", n.Spec.Taints)
			}
			return err
		})
		note(t, as, "node", name, n)
		r.pod(t, name+"-p", name, func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(20)) })
		r.pod(t, name+"-ends", name, func(p *corev1.Pod) {
			p.Annotations = map[string]string{node.RunForAnnotation: "5s"}
			p.Spec.RestartPolicy = corev1.RestartPolicyNever
		})
	}
	for name, as := range seen {
		note(t, as, "pod", name, r.podIs(t, name+"-p", "Running", time.Minute, running).Status)
		note(t, as, "ended pod", name, r.podIs(t, name+"-ends", "Succeeded", time.Minute, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded }).Status)
		note(t, as, "events", name, r.events(t, name))
	}
	for name, as := range seen {
		r.renewals(t, name, as)
	}
	for name, as := range seen {
		r.deletion(t, name, as)
		r.recorded(t, name, as)
	}
	if err := r.Inject(fault.Fault{Name: "kubelet-stopped", Match: kubelet.Match{Machine: "real"}, Effect: kubelet.Stopped{}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Fleet().Inject(fault.Fault{Name: "silence", Match: node.Match{Node: "simd"}, Effect: node.HeartbeatsStop{}}); err != nil {
		t.Fatal(err)
	}
	for name, as := range seen {
		note(t, as, "silent", name, condition(r.is(t, name, corev1.ConditionUnknown, 2*time.Minute)))
	}
	compare(t, seen["simd"], seen["real"])
}

// compare fails for each difference that is not listed, and for each that is and is
// not there.
func compare(t *testing.T, simulated, real map[string]string) {
	t.Helper()
	met := map[string]bool{}
	keys := maps.Clone(simulated)
	maps.Copy(keys, real)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if simulated[key] == real[key] {
			continue
		}
		listed := false
		for pattern := range differences {
			if regexp.MustCompile("^(?:" + pattern + ")$").MatchString(key) {
				listed, met[pattern] = true, true
			}
		}
		if !listed {
			t.Errorf("%s: simulated %q, real %q", key, simulated[key], real[key])
		}
	}
	for pattern, why := range differences {
		if !met[pattern] {
			t.Errorf("no difference %s any more (%s)", pattern, why)
		}
	}
}

// note flattens an object: a path for each value, lists by name or type. Times, names
// and identifiers, which differ by themselves, become placeholders.
func note(t *testing.T, as map[string]string, what, name string, object any) {
	t.Helper()
	b, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	flatten(as, what, tree, func(s string) string {
		s = strings.ReplaceAll(s, name, "NAME")
		for pattern, placeholder := range placeholders {
			s = pattern.ReplaceAllString(s, placeholder)
		}
		return s
	})
}

var placeholders = map[*regexp.Regexp]string{
	regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`):             "TIME",
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`):            "ID",
	regexp.MustCompile(`[0-9a-f]{32,}`):                        "ID",
	regexp.MustCompile(`\b10\.1\.0\.\d+\b`):                    "HOSTIP",
	regexp.MustCompile(`\b10\.(?:12[89]|[1-2]\d\d)\.\d+\.\d+`): "PODIP",
}

func flatten(as map[string]string, path string, tree any, clean func(string) string) {
	switch v := tree.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "managedFields" || key == "resourceVersion" || key == "generation" || key == "observedGeneration" || key == "uid" {
				continue
			}
			flatten(as, path+"."+clean(key), value, clean)
		}
	case []any:
		for i, value := range v {
			label := fmt.Sprint(i)
			if m, ok := value.(map[string]any); ok {
				for _, key := range []string{"type", "name", "key"} {
					if s, ok := m[key].(string); ok {
						label = clean(s)
						break
					}
				}
			}
			flatten(as, path+"["+label+"]", value, clean)
		}
	default:
		as[path] = clean(fmt.Sprint(v))
	}
}

// events are the reasons of the Events about a node and its pods.
func (r rig) events(t *testing.T, name string) map[string]bool {
	t.Helper()
	reasons := map[string]bool{}
	for _, about := range []string{name, name + "-p"} {
		list, err := r.Client().CoreV1().Events("").List(t.Context(), metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("involvedObject.name", about).String()})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list.Items {
			if e.Source.Component != "default-scheduler" {
				reasons[e.InvolvedObject.Kind+" "+e.Reason] = true
			}
		}
	}
	return reasons
}

// renewals watches the Lease for three minutes.
func (r rig) renewals(t *testing.T, name string, as map[string]string) {
	t.Helper()
	var times []time.Time
	var spec metav1.ObjectMeta
	for end := r.Clock().Now().Add(3 * time.Minute); r.Clock().Now().Before(end); {
		lease, err := r.Client().CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		spec = lease.ObjectMeta
		if at := lease.Spec.RenewTime.Time; len(times) == 0 || !times[len(times)-1].Equal(at) {
			times = append(times, at)
		}
		as["lease.duration"] = fmt.Sprint(*lease.Spec.LeaseDurationSeconds)
		<-r.Clock().After(time.Second)
	}
	gaps := make([]time.Duration, 0, len(times))
	for i, at := range times[1:] {
		gaps = append(gaps, at.Sub(times[i]))
	}
	slices.Sort(gaps) // a busy machine may make one late, and none early
	if len(gaps) == 0 || gaps[0] < 9900*time.Millisecond || gaps[len(gaps)/2] > 10900*time.Millisecond {
		t.Errorf("%s: lease renewed after %s, want 10s and up to 4 %% more", name, gaps)
	}
	if len(times) < 16 {
		t.Errorf("%s: %d renewals in 3 minutes", name, len(times))
	}
	note(t, as, "lease.owner", name, spec.OwnerReferences)
}

// deletion deletes a pod and notes its last words and how long it took.
func (r rig) deletion(t *testing.T, name string, as map[string]string) {
	t.Helper()
	w, err := r.Client().CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name+"-p").String()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	asked := r.Clock().Now()
	if err := r.Client().CoreV1().Pods("default").Delete(t.Context(), name+"-p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	var last *corev1.Pod
	for e := range w.ResultChan() {
		if e.Type == watch.Deleted {
			last = e.Object.(*corev1.Pod)
			break
		}
	}
	if last == nil {
		t.Fatalf("no last words of %s-p", name)
	}
	took := r.Clock().Since(asked)
	note(t, as, "deleted pod", name, last.Status)
	if took < 3*time.Second || took > 6*time.Second {
		t.Errorf("%s: gone %s after its deletion, want 3s and a little", name, took)
	}
}

// recorded is what the history has about a node and its pods, apart from calls.
func (r rig) recorded(t *testing.T, name string, as map[string]string) {
	t.Helper()
	r.recordOf(t, "pods", name+"-p", reported("terminated"))
	for _, e := range r.History().Events() {
		about := e.Object.Resource == "nodes" || e.Object.Resource == "pods"
		if e.Source != history.Node || !about || !strings.HasPrefix(e.Object.Name, name) || e.Actor == "cri" {
			continue
		}
		object := "history." + strings.ReplaceAll(e.Object.String(), name, "NAME")
		as[object] += e.Verb + " "
		note(t, as, object+"."+e.Verb, name, e.Detail)
	}
	if got := as["history.pods/default/NAME-p"]; got != "running terminated " {
		t.Errorf("the history of %s-p: %q", name, got)
	}
}
