package scene

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/fakecloud"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/fault"
	"nodestorm/sim/machine/node"
)

// Boots is how machines are that boot from now on. Its methods are safe for concurrent use.
type Boots struct {
	Profile node.Profile // of simulated nodes
	// Register is from a machine's launch to its registration; zero: as long as it takes.
	Register time.Duration
	// Ready is from a server's registration to its Node's being Ready; zero: the default.
	Ready time.Duration
	// Servers of a cloud, and machines that Karpenter launches, have real kubelets.
	RealServers, RealLaunched bool

	mu      sync.Mutex
	coming  *node.Coming // nil: no faults
	release string       // of kubelets; empty: the fleet's
}

// SetKubelet says of which release of Kubernetes kubelets are from now on.
func (b *Boots) SetKubelet(release string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release = release
}

// Kubelet see SetKubelet.
func (b *Boots) Kubelet() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.release
}

// Next is the profile of the next machine that boots.
func (b *Boots) Next() node.Profile {
	p := b.Profile
	p.Kubelet = b.Kubelet()
	p.Faults = b.nextFaults()
	return p
}

func (b *Boots) nextFaults() []fault.Fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.Clone(b.Profile.Faults)
	if b.coming != nil {
		all = append(all, b.coming.Next()...)
	}
	return all
}

// Joined is the profile of the next machine whose agents and faults count, and nothing else that is said of it.
func (b *Boots) Joined() node.Profile {
	return node.Profile{Agents: b.Profile.Agents, Kubelet: b.Kubelet(), Faults: b.nextFaults()}
}

// ServerProfile is how the next of a cloud's servers behaves.
func (b *Boots) ServerProfile(fakecloud.Instance) node.Profile {
	p := node.DefaultProfile()
	p.BootDelay = 0 // the server type's
	p.Agents, p.Kubelet, p.Faults = b.Profile.Agents, b.Kubelet(), b.nextFaults()
	if b.Ready > 0 {
		p.ReadyDelay = b.Ready
	}
	return p
}

// ServerKubelets are the machines that a server is one of, nil where it is simulated.
func (s *Scene) ServerKubelets(fakecloud.Instance) *kubelet.Machines {
	if !s.Boots.RealServers {
		return nil
	}
	return s.Kubelets
}

// LaunchedKubelets are the machines that one which Karpenter launches is of, nil where it is simulated.
func (s *Scene) LaunchedKubelets(fakecloud.Instance) *kubelet.Machines {
	if !s.Boots.RealLaunched {
		return nil
	}
	return s.Kubelets
}

// LaunchSetting is the Setting of a cloud whose instances Karpenter launches, each of which takes so long from its launch to
// its boot.
func (s *Scene) LaunchSetting(launch time.Duration) machines.Setting {
	on := s.Setting()
	on.Kubelets = s.LaunchedKubelets
	on.Profile = func(fakecloud.Instance) node.Profile {
		p := s.Boots.Next()
		p.BootDelay = 0 // the type's
		if s.Boots.Register > 0 {
			p.BootDelay = max(s.Boots.Register-launch, time.Millisecond)
		}
		return p
	}
	return on
}

// SystemNode has a Node that is for system pods only.
func (s *Scene) SystemNode(ctx context.Context, name, providerID string) error {
	profile := node.DefaultProfile()
	profile.BootDelay, profile.Kubelet = 0, s.Boots.Kubelet()
	err := s.World.Fleet().Boot(node.Spec{
		Name:       name,
		ProviderID: providerID,
		Taints:     []corev1.Taint{{Key: "CriticalAddonsOnly", Value: "true", Effect: corev1.TaintEffectNoSchedule}},
		Profile:    profile,
	})
	if err != nil {
		return err
	}
	return s.NodeReady(ctx, name, 5*time.Minute, 0)
}

// Setting is where a cloud of the scenario is, and what its instances run on.
func (s *Scene) Setting() machines.Setting {
	return machines.Setting{
		World: s.World, Seed: s.Rig.World.Seed, Types: s.Settings.Types,
		Kubelets: s.ServerKubelets, Containers: s.Containers, Profile: s.Boots.ServerProfile,
	}
}
