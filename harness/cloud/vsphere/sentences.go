package vsphere

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud"
	"nodestorm/harness/cloud/live"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/history"
)

// Kind is that of a vSphere. No autoscaler has it: it is there for installers.
var Kind = live.Register(&live.Kind{Facts: cloud.Named("vsphere"), Sentences: sentences})

var sentences = scene.Sentences{
	Worlds:  "an installation by Kubespray on a vSphere, with real kubelets",
	Records: "what the installer does (harness), calls to the API server (api)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a vSphere`, Needs: []scene.Need{scene.Kubelet}, Wants: wantsVSphere, Act: vSphere},
		{Role: scene.Given, Words: `the virtual machines "NAME", "NAME" and "NAME", with their addresses for ADDRESS in this user data:`,
			Needs: []scene.Need{needed}, Check: scene.CheckUserData, Act: virtualMachines},
	},
}

// state is a scenario's vSphere, and the machines there.
type state struct {
	vcenter *VCenter
	nodes   []string
}

var needed = scene.Need{There: func(s *scene.Scene) bool { return scene.State[state](s).vcenter != nil },
	Missing: `there is no vSphere yet: say "a vSphere" before`}

// Machines are the names of the scenario's virtual machines, and of their Nodes.
func Machines(s *scene.Scene) []string { return scene.State[state](s).nodes }

func wantsVSphere(words.Args) (scene.Wants, error) {
	return scene.Wants{Parts: []builds.Ref{builds.CSRApprover, builds.CCMVSphere}}, nil
}

// vSphere has machines with kubelets, and the programs that the installer's manifests
// name: the images are mapped to our own programs.
func vSphere(ctx context.Context, s *scene.Scene, _ words.Args) error {
	on := s.Setting()
	on.Types, on.Containers, on.Profile = nil, nil, nil
	on.Kubelets = func(fakecloud.Instance) *kubelet.Machines { return s.Kubelets }
	vcenter, err := Start(ctx, on)
	if err != nil {
		return err
	}
	scene.State[state](s).vcenter = vcenter
	approver, err := s.Part(builds.CSRApprover)
	if err != nil {
		return err
	}
	manager, err := s.Part(builds.CCMVSphere)
	if err != nil {
		return err
	}
	s.Kubelets.Map("ghcr.io/postfinance/kubelet-csr-approver", kubelet.Program{
		Path: approver.Binary(),
		Args: []string{"--kubeconfig=$(KUBECONFIG)", "--health-probe-bind-address=127.0.0.1:$(PORT_8081)"},
		Env:  []string{"METRICS_BIND_ADDRESS=0"}, // the released one's would be a port that others have
	})
	s.Kubelets.Map("registry.k8s.io/cloud-pv-vsphere/cloud-provider-vsphere", kubelet.Program{
		Path: manager.Binary(),
		Args: []string{
			"--kubeconfig=$(KUBECONFIG)", "--authentication-kubeconfig=$(KUBECONFIG)", "--authorization-kubeconfig=$(KUBECONFIG)",
			"--authentication-skip-lookup", // only its probes ask it
			"--bind-address=127.0.0.1", "--secure-port=$(PORT_10258)", "--webhook-secure-port=0",
			"--leader-elect=false", // there is only one
		},
	})
	return nil
}

// virtualMachines is over when all have registered, as kubeadm join waits for it.
func virtualMachines(ctx context.Context, s *scene.Scene, a words.Args) error {
	of := scene.State[state](s)
	if err := s.CheckKubelet(ctx, a.Quoted); err != nil {
		return err
	}
	of.nodes = a.Texts()
	for _, n := range of.nodes {
		if err := of.vcenter.Create(n, a.Quoted); err != nil {
			return err
		}
	}
	for _, n := range of.nodes {
		_, err := s.Within(ctx, 5*time.Minute, 0, func(r history.Entry) bool {
			return r.Source == history.API && r.Verb == "create" && r.Object.Resource == "nodes" && r.Object.Name == n && r.Code < 300
		})
		if err != nil {
			return fmt.Errorf("waiting for node %q to register: %w", n, err)
		}
	}
	return createSecret(ctx, s, of.vcenter)
}

// createSecret is what the manifest of the cloud controller manager mounts; the
// installer makes it from the user's inventory.
func createSecret(ctx context.Context, s *scene.Scene, vcenter *VCenter) error {
	text, err := vcenter.Login().Config()
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "vsphere-cloud-config", Namespace: metav1.NamespaceSystem},
		StringData: map[string]string{"vsphere.conf": text},
	}
	_, err = s.World.Client().CoreV1().Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{})
	return err
}
