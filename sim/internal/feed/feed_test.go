package feed

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"
)

// client-go's handlers hold a failed list back until 1 ms after the last one, measured
// from the program's start: decades ahead of a bubble, whose time starts in 2000.
func init() { utilruntime.ErrorHandlers = nil }

func pod(name, uid string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(uid)}}
}

// TestFeed follows a list, a watch, and a second list after the watch was refused.
func TestFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		var failures []string
		lists := [][]corev1.Pod{{*pod("a", "1"), *pod("b", "1")}, {*pod("b", "2"), *pod("d", "1")}}
		var watches []*watch.FakeWatcher
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			Feed[*corev1.Pod]{
				List: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
					if len(lists) == 0 {
						return nil, errors.New("no more lists")
					}
					list := &corev1.PodList{Items: lists[0]}
					lists = lists[1:]
					return list, nil
				},
				Watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					watches = append(watches, watch.NewFake())
					return watches[len(watches)-1], nil
				},
				Put:    func(p *corev1.Pod) { calls = append(calls, "put "+p.Name+string(p.UID)) },
				Drop:   func(p *corev1.Pod) { calls = append(calls, "drop "+p.Name+string(p.UID)) },
				Synced: func() { calls = append(calls, "synced") },
				Failed: func(err error) { failures = append(failures, err.Error()) },
			}.Run(ctx, clock.RealClock{})
		}()
		expect := func(want ...string) {
			t.Helper()
			time.Sleep(time.Minute)
			synctest.Wait()
			if !slices.Equal(calls, want) {
				t.Errorf("got %q, want %q", calls, want)
			}
			calls = nil
		}
		expired := &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410}

		expect("put a1", "put b1", "synced")
		watches[0].Add(pod("c", "1"))
		watches[0].Modify(pod("a", "1"))
		watches[0].Delete(pod("c", "1"))
		watches[0].Modify(pod("b", "3")) // deleted and created again, seen as one change
		expect("put c1", "put a1", "drop c1", "drop b1", "put b3")
		watches[0].Error(expired)
		expect("drop a1", "drop b3", "put b2", "put d1", "synced")
		watches[1].Error(expired)
		expect()
		if len(failures) == 0 || failures[0] != "no more lists" {
			t.Errorf("failures: %q", failures)
		}
		cancel()
		<-done
	})
}

// TestBackOff: what is waited for between a watch and the next list is the clock's time.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		c := testingclock.NewFakeClock(time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			Feed[*corev1.Pod]{
				List: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
					lists++
					return &corev1.PodList{}, nil
				},
				Watch: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					w := watch.NewFakeWithChanSize(1, false)
					w.Error(&metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410})
					return w, nil
				},
				Put:  func(*corev1.Pod) {},
				Drop: func(*corev1.Pod) {},
			}.Run(ctx, c)
		}()
		for want := 1; want <= 3; want++ {
			time.Sleep(time.Hour)
			synctest.Wait()
			if lists != want {
				t.Fatalf("%d lists while the clock stood still, want %d", lists, want)
			}
			c.Step(time.Minute)
		}
		cancel()
		<-done
	})
}
