// Command karpenter is a released Karpenter with a cloud provider that dials a fake cloud:
// instance types with prices, zones and capacity types, launches that can fail, and
// instances that live and die without the cluster. The API is that of nodestorm's package
// fakecloud/instanceapi.
//
// It takes the flags and the environment of Karpenter, and
//
//	INSTANCES_ENDPOINT   of the API, required
//	INSTANCES_TOKEN      to show there, required
//
// What differs from release to release is in the files span_*.go: a build has one of them, by
// its tag, and without a tag that of v1.7.
//
// It is compiled within the release's own module, so that all dependencies are as the release
// names them, and it imports nothing of nodestorm. The go.mod beside it is for its tests.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

func main() {
	cloud, err := dial(os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
	run(cloud)
}

func dial(env func(string) string) (*cloud, error) {
	c := &cloud{endpoint: env("INSTANCES_ENDPOINT"), token: env("INSTANCES_TOKEN")}
	if c.endpoint == "" || c.token == "" {
		return nil, errors.New("INSTANCES_ENDPOINT and INSTANCES_TOKEN must say which cloud to use")
	}
	return c, nil
}

// mustAdd adds what a cloud provider runs besides Karpenter's own controllers.
func mustAdd(m manager.Manager, p *provider) {
	for _, add := range []func() error{
		func() error { return addReadiness(m, p) },
		func() error { return m.Add(every(leaksEvery, "collecting instances without a NodeClaim", p.collect)) },
		func() error { return m.Add(every(interruptionsEvery, "asking for interruptions", p.interrupt)) },
	} {
		if err := add(); err != nil {
			panic(fmt.Errorf("starting: %w", err))
		}
	}
}

// every does something again and again while the manager runs.
func every(span time.Duration, what string, do func(context.Context) error) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		tick := time.NewTicker(span)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			if err := do(ctx); err != nil {
				log.FromContext(ctx).Error(err, what)
			}
		}
	})
}
