package kind_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"nodestorm/harness/builds"
	"nodestorm/harness/world/kind"
)

// TestCluster makes a cluster, runs a pod on it, and removes it.
func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("a real cluster takes half a minute; make test-kind runs it")
	}
	for _, err := range []error{kind.CheckDocker(t.Context()), kind.CheckImage(t.Context(), builds.Kubernetes.Version)} {
		if err != nil {
			t.Skipf("no cluster can be made: %v; make test-kind makes the image first", err)
		}
	}
	home(t)
	const name = "test-of-kind"
	c, err := kind.Create(t.Context(), kind.Spec{Name: name, Version: builds.Kubernetes.Version, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := kind.Delete(name); err != nil {
			t.Error(err)
		}
		if names, err := kind.List(); err != nil || slices.Contains(names, name) {
			t.Errorf("clusters after it was removed: %v, %v", names, err)
		}
		if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
			t.Errorf("its folder is there: %v", err)
		}
	}()
	if _, err := kind.Create(t.Context(), kind.Spec{Name: name, Version: builds.Kubernetes.Version}); err == nil || !strings.Contains(err.Error(), "nodestorm cluster delete "+name) {
		t.Errorf("a second cluster of its name: %v", err)
	}
	if swept, err := kind.Sweep(t.Context()); err != nil || len(swept) > 0 {
		t.Errorf("Sweep took a cluster that is ready: %v, %v", swept, err)
	}

	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	watch, err := client.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "sleeper"},
		// What holds a sandbox open is an image that each node has.
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "sleeper", Image: kind.PauseImage}}},
	}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for e := range watch.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if ok && pod.Status.Phase == corev1.PodRunning {
			if !strings.HasSuffix(pod.Spec.NodeName, "-worker") || !strings.HasPrefix(pod.Status.PodIP, "10.244.") {
				t.Errorf("the pod runs on node %q with address %q", pod.Spec.NodeName, pod.Status.PodIP)
			}
			break
		}
	}
	log, err := os.ReadFile(c.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), `"requestURI":"/api/v1/namespaces/default/pods"`) {
		t.Error("the audit log does not have that the pod was made")
	}
}

// TestSweep leaves alone what is being made and what is none of ours.
func TestSweep(t *testing.T) {
	state := home(t)
	t.Setenv("PATH", t.TempDir()) // no docker
	for _, folder := range []string{"Not-Ours", "killed"} {
		if err := os.MkdirAll(filepath.Join(state, "nodestorm", "clusters", folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	swept, err := kind.Sweep(t.Context())
	if len(swept) > 0 || err == nil || !strings.Contains(err.Error(), `cluster "killed" was left behind: no docker in PATH`) || strings.Contains(err.Error(), "Not-Ours") {
		t.Errorf("without Docker: %v, %v", swept, err)
	}
	if err := os.WriteFile(filepath.Join(state, "nodestorm", "clusters", "killed", "made"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if swept, err := kind.Sweep(t.Context()); len(swept) > 0 || err != nil {
		t.Errorf("a cluster that is ready: %v, %v", swept, err)
	}
}

// An image of the right name that another nodestorm made is not taken for ours.
func TestCheckImage(t *testing.T) {
	for _, test := range []struct{ docker, want string }{
		{"exit 1", "docker images: exit status 1"},
		{":", "there is no image nodestorm/node:v1 in Docker; make it with: nodestorm cluster image"},
		{"echo 5bb20b71", "the image nodestorm/node:v1 in Docker is of another nodestorm, which made it otherwise; make it with: nodestorm cluster image"},
	} {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\n"+test.docker+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin)
		if err := kind.CheckImage(t.Context(), "v1"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.docker, err, test.want)
		}
	}
}

// A Docker that has died is named, and so is the way to what it cannot remove any more.
func TestDockerDied(t *testing.T) {
	home(t)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "docker"), []byte("#!/bin/sh\necho Cannot connect to the Docker daemon >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	err := kind.Delete("world-1")
	for _, want := range []string{`cluster "world-1" may be left behind; of a world, nodestorm clean removes it`, "no Docker answers", "Cannot connect to the Docker daemon"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{
		"a": true, "mine-2": true, strings.Repeat("a", 30): true,
		"": false, "-a": false, "a-": false, "A": false, "a_b": false, "../a": false, strings.Repeat("a", 31): false,
	} {
		if err := kind.CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// home makes an empty folder what outlives commands is kept in.
func home(t *testing.T) string {
	t.Helper()
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	return state
}
