package k8sjob_test

import (
	"bytes"
	"context"
	"maps"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/night/k8sjob"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/harness/world/objects"
	"nodestorm/sim/time/clock"
)

// The real API server takes the manifest as it is, and the real controller of Jobs does with
// shards what it promises: what failed stays, what is inconclusive is tried again, and what
// was evicted counts as no try.
func TestRealControllers(t *testing.T) {
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	w, err := world.Start(t.Context(), world.Config{Kubernetes: kubernetes.Bin(), Out: t.TempDir(), Clock: clock.Auto, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	spec := k8sjob.Spec{
		Name: "night", Namespace: "ci", Image: "nodestorm/nodestorm:local", Shards: 4, Verify: []string{"--all"}, Clock: clock.Auto,
		Storage: "10Gi", CPU: "2", Memory: "4Gi", Scratch: "8Gi", Retries: 2, Deadline: 24 * time.Hour,
	}
	var manifest bytes.Buffer
	if err := spec.Write(&manifest, "a test"); err != nil {
		t.Fatal(err)
	}
	all, err := objects.Read(manifest.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	user, err := objects.NewClient(w.Admin())
	if err != nil {
		t.Fatal(err)
	}
	if err := user.Put(ctx, all, objects.Create); err != nil { // strictly: no field is unknown
		t.Fatal(err)
	}
	tries := play(ctx, t, w.Client(), map[string][]int{
		"0": {verdict.ExitNotAsExpected},
		"1": {verdict.ExitInconclusive, verdict.ExitAsExpected},
		"2": {drained, verdict.ExitInconclusive, verdict.ExitInconclusive, verdict.ExitAsExpected},
		"3": {verdict.ExitAsExpected},
	})
	summary, err := k8sjob.Wait(ctx, w.Client(), "ci", "night")
	if err != nil {
		t.Fatal(err)
	}
	of, err := w.Client().BatchV1().Jobs("ci").Get(ctx, "night", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if of.Status.FailedIndexes == nil || *of.Status.FailedIndexes != "0" || of.Status.CompletedIndexes != "1-3" {
		t.Errorf("%s: completed are %q: %+v", summary, of.Status.CompletedIndexes, of.Status)
	}
	if now := tries(); !maps.Equal(now, map[string]int{"0": 1, "1": 2, "2": 4, "3": 1}) {
		t.Errorf("the shards were tried %v times", now)
	}
}

// drained is the outcome of a pod that was evicted; others are exit statuses.
const drained = -1

// play ends each pod of the Job as its index's next outcome says, until all outcomes were
// there. The function that it returns counts the pods that each index has had.
func play(ctx context.Context, t *testing.T, client kubernetes.Interface, outcomes map[string][]int) func() map[string]int {
	t.Helper()
	pods := client.CoreV1().Pods("ci")
	watch, err := pods.Watch(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=night"})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	seen, had, left := map[string]bool{}, map[string]int{}, 0
	for _, list := range outcomes {
		left += len(list)
	}
	for left > 0 {
		select {
		case <-ctx.Done():
			t.Fatalf("%v, when the indexes had had so many pods: %v", ctx.Err(), had)
		case e := <-watch.ResultChan():
			pod, is := e.Object.(*corev1.Pod)
			if !is || seen[pod.Name] {
				continue
			}
			seen[pod.Name] = true
			index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
			if had[index]++; had[index] > len(outcomes[index]) {
				t.Fatalf("index %s is tried for the %d. time", index, had[index])
			}
			left--
			end(ctx, t, client, pod, outcomes[index][had[index]-1])
		}
	}
	return func() map[string]int {
		list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=night"})
		if err != nil {
			t.Fatal(err)
		}
		had := map[string]int{}
		for _, pod := range list.Items {
			had[pod.Annotations[batchv1.JobCompletionIndexAnnotation]]++
		}
		return had
	}
}

// end has a pod end as its kubelet would report it.
func end(ctx context.Context, t *testing.T, client kubernetes.Interface, pod *corev1.Pod, code int) {
	t.Helper()
	pods := client.CoreV1().Pods(pod.Namespace)
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // the scheduler writes, too
		pod, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		exit := int32(code)
		pod.Status.Phase = corev1.PodFailed
		if code == 0 {
			pod.Status.Phase = corev1.PodSucceeded
		}
		if code == drained {
			exit = 143
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit}},
		}}
		_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
