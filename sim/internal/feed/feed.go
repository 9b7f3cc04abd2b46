// Package feed turns one list and watch of the API server into two plain calls:
// Put for an object that is there or changed, Drop for one that is gone. It adds
// what a bare watch lacks: after a gap it finds out what was deleted during the gap,
// and an object replaced under the same name is dropped before the new one is put.
//
// It is not a cache to read from; callers keep what they need.
package feed

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// Object is what can be fed: *corev1.Node, *corev1.Pod and the like.
type Object interface {
	runtime.Object
	metav1.Object
}

// Feed describes one list and watch. List, Watch, Put and Drop are required.
type Feed[T Object] struct {
	// List and Watch are a typed client's methods of the same name. Narrow them
	// with a selector set in a closure.
	List  func(context.Context, metav1.ListOptions) (runtime.Object, error)
	Watch func(context.Context, metav1.ListOptions) (watch.Interface, error)
	// Put gets every object of the first list and every later addition or change.
	// The object belongs to the receiver as long as it does not change it.
	Put func(T)
	// Drop gets the last known state of an object that is gone.
	Drop func(T)
	// Synced is called after each complete list, first of all after the initial
	// one. Nil: not called.
	Synced func()
	// Failed is called for every list or watch that failed; the feed goes on
	// after a back-off. Nil: not called.
	Failed func(error)
}

// Run feeds until ctx ends. All calls come from one goroutine, except Failed,
// which may come from another. c measures the back-off and nothing else.
func (f Feed[T]) Run(ctx context.Context, c clock.Clock) {
	var example T
	known := &store[T]{feed: f, known: map[types.NamespacedName]T{}}
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := f.List(ctx, opts)
			f.report(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			w, err := f.Watch(ctx, opts)
			f.report(err)
			return w, err
		},
	}
	reflector := cache.NewReflectorWithOptions(listThenWatch{lw}, example, known, cache.ReflectorOptions{
		Clock:   c,
		Backoff: &backoff,
		// Resync does nothing here. With a period of zero the reflector waits on a
		// channel of its package, which keeps testing/synctest from passing time.
		ResyncPeriod: 24 * time.Hour,
	})
	// The reflector's own loop waits in real time between a watch that has ended and the next
	// list, whatever clock it is given.
	for delay := backoff.DelayWithReset(c, 2*time.Minute); ; {
		if err := reflector.ListAndWatchWithContext(ctx); err != nil {
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.After(delay()):
		}
	}
}

// backoff is that of client-go's reflector, 0.8 s to 30 s and up to as much again.
var backoff = wait.Backoff{Duration: 800 * time.Millisecond, Factor: 2, Jitter: 1, Steps: 38, Cap: 30 * time.Second}

// listThenWatch has the reflector list first. Else it would ask for a watch that begins with a
// list, which not every List and Watch can do: of tests, and of older API servers.
type listThenWatch struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported keeps a reflector from listing by a watch.
func (listThenWatch) IsWatchListSemanticsUnSupported() bool { return true }

func (f Feed[T]) report(err error) {
	if err != nil && f.Failed != nil && !errors.Is(err, context.Canceled) {
		f.Failed(err)
	}
}

// store receives what the reflector sees, always from the reflector's goroutine.
type store[T Object] struct {
	feed  Feed[T]
	known map[types.NamespacedName]T
}

func key(obj metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

func (s *store[T]) Add(obj any) error { return s.Update(obj) }

func (s *store[T]) Update(obj any) error {
	s.put(obj.(T))
	return nil
}

func (s *store[T]) put(obj T) {
	old, found := s.known[key(obj)]
	if found && old.GetUID() != obj.GetUID() {
		s.feed.Drop(old)
	}
	s.known[key(obj)] = obj
	s.feed.Put(obj)
}

func (s *store[T]) Delete(obj any) error {
	s.drop(obj.(T))
	return nil
}

func (s *store[T]) drop(obj T) {
	delete(s.known, key(obj))
	s.feed.Drop(obj)
}

// Replace takes a complete list: what is known and not in it is gone.
func (s *store[T]) Replace(objs []any, _ string) error {
	listed := make(map[types.NamespacedName]bool, len(objs))
	for _, obj := range objs {
		listed[key(obj.(T))] = true
	}
	for k, obj := range s.known {
		if !listed[k] {
			s.drop(obj)
		}
	}
	for _, obj := range objs {
		s.put(obj.(T))
	}
	if s.feed.Synced != nil {
		s.feed.Synced()
	}
	return nil
}

func (s *store[T]) Resync() error { return nil }
