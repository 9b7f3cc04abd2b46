package ccm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/hetznercloud/hcloud-go/v2/hcloud"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/program/ccm"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
	"nodestorm/sim/time/clock"
)

const (
	token       = "a-token-that-no-log-may-show"
	clusterCIDR = "10.244.0.0/16"
	userData    = "#cloud-config\nwrite_files:\n- path: /etc/rancher/k3s/config.yaml\n  content: |\n    kubelet-arg: [cloud-provider=external]\n"
	// dropIn is what guides for the Hetzner Cloud have recommended to kubeadm users; since the
	// kubelet's package has /etc/default/kubelet, it does nothing.
	dropIn = "#cloud-config\nwrite_files:\n- path: /etc/systemd/system/kubelet.service.d/20-hcloud.conf\n  content: |\n" +
		"    [Service]\n    Environment=\"KUBELET_EXTRA_ARGS=--cloud-provider=external\"\nruncmd:\n- kubeadm join 10.0.0.1:6443\n"
)

// targets are nodestorm's own controller manager, built if need be,
// and the released ones that the store has.
func targets(t *testing.T) (control builds.Target, managers []builds.Target) {
	t.Helper()
	control = buildstest.Get(t, builds.Kubernetes)
	store, err := buildstore.Open("")
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := buildstore.Known(builds.CCM)
	if err != nil {
		t.Fatal(err)
	}
	own, err := store.Build(t.Context(), recipe, nil) // does nothing if its source is as it was
	if err != nil {
		t.Fatal(err)
	}
	managers = append(managers, own)
	for _, ref := range store.Refs() {
		if ref.Name != ccm.Name {
			continue
		}
		released, err := store.Get(ref)
		if err != nil {
			t.Logf("left out: %v", err)
			continue
		}
		managers = append(managers, released)
	}
	return control, managers
}

// rig is a world with a Hetzner cloud whose servers join it.
type rig struct {
	*testing.T
	world  *world.World
	client *api.Client
	ccm    *ccm.CCM
	url    string
	out    string
}

func newRig(t *testing.T, control, manager builds.Target) *rig {
	mode := clock.Auto
	if !control.Virtual() || !manager.Virtual() {
		mode = clock.Real
	}
	r := &rig{T: t, out: t.TempDir()}
	var err error
	r.world, err = world.Start(t.Context(), world.Config{Kubernetes: control.Bin(), Out: r.out, Clock: mode, Seed: 1, ClusterOptions: world.ClusterOptions{ClusterCIDR: clusterCIDR}})
	r.must(err)
	t.Cleanup(func() {
		if err := r.world.Stop(); err != nil {
			t.Error(err)
		}
	})
	cloud, err := fakecloud.New(fakecloud.Config{Clock: r.world.Clock(), Seed: 1, Recorder: r.world.History()})
	r.must(err)
	t.Cleanup(cloud.Close)
	server, err := hcloud.Serve(context.Background(), hcloud.Config{Cloud: cloud, Token: token})
	r.must(err)
	t.Cleanup(func() { r.must(server.Close()) })
	j, err := machines.New(machines.Config{Cloud: cloud, Fleet: r.world.Fleet(), History: r.world.History(), Seed: 1})
	r.must(err)
	t.Cleanup(j.Close)
	r.url = server.URL()
	r.client = api.NewClient(api.WithEndpoint(r.url), api.WithToken(token))
	r.ccm, err = ccm.Install(t.Context(), r.world, manager)
	r.must(err)
	return r
}

func (r *rig) must(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// within waits for at most d of virtual time until f has nothing to complain of.
func (r *rig) within(d time.Duration, what string, f func() error) {
	r.Helper()
	clk := r.world.Clock()
	start := clk.Now()
	for {
		err := f()
		switch {
		case err == nil:
			r.Logf("%s after %s", what, clk.Since(start).Round(time.Second))
			return
		case clk.Since(start) > d:
			r.Fatalf("%s: not within %s: %v", what, d, err)
		}
		r.pass(time.Second)
	}
}

// pass lets virtual time pass.
func (r *rig) pass(d time.Duration) {
	r.Helper()
	timer := r.world.Clock().NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-r.world.Done():
		r.Fatal(r.world.Err())
	case <-r.Context().Done():
		r.Fatal(r.Context().Err())
	}
}

func (r *rig) node(name string) (*corev1.Node, error) {
	return r.world.Client().CoreV1().Nodes().Get(r.Context(), name, metav1.GetOptions{})
}

func cidr(s string) *net.IPNet {
	_, n, err := net.ParseCIDR(s)
	if err != nil {
		panic(err)
	}
	return n
}

// network makes the cluster's network.
func (r *rig) network() *api.Network {
	n, _, err := r.client.Network.Create(r.Context(), api.NetworkCreateOpts{
		Name: "cluster", IPRange: cidr("10.0.0.0/8"),
		Subnets: []api.NetworkSubnet{{Type: api.NetworkSubnetTypeCloud, IPRange: cidr("10.0.0.0/24"), NetworkZone: api.NetworkZoneEUCentral}},
	})
	r.must(err)
	return n
}

func (r *rig) server(name, userData string, n *api.Network) *api.Server {
	created, _, err := r.client.Server.Create(r.Context(), api.ServerCreateOpts{
		Name: name, ServerType: &api.ServerType{Name: "cax11"}, Image: &api.Image{Name: "debian-12"},
		Location: &api.Location{Name: "fsn1"}, Networks: []*api.Network{n}, UserData: userData,
	})
	r.must(err)
	return created.Server
}

func hasTaint(n *corev1.Node, key string) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}

func TestNodeLife(t *testing.T) {
	control, managers := targets(t)
	for _, manager := range managers {
		t.Run(manager.Ref.String(), func(t *testing.T) {
			r := newRig(t, control, manager)
			network := r.network()
			first := r.server("first", userData, network)
			second := r.server("second", userData, network)
			r.server("lost", dropIn, network)

			// Without a cloud controller manager a Node stays as its kubelet made it.
			r.within(2*time.Minute, "the Nodes of all are Ready", func() error {
				for _, name := range []string{"first", "second", "lost"} {
					n, err := r.node(name)
					if err != nil {
						return err
					}
					if !ready(n) {
						return errors.New("not ready")
					}
				}
				return nil
			})
			r.pass(time.Minute)
			n, err := r.node("first")
			r.must(err)
			if !hasTaint(n, machines.Uninitialized.Key) || n.Spec.ProviderID != "" || n.Labels[corev1.LabelInstanceTypeStable] != "" {
				t.Fatalf("before the controller manager: taints %v, provider ID %q", n.Spec.Taints, n.Spec.ProviderID)
			}

			_, err = r.ccm.Start(t.Context(), ccm.Config{
				Endpoint: r.url, Token: token, Network: "cluster", ClusterCIDR: netip.MustParsePrefix(clusterCIDR),
			})
			r.must(err)
			r.initialised(first)
			r.routed(network, "first", "second", "lost")

			// The Node of a machine of another kind is none of its business.
			foreign := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Spec: corev1.NodeSpec{ProviderID: "hrobot://1"}}
			_, err = r.world.Client().CoreV1().Nodes().Create(t.Context(), foreign, metav1.CreateOptions{})
			r.must(err)

			// Nothing else deletes the Node of a server that is gone: after the grace
			// period of its heartbeats (50 s) the controller manager does.
			deleted := r.world.Clock().Now()
			_, _, err = r.client.Server.DeleteWithResult(t.Context(), first)
			r.must(err)
			r.within(2*time.Minute, "the Node of the deleted server is gone", func() error {
				_, err := r.node("first")
				switch {
				case err == nil:
					return errors.New("it is there")
				case apierrors.IsNotFound(err):
					return nil
				}
				return err
			})
			if d := r.world.Clock().Since(deleted); d < 30*time.Second {
				t.Errorf("the Node went after %s, before its heartbeats could be missed", d)
			}
			if by := r.deletedBy("first"); by != ccm.Name {
				t.Errorf("the Node was deleted by %q, want %q", by, ccm.Name)
			}
			r.routed(network, "second", "lost")

			// A server that is off keeps its Node, with a taint.
			const shutdown = "node.cloudprovider.kubernetes.io/shutdown"
			_, _, err = r.client.Server.Poweroff(t.Context(), second)
			r.must(err)
			r.within(2*time.Minute, "the Node of the server that is off says so", func() error {
				return r.tainted("second", shutdown, true)
			})
			_, _, err = r.client.Server.Poweron(t.Context(), second)
			r.must(err)
			r.within(3*time.Minute, "the Node of the server that is on again says so", func() error {
				return r.tainted("second", shutdown, false)
			})
			if _, err := r.node("foreign"); err != nil {
				t.Errorf("the Node of another cloud's machine: %v", err)
			}
			// Without --cloud-provider=external no Node gets its provider ID, and an
			// autoscaler cannot determine which server it is.
			if n, err := r.node("lost"); err != nil || !ready(n) || n.Spec.ProviderID != "" {
				t.Errorf("the Node that is not to be initialised: %v, provider ID %q", err, n.Spec.ProviderID)
			}
			r.rightsSuffice(ccm.Name)
			r.hides(token)
		})
	}
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func (r *rig) tainted(name, key string, want bool) error {
	n, err := r.node(name)
	if err == nil && hasTaint(n, key) != want {
		err = fmt.Errorf("taints %v", n.Spec.Taints)
	}
	return err
}

// initialised waits until the controller manager has written to the Node what it is.
func (r *rig) initialised(s *api.Server) {
	r.Helper()
	s, _, err := r.client.Server.GetByID(r.Context(), s.ID)
	r.must(err)
	r.within(time.Minute, "the Node is initialised", func() error { return r.tainted(s.Name, machines.Uninitialized.Key, false) })
	n, err := r.node(s.Name)
	r.must(err)
	if want := fmt.Sprintf("hcloud://%d", s.ID); n.Spec.ProviderID != want {
		r.Errorf("provider ID %q, want %q", n.Spec.ProviderID, want)
	}
	want := []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: s.Name},
		{Type: corev1.NodeExternalIP, Address: s.PublicNet.IPv4.IP.String()},
		{Type: corev1.NodeInternalIP, Address: s.PrivateNet[0].IP.String()},
	}
	r.within(time.Minute, "the Node has its addresses", func() error {
		n, err := r.node(s.Name)
		if err == nil && !cmp.Equal(want, n.Status.Addresses) {
			err = errors.New(cmp.Diff(want, n.Status.Addresses))
		}
		return err
	})
	for label, want := range map[string]string{
		corev1.LabelInstanceTypeStable: "cax11", corev1.LabelTopologyRegion: "fsn1", corev1.LabelTopologyZone: "fsn1-dc14",
		"instance.hetzner.cloud/provided-by": "cloud",
	} {
		if got := n.Labels[label]; got != want {
			r.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
}

// routed waits until the network leads to the pods of these nodes, and to no others.
func (r *rig) routed(network *api.Network, names ...string) {
	r.Helper()
	r.within(2*time.Minute, fmt.Sprintf("there are routes to %v", names), func() error {
		want := map[string]string{}
		for _, name := range names {
			n, err := r.node(name)
			if err != nil {
				return err
			}
			for _, a := range n.Status.Addresses {
				if a.Type == corev1.NodeInternalIP {
					want[n.Spec.PodCIDR] = a.Address
				}
			}
		}
		n, _, err := r.client.Network.GetByID(r.Context(), network.ID)
		if err != nil {
			return err
		}
		got := map[string]string{}
		for _, route := range n.Routes {
			got[route.Destination.String()] = route.Gateway.String()
		}
		if len(want) != len(names) || !cmp.Equal(want, got) {
			return fmt.Errorf("routes %v, want %v", got, want)
		}
		return nil
	})
}

func (r *rig) deletedBy(node string) string {
	for _, e := range r.world.History().Since(0) {
		if e.Source == history.API && e.Verb == "delete" && e.Object.Resource == "nodes" && e.Object.Name == node {
			return e.Actor
		}
	}
	return ""
}

// rightsSuffice makes sure that the controller manager was never refused.
func (r *rig) rightsSuffice(manager string) {
	r.Helper()
	calls := 0
	for _, e := range r.world.History().Since(0) {
		if e.Actor != manager || e.Source != history.API {
			continue
		}
		calls++
		if e.Code == 401 || e.Code == 403 {
			r.Errorf("%s %s %s: %d %v", e.Actor, e.Verb, e.Object, e.Code, e.Detail)
		}
	}
	if calls == 0 {
		r.Errorf("%s has made no calls", manager)
	}
}

// hides makes sure that nothing of the run shows a secret.
func (r *rig) hides(secret string) {
	r.Helper()
	files := 0
	r.must(filepath.WalkDir(r.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secret)) {
			r.Errorf("%s shows the token", path)
		}
		return err
	}))
	if files < 2 {
		r.Errorf("%d files in the run's folder, want the history and logs", files)
	}
}

// A controller manager that cannot work says why, in the error.
func TestStartFails(t *testing.T) {
	control, managers := targets(t)
	r := newRig(t, control, managers[0])
	for name, test := range map[string]struct {
		cfg  ccm.Config
		want string
	}{
		"no endpoint":   {ccm.Config{Token: token}, "want an Endpoint"},
		"wrong token":   {ccm.Config{Endpoint: r.url, Token: "wrong"}, "unauthorized"},
		"no network":    {ccm.Config{Endpoint: r.url, Token: token, Network: "none"}, `the project has no such network`},
		"unknown flag":  {ccm.Config{Endpoint: r.url, Token: token, Args: []string{"--no-such-flag"}}, "unknown flag: --no-such-flag"},
		"wrong setting": {ccm.Config{Endpoint: r.url, Token: token, Env: []string{"HCLOUD_INSTANCES_ADDRESS_FAMILY=ipx"}}, "want ipv4, ipv6 or dualstack"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := r.ccm.Start(t.Context(), test.cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q in it", err, test.want)
			}
		})
	}
}
