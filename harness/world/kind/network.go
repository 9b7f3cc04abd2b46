package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
)

const conflistFile = "10-nodestorm.conflist"

// conflist is a node's network: pods of a node reach each other through the node.
const conflist = `{
  "cniVersion": "0.4.0",
  "name": "nodestorm",
  "plugins": [
    {"type": "ptp", "ipMasq": false, "mtu": 1500,
     "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam-state", "routes": [{"dst": "0.0.0.0/0"}], "ranges": [[{"subnet": %q}]]}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`

// connect is in place of kindnetd, which is in no module, and of kube-proxy as far as every
// pod needs it: the nodes' CNI configuration, the routes between them, and the Service that
// leads to the API server.
func (c Cluster) connect(ctx context.Context, provider *cluster.Provider) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	machines, err := provider.ListInternalNodes(prefix + c.Name)
	if err != nil {
		return err
	}
	subnets := map[string]string{}
	if err := poll(ctx, "every node has a range of addresses", func(ctx context.Context) (bool, error) {
		list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, node := range list.Items {
			if node.Spec.PodCIDR != "" {
				subnets[node.Name] = node.Spec.PodCIDR
			}
		}
		return len(subnets) == len(machines), nil
	}); err != nil {
		return err
	}
	for _, machine := range machines {
		if err := nodeutils.WriteFile(machine, "/etc/cni/net.d/"+conflistFile, fmt.Sprintf(conflist, subnets[machine.String()])); err != nil {
			return err
		}
		if err := routes(machine, machines, subnets); err != nil {
			return err
		}
	}
	if err := c.serve(ctx, client, machines); err != nil {
		return err
	}
	if err := poll(ctx, "pods can be made", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return true, err
	}); err != nil {
		return err
	}
	return poll(ctx, "every node is ready", func(ctx context.Context) (bool, error) {
		list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, node := range list.Items {
			if !slices.ContainsFunc(node.Status.Conditions, isReady) {
				return false, nil
			}
		}
		return true, nil
	})
}

func isReady(c corev1.NodeCondition) bool {
	return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
}

// routes leads from one machine to the pods of all others.
func routes(from nodes.Node, machines []nodes.Node, subnets map[string]string) error {
	for _, to := range machines {
		if to.String() == from.String() {
			continue
		}
		address, _, err := to.IP()
		if err != nil {
			return err
		}
		if err := from.Command("ip", "route", "replace", subnets[to.String()], "via", address).Run(); err != nil {
			return fmt.Errorf("leading from %q to %q: %w", from, to, err)
		}
	}
	return nil
}

// serve leads the nodes and their pods from the address of the Service "kubernetes" to the
// API server.
func (c Cluster) serve(ctx context.Context, client kubernetes.Interface, machines []nodes.Node) error {
	service, err := client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return err
	}
	address := ""
	for _, machine := range machines {
		if machine.String() == c.Node() {
			if address, _, err = machine.IP(); err != nil {
				return err
			}
		}
	}
	for _, machine := range machines {
		for _, chain := range []string{"PREROUTING", "OUTPUT"} {
			err := machine.Command("iptables", "-t", "nat", "-A", chain, "-d", service.Spec.ClusterIP, "-p", "tcp", "--dport", "443",
				"-j", "DNAT", "--to-destination", address+":6443").Run()
			if err != nil {
				return fmt.Errorf("leading %q to the API server: %w", machine, err)
			}
		}
	}
	return nil
}

// poll waits until what is so; errors of a server that is coming up are passed over.
func poll(ctx context.Context, what string, done func(context.Context) (bool, error)) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, ready, true, func(ctx context.Context) (bool, error) {
		var ok bool
		ok, last = done(ctx)
		return ok && last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %s: %w", what, errors.Join(last, err))
	}
	return nil
}
