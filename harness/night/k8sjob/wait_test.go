package k8sjob

import (
	"context"
	"errors"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"
)

func jobThat(conditions ...batchv1.JobCondition) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ci", Name: "night"}, Status: batchv1.JobStatus{Conditions: conditions}}
}

func condition(kind batchv1.JobConditionType, is corev1.ConditionStatus) batchv1.JobCondition {
	return batchv1.JobCondition{Type: kind, Status: is, Message: "two of them"}
}

// waiting waits for the end of what client has, and calls then once it watches.
func waiting(t *testing.T, client *fake.Clientset, then func(kubernetes.Interface)) (string, error) {
	t.Helper()
	watches := make(chan struct{}, 10)
	client.PrependWatchReactor("jobs", func(kubetesting.Action) (bool, watch.Interface, error) {
		watches <- struct{}{}
		return false, nil, nil
	})
	type result struct {
		summary string
		err     error
	}
	done := make(chan result, 1)
	go func() {
		summary, err := Wait(t.Context(), client, "ci", "night")
		done <- result{summary, err}
	}()
	select {
	case r := <-done:
		return r.summary, r.err
	case <-watches:
	}
	then(client)
	r := <-done
	return r.summary, r.err
}

func TestWait(t *testing.T) {
	update := func(c batchv1.JobCondition, failed *string) func(kubernetes.Interface) {
		return func(client kubernetes.Interface) {
			of := jobThat(c)
			of.Status.FailedIndexes = failed
			if _, err := client.BatchV1().Jobs("ci").UpdateStatus(context.Background(), of, metav1.UpdateOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
	for name, test := range map[string]struct {
		begins []runtime.Object
		then   func(kubernetes.Interface)
		want   string
		fails  bool
	}{
		"complete":     {[]runtime.Object{jobThat(condition(batchv1.JobFailed, corev1.ConditionFalse))}, update(condition(batchv1.JobComplete, corev1.ConditionTrue), nil), "the Job night is complete", false},
		"failed":       {[]runtime.Object{jobThat()}, update(condition(batchv1.JobFailed, corev1.ConditionTrue), ptr.To("1,3")), "has failed: two of them; failed are the indexes 1,3", false},
		"was complete": {[]runtime.Object{jobThat(condition(batchv1.JobComplete, corev1.ConditionTrue))}, func(kubernetes.Interface) {}, "is complete", false},
		"not there":    {nil, nil, `looking for the Job ci/night: jobs.batch "night" not found`, true},
		"deleted": {[]runtime.Object{jobThat(condition(batchv1.JobFailureTarget, corev1.ConditionTrue))}, func(client kubernetes.Interface) {
			if err := client.BatchV1().Jobs("ci").Delete(context.Background(), "night", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}, "was deleted before it had ended", true},
	} {
		t.Run(name, func(t *testing.T) {
			summary, err := waiting(t, fake.NewClientset(test.begins...), test.then)
			if err != nil {
				summary = err.Error()
			}
			if (err != nil) != test.fails || !strings.Contains(summary, test.want) {
				t.Errorf("%q, %v; want %q", summary, err, test.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Wait(ctx, fake.NewClientset(jobThat()), "ci", "night"); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
