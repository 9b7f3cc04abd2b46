package machines_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/harness/cloud/machines"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

const external = `#cloud-config
write_files:
- path: /etc/rancher/k3s/config.yaml
  content: |
    node-label: ["example.org/pool=a"]
    node-taint: ["example.org/pool=a:NoExecute"]
    kubelet-arg: ["cloud-provider=external", "kube-reserved=cpu=50m,memory=300Mi"]
`

const plain = "#!/bin/bash\nkubeadm join 10.0.0.1:6443 --token hush\n"

// rig is a cloud and a fleet without an API server, in a bubble of testing/synctest.
type rig struct {
	t      *testing.T
	cloud  *fakecloud.Cloud
	fleet  *node.Fleet
	client *fake.Clientset

	mu     sync.Mutex
	events []history.Event
}

func (r *rig) Record(e history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.At.IsZero() {
		e.At = time.Now()
	}
	r.events = append(r.events, e)
}

func inRig(t *testing.T, cfg machines.Config, test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, client: fake.NewClientset()}
		var err error
		if r.cloud, err = fakecloud.New(fakecloud.Config{Clock: clock.RealClock{}, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		defer r.cloud.Close()
		if r.fleet, err = node.New(node.Config{Client: r.client, Clock: clock.RealClock{}, Seed: 1}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- r.fleet.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()
		<-r.fleet.Ready()
		cfg.Cloud, cfg.Fleet, cfg.History = r.cloud, r.fleet, r
		if cfg.Seed == 0 {
			cfg.Seed = 1
		}
		j, err := machines.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		test(r)
	})
}

// containers notes what is asked of them.
type containers struct {
	mu    sync.Mutex
	asked []string
	last  machines.Container
}

func (c *containers) note(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, what)
}

func (c *containers) PowerOn(of machines.Container) {
	c.mu.Lock()
	c.last = of
	c.mu.Unlock()
	c.note("on " + of.Name)
}
func (c *containers) PowerOff(name string) { c.note("off " + name) }
func (c *containers) Discard(name string)  { c.note("discard " + name) }

// An instance is a container as long as it is there, whatever its user data is.
func TestContainers(t *testing.T) {
	c := &containers{}
	profile := func(fakecloud.Instance) node.Profile { return node.Profile{BootDelay: time.Minute} }
	inRig(t, machines.Config{Containers: c, Profile: profile}, func(r *rig) {
		const joins = "#!/bin/bash\nhostnamectl set-hostname other\nkubeadm join 10.0.0.1:6443 --token abcdef.0123456789abcdef\n"
		id := r.create("a", "cx22", joins)
		if got := c.last; got.Node != "other" || got.Endpoint != "10.0.0.1:6443" || got.Token != "abcdef.0123456789abcdef" ||
			got.UserData != joins ||
			got.Cores != 2 || got.Memory != 4_080_218_931 || len(got.Addresses) != 1 || got.Metadata["/hetzner/v1/metadata/hostname"] != "a" ||
			got.Profile.BootDelay != time.Minute {
			t.Errorf("the container is %+v", got)
		}
		for _, command := range []string{"stop_server", "start_server"} {
			r.power(id, command)
			time.Sleep(time.Minute)
		}
		if err := r.cloud.Update(func(tx *fakecloud.Tx) error { tx.Delete(id); return nil }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		r.create("b", "cx22", "#cloud-config\nruncmd: {}\n")
		if got, want := strings.Join(c.asked, ", "), "on a, off a, on a, off a, discard a, on b"; got != want {
			t.Errorf("asked for %s, want %s", got, want)
		}
		if len(r.client.Actions()) > 0 && strings.Contains(fmt.Sprint(r.client.Actions()), "create") {
			t.Errorf("there is a simulated Node, too: %v", r.client.Actions())
		}
	})
}

// create makes an instance and returns once it runs.
func (r *rig) create(name, serverType, userData string) int64 {
	r.t.Helper()
	var id int64
	err := r.cloud.Update(func(tx *fakecloud.Tx) error {
		image := "debian-12"
		i, _, _, err := tx.Create(fakecloud.Spec{
			Name: name, Type: r.cloud.Catalogue().ServerType(serverType), Image: tx.Images.Named(image),
			Location: "fsn1", Start: true, IPv4: true, UserData: userData,
		})
		if err == nil {
			id = i.ID
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	for range 60 {
		time.Sleep(time.Second)
		if r.state(id) == fakecloud.Running {
			synctest.Wait()
			return id
		}
	}
	r.t.Fatalf("instance %s is %s", name, r.state(id))
	return 0
}

func (r *rig) state(id int64) fakecloud.State {
	for _, i := range r.cloud.Instances() {
		if i.ID == id {
			return i.State
		}
	}
	return fakecloud.Gone
}

func (r *rig) node(name string) *corev1.Node {
	n, err := r.client.CoreV1().Nodes().Get(context.Background(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

// event is the last one of a verb.
func (r *rig) event(verb string) (last history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Verb == verb {
			last = e
		}
	}
	return last
}

func (r *rig) power(id int64, command string) {
	if err := r.cloud.Update(func(tx *fakecloud.Tx) error { tx.Power(id, command); return nil }); err != nil {
		r.t.Fatal(err)
	}
}

// renewed is when the node's Lease was.
func (r *rig) renewed(name string) time.Time {
	l, err := r.client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(context.Background(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return l.Spec.RenewTime.Time
}

func TestExternal(t *testing.T) {
	inRig(t, machines.Config{}, func(r *rig) {
		r.create("pool-a-1", "cax11", external)
		booted := r.event("boot")
		delay, err := time.ParseDuration(booted.Detail["delay"].(string))
		if err != nil || delay < 32*time.Second || delay > 48*time.Second {
			t.Errorf("delay %v, %v; want 40s ± 20 %%", delay, err)
		}
		if args := booted.Detail["args"].(string); !strings.Contains(args, "--cloud-provider=external") {
			t.Errorf("arguments %q", args)
		}
		time.Sleep(time.Until(booted.At.Add(delay - time.Millisecond)))
		synctest.Wait()
		if r.node("pool-a-1") != nil {
			t.Error("the Node comes before its machine has booted")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		n := r.node("pool-a-1")
		if n == nil {
			t.Fatal("no Node after the delay")
		}
		if n.Spec.ProviderID != "" {
			t.Errorf("provider ID %q: want the cloud controller manager to set it", n.Spec.ProviderID)
		}
		wantTaints := []corev1.Taint{{Key: "example.org/pool", Value: "a", Effect: corev1.TaintEffectNoExecute}, machines.Uninitialized}
		if d := cmp.Diff(wantTaints, n.Spec.Taints); d != "" {
			t.Error(d)
		}
		for label, want := range map[string]string{"example.org/pool": "a", corev1.LabelHostname: "pool-a-1", corev1.LabelArchStable: "arm64"} {
			if got := n.Labels[label]; got != want {
				t.Errorf("label %s is %q, want %q", label, got, want)
			}
		}
		if d := cmp.Diff([]corev1.NodeAddress{{Type: corev1.NodeHostName, Address: "pool-a-1"}}, n.Status.Addresses); d != "" {
			t.Error(d)
		}
		for what, list := range map[string]corev1.ResourceList{
			"2 4080218931 40G 110":     n.Status.Capacity, // cax11: 2 cores, 4 GB, 40 GB
			"1950m 3660788531 36G 110": n.Status.Allocatable,
		} {
			got := strings.Join([]string{list.Cpu().String(), list.Memory().String(), strings.TrimSuffix(list.StorageEphemeral().AsDec().String(),
				"000000000") + "G", list.Pods().String()}, " ")
			if got != what {
				t.Errorf("resources %s, want %s", got, what)
			}
		}
	})
}

func TestWithoutCloudProvider(t *testing.T) {
	inRig(t, machines.Config{}, func(r *rig) {
		r.create("worker", "cx22", plain)
		if args, _ := r.event("boot").Detail["args"].(string); strings.Contains(args, "hush") {
			t.Error("the token is in the record")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		n := r.node("worker")
		if n == nil {
			t.Fatal("no Node")
		}
		ip := r.cloud.Instances()[0].PublicIPv4.String()
		want := []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: ip}, {Type: corev1.NodeHostName, Address: "worker"}}
		if d := cmp.Diff(want, n.Status.Addresses); d != "" {
			t.Error(d)
		}
		if len(n.Spec.Taints) != 0 || n.Spec.ProviderID != "" {
			t.Errorf("taints %v, provider ID %q: want none", n.Spec.Taints, n.Spec.ProviderID)
		}
	})
}

// What takes a machine down silences its node, and nothing takes the Node away.
func TestLife(t *testing.T) {
	for _, test := range []struct {
		name     string
		do       func(*rig, int64)
		silent   bool
		comeback bool // a second machine of the kubelet's life
	}{
		{"nothing", func(*rig, int64) {}, false, false},
		{"deleted", func(r *rig, id int64) {
			_ = r.cloud.Update(func(tx *fakecloud.Tx) error { tx.Delete(id); return nil })
		}, true, false},
		{"powered off", func(r *rig, id int64) { r.power(id, "stop_server") }, true, false},
		{"rebooted", func(r *rig, id int64) { r.power(id, "reboot_server") }, false, true},
		{"off and on", func(r *rig, id int64) {
			r.power(id, "stop_server")
			time.Sleep(10 * time.Second)
			r.power(id, "start_server")
		}, false, true},
		{"vanished", func(r *rig, _ int64) { r.inject(fault.Fault{Name: "v", Effect: cloudfault.Vanishes{}}) }, true, false},
		{"host crashed", func(r *rig, _ int64) { r.inject(fault.Fault{Name: "o", Effect: cloudfault.TurnsOff{}}) }, true, false},
		{"deletion failed", func(r *rig, id int64) {
			r.inject(fault.Fault{Name: "d", Match: cloudfault.Match{Operation: "delete_server"}, Effect: cloudfault.ActionFails{}})
			_ = r.cloud.Update(func(tx *fakecloud.Tx) error { tx.Delete(id); return nil })
		}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inRig(t, machines.Config{}, func(r *rig) {
				id := r.create("worker", "cx22", plain)
				time.Sleep(2 * time.Minute)
				test.do(r, id)
				acted := time.Now()
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				if r.node("worker") == nil {
					t.Fatal("the Node is gone: that is the cluster's business")
				}
				last := r.renewed("worker")
				if silent := last.Before(acted.Add(10 * time.Second)); silent != test.silent {
					t.Errorf("silent %v, want %v: the last renewal came %s after it", silent, test.silent, last.Sub(acted))
				}
				if again := r.event("boot").At.After(acted.Add(-15 * time.Second)); again != test.comeback {
					t.Errorf("booted again %v, want %v", again, test.comeback)
				}
			})
		})
	}
}

func (r *rig) inject(f fault.Fault) {
	if err := r.cloud.Inject(f); err != nil {
		r.t.Fatal(err)
	}
}

func TestNeverRegisters(t *testing.T) {
	profile := func(i fakecloud.Instance) node.Profile {
		p := node.DefaultProfile()
		p.BootDelay = 5 * time.Second
		if i.Name == "lost" {
			p.Faults = []fault.Fault{{Name: "lost", Effect: node.NeverRegisters{}}}
		}
		return p
	}
	inRig(t, machines.Config{Profile: profile}, func(r *rig) {
		r.create("lost", "cx22", plain)
		r.create("found", "cx22", plain)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if r.node("lost") != nil || r.node("found") == nil {
			t.Errorf("lost %v, found %v", r.node("lost"), r.node("found"))
		}
	})
}

// User data that joins nothing leaves a machine that runs, and a reason.
func TestNoJoin(t *testing.T) {
	for _, test := range []struct{ name, userData, want string }{
		{"empty", "", "joins no cluster"},
		{"broken", "#cloud-config\nwrite_files: [", "user data: line"},
		{"reserved", "#cloud-config\nwrite_files:\n- {path: /etc/default/kubelet, content: 'KUBELET_EXTRA_ARGS=--system-reserved=memory=lots'}\n", `--system-reserved: "memory=lots": want resource=quantity`},
		{"pods", "#cloud-config\nwrite_files:\n- {path: /etc/default/kubelet, content: 'KUBELET_EXTRA_ARGS=--max-pods=many'}\n",
			`--max-pods is "many"`},
		{"same name", plain + "hostnamectl set-hostname first\n", "it is there already"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inRig(t, machines.Config{}, func(r *rig) {
				r.create("first", "cx22", plain)
				id := r.create("worker", "cx22", test.userData)
				time.Sleep(20 * time.Minute)
				synctest.Wait()
				if r.state(id) != fakecloud.Running {
					t.Errorf("the instance is %s", r.state(id))
				}
				e := r.event("nojoin")
				reason, _ := e.Detail["reason"].(string)
				if !strings.Contains(reason, test.want) || e.Object.Name != "worker" || e.Source != history.Node {
					t.Errorf("event %+v, want reason %q", e, test.want)
				}
				if r.node("worker") != nil {
					t.Error("a Node has come all the same")
				}
			})
		})
	}
}

func TestSeed(t *testing.T) {
	delays := func(seed uint64) (delays [2]string) {
		inRig(t, machines.Config{Seed: seed}, func(r *rig) {
			for i, name := range []string{"a", "b"} {
				r.create(name, "cx22", plain)
				delays[i] = r.event("boot").Detail["delay"].(string)
			}
		})
		return delays
	}
	first := delays(1)
	if first != delays(1) {
		t.Error("the same seed gives other delays")
	}
	if first == delays(2) || first[0] == first[1] {
		t.Error("another seed or another name gives the same delay")
	}
}

// Instances that run already join too.
func TestLate(t *testing.T) {
	inRig(t, machines.Config{}, func(r *rig) {
		fleet, err := node.New(node.Config{Client: r.client, Clock: clock.RealClock{}})
		if err != nil {
			t.Fatal(err)
		}
		r.create("early", "cx22", plain)
		j, err := machines.New(machines.Config{Cloud: r.cloud, Fleet: fleet})
		if err != nil {
			t.Fatal(err)
		}
		j.Close()
		if n := fleet.Stats().Nodes; n != 1 {
			t.Errorf("%d machines, want the one that runs", n)
		}
		r.create("after the end", "cx22", plain)
		if n := fleet.Stats().Nodes; n != 1 {
			t.Errorf("%d machines after Close", n)
		}
	})
}

func TestConfig(t *testing.T) {
	if _, err := machines.New(machines.Config{}); err == nil || !strings.Contains(err.Error(), "Cloud") {
		t.Errorf("empty Config: %v", err)
	}
	inRig(t, machines.Config{}, func(r *rig) {
		for want, cfg := range map[string]machines.Config{
			"Jitter is 2":         {Jitter: 2},
			`BootDelay of "cx22"`: {BootDelay: map[string]time.Duration{"cx22": -1}},
		} {
			cfg.Cloud, cfg.Fleet = r.cloud, r.fleet
			if _, err := machines.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}
