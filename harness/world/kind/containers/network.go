package containers

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/sim/history"
)

// connect waits for the machine's Node, and brings the network to its pods after the
// profile's ReadyDelay.
func (m *Machines) connect(ctx context.Context, b *machine, after uint64) {
	if err := m.connected(ctx, b, after); err != nil && ctx.Err() == nil {
		m.broken(b, err)
	}
}

func (m *Machines) connected(ctx context.Context, b *machine, after uint64) error {
	here, err := m.cluster.Address(ctx, m.place, b.of.Name)
	if err != nil {
		return err
	}
	m.reach(b, here)
	subnet, err := m.podCIDR(ctx, b, after)
	if err != nil || subnet == "" || !wait(ctx, b.of.Profile.ReadyDelay) {
		return err
	}
	m.mu.Lock()
	b.subnet = subnet
	m.mu.Unlock()
	if err := m.cluster.Connect(ctx, b.of.Name, subnet); err != nil {
		return err
	}
	return m.join(ctx, b, here)
}

// reach lets kube-apiserver reach the machine's kubelet at an address, or nowhere if it is
// empty, whatever address its Node has.
func (m *Machines) reach(b *machine, address string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.forget != nil {
		b.forget()
		b.forget = nil
	}
	if address == "" {
		return
	}
	hosts := []string{address, b.of.Name, b.of.Node}
	for _, a := range b.of.Addresses {
		hosts = append(hosts, a.String())
	}
	b.forget = m.lead(hosts, address)
}

// podCIDR is what the pods of the machine's Node get addresses of, once there is one, which
// registers after the event numbered after, if it has not done so before. It is empty when
// the machine has ended.
func (m *Machines) podCIDR(ctx context.Context, b *machine, after uint64) (string, error) {
	nodes := m.world.Client().CoreV1().Nodes()
	for {
		n, err := nodes.Get(ctx, b.of.Node, metav1.GetOptions{})
		switch {
		case ctx.Err() != nil:
			return "", nil
		case err == nil && n.Spec.PodCIDR != "":
			return n.Spec.PodCIDR, nil
		case err == nil: // it comes at once
			wait(ctx, 200*time.Millisecond)
		case !apierrors.IsNotFound(err):
			return "", fmt.Errorf("looking for its Node: %w", err)
		default:
			r, err := m.world.History().WaitAfter(ctx, after, func(r history.Entry) bool {
				return r.Source == history.Node && r.Verb == "register" && r.Object.Name == b.of.Node
			})
			if err != nil {
				return "", nil // the machine or the world has ended
			}
			after = r.Seq
		}
	}
}
