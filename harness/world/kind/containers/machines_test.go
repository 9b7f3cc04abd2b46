package containers_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kind"
	"nodestorm/harness/world/kind/plane"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/time/clock"
)

// rig is a Hetzner Cloud whose servers are containers.
type rig struct {
	*testing.T
	world   *world.World
	project *hetzner.Project
}

func (r rig) await(what string, after uint64, is func(history.Entry) bool) history.Entry {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Minute)
	defer cancel()
	found, err := r.world.History().WaitAfter(ctx, after, is)
	if err != nil {
		r.Fatalf("waiting until %s: %v; the world: %v", what, err, r.world.Err())
	}
	return found
}

func (r rig) seq() uint64 { return uint64(len(r.world.History().Since(0))) }

func says(verb, name string) func(history.Entry) bool {
	return func(rec history.Entry) bool {
		return rec.Source == history.Node && rec.Verb == verb && rec.Object.Name == name
	}
}

// server is a new one of the project.
func (r rig) server(name, userData string) *hcloud.Server {
	r.Helper()
	client := r.project.Client()
	t, _, err := client.ServerType.GetByName(r.Context(), "cx22")
	if err != nil {
		r.Fatal(err)
	}
	image, _, err := client.Image.GetForArchitecture(r.Context(), hetzner.Image, t.Architecture)
	if err != nil {
		r.Fatal(err)
	}
	made, _, err := client.Server.Create(r.Context(), hcloud.ServerCreateOpts{
		Name: name, ServerType: t, Image: image, Location: &hcloud.Location{Name: "fsn1"}, UserData: userData,
	})
	if err != nil {
		r.Fatal(err)
	}
	return made.Server
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	said, err := exec.CommandContext(context.WithoutCancel(t.Context()), "docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v: %v: %s", args, err, said)
	}
	return strings.TrimSpace(string(said))
}

// becomes waits until Docker says so.
func becomes(t *testing.T, what, want string, args ...string) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		state := docker(t, args...)
		if state == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is %q, want %q", what, state, want)
		}
	}
}

// Servers join by kubeadm, each as its user data says, are cut off, stopped and deleted, and
// leave nothing.
func TestServersAreContainers(t *testing.T) {
	if testing.Short() {
		t.Skip("a real cluster takes half a minute; make test-kind runs it")
	}
	for _, err := range []error{kind.CheckDocker(t.Context()), kind.CheckImage(t.Context(), builds.Kubernetes.Version)} {
		if err != nil {
			t.Skipf("no cluster can be made: %v; make test-kind makes the image first", err)
		}
	}
	state, out := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	ours := fmt.Sprintf("name=nodestorm-world-%d-machine-", os.Getpid())
	var volumes []string
	cfg := world.Config{Out: out, Clock: clock.Real, Start: plane.Start(builds.Kubernetes.Version)}
	cfg.ClusterOptions.ControllerManager = []string{"--node-monitor-grace-period=20s"}
	w, err := world.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
		if left := docker(t, "ps", "--all", "--quiet", "--filter", ours); left != "" {
			t.Errorf("containers were left behind: %s", left)
		}
		there := strings.Fields(docker(t, "volume", "ls", "--quiet"))
		for _, volume := range volumes {
			if slices.Contains(there, volume) {
				t.Errorf("volume %s was left behind", volume)
			}
		}
		if left, err := filepath.Glob(filepath.Join(state, "nodestorm", "clusters", "*")); err != nil || len(left) > 0 {
			t.Errorf("folders were left behind: %v, %v", left, err)
		}
	}()
	r := rig{T: t, world: w}
	containers, err := plane.Machines(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if r.project, err = hetzner.Start(t.Context(), machines.Setting{
		World: w, Containers: containers,
		Profile: func(i fakecloud.Instance) (p node.Profile) {
			if i.Name == "lost" {
				p.Faults = []fault.Fault{{Name: "never", Effect: node.NeverRegisters{}}}
			}
			return p
		},
	}); err != nil {
		t.Fatal(err)
	}

	good := r.server("good", hetzner.UserData(" --node-labels=example.org/pool=a"))
	r.server("lost", hetzner.UserData(""))
	r.server("idle", "#cloud-config\nruncmd: [echo there is nothing to join]\n")

	r.await("the Node of the server is ready", 0, says("ready", "good"))
	n, err := w.Client().CoreV1().Nodes().Get(t.Context(), "good", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	memory := n.Status.Capacity[corev1.ResourceMemory]
	if want := fmt.Sprintf("hcloud://%d", good.ID); n.Spec.ProviderID != want || n.Labels["example.org/pool"] != "a" ||
		n.Status.Capacity.Cpu().Value() != 2 || memory.Value() != 4_080_218_112 || n.Status.NodeInfo.ContainerRuntimeVersion == "" {
		t.Errorf("want provider ID %s, the label, and a cx22's 2 cores and 4 GB: %+v, %+v", want, n.Spec, n.Status)
	}
	for _, container := range strings.Fields(docker(t, "ps", "--quiet", "--filter", ours)) {
		volumes = append(volumes, strings.Fields(docker(t, "inspect", "--format", `{{range .Mounts}}{{if eq .Type "volume"}}{{.Name}} {{end}}{{end}}`, container))...)
	}
	if len(volumes) != 3 {
		t.Errorf("three machines have the volumes %v", volumes)
	}
	said := r.await("the server without kubeadm join says so", 0, says("nojoin", "idle"))
	if reason, _ := said.Detail["reason"].(string); !strings.Contains(reason, "there is nothing to join") {
		t.Errorf("why it does not join: %q", reason)
	}

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: kind.PauseImage}}, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}},
	}
	if _, err := w.Client().CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.await("the pod runs", 0, says("running", "web"))
	if _, err := w.Client().CoreV1().Pods("default").GetLogs("web", &corev1.PodLogOptions{}).DoRaw(t.Context()); err != nil {
		t.Errorf("kube-apiserver does not reach the kubelet: %v", err)
	}

	unknown := func(name string) func(history.Entry) bool {
		return func(rec history.Entry) bool {
			ready, _ := rec.Detail["ready"].(string)
			return rec.Source == history.API && rec.Object.Resource == "nodes" && rec.Object.Name == name && strings.HasPrefix(ready, "Unknown")
		}
	}
	before := r.seq()
	if err := containers.Inject(fault.Fault{Name: "cable", Match: node.Match{Node: "good"}, Effect: node.HeartbeatsStop{}}); err != nil {
		t.Fatal(err)
	}
	cut := r.await("the Node is unknown", before, unknown("good"))
	if err := containers.Clear("cable"); err != nil {
		t.Fatal(err)
	}
	r.await("the Node is ready again", cut.Seq, says("ready", "good"))

	before = r.seq()
	if _, _, err := r.project.Client().Server.Poweroff(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	// First: on a busy machine a Node may be unknown for another reason.
	becomes(t, "the container of a server that is off", "exited", "ps", "--all", "--filter", ours+"good", "--format", "{{.State}}")
	exited := r.seq()
	off := r.await("the Node of a server that is off is unknown", before, unknown("good"))
	if _, _, err := r.project.Client().Server.Poweron(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	r.await("the Node is ready after the server was off", max(off.Seq, exited), says("ready", "good"))

	before = r.seq()
	if _, _, err := r.project.Client().Server.DeleteWithResult(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	becomes(t, "the container of a server that is gone", "", "ps", "--all", "--quiet", "--filter", ours+"good")
	r.await("the Node of a server that is gone is unknown", before, unknown("good"))

	if _, err := w.Client().CoreV1().Nodes().Get(t.Context(), "lost", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the server that never registers has a Node: %v", err)
	}
	var faults []string
	for _, rec := range w.History().Events() {
		if rec.Source == history.Fault {
			faults = append(faults, rec.Object.Name+" "+rec.Verb)
		}
		if rec.Source == history.Harness && rec.Verb == history.Died {
			t.Errorf("%s died: %v", rec.Actor, rec.Detail)
		}
	}
	if got := strings.Join(faults, ", "); got != "lost armed, lost effective, good armed, good effective, good cleared" {
		t.Errorf("faults: %s", got)
	}
	console, err := os.ReadFile(w.LogFile("machine.good"))
	if err != nil || !strings.Contains(string(console), "This node has joined the cluster") {
		t.Errorf("the console of the machine: %v: %d bytes", err, len(console))
	}
}
