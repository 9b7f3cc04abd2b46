package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"nodestorm/harness/world"
	"nodestorm/harness/world/process"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/machine/workload"
	"nodestorm/sim/time/clock"
)

// kwok is the release that nodestorm's nodes are held against.
const kwok = "sigs.k8s.io/kwok@v0.8.0"

// A driver makes Nodes Ready and pods on them Running, in a world's API server.
type driver interface {
	// component is the program that does it, as World.Usage calls it.
	component() string
	// join starts what drives nodes. It returns once that would see one.
	join(*testing.B, *world.World)
	// boot announces Nodes. They need not be there when it returns.
	boot(b *testing.B, w *world.World, names []string)
}

// BenchmarkScale holds nodestorm's nodes against KWOK's: the same control plane with the same
// flags, at 1x, each in a new world. Nodes are counted by a watch of them, pods by the status of
// their Deployments, of both alike. The controllers' client limits are raised: see
// world.Config.ClientQPS. SCALE_NODES="50" has other sizes, with ten pods a node as always.
//
// What it says of the processor time of nodestorm's driver is all of our own process:
// the world's history, the counting and the making of the Deployments are in it, which
// of KWOK's rows is reported as cpu-s-nodestorm.
func BenchmarkScale(b *testing.B) {
	drivers := []struct {
		name string
		driver
	}{{"kwok", &kwokDriver{bin: b.TempDir()}}, {"nodestorm", fleetDriver{}}}
	type size struct {
		nodes, pods int
		byHand      bool // pods say which node they are for, so that no scheduler is asked
		steady      time.Duration
	}
	var all []size
	for i, nodes := range sizes(b, "SCALE_NODES", 1000, 5000) {
		all = append(all, size{nodes: nodes, pods: 10 * nodes, steady: 5 * time.Minute})
		if i == 0 {
			all = append(all, size{nodes: nodes, pods: 10 * nodes, byHand: true})
		}
	}
	for _, size := range all {
		for _, d := range drivers {
			name := fmt.Sprintf("%d-nodes-%d-pods", size.nodes, size.pods)
			if size.byHand {
				name += "-bound-by-hand"
			}
			b.Run(name+"/"+d.name, func(b *testing.B) {
				for b.Loop() {
					w := start(b, world.Config{Clock: clock.Real, ClientQPS: 1000})
					d.join(b, w)

					phase(b, w, d.component(), "nodes", func() {
						d.boot(b, w, nodeNames(size.nodes))
						awaitNodes(b, w, size.nodes)
					})
					if size.steady > 0 {
						phase(b, w, d.component(), "steady", func() { pass(b, w, size.steady) })
					}
					phase(b, w, d.component(), "pods", func() {
						deploy(b, w, size.pods, size.byHand)
						b.ReportMetric(float64(awaitPods(b, w, size.pods)), "pods-ready")
					})
					_ = w.Stop()
				}
			})
		}
	}
}

// phase reports what a part of a benchmark took: seconds, the processor time of the driver, of
// kube-apiserver and etcd, of our own process and of all, and the driver's and all memory at its end.
func phase(b *testing.B, w *world.World, driver, name string, part func()) {
	b.Helper()
	before, began := w.Usage(), time.Now()
	part()
	took, after := time.Since(began), w.Usage()
	var figures strings.Builder // what comes next may never end
	report := func(value float64, unit string) {
		b.ReportMetric(value, name+"-"+unit)
		fmt.Fprintf(&figures, " %.4g %s", value, unit)
	}
	cpu := func(program string) float64 { return (after[program].CPU - before[program].CPU).Seconds() }
	report(took.Seconds(), "s")
	report(cpu(driver), "driver-cpu-s")
	report(cpu("nodestorm"), "nodestorm-cpu-s")
	report(cpu("kube-apiserver"), "apiserver-cpu-s")
	report(cpu("etcd"), "etcd-cpu-s")
	spent, _ := total(before)
	all, rss := total(after)
	report((all - spent).Seconds(), "cpu-s")
	report(float64(after[driver].RSS)/(1<<20), "driver-MiB")
	report(float64(rss)/(1<<20), "MiB")
	b.Logf("%s:%s", name, figures.String())
}

func nodeNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("node-%d", i))
	}
	return names
}

// awaitNodes watches until n Nodes are Ready: lists of thousands, again and again, would be
// much of what is measured.
func awaitNodes(b *testing.B, w *world.World, n int) {
	b.Helper()
	ready := map[string]bool{}
	for len(ready) < n { // the API server ends a watch that it thinks too slow
		// Without a resourceVersion it begins with what is there.
		watching, err := w.Client().CoreV1().Nodes().Watch(b.Context(), metav1.ListOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for event := range watching.ResultChan() {
			changed, is := event.Object.(*corev1.Node)
			if !is {
				b.Fatalf("watching Nodes: %v", event.Object)
			}
			if slices.ContainsFunc(changed.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
			}) {
				ready[changed.Name] = true
			}
			if len(ready) == n {
				break
			}
		}
		watching.Stop()
	}
}

// awaitPods waits until n pods are Ready, and returns how many are. It waits no longer once a Deployment has fewer
// than before: a driver that falls behind with its Leases loses Nodes, whose pods are not Ready from
// then on, and may never be again.
func awaitPods(b *testing.B, w *world.World, n int) (ready int) {
	b.Helper()
	began, before, lost := time.Now(), map[string]int32{}, ""
	until(b, w, n, "pods Ready", time.Second, func() int {
		ready = 0
		for _, d := range deployments(b, w.Client()) {
			have := d.Status.ReadyReplicas
			if have < before[d.Name] {
				lost = d.Name
			}
			before[d.Name] = have
			ready += int(have)
		}
		if lost != "" {
			return n
		}
		return ready
	})
	if lost != "" {
		b.Logf("after %s %d of %d pods are Ready, and %s has fewer than before: a Node was lost", time.Since(began).Round(time.Second), ready, n, lost)
	}
	return ready
}

// readyPods counts them by the status of their Deployments.
func readyPods(b *testing.B, client kubernetes.Interface) (ready int) {
	b.Helper()
	for _, d := range deployments(b, client) {
		ready += int(d.Status.ReadyReplicas)
	}
	return ready
}

// deployments are all that the API server has in its cache.
func deployments(b *testing.B, client kubernetes.Interface) []appsv1.Deployment {
	b.Helper()
	list, err := client.AppsV1().Deployments("").List(b.Context(), metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		b.Fatal(err)
	}
	return list.Items
}

// deploy makes n pods: a hundred to a Deployment, a thousand to a namespace. In
// one namespace the work would grow with its square, as kube-scheduler counts the
// namespace's pods for each pod that it places (the default topology spread), and
// kube-controller-manager for each change of a Deployment. Bound by hand, ten pods are on
// each node.
func deploy(b *testing.B, w *world.World, n int, byHand bool) {
	b.Helper()
	namespaced, deployed := 1000, 100
	if byHand {
		deployed = 10
	}
	demand := workload.New(w.Client())
	for first := 0; first < n; first += deployed {
		deployment, err := workload.Deployment(fmt.Sprintf("bench-%d", first/namespaced), fmt.Sprintf("from-%d", first), int32(deployed), workload.Template{CPU: "50m"})
		if err != nil {
			b.Fatal(err)
		}
		if byHand {
			deployment.Spec.Template.Spec.NodeName = fmt.Sprintf("node-%d", first/deployed)
		}
		if err := demand.Create(b.Context(), deployment); err != nil {
			b.Fatal(err)
		}
	}
}

// fleetDriver is nodestorm's own.
type fleetDriver struct{}

func (fleetDriver) component() string             { return "nodestorm" }
func (fleetDriver) join(*testing.B, *world.World) {}

func (fleetDriver) boot(b *testing.B, w *world.World, names []string) {
	for _, name := range names {
		if err := w.Fleet().Boot(node.Spec{Name: name}); err != nil { // of a kubelet without any delay
			b.Fatal(err)
		}
	}
}

// kwokDriver is the released program with the stages that its module recommends: nodes with
// Leases of 40 s as nodestorm's have, pods that start at once.
type kwokDriver struct {
	bin    string // where its program is put
	stages string // where its module has them; empty until it is there
}

func (*kwokDriver) component() string { return "kwok" }

func (d *kwokDriver) join(b *testing.B, w *world.World) {
	d.get(b)
	kubeconfig, err := w.Kubeconfig("kwok", "system:masters")
	if err != nil {
		b.Fatal(err)
	}
	port, err := world.FreePort()
	if err != nil {
		b.Fatal(err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	args := []string{"--kubeconfig=" + kubeconfig, "--manage-all-nodes", "--node-lease-duration-seconds=40", "--server-address=" + address}
	for _, stage := range []string{
		"node/fast/node-initialize", "node/heartbeat-with-lease/node-heartbeat-with-lease",
		"pod/fast/pod-ready", "pod/fast/pod-complete", "pod/fast/pod-delete",
	} {
		args = append(args, "--config="+filepath.Join(d.stages, stage+".yaml"))
	}
	if _, err := w.StartComponent(b.Context(), process.Spec{
		Name: d.component(), Path: filepath.Join(d.bin, "kwok"), Args: args, Dir: b.TempDir(),
		Ready: world.HTTPReady("http://" + address + "/healthz"),
	}); err != nil {
		b.Fatal(err)
	}
}

// get has KWOK compiled, once.
func (d *kwokDriver) get(b *testing.B) {
	if d.stages != "" {
		return
	}
	out, err := exec.CommandContext(b.Context(), "go", "mod", "download", "-json", kwok).Output()
	if err != nil {
		b.Fatalf("getting %s: %v", kwok, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		b.Fatalf("reading what go says of %s: %v", kwok, err)
	}
	b.Logf("building %s", kwok)
	path, version, _ := strings.Cut(kwok, "@")
	install := exec.CommandContext(b.Context(), "go", "install", path+"/cmd/kwok@"+version)
	install.Env = append(os.Environ(), "GOBIN="+d.bin, "CGO_ENABLED=0")
	if out, err := install.CombinedOutput(); err != nil {
		b.Fatalf("building %s: %v\n%s", kwok, err, out)
	}
	d.stages = filepath.Join(module.Dir, "kustomize", "stage")
}

// boot creates Nodes, several at a time as nodestorm's kubelets do, of the size that those have.
func (*kwokDriver) boot(b *testing.B, w *world.World, names []string) {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	creating, ctx := errgroup.WithContext(b.Context())
	creating.SetLimit(16)
	for _, name := range names {
		creating.Go(func() error {
			_, err := w.Client().CoreV1().Nodes().Create(ctx, &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}},
				Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
			}, metav1.CreateOptions{})
			return err
		})
	}
	if err := creating.Wait(); err != nil {
		b.Fatal(err)
	}
}
