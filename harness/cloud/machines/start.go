package machines

import (
	"nodestorm/fakecloud"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/machine/node"
)

// Setting is where a cloud is, and what its instances run on. World is required.
type Setting struct {
	World *world.World
	Seed  uint64
	// Types are machine types that the cloud has beside its own.
	Types []fakecloud.ServerType
	// Kubelets, Containers and Profile say what runs on the instances and how they behave, see Config.
	Kubelets   func(fakecloud.Instance) *kubelet.Machines
	Containers Containers
	Profile    func(fakecloud.Instance) node.Profile
	// Answers are those of the cloud's metadata service by their paths, beside those that all have, see Config.
	Answers func(fakecloud.Instance) map[string]string
}

// Start makes a cloud in the world, as cfg has it, whose instances become Nodes; metadata is where its metadata service
// begins. It ends with the world.
func Start(s Setting, cfg fakecloud.Config, metadata string) (*fakecloud.Cloud, error) {
	w := s.World
	if err := cfg.Catalogue.Add(s.Types...); err != nil {
		return nil, err
	}
	cfg.Clock, cfg.Seed, cfg.Recorder = w.Clock(), s.Seed, w.History()
	cloud, err := fakecloud.New(cfg)
	if err != nil {
		return nil, err
	}
	w.OnStop(func() error { cloud.Close(); return nil })
	joined, err := New(Config{
		Cloud: cloud, Fleet: w.Fleet(), Kubelets: s.Kubelets, Containers: s.Containers, History: w.History(), Seed: s.Seed,
		Profile: s.Profile, Metadata: metadata, Answers: s.Answers,
	})
	if err != nil {
		return nil, err
	}
	w.OnStop(func() error { joined.Close(); return nil })
	return cloud, nil
}

// UserData makes a machine join the cluster as the documentation of kubeadm has it. Its kubelet has a provider ID of that
// scheme, with what the metadata service has at the path, and further flags, each with a space before it. The token opens
// nothing.
func UserData(scheme, path, flags string) string {
	id := scheme + "$(curl -sf http://169.254.169.254" + path + ")"
	return `#cloud-config
runcmd:
  - echo "KUBELET_EXTRA_ARGS=--provider-id=` + id + flags + `" > /etc/default/kubelet
  - kubeadm join 10.0.0.2:6443 --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
`
}
