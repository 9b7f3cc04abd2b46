// Package hetzner puts a Hetzner Cloud project into a world: the cloud, its API
// on loopback, the ways to it that programs have, and the machines that its
// servers boot into. Programs take the endpoint and the token from their
// environment, as they do for the real one.
//
// It knows no autoscaler.
package hetzner

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/hcloud"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/egress"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/fault"
	"nodestorm/sim/machine/node"
)

// Host is where the API is in the real world: programs without a setting for the
// endpoint go there, through the proxy.
const Host = "api.hetzner.cloud"

// Config of a Project. World is required.
type Config struct {
	World *world.World
	Seed  uint64
	// Types are server types that it has besides those of today.
	Types []fakecloud.ServerType
	// Kubelets, Containers and Profile say what runs on the servers and how they behave, see
	// join.Config.
	Kubelets   func(fakecloud.Instance) *kubelet.Machines
	Containers machines.Containers
	Profile    func(fakecloud.Instance) node.Profile
}

// Project is a Hetzner Cloud project that is being served.
type Project struct {
	*fakecloud.Cloud
	server *hcloud.Server
	egress *egress.Proxy
	token  string
}

// Start makes an empty project. It ends with the world.
func Start(ctx context.Context, cfg Config) (*Project, error) {
	w := cfg.World
	catalogue := fakecloud.Hetzner()
	if err := catalogue.Add(cfg.Types...); err != nil {
		return nil, err
	}
	cloud, err := fakecloud.New(fakecloud.Config{Clock: w.Clock(), Seed: cfg.Seed, Recorder: w.History(), Catalogue: catalogue})
	if err != nil {
		return nil, err
	}
	w.OnStop(func() error { cloud.Close(); return nil })
	joined, err := machines.New(machines.Config{Cloud: cloud, Fleet: w.Fleet(), Kubelets: cfg.Kubelets, Containers: cfg.Containers, History: w.History(), Seed: cfg.Seed, Profile: cfg.Profile})
	if err != nil {
		return nil, err
	}
	w.OnStop(func() error { joined.Close(); return nil })
	p := &Project{Cloud: cloud, token: rand.Text()}
	if p.server, err = hcloud.Serve(context.WithoutCancel(ctx), hcloud.Config{Cloud: cloud, Token: p.token}); err != nil {
		return nil, fmt.Errorf("serving the Hetzner API: %w", err)
	}
	w.OnStop(p.server.Close)
	origin, err := url.Parse(p.server.URL())
	if err != nil {
		return nil, err
	}
	p.egress = w.Egress()
	return p, p.egress.Forward(Host, "http://"+origin.Host)
}

// Inject arms a fault.
func (p *Project) Inject(f fault.Fault) error {
	if err := cloudfault.Check(f, hcloud.Operations()); err != nil {
		return err
	}
	return p.Cloud.Inject(f)
}

// Env is how a program reaches the project if it knows HCLOUD_ENDPOINT. One that does
// not gets there by the world's only way out.
func (p *Project) Env() []manifest.Variable {
	return []manifest.Variable{
		{Name: "HCLOUD_TOKEN", Value: p.token, Secret: true},
		{Name: "HCLOUD_ENDPOINT", Value: p.server.URL()},
	}
}
