package kubelet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

// A kubelet joins by its bootstrap token, with what its machine's files say.
func TestKubeletJoins(t *testing.T) {
	r := newRig(t, clock.Auto)
	r.boot(t, kubelet.Machine{
		Name: "a", Cores: 3, Memory: 8 * kubelet.GiB, Disk: 50 * kubelet.GiB,
		Args: []string{
			"--cloud-provider=external", "--node-ip=10.1.0.1", "--node-labels=team=red", "--register-with-taints=dedicated=red:NoSchedule",
			"--provider-id=test://a", "--kube-reserved=memory=1Gi,cpu=500m",
		},
	})
	n := r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	if n.Labels["team"] != "red" || n.Labels[corev1.LabelHostname] != "a" || n.Spec.ProviderID != "test://a" {
		t.Errorf("labels %v, provider ID %q", n.Labels, n.Spec.ProviderID)
	}
	taints := fmt.Sprint(n.Spec.Taints)
	for _, want := range []string{"dedicated", "node.cloudprovider.kubernetes.io/uninitialized"} {
		if !strings.Contains(taints, want) {
			t.Errorf("no taint %s in %s", want, taints)
		}
	}
	if got := n.Annotations["alpha.kubernetes.io/provided-node-ip"]; got != "10.1.0.1" {
		t.Errorf("provided IP %q", got)
	}
	for name, want := range map[corev1.ResourceName]string{corev1.ResourceCPU: "2500m", corev1.ResourceMemory: "7068Mi", corev1.ResourcePods: "110"} {
		if got := n.Status.Allocatable[name]; got.String() != want {
			t.Errorf("allocatable %s is %s, want %s", name, got.String(), want)
		}
	}
	if got := n.Status.Capacity[corev1.ResourceEphemeralStorage]; got.String() != "50Gi" {
		t.Errorf("disk %s", got.String())
	}
	csrs, err := r.Client().CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(csrs.Items) != 1 || csrs.Items[0].Spec.SignerName != certificatesv1.KubeAPIServerClientKubeletSignerName ||
		!strings.HasPrefix(csrs.Items[0].Spec.Username, "system:bootstrap:") {
		t.Errorf("requests for certificates: %v %v", csrs, err)
	}
	if boot := r.nodeEvents("boot"); len(boot) != 1 || !strings.Contains(fmt.Sprint(boot[0].Detail["args"]), "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf") {
		t.Errorf("recorded: %v", boot)
	}
	r.within(t, time.Minute, "CSINode", func(ctx context.Context) error {
		_, err := r.Client().StorageV1().CSINodes().Get(ctx, "a", metav1.GetOptions{})
		return err
	})
	processtest.CheckStrangers(t, r.World.Dir(), 5, processtest.Anonymous) // the control plane's three, the kubelet's, its runtime's
	before := uint64(len(r.History().Since(0)))
	processtest.Intrude(t, r.World.Dir())
	processtest.CheckIntruded(t, r.History().Since(before))
}

// What keeps a kubelet from starting is one line, before anything starts.
func TestCheck(t *testing.T) {
	r := newRig(t, clock.Real)
	for _, test := range []struct {
		machine kubelet.Machine
		want    string
	}{
		{kubelet.Machine{Name: "a", Args: []string{"--no-such-flag=1"}}, "unknown flag: --no-such-flag"},
		{kubelet.Machine{Name: "a", Args: []string{"--node-labels=kubernetes.io/x=y"}}, "kubernetes.io/x"},
		{kubelet.Machine{Name: "a", UserData: "#cloud-config\nwrite_files: 7\n"}, "line 2"},
		{kubelet.Machine{Name: "a", UserData: "#cloud-config\nruncmd: [\"true\"]\n"}, "joins no cluster"},
	} {
		err := r.Check(t.Context(), test.machine)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v, want one line with %q", test.machine.Args, err, test.want)
		}
	}
	if err := r.Check(t.Context(), kubelet.Machine{Name: "a"}); err != nil {
		t.Error(err)
	}
}

// Without a network plugin a Node is NotReady and runs pods of the host's network only.
func TestNetworkLate(t *testing.T) {
	r := newRig(t, clock.Auto)
	r.boot(t, kubelet.Machine{Name: "a", NoNetwork: true})
	n := r.is(t, "a", corev1.ConditionFalse, 2*time.Minute)
	if m := condition(n).Message; !strings.Contains(m, "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady") {
		t.Errorf("NotReady says %q", m)
	}
	r.pod(t, "host", "a", func(p *corev1.Pod) { p.Spec.HostNetwork = true })
	r.pod(t, "pod", "a", nil)
	r.podIs(t, "host", "Running", time.Minute, running)
	if p, err := r.getPod(t.Context(), "pod"); err != nil || running(p) {
		t.Errorf("a pod runs without a network: %v", err)
	}
	if err := r.SetNetwork("a", true); err != nil {
		t.Fatal(err)
	}
	r.is(t, "a", corev1.ConditionTrue, time.Minute)
	if p := r.podIs(t, "pod", "Running", time.Minute, running); !strings.HasPrefix(p.Status.PodIP, "10.128.") {
		t.Errorf("address %q", p.Status.PodIP)
	}
	if err := r.SetNetwork("a", false); err != nil {
		t.Fatal(err)
	}
	r.is(t, "a", corev1.ConditionFalse, time.Minute)
}

// A Node is NotReady until its kubelet has made its CSINode.
func TestCSINodeLate(t *testing.T) {
	r := newRig(t, clock.Auto)
	const late = time.Minute
	if err := r.DelayCSINodes(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	r.boot(t, kubelet.Machine{Name: "a"})
	r.within(t, time.Minute, "a Node without a CSINode", func(ctx context.Context) error {
		n, err := r.node(ctx, "a")
		if err == nil && !strings.Contains(condition(n).Message, "CSINode") {
			err = fmt.Errorf("Ready=%s: %s", condition(n).Status, condition(n).Message)
		}
		return err
	})
	r.is(t, "a", corev1.ConditionTrue, 4*time.Minute)
	fault := func(verb string) time.Duration {
		return r.recordOf(t, "csinodes", "", func(e history.Entry) bool { return e.Source == history.Fault && e.Verb == verb }).Virtual
	}
	ready := r.recordOf(t, "nodes", "a", reported("ready")).Virtual
	if effective, cleared := fault("effective"), fault("cleared"); cleared-effective < late || ready-effective < late {
		t.Errorf("Ready at %s, the fault from %s to %s", ready, effective, cleared)
	}
}

// Pods are ready when their probes say so, restart when those fail, and stop within
// their grace period.
func TestPodsLife(t *testing.T) {
	r := newRig(t, clock.Auto)
	r.boot(t, kubelet.Machine{Name: "a", StopDelay: 3 * time.Second})
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	http := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(80)}}
	r.pod(t, "slow", "a", func(p *corev1.Pod) {
		p.Annotations = map[string]string{"nodestorm.sim/serve-after": "40s"}
		p.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: http, PeriodSeconds: 5}
	})
	p := r.podIs(t, "slow", "started", time.Minute, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	if podReady(p) {
		t.Error("Ready before its probe succeeds")
	}
	p = r.podIs(t, "slow", "Ready", 2*time.Minute, podReady)
	started := p.Status.ContainerStatuses[0].State.Running.StartedAt
	for _, c := range p.Status.Conditions {
		if after := c.LastTransitionTime.Sub(started.Time); c.Type == corev1.PodReady && (after < 40*time.Second || after > 50*time.Second) {
			t.Errorf("Ready %s after its start", after)
		}
	}
	r.pod(t, "ill", "a", func(p *corev1.Pod) {
		p.Annotations = map[string]string{"nodestorm.sim/serve-after": "1h"}
		p.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: http, PeriodSeconds: 2, FailureThreshold: 2}
		p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](5)
	})
	r.podIs(t, "ill", "restarted", 2*time.Minute, func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].RestartCount > 0
	})
	asked := r.Clock().Now()
	if err := r.Client().CoreV1().Pods("default").Delete(t.Context(), "slow", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.within(t, time.Minute, "slow gone", func(ctx context.Context) error {
		_, err := r.getPod(ctx, "slow")
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is not gone"), err)
	})
	if took := r.Clock().Since(asked); took < 3*time.Second || took > 10*time.Second {
		t.Errorf("gone %s after its deletion, want 3s and a little", took)
	}
}

// A kubelet that is stopped leaves its pods, and its Node becomes Unknown.
func TestKubeletStops(t *testing.T) {
	r := newRig(t, clock.Auto)
	r.boot(t, kubelet.Machine{Name: "a"})
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	r.pod(t, "p", "a", nil)
	p := r.podIs(t, "p", "Running", time.Minute, running)
	id := p.Status.ContainerStatuses[0].ContainerID
	if err := r.Inject(fault.Fault{Name: "kubelet-stopped", Match: kubelet.Match{Machine: "a"}, Effect: kubelet.Stopped{}}); err != nil {
		t.Fatal(err)
	}
	r.is(t, "a", corev1.ConditionUnknown, 2*time.Minute)
	if err := r.Clear("kubelet-stopped"); err != nil {
		t.Fatal(err)
	}
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	p = r.podIs(t, "p", "Running", time.Minute, running)
	if p.Status.ContainerStatuses[0].ContainerID != id || p.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("its container has changed: %+v", p.Status.ContainerStatuses[0])
	}
	if len(r.nodeEvents("exited")) > 0 {
		t.Errorf("containers ended: %v", r.nodeEvents("exited"))
	}
	if got := r.faults("kubelet-stopped"); got != "armed effective cleared" {
		t.Errorf("the fault was %s", got)
	}
	if why := r.Driver().Figures().Distorted(); strings.Contains(why, "kubelet.a") || r.deaths() != "" {
		t.Errorf("what a fault does on purpose spoils the run: %q, deaths %q", why, r.deaths())
	}
	if err := r.Shutdown("a"); err != nil {
		t.Fatal(err)
	}
	r.is(t, "a", corev1.ConditionUnknown, 2*time.Minute)
}

// faults are the verbs of a fault of the Node "a", in their order.
func (r rig) faults(name string) string {
	var verbs []string
	for _, e := range r.History().Events() {
		if e.Source == history.Fault && e.Object.String() == "nodes/a" && e.Detail["fault"] == name {
			verbs = append(verbs, e.Verb)
		}
	}
	return strings.Join(verbs, " ")
}

// A container runtime that does not answer is a fault without effect as long as the
// kubelet does not mind.
func TestRuntimeFlaps(t *testing.T) {
	r := newRig(t, clock.Auto)
	r.boot(t, kubelet.Machine{Name: "a"})
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	down := func(is bool) {
		t.Helper()
		err := error(nil)
		if is {
			err = r.Inject(fault.Fault{Name: "runtime-down", Match: kubelet.Match{Machine: "a"}, Effect: kubelet.RuntimeDown{}})
		} else {
			err = r.Clear("runtime-down")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	down(true)
	down(false)
	down(true)
	r.is(t, "a", corev1.ConditionFalse, 2*time.Minute)
	r.recordOf(t, "nodes", "a", func(e history.Entry) bool { return e.Source == history.Fault && e.Verb == "effective" })
	down(false)
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	if got := r.faults("runtime-down"); got != "armed cleared armed effective cleared" {
		t.Errorf("the fault was %s", got)
	}
}

// What the rig cannot do is no behaviour of the world: it is one line at the start, or a
// death, with which a run proves nothing.
func TestRigFails(t *testing.T) {
	r := newRig(t, clock.Real)
	programs := t.TempDir()
	link := filepath.Join(programs, "kubelet")
	if err := os.Symlink(filepath.Join(r.programs, "kubelet"), link); err != nil {
		t.Fatal(err)
	}
	machines, err := kubelet.New(t.Context(), r.World, kubelet.Config{Kubernetes: programs})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := machines.Boot(kubelet.Machine{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	died, err := r.History().Wait(ctx, func(e history.Entry) bool { return e.Verb == history.Died })
	if err != nil || died.Actor != "kubelet.a" || !strings.Contains(fmt.Sprint(died.Detail["error"]), "no such file") {
		t.Errorf("recorded %v, %v; want that there is no kubelet", died, err)
	}
	if err := machines.Boot(kubelet.Machine{Name: "a"}); !errors.Is(err, kubelet.ErrOn) {
		t.Errorf("booting what is on: %v", err)
	}
}

func TestLongTMPDIR(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	tmp, err := os.MkdirTemp("/tmp", strings.Repeat("k", 20))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	t.Setenv("TMPDIR", tmp)
	w, err := world.Start(t.Context(), world.Config{Kubernetes: kubernetes.Bin(), Out: t.TempDir(), Clock: clock.Real, Seed: 1, ClusterOptions: world.ClusterOptions{Kubelets: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := kubelet.New(t.Context(), w, kubelet.Config{Kubernetes: kubernetes.Bin()}); err == nil || !strings.Contains(err.Error(), "a shorter TMPDIR") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line that names TMPDIR", err)
	}
}

// script writes a program for a pod.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// A program runs while its pod does, with the pod's files, arguments and account.
func TestProgramPod(t *testing.T) {
	r := newRig(t, clock.Real)
	r.Map("registry.example/good", kubelet.Program{Path: script(t, `
echo "args $*"
echo "greeting $(cat "$GREETING")"
grep -q tokenFile "$KUBECONFIG" && echo "account $(cut -c1-2 "$(sed -n 's/.*tokenFile: //p' "$KUBECONFIG")")"
trap 'echo bye; exit 0' TERM
while :; do sleep 0.1; done
`), Args: []string{"--node=$(NODE_NAME)"}})
	r.Map("registry.example/bad", kubelet.Program{Path: script(t, "echo failing; exit 3\n")})
	r.Map("registry.example/none:v1", kubelet.Program{Path: "/nowhere/none"})
	r.boot(t, kubelet.Machine{Name: "a"})
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config"}, Data: map[string]string{"greeting": "hello"}}
	if _, err := r.Client().CoreV1().ConfigMaps("default").Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.pod(t, "good", "a", func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "config"}}}}}
		p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/etc/good"}}
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "GREETING", Value: "/etc/good/greeting"}}
		p.Spec.Containers[0].Args = []string{"--name=$(GREETING)"}
	})
	r.pod(t, "bad", "a", nil)
	r.pod(t, "none", "a", nil)
	r.podIs(t, "good", "Running", time.Minute, running)
	dir := r.Machines.Dir("a")
	r.within(t, time.Minute, "logs", func(ctx context.Context) error {
		logs, err := r.Client().CoreV1().Pods("default").GetLogs("good", &corev1.PodLogOptions{}).DoRaw(ctx)
		for _, want := range []string{"args --name=" + dir, "/greeting --node=a\n", "greeting hello\n", "account ey\n"} {
			if err == nil && !strings.Contains(string(logs), want) {
				err = fmt.Errorf("no %q in %q", want, logs)
			}
		}
		return err
	})
	// A kubelet of v1.36 looks at such a pod again when its back-off is over and the next container
	// is about to start (pkg/kubelet/pod_workers.go, completeWork): CrashLoopBackOff is hardly seen.
	r.podIs(t, "bad", "fails", time.Minute, func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses
		return len(s) == 1 && s[0].RestartCount > 1 && s[0].LastTerminationState.Terminated != nil && s[0].LastTerminationState.Terminated.ExitCode == 3
	})
	r.podIs(t, "none", "waits", time.Minute, func(p *corev1.Pod) bool {
		return slices.Contains([]string{"ErrImagePull", "ImagePullBackOff"}, waiting(p))
	})
	if err := r.Client().CoreV1().Pods("default").Delete(t.Context(), "good", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.within(t, time.Minute, "good gone", func(ctx context.Context) error {
		_, err := r.getPod(ctx, "good")
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is not gone"), err)
	})
	var codes []any
	for _, e := range r.nodeEvents("exited") {
		if e.Object.Name == "good" {
			codes = append(codes, e.Detail["code"])
		}
	}
	if fmt.Sprint(codes) != "[0]" {
		t.Errorf("good exited %v", codes)
	}
}

// A kubelet that cannot go on is started again, as by systemd.
func TestKubeletExits(t *testing.T) {
	r := newRig(t, clock.Auto)
	r.boot(t, kubelet.Machine{Name: "a", Args: []string{"--no-such-flag=1"}})
	r.within(t, time.Minute, "two starts", func(context.Context) error {
		if n := len(r.nodeEvents("exit")); n < 2 {
			return fmt.Errorf("%d exits", n)
		}
		return nil
	})
	exits := r.nodeEvents("exit")
	if apart := exits[1].Virtual - exits[0].Virtual; apart < 10*time.Second || apart > 15*time.Second ||
		!strings.Contains(fmt.Sprint(exits[0].Detail["error"]), "unknown flag") {
		t.Errorf("%s apart: %v", apart, exits[0])
	}
}

// Nothing is left of a world, its machines and their programs.
func TestNothingIsLeft(t *testing.T) {
	r := newRig(t, clock.Real)
	mark := filepath.Join(t.TempDir(), "mark")
	r.Map("registry.example/p", kubelet.Program{Path: script(t, "echo $$ > "+mark+"\ntrap '' TERM\nwhile :; do sleep 1; done\n")})
	r.boot(t, kubelet.Machine{Name: "a"})
	r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	r.pod(t, "p", "a", nil)
	r.podIs(t, "p", "Running", time.Minute, running)
	var pid []byte
	r.within(t, time.Minute, "the program's mark", func(context.Context) (err error) {
		if pid, err = os.ReadFile(mark); err == nil && len(pid) == 0 {
			err = errors.New("it is empty")
		}
		return err
	})
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
	if err := exec.Command("/bin/kill", "-0", strings.TrimSpace(string(pid))).Run(); err == nil {
		t.Errorf("program %s still runs", pid)
	}
}
