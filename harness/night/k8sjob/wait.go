package k8sjob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"nodestorm/harness/run/exit"
)

// Wait waits until a Job has ended: until Kubernetes says that it is complete or has
// failed, and its pods are gone. What became of its indexes it returns in words. The end of
// ctx is the only bound; the Job's own deadline is another.
func Wait(ctx context.Context, client kubernetes.Interface, namespace, name string) (summary string, err error) {
	only := fields.OneTermEqualSelector("metadata.name", name).String()
	jobs := client.BatchV1().Jobs(namespace)
	if _, err := jobs.Get(ctx, name, metav1.GetOptions{}); err != nil {
		return "", fmt.Errorf("looking for the Job %s/%s: %w", namespace, name, err)
	}
	last, err := watchtools.UntilWithSync(ctx, cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return jobs.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			return jobs.Watch(ctx, o)
		},
	}, client), &batchv1.Job{}, nil, func(e watch.Event) (bool, error) {
		of, is := e.Object.(*batchv1.Job)
		if !is || of.Name != name {
			return false, nil
		}
		if e.Type == watch.Deleted {
			return false, fmt.Errorf("the Job %s/%s was deleted before it had ended", namespace, name)
		}
		return ended(of) != "", nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", fmt.Errorf("waiting for the end of the Job %s/%s: %w", namespace, name, err)
	}
	of := last.Object.(*batchv1.Job)
	return fmt.Sprintf("the Job %s %s", name, ended(of)), nil
}

// ended says how a Job has ended; "" while it has not.
func ended(of *batchv1.Job) string {
	for _, c := range of.Status.Conditions {
		// mutant: shards are joined before the Job has ended
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			return "is complete"
		case batchv1.JobFailed:
			text := "has failed: " + c.Message
			if indexes := of.Status.FailedIndexes; indexes != nil && *indexes != "" {
				text += fmt.Sprintf("; failed are the indexes %s", *indexes)
			}
			return text
		}
	}
	return ""
}

// namespaceFile is where a pod finds the namespace of its service account.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// Await is Wait for a Job in the namespace of the pod that we are in.
func Await(ctx context.Context, name string) (summary string, err error) {
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return "", exit.UsageError(errors.New("--job is for pods of Kubernetes, and this is none: wait with kubectl wait, and leave it out"))
	}
	var namespace []byte
	if err == nil {
		namespace, err = os.ReadFile(namespaceFile)
	}
	var client *kubernetes.Clientset
	if err == nil {
		client, err = kubernetes.NewForConfig(config)
	}
	if err == nil {
		summary, err = Wait(ctx, client, strings.TrimSpace(string(namespace)), name)
	}
	if err != nil {
		return "", fmt.Errorf("--job: %w", err)
	}
	return summary, nil
}
