package steps

import (
	"context"
	"fmt"
	"slices"
	"time"

	"nodestorm/sim/cloudinit"
	"nodestorm/sim/history"
	"nodestorm/sim/node"
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

func (s *scenario) demand() *workload.Demand { return workload.New(s.world.Client(), s.world.Clock()) }

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

func (s *scenario) createPodOnceTainted(ctx context.Context, name, cpus, taint string) error {
	if _, err := cloudinit.ParseTaint(taint); err != nil {
		return err
	}
	node := s.node()
	_, err := s.within(ctx, 2*time.Minute, s.asked, func(r history.Record) bool {
		taints, _ := r.Detail["taints"].([]string)
		return r.Source == history.API && r.Object.Resource == "nodes" && r.Object.Name == node && slices.Contains(taints, taint)
	})
	if err != nil {
		return fmt.Errorf("waiting for node %q to be tainted %s: %w", node, taint, err)
	}
	return s.createPod(ctx, name, cpus)
}

// node is the Node of the machine that was launched first.
func (s *scenario) node() string {
	for _, r := range s.world.History().Since(0) {
		if nodeInitialized(r) {
			return r.Object.Name
		}
	}
	return ""
}

func (s *scenario) restartKubelet(down, settle string) error {
	d, err := duration(down)
	if err != nil {
		return err
	}
	after, err := duration(settle)
	if err != nil {
		return err
	}
	return s.world.Fleet().Inject(s.node(), node.Fault{Name: "kubelet restart", Effect: node.KubeletRestart{Down: d, Settle: after}})
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
