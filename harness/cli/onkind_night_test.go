package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/cli"
	"nodestorm/harness/night/k8sjob"
	"nodestorm/harness/world/kind"
	"nodestorm/harness/world/objects"
	"nodestorm/reports/matrix"
)

// A night on a real Kubernetes: no node has the image at first, a pod is killed in the
// middle of its shard and a node drained under another. What is merged is all of it, and
// what one machine says.
func TestKindNight(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some minutes; make test-kind runs it")
	}
	for _, err := range []error{kind.CheckDocker(t.Context()), kind.CheckImage(t.Context(), builds.Kubernetes.Version)} {
		if err != nil {
			t.Skipf("no cluster can be made: %v; make test-kind makes the image first", err)
		}
	}
	refs := []builds.Ref{builds.Kubernetes, {Name: "karpenter", Version: "v1.6.4"}, {Name: "karpenter", Version: "v1.7.0"}}
	for _, ref := range refs {
		buildstest.Get(t, ref)
	}
	ids := []string{"karpenter-7515-not-ready-noexecute", "karpenter-7515-startup-taint-undeclared"}
	n := newNight(t, refs)

	code, manifest, stderr := nodestorm(t, append([]string{"nightly", "manifest", "--image", nightImage, "--name", "night", "--claim", "nights", "--at-once", "2",
		"--cpu", "500m", "--memory", "3Gi", "--scratch", "3Gi", "--retries", "4", "--deadline", "1h"}, ids...)...)
	if code != cli.AsExpected {
		t.Fatalf("status %d: %s", code, stderr)
	}
	n.follow()
	n.apply(manifest)
	n.pod("a pod without an image", func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
			return c.State.Waiting != nil && strings.HasPrefix(c.State.Waiting.Reason, "Err")
		})
	})
	// The first node has the image, and plays, before the last one does.
	loaded := make(chan error, 1)
	go func() { loaded <- n.cluster.Load(n.image) }()

	killed := n.playing("")
	if err := n.client.CoreV1().Pods("default").Delete(n.ctx, killed.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(1))}); err != nil {
		t.Fatal(err)
	}
	drained := n.playing(indexOf(killed))
	n.drain(drained.Spec.NodeName)
	n.ok(<-loaded)

	message, err := k8sjob.Wait(n.ctx, n.client, "default", "night")
	if err != nil || !strings.Contains(message, "is complete") {
		t.Errorf("%s, %v%s", message, err, n.says())
	}
	if message, err := k8sjob.Wait(n.ctx, n.client, "default", "night-merge"); err != nil || !strings.Contains(message, "is complete") {
		t.Errorf("%s, %v%s", message, err, n.says())
	}
	for _, pod := range []*corev1.Pod{killed, drained} {
		if had := n.had(indexOf(pod)); had < 2 {
			t.Errorf("index %s has had %d pods: %s was to end, and another to come", indexOf(pod), had, pod.Name)
		}
	}

	alone := t.TempDir()
	if out, err := exec.CommandContext(n.ctx, n.program, append([]string{"verify", "--out", alone}, ids...)...).CombinedOutput(); err != nil {
		t.Fatalf("on one machine: %v: %s", err, out)
	}
	there, here := cells(t, filepath.Join(n.shared, "night", "merged")), cells(t, alone)
	if len(here) != 4 || !slices.Equal(there, here) {
		t.Errorf("merged are\n%s\nand one machine has\n%s", strings.Join(there, "\n"), strings.Join(here, "\n"))
	}
}

// BenchmarkKindNight is the wall time of a night's Jobs on one machine, whose processors all
// shards share. Its image is on the nodes before. Of each number of shards it says how long the
// shards took (shards-s), and they and their merge (s/op).
func BenchmarkKindNight(b *testing.B) {
	for _, err := range []error{kind.CheckDocker(b.Context()), kind.CheckImage(b.Context(), builds.Kubernetes.Version)} {
		if err != nil {
			b.Skipf("no cluster can be made: %v; make test-kind makes the image first", err)
		}
	}
	refs := []builds.Ref{builds.Kubernetes, {Name: "karpenter", Version: "v1.6.4"}, {Name: "karpenter", Version: "v1.7.0"}}
	for _, ref := range refs {
		buildstest.Get(b, ref)
	}
	n := newNight(b, refs)
	n.ok(n.cluster.Load(n.image))
	for _, shards := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			n.t = b
			var playing time.Duration
			for i := range b.N {
				name := fmt.Sprintf("night-%d-%d-%d", shards, b.N, i)
				var manifest, stderr bytes.Buffer
				if code := cli.Run(b.Context(), []string{"nightly", "manifest", "--image", nightImage, "--name", name, "--claim", "nights",
					"--shards", strconv.Itoa(shards), "--cpu", "250m", "--memory", "3Gi", "--scratch", "3Gi", "--repeat", "2",
					"karpenter-7515-not-ready-noexecute", "karpenter-7515-startup-taint-undeclared"}, &manifest, &stderr); code != cli.AsExpected {
					b.Fatalf("status %d: %s", code, stderr.String())
				}
				start := time.Now()
				n.apply(manifest.String())
				for _, job := range []string{name, name + "-merge"} {
					if message, err := k8sjob.Wait(n.ctx, n.client, "default", job); err != nil || !strings.Contains(message, "is complete") {
						b.Fatalf("%s, %v%s", message, err, n.says())
					}
					if job == name {
						playing += time.Since(start)
					}
				}
			}
			b.ReportMetric(playing.Seconds()/float64(b.N), "shards-s")
		})
	}
}

// cells are what a matrix says of each replay.
func cells(t *testing.T, dir string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "matrix.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m matrix.Matrix
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Cells {
		all = append(all, fmt.Sprintf("%s on %s: %s, %s", c.Scenario, c.Target, c.Verdict, c.Outcome))
	}
	for _, s := range m.Skipped {
		all = append(all, fmt.Sprintf("%s on %s: skipped", s.Scenario, s.Target))
	}
	slices.Sort(all)
	return all
}

func indexOf(pod *corev1.Pod) string { return pod.Annotations[batchv1.JobCompletionIndexAnnotation] }

// night is a cluster of kind with a volume for the night's runs, and nodestorm's image.
type night struct {
	t       testing.TB
	ctx     context.Context
	program string // nodestorm, as it is in the image
	image   string // a file
	shared  string // the volume, on this machine
	cluster kind.Cluster
	client  kubernetes.Interface
	user    *objects.Client

	mu   sync.Mutex
	pods map[string]map[string]bool // names, by index
}

// nightImage is of no registry: nodes find nothing on their own loopback.
const nightImage = "localhost:1/nodestorm:night"

func newNight(t testing.TB, refs []builds.Ref) *night {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	t.Cleanup(cancel)
	dir := t.TempDir()
	n := &night{t: t, ctx: ctx, program: filepath.Join(dir, "nodestorm"), image: filepath.Join(dir, "image.tar"), shared: filepath.Join(dir, "shared")}
	n.ok(os.Mkdir(n.shared, 0o700), os.Chmod(n.shared, 0o777), os.Chmod(dir, 0o755))
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", n.program, "nodestorm/harness/cmd/nodestorm")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	args := []string{"target", "image", "--out-file", n.image, "--tag", nightImage}
	for _, ref := range refs {
		args = append(args, "--component", ref.String())
	}
	for _, cmd := range []*exec.Cmd{build, exec.CommandContext(ctx, n.program, args...)} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", cmd, err, out)
		}
	}

	t.Setenv("XDG_STATE_HOME", t.TempDir())
	const name = "test-of-night"
	var err error
	n.cluster, err = kind.Create(ctx, kind.Spec{Name: name, Version: builds.Kubernetes.Version, Workers: 3, Share: n.shared})
	n.ok(err)
	t.Cleanup(func() {
		if err := kind.Delete(name); err != nil {
			t.Error(err)
		}
	})
	config, err := clientcmd.BuildConfigFromFlags("", n.cluster.Kubeconfig())
	n.ok(err)
	n.client, err = kubernetes.NewForConfig(config)
	n.ok(err)
	n.user, err = objects.NewClient(config)
	n.ok(err)
	_, err = n.client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "nights"},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			StorageClassName:       "none", // kind's default class makes a folder of a node for each claim
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: kind.EverywherePath}},
		},
	}, metav1.CreateOptions{})
	n.ok(err)
	_, err = n.client.CoreV1().PersistentVolumeClaims("default").Create(ctx, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "nights"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, StorageClassName: ptr.To("none"),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}},
		},
	}, metav1.CreateOptions{})
	n.ok(err)
	return n
}

func (n *night) ok(errs ...error) {
	n.t.Helper()
	if err := errors.Join(errs...); err != nil {
		n.t.Fatal(err)
	}
}

func (n *night) apply(manifest string) {
	n.t.Helper()
	all, err := objects.Read([]byte(manifest))
	n.ok(err)
	n.ok(n.user.Put(n.ctx, all, objects.Apply))
}

// follow notes all pods of the night: a drain removes those that are complete, too.
func (n *night) follow() {
	n.t.Helper()
	watch, err := n.client.CoreV1().Pods("default").Watch(n.ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=night"})
	n.ok(err)
	n.pods = map[string]map[string]bool{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range watch.ResultChan() {
			if pod, is := e.Object.(*corev1.Pod); is {
				n.mu.Lock()
				if n.pods[indexOf(pod)] == nil {
					n.pods[indexOf(pod)] = map[string]bool{}
				}
				n.pods[indexOf(pod)][pod.Name] = true
				n.mu.Unlock()
			}
		}
	}()
	n.t.Cleanup(func() { watch.Stop(); <-done })
}

// had is how many pods an index has had so far.
func (n *night) had(index string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.pods[index])
}

// pod waits for one of the night's that is so.
func (n *night) pod(what string, is func(*corev1.Pod) bool) *corev1.Pod {
	n.t.Helper()
	for {
		of, err := n.client.BatchV1().Jobs("default").Get(n.ctx, "night", metav1.GetOptions{})
		n.ok(err)
		ended := len(of.Status.Conditions) > 0
		list, err := n.client.CoreV1().Pods("default").List(n.ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=night"})
		n.ok(err)
		for _, pod := range list.Items {
			if is(&pod) {
				return &pod
			}
		}
		if ended {
			n.t.Fatalf("the Job has ended without %s: %+v%s", what, of.Status, n.says())
		}
		select {
		case <-n.ctx.Done():
			n.t.Fatalf("there never was %s%s", what, n.says())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// playing waits until a shard has begun to replay, of another index than one, and returns
// its pod.
func (n *night) playing(than string) *corev1.Pod {
	n.t.Helper()
	return n.pod("one that replays", func(p *corev1.Pod) bool {
		if indexOf(p) == than || p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
			return false
		}
		found, err := filepath.Glob(filepath.Join(n.shared, "night", "shard-"+indexOf(p), "*", "*", "history.ndjson"))
		n.ok(err)
		return len(found) > 0
	})
}

func (n *night) drain(node string) {
	n.t.Helper()
	d, err := n.user.StartDrain(n.ctx, objects.Ref{Kind: "Node", Name: node}, false)
	n.ok(err)
	for {
		left, err := d.Advance(n.ctx, time.Now())
		n.ok(err)
		if len(left) == 0 {
			return
		}
		select {
		case <-n.ctx.Done():
			n.t.Fatalf("draining %s: %v", node, left)
		case <-time.After(time.Second):
		}
	}
}

// says are the pods, and what they have said.
func (n *night) says() string {
	var b bytes.Buffer
	pods := n.client.CoreV1().Pods("default")
	list, err := pods.List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return "\n" + err.Error()
	}
	for _, pod := range list.Items {
		text, err := pods.GetLogs(pod.Name, &corev1.PodLogOptions{TailLines: ptr.To(int64(15))}).DoRaw(context.Background())
		fmt.Fprintf(&b, "\n%s on %s: %s %+v %v\n%s", pod.Name, pod.Spec.NodeName, pod.Status.Phase, pod.Status.ContainerStatuses, err, text)
	}
	return b.String()
}
