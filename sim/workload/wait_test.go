package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
)

// client-go's handlers hold a failed list back until 1 ms after the last one, measured
// from the program's start: decades ahead of a bubble, whose time starts in 2000.
func init() { utilruntime.ErrorHandlers = nil }

// cluster runs test in a bubble of testing/synctest with client-go's fake.
func cluster(t *testing.T, test func(*testing.T, *fake.Clientset, *Demand)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		// NewClientset would build a table of all kinds for every single update.
		client := fake.NewSimpleClientset() //nolint:staticcheck // see above
		test(t, client, New(client, clock.RealClock{}))
	})
}

func add(t *testing.T, client *fake.Clientset, name, node string, phase corev1.PodPhase, conditions ...corev1.PodCondition) {
	t.Helper()
	_, err := client.CoreV1().Pods("shop").Create(context.Background(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: selector("web")},
		Spec:       corev1.PodSpec{NodeName: node},
		Status:     corev1.PodStatus{Phase: phase, Conditions: conditions},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

var unschedulable = corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available: 3 Insufficient cpu."}

var web = Selection{"shop", "web"}

func TestWaitEndsWhenItIsTrue(t *testing.T) {
	cluster(t, func(t *testing.T, client *fake.Clientset, demand *Demand) {
		add(t, client, "web-1", "a", corev1.PodRunning)
		start := time.Now()
		go func() {
			time.Sleep(time.Minute)
			add(t, client, "web-2", "a", corev1.PodRunning)
		}()
		if err := demand.WaitRunning(t.Context(), web, 2, time.Hour); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("it took %v, want the minute until the change", took)
		}
	})
}

func TestWaitSaysWhatItSawLast(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(*testing.T, *fake.Clientset)
		pods    int
		want    string
	}{
		"unschedulable": {
			func(t *testing.T, c *fake.Clientset) {
				add(t, c, "web-1", "a", corev1.PodRunning)
				add(t, c, "web-3", "", corev1.PodPending)
				add(t, c, "web-2", "", corev1.PodPending, unschedulable)
			},
			5,
			"pods of shop/web not in time (1m0s): 1 of 5 Running, 2 not there; web-2 Pending: 0/3 nodes are available: 3 Insufficient cpu.",
		},
		"waiting on its node": {
			func(t *testing.T, c *fake.Clientset) {
				add(t, c, "web-1", "a", corev1.PodPending, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
					corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, Message: "containers with unready status: [app]"})
			},
			1,
			"pods of shop/web not in time (1m0s): 0 of 1 Running; web-1 Pending on a: containers with unready status: [app]",
		},
		"no longer running": {
			func(t *testing.T, c *fake.Clientset) {
				add(t, c, "web-1", "a", corev1.PodRunning)
				go func() {
					time.Sleep(10 * time.Second)
					if err := c.CoreV1().Pods("shop").Delete(context.Background(), "web-1", metav1.DeleteOptions{}); err != nil {
						t.Error(err)
					}
					add(t, c, "web-2", "a", corev1.PodRunning)
				}()
			},
			2,
			"pods of shop/web not in time (1m0s): 1 of 2 Running, 1 not there",
		},
		"pods of others": {
			func(t *testing.T, c *fake.Clientset) {
				pod, _ := Pod("shop", "db", Template{})
				pod.Status.Phase = corev1.PodRunning
				if _, err := c.CoreV1().Pods("shop").Create(context.Background(), pod, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			},
			1,
			"pods of shop/web not in time (1m0s): 0 of 1 Running, 1 not there",
		},
		"being deleted": {
			func(t *testing.T, c *fake.Clientset) {
				add(t, c, "web-1", "a", corev1.PodRunning)
				pod, err := c.CoreV1().Pods("shop").Get(context.Background(), "web-1", metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
				if _, err := c.CoreV1().Pods("shop").Update(context.Background(), pod, metav1.UpdateOptions{}); err != nil {
					t.Fatal(err)
				}
			},
			1,
			"pods of shop/web not in time (1m0s): 0 of 1 Running; web-1 being deleted, Running on a",
		},
		"no access": {
			func(_ *testing.T, c *fake.Clientset) {
				c.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, errors.New("forbidden")
				})
			},
			1,
			"pods of shop/web not in time (1m0s): the last look failed: forbidden",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster(t, func(t *testing.T, client *fake.Clientset, demand *Demand) {
				test.prepare(t, client)
				start := time.Now()
				err := demand.WaitRunning(t.Context(), web, test.pods, time.Minute)
				if !errors.Is(err, errNotInTime) || err.Error() != test.want {
					t.Errorf("got  %v\nwant %v", err, test.want)
				}
				if took := time.Since(start); took != time.Minute {
					t.Errorf("it took %v of the minute", took)
				}
			})
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	cluster(t, func(t *testing.T, client *fake.Clientset, demand *Demand) {
		add(t, client, "web-1", "", corev1.PodPending, unschedulable)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := demand.WaitRunning(ctx, web, 1, time.Hour)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errNotInTime) || !strings.Contains(err.Error(), "3 Insufficient cpu") {
			t.Errorf("got %v", err)
		}
	})
}

func TestDemand(t *testing.T) {
	cluster(t, func(t *testing.T, client *fake.Clientset, demand *Demand) {
		ctx := t.Context()
		pod, _ := Pod("shop", "one", Template{})
		deployment, _ := Deployment("shop", "web", 3, Template{})
		if err := demand.Create(ctx, pod, deployment, Budget("batch", "sums", 1)); err != nil {
			t.Fatal(err)
		}
		namespaces, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
		if err != nil || len(namespaces.Items) != 2 {
			t.Errorf("namespaces: %v, %v", namespaces.Items, err)
		}
		accounts, err := client.CoreV1().ServiceAccounts("shop").List(ctx, metav1.ListOptions{})
		if err != nil || len(accounts.Items) != 1 || accounts.Items[0].Name != "default" {
			t.Errorf("service accounts: %v, %v", accounts.Items, err)
		}
		if err := demand.DeletePod(ctx, "shop", "one"); err != nil {
			t.Error(err)
		}
		for want, got := range map[string]error{
			`creating *v1.Deployment shop/web: deployments.apps "web" already exists`:                demand.Create(ctx, deployment),
			`creating *v1.ConfigMap shop/x: want a pod, deployment or pod disr`:                      demand.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "x"}}),
			`deleting pod shop/one: pods "one" not found`:                                            demand.DeletePod(ctx, "shop", "one"),
			fmt.Sprintf(`creating %T batch/sums: poddisruptionbud`, &policyv1.PodDisruptionBudget{}): demand.Create(ctx, Budget("batch", "sums", 1)),
		} {
			if got == nil || !strings.HasPrefix(got.Error(), want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
	})
}
