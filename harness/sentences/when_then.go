package sentences

import (
	"context"

	"nodestorm/sim/history"
	"nodestorm/sim/machine/workload"
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
