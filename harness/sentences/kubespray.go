package sentences

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/cloud/vsphere"
	"nodestorm/harness/program/installer"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/history"
)

var kubespraySentences = scene.Sentences{
	Worlds:  "an installation by Kubespray on a vSphere, with real kubelets",
	Records: "what the installer does (harness), calls to the API server (api)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a vSphere`, Needs: []scene.Need{scene.Kubelet}, Wants: wantsVSphere, Act: vSphere},
		{Role: scene.Given, Words: `the virtual machines "NAME", "NAME" and "NAME", with their addresses for ADDRESS in this user data:`,
			Needs: []scene.Need{needsVSphere}, Check: checkUserData, Act: virtualMachines},
		{Role: scene.Given, Words: `the Deployment "NAME" tolerates the taint "NAME"`, Act: deploymentTolerates},
		{Role: scene.When, Words: `Kubespray installs the cluster's add-ons`, Act: kubesprayInstalls},
		{Role: scene.When, Words: `somebody asks for the logs of the DaemonSet "NAME" and the metrics of every Node for DURATION`,
			Needs: []scene.Need{needsMachines}, Act: askKubelets},
	},
}

// installation is an installer's run, and what came of it.
type installation struct {
	order   *installer.Order
	vcenter *vsphere.VCenter
	nodes   []string
}

var (
	needsVSphere = scene.Need{There: func(s *scene.Scene) bool { return scene.State[installation](s).vcenter != nil },
		Missing: `there is no vSphere yet: say "a vSphere" before`}
	needsMachines = scene.Need{There: func(s *scene.Scene) bool { return len(scene.State[installation](s).nodes) > 0 },
		Missing: `there are no virtual machines yet: say "the virtual machines …" before`}
)

func wantsVSphere(words.Args) (scene.Wants, error) {
	return scene.Wants{Parts: []builds.Ref{builds.CSRApprover, builds.CCMVSphere}}, nil
}

// vSphere has machines with kubelets, and the programs that the installer's manifests
// name: the images are mapped to our own programs.
func vSphere(ctx context.Context, s *scene.Scene, _ words.Args) error {
	vcenter, err := vsphere.Start(ctx, s.World, s.Rig.World.Seed)
	if err != nil {
		return err
	}
	scene.State[installation](s).vcenter = vcenter
	approver, err := part(s, builds.CSRApprover)
	if err != nil {
		return err
	}
	manager, err := part(s, builds.CCMVSphere)
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
			"--authentication-skip-lookup", // nobody but its probes asks it
			"--bind-address=127.0.0.1", "--secure-port=$(PORT_10258)", "--webhook-secure-port=0",
			"--leader-elect=false", // there is only one
		},
	})
	joined, err := machines.New(machines.Config{
		Cloud: vcenter.Cloud, Fleet: s.World.Fleet(), History: s.World.History(), Seed: s.Rig.World.Seed,
		Kubelets: func(fakecloud.Instance) *kubelet.Machines { return s.Kubelets },
	})
	if err != nil {
		return err
	}
	s.World.OnStop(func() error { joined.Close(); return nil })
	return nil
}

// virtualMachines is over when all have registered, as kubeadm join waits for it.
func virtualMachines(ctx context.Context, s *scene.Scene, a words.Args) error {
	of := scene.State[installation](s)
	if err := checkKubelet(ctx, s, a.Quoted); err != nil {
		return err
	}
	of.nodes = a.Texts()
	for _, n := range of.nodes {
		if err := of.vcenter.Create(n, a.Quoted); err != nil {
			return err
		}
	}
	for _, n := range of.nodes {
		_, err := s.Within(ctx, 5*time.Minute, 0, func(r history.Record) bool {
			return r.Source == history.API && r.Verb == "create" && r.Object.Resource == "nodes" && r.Object.Name == n && r.Code < 300
		})
		if err != nil {
			return fmt.Errorf("waiting for node %q to register: %w", n, err)
		}
	}
	return vSphereSecret(ctx, s, of.vcenter)
}

// vSphereSecret is what the manifest of the cloud controller manager mounts; the
// installer makes it from the user's inventory.
func vSphereSecret(ctx context.Context, s *scene.Scene, vcenter *vsphere.VCenter) error {
	text, err := vcenter.Settings().Config()
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

// orderOf is the order of the installer under test.
func orderOf(s *scene.Scene) (order *installer.Order, err error) {
	of := scene.State[installation](s)
	if of.order != nil {
		return of.order, nil
	}
	if s.Rig.Order != "" {
		of.order, _, err = installer.Load(s.Rig.Order)
	} else {
		of.order, _, err = installer.Known(s.Rig.Target.Name, s.Rig.Target.Version)
	}
	return of.order, err
}

func deploymentTolerates(_ context.Context, s *scene.Scene, a words.Args) error {
	o, err := orderOf(s)
	if err != nil {
		return err
	}
	taint := corev1.Toleration{Key: a.Text(1), Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
	return o.Tolerate("Deployment", metav1.NamespaceSystem, a.Text(0), taint)
}

// kubesprayInstalls is over when the installer is, whether it succeeds or not: that is
// for a Then to say.
func kubesprayInstalls(ctx context.Context, s *scene.Scene, _ words.Args) error {
	o, err := orderOf(s)
	if err != nil {
		return err
	}
	c, err := client.New(s.World.Admin(), client.Options{})
	if err != nil {
		return err
	}
	ctx, cancel := s.World.Alive(ctx)
	defer cancel(nil)
	// What it did, and whether it succeeded, is in the history.
	_ = installer.Runner{Client: c, Clock: s.World.Clock(), History: s.World.History()}.Run(ctx, o)
	return context.Cause(ctx)
}
