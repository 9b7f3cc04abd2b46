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
	"nodestorm/fakecloud/hcloud"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world/egress"
)

// Host is where the API is in the real world: programs without a setting for the
// endpoint go there, through the proxy.
const Host = "api.hetzner.cloud"

// metadata is where the metadata service begins.
const metadata = "/hetzner/v1/metadata/"

// config is that of a project, wherever it is served.
func config() fakecloud.Config {
	return fakecloud.Config{Catalogue: fakecloud.Hetzner(), CheckFault: hcloud.CheckFault}
}

// Project is a Hetzner Cloud project that is being served.
type Project struct {
	*fakecloud.Cloud
	server *hcloud.Server
	egress *egress.Proxy
	token  string
}

// Start makes an empty project. It ends with the world.
func Start(ctx context.Context, s machines.Setting) (*Project, error) {
	cloud, err := machines.Start(s, config(), metadata)
	if err != nil {
		return nil, err
	}
	p := &Project{Cloud: cloud, token: rand.Text()}
	if p.server, err = hcloud.Serve(context.WithoutCancel(ctx), hcloud.Config{Cloud: cloud, Token: p.token}); err != nil {
		return nil, fmt.Errorf("serving the Hetzner API: %w", err)
	}
	s.World.OnStop(p.server.Close)
	origin, err := url.Parse(p.server.URL())
	if err != nil {
		return nil, err
	}
	p.egress = s.World.Egress()
	return p, p.egress.Forward(Host, "http://"+origin.Host)
}

// Env is how a program reaches the project if it knows HCLOUD_ENDPOINT. One that does
// not gets there by the world's only way out.
func (p *Project) Env() []manifest.Variable {
	return []manifest.Variable{
		{Name: "HCLOUD_TOKEN", Value: p.token, Secret: true},
		{Name: "HCLOUD_ENDPOINT", Value: p.server.URL()},
	}
}
