package steps

import (
	"context"
	"fmt"
	"time"

	"nodestorm/sim/history"
	"nodestorm/sim/workload"
)

// A claim is created by the target, and the API server took it.
func claimCreated(r history.Record) bool {
	return r.Source == history.API && r.Verb == "create" && r.Object.Resource == "nodeclaims" && r.Code < 300
}

// Karpenter labels the Node when all it waits for is there.
func nodeInitialized(r history.Record) bool {
	initialized, _ := r.Detail["initialized"].(bool)
	return r.Source == history.API && r.Object.Resource == "nodes" && initialized
}

const namespace = "default"

func (s *scenario) demand() *workload.Demand { return workload.New(s.world.Client()) }

func (s *scenario) createPod(ctx context.Context, name, cpus string) error {
	pod, err := workload.Pod(namespace, name, workload.Template{CPU: cpus})
	if err != nil {
		return err
	}
	return s.demand().Create(ctx, pod)
}

func (s *scenario) createDeployment(ctx context.Context, name string, replicas int32, cpus string) error {
	deployment, err := workload.Deployment(namespace, name, replicas, workload.Template{CPU: cpus})
	if err != nil {
		return err
	}
	return s.demand().Create(ctx, deployment)
}

// noMoreNodeClaims watches the whole window unless there is one too many.
func (*scenario) noMoreNodeClaims(most int, d string) (observation, error) {
	var claims []history.Record
	return never(d, subject{"no NodeClaim was created at all", claimCreated}, func(r history.Record) error {
		if claimCreated(r) {
			claims = append(claims, r)
		}
		if len(claims) <= most {
			return nil
		}
		first := claims[0]
		return fmt.Errorf("%d NodeClaims: %s, %s after %s", len(claims), r.Object.Name, (r.Virtual - first.Virtual).Round(100*time.Millisecond), first.Object.Name)
	})
}

func (*scenario) podRunning(name, d string) (observation, error) {
	pods := podsOf(name)
	running := func() error { return pods.running(1) }
	o, err := eventually(d, pods, running)
	o.over = func() error {
		if err := running(); err != nil {
			return fmt.Errorf("pods of %s/%s not in time (%s): %w", namespace, name, o.window, err)
		}
		return nil
	}
	return o, err
}
