package sentences

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cucumber/godog"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/cloud/vsphere"
	"nodestorm/harness/program/installer"
	"nodestorm/harness/run/then"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/history"
)

func (s *scenario) registerKubespray(on sentences) {
	on.Given(`^`+vSphere+`$`, s.vSphere)
	on.Given(`^the virtual machines `+name+`, `+name+` and `+name+`, with their addresses for ADDRESS in this user data:$`, s.virtualMachines)
	on.Given(`^the Deployment `+name+` tolerates the taint `+name+`$`, s.deploymentTolerates)

	on.When(`^Kubespray installs the cluster's add-ons$`, s.kubesprayInstalls)
	on.When(`^somebody asks for the logs of the DaemonSet `+name+` and the metrics of every Node for `+span+`$`, s.askKubelets)

	observe(on, then.Kubespray)
}

// installation is an installer's run, and what came of it.
type installation struct {
	order   *installer.Order
	vcenter *vsphere.VCenter
	nodes   []string
}

var errNoKubelets = errors.New(`no kubelet can join: say "a cluster that kubelets can join" in place of "a cluster"`)

// vSphere has machines with kubelets, and the programs that the installer's manifests
// name: the images are mapped to our own programs.
func (s *scenario) vSphere(ctx context.Context) (err error) {
	if s.kubelets == nil {
		return errNoKubelets
	}
	if s.install.vcenter, err = vsphere.Start(ctx, s.world, s.rig.World.Seed); err != nil {
		return err
	}
	approver, err := s.part(builds.CSRApprover)
	if err != nil {
		return err
	}
	manager, err := s.part(builds.CCMVSphere)
	if err != nil {
		return err
	}
	s.kubelets.Map("ghcr.io/postfinance/kubelet-csr-approver", kubelet.Program{
		Path: approver.Binary(),
		Args: []string{"--kubeconfig=$(KUBECONFIG)", "--health-probe-bind-address=127.0.0.1:$(PORT_8081)"},
		Env:  []string{"METRICS_BIND_ADDRESS=0"}, // the released one's would be a port that others have
	})
	s.kubelets.Map("registry.k8s.io/cloud-pv-vsphere/cloud-provider-vsphere", kubelet.Program{
		Path: manager.Binary(),
		Args: []string{
			"--kubeconfig=$(KUBECONFIG)", "--authentication-kubeconfig=$(KUBECONFIG)", "--authorization-kubeconfig=$(KUBECONFIG)",
			"--authentication-skip-lookup", // nobody but its probes asks it
			"--bind-address=127.0.0.1", "--secure-port=$(PORT_10258)", "--webhook-secure-port=0",
			"--leader-elect=false", // there is only one
		},
	})
	machines, err := machines.New(machines.Config{
		Cloud: s.install.vcenter.Cloud, Fleet: s.world.Fleet(), History: s.world.History(), Seed: s.rig.World.Seed,
		Kubelets: func(fakecloud.Instance) *kubelet.Machines { return s.kubelets },
	})
	if err != nil {
		return err
	}
	s.world.OnStop(func() error { machines.Close(); return nil })
	return nil
}

var errNoVSphere = errors.New(`there is no vSphere yet: say "a vSphere" before`)

// virtualMachines is over when all have registered, as kubeadm join waits for it.
func (s *scenario) virtualMachines(ctx context.Context, first, second, third string, text *godog.DocString) error {
	if s.install.vcenter == nil {
		return errNoVSphere
	}
	if err := s.checkKubelet(ctx, text.Content); err != nil {
		return err
	}
	s.install.nodes = []string{first, second, third}
	for _, n := range s.install.nodes {
		if err := s.install.vcenter.Create(n, text.Content); err != nil {
			return err
		}
	}
	for _, n := range s.install.nodes {
		_, err := s.within(ctx, 5*time.Minute, 0, func(r history.Record) bool {
			return r.Source == history.API && r.Verb == "create" && r.Object.Resource == "nodes" && r.Object.Name == n && r.Code < 300
		})
		if err != nil {
			return fmt.Errorf("waiting for node %q to register: %w", n, err)
		}
	}
	return s.vSphereSecret(ctx)
}

// vSphereSecret is what the manifest of the cloud controller manager mounts; the
// installer makes it from the user's inventory.
func (s *scenario) vSphereSecret(ctx context.Context) error {
	text, err := s.install.vcenter.Settings().Config()
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "vsphere-cloud-config", Namespace: metav1.NamespaceSystem},
		StringData: map[string]string{"vsphere.conf": text},
	}
	_, err = s.world.Client().CoreV1().Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{})
	return err
}

// installer is the order under test.
func (s *scenario) installer() (*installer.Order, error) {
	if s.install.order == nil {
		var err error
		if s.rig.Order != "" {
			s.install.order, _, err = installer.Load(s.rig.Order)
		} else {
			s.install.order, _, err = installer.Known(s.rig.Target.Name, s.rig.Target.Version)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.install.order, nil
}

func (s *scenario) deploymentTolerates(deployment, key string) error {
	o, err := s.installer()
	if err != nil {
		return err
	}
	return o.Tolerate("Deployment", metav1.NamespaceSystem, deployment, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule})
}

// kubesprayInstalls is over when the installer is, whether it succeeds or not: that is
// for a Then to say.
func (s *scenario) kubesprayInstalls(ctx context.Context) error {
	o, err := s.installer()
	if err != nil {
		return err
	}
	c, err := client.New(s.world.Admin(), client.Options{})
	if err != nil {
		return err
	}
	ctx, cancel := s.world.Alive(ctx)
	defer cancel(nil)
	// What it did, and whether it succeeded, is in the history.
	_ = installer.Runner{Client: c, Clock: s.world.Clock(), History: s.world.History()}.Run(ctx, o)
	return context.Cause(ctx)
}

var errNoMachines = errors.New(`there are no virtual machines yet: say "the virtual machines …" before`)
