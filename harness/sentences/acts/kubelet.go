package acts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/fault"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/machine/workload"
)

const realKubelet = "real"

var flapSentences = scene.Sentences{
	Worlds: "any", Records: "kubelets (node), faults of them (fault)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a cluster that kubelets can join, without the admission plugin DefaultTolerationSeconds`, Begins: true,
			Act: clusterForKubelets(withoutDefaultTolerations)},
	},
}

var kubeletSentences = scene.Sentences{
	Worlds: "any", Records: "kubelets (node), faults of them (fault)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a cluster that kubelets can join`, Begins: true,
			Act: clusterForKubelets(func(*world.Config, words.Args) {})},
		{Role: scene.When, Words: `a machine "NAME" with a (simulated|real) kubelet boots, labelled "NAME" and tainted "TAINT"`,
			Act: bootKubelet},
		{Role: scene.When, Words: `a pod "NAME" for the Node "NAME" is created`, Act: createPodFor},
		{Role: scene.When, Words: `the (simulated|real) kubelet of the machine "NAME" stops sending heartbeats`, Act: silenceKubelet},
		{Role: scene.Then, Words: `the Node "NAME" is Ready within DURATION, labelled "NAME" and tainted "TAINT"`, Act: nodeReadyWith},
	},
}

// clusterForKubelets is the step that starts one which real kubelets can join.
func clusterForKubelets(with func(*world.Config, words.Args)) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) (err error) {
		cfg := s.Rig.World
		with(&cfg, a)
		cfg.Kubelets = true
		if err := start(ctx, s, cfg); err != nil {
			return err
		}
		s.Kubelets, err = kubelet.New(ctx, s.World, kubelet.Config{Kubernetes: cfg.Kubernetes, Plain: cfg.Plain})
		return err
	}
}

func bootKubelet(ctx context.Context, s *scene.Scene, a words.Args) error {
	machine, label, taint := a.Text(0), a.Text(2), a.Text(3)
	if a.Text(1) == realKubelet {
		if err := s.Meet(scene.Kubelet); err != nil {
			return err
		}
		m := kubelet.Machine{Name: machine, Args: []string{"--node-labels=" + label, "--register-with-taints=" + taint}}
		if err := s.Kubelets.Check(ctx, m); err != nil {
			return err
		}
		return s.Kubelets.Boot(m)
	}
	t, err := cloudinit.ParseTaint(taint)
	if err != nil {
		return err
	}
	key, value, _ := strings.Cut(label, "=")
	return s.World.Fleet().Boot(node.Spec{
		Name: machine, Labels: map[string]string{key: value}, Taints: []corev1.Taint{t}, Profile: s.Boots.Joined(),
	})
}

func silenceKubelet(_ context.Context, s *scene.Scene, a words.Args) error {
	machine := a.Text(1)
	if a.Text(0) != realKubelet {
		return s.Nodes().Inject(fault.Fault{Name: "silence", Match: node.Match{Node: machine}, Effect: node.HeartbeatsStop{}})
	}
	if err := s.Meet(scene.Kubelet); err != nil {
		return err
	}
	return s.Kubelets.Inject(fault.Fault{Name: "kubelet-stopped", Match: kubelet.Match{Machine: machine}, Effect: kubelet.Stopped{}})
}

func createPodFor(ctx context.Context, s *scene.Scene, a words.Args) error {
	pod, err := workload.Pod(namespace, a.Text(0), workload.Template{CPU: "100m"})
	if err != nil {
		return err
	}
	pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: a.Text(1)}
	pod.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	return demand(s).Create(ctx, pod)
}

func nodeReadyWith(ctx context.Context, s *scene.Scene, a words.Args) error {
	want, err := cloudinit.ParseTaint(a.Text(3))
	if err != nil {
		return err
	}
	key, value, _ := strings.Cut(a.Text(2), "=")
	return s.World.Await(ctx, a.Duration(1), func(ctx context.Context) error {
		n, err := readyNode(ctx, s, a.Text(0))
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

// readyNode is a Node that is Ready.
func readyNode(ctx context.Context, s *scene.Scene, name string) (*corev1.Node, error) {
	n, err := s.World.Client().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i < 0 {
		return nil, fmt.Errorf("node %q says nothing about Ready", name)
	}
	if c := n.Status.Conditions[i]; c.Status != corev1.ConditionTrue {
		return nil, fmt.Errorf("node %q has Ready=%s: %s", name, c.Status, c.Message)
	}
	return n, nil
}
