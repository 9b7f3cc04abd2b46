package sentences

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/run/then"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/machine/workload"
)

const realKubelet = "real"

func (s *scenario) registerKubelet(on sentences) {
	on.Given(`^a cluster that kubelets can join$`, s.clusterForKubelets)
	on.When(`^a machine `+name+` with a (simulated|`+realKubelet+`) kubelet boots, labelled `+name+` and tainted `+taint+`$`, s.bootKubelet)
	on.When(`^a pod `+name+` for the node `+name+` is created$`, s.createPodFor)
	on.When(`^the (simulated|`+realKubelet+`) kubelet of the machine `+name+` falls silent$`, s.silenceKubelet)
	on.Then(`^the node `+name+` is Ready within `+span+`, labelled `+name+` and tainted `+taint+`$`, s.nodeReadyWith)
	observe(on, then.Kubelets)
}

func (s *scenario) clusterForKubelets(ctx context.Context) (err error) {
	cfg := s.rig.World
	cfg.Kubelets = true
	if err := s.start(ctx, cfg); err != nil {
		return err
	}
	s.kubelets, err = kubelet.New(ctx, s.world, kubelet.Config{Kubernetes: cfg.Kubernetes, Plain: cfg.Plain})
	return err
}

func (s *scenario) bootKubelet(ctx context.Context, machine, kind, label, taint string) error {
	if kind == realKubelet {
		if s.kubelets == nil {
			return errNoKubelets
		}
		m := kubelet.Machine{Name: machine, Args: []string{"--node-labels=" + label, "--register-with-taints=" + taint}}
		if err := s.kubelets.Check(ctx, m); err != nil {
			return err
		}
		return s.kubelets.Boot(m)
	}
	t, err := cloudinit.ParseTaint(taint)
	if err != nil {
		return err
	}
	key, value, _ := strings.Cut(label, "=")
	return s.world.Fleet().Boot(node.Spec{
		Name: machine, Labels: map[string]string{key: value}, Taints: []corev1.Taint{t},
		Profile: node.Profile{Agents: s.profile.Agents, Faults: s.nextFaults()},
	})
}

func (s *scenario) silenceKubelet(kind, machine string) error {
	if kind == realKubelet {
		return s.kubelets.Inject(kubelet.Fault{Name: "kubelet-stopped", Machine: machine, Effect: kubelet.Stopped})
	}
	return s.injectNode(machine, node.Fault{Name: "silence", Effect: node.HeartbeatsStop{}})
}

func (s *scenario) createPodFor(ctx context.Context, name, node string) error {
	pod, err := workload.Pod(namespace, name, workload.Template{CPU: "100m"})
	if err != nil {
		return err
	}
	pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return s.demand().Create(ctx, pod)
}

func (s *scenario) nodeReadyWith(ctx context.Context, name, window, label, taint string) error {
	want, err := cloudinit.ParseTaint(taint)
	if err != nil {
		return err
	}
	d, err := duration(window)
	if err != nil {
		return err
	}
	key, value, _ := strings.Cut(label, "=")
	return s.world.Await(ctx, d, func(ctx context.Context) error {
		n, err := s.ready(ctx, name, corev1.ConditionTrue)
		if err != nil {
			return err
		}
		if n.Labels[key] != value {
			return fmt.Errorf("its labels are %v", n.Labels)
		}
		if len(n.Spec.Taints) != 1 || !n.Spec.Taints[0].MatchTaint(&want) {
			return fmt.Errorf("its taints are %v", n.Spec.Taints)
		}
		return nil
	})
}

// ready is a Node whose Ready condition has one of the statuses.
func (s *scenario) ready(ctx context.Context, name string, statuses ...corev1.ConditionStatus) (*corev1.Node, error) {
	n, err := s.world.Client().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	for _, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		for _, status := range statuses {
			if c.Status == status {
				return n, nil
			}
		}
		return nil, fmt.Errorf("node %q has Ready=%s: %s", name, c.Status, c.Message)
	}
	return nil, fmt.Errorf("node %q says nothing about Ready", name)
}
