package sentences

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/fault"
	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/run/then"
)

func (s *scenario) registerHetzner(on sentences) {
	on.Given(`^a Hetzner Cloud project$`, s.project)
	on.Given(`^a Hetzner Cloud project that still has the server type "cx11"$`, s.projectWithCX11)
	on.Given(`^a network, a firewall and an SSH key `+name+`$`, s.surroundings)
	on.Given(`^a Ready node `+name+` on a server of the project$`, s.serverNode)
	on.Given(`^a Ready node `+name+` with the provider ID `+name+`$`, s.foreignNode)

	on.When(`^a client creates the server `+name+` of type `+name+` in `+name+`$`, s.clientCreates)
	on.When(`^a client that knows api.hetzner.cloud only creates the server `+name+` of type `+name+` in `+name+`$`, s.clientByNameCreates)

	observe(on, then.Hetzner)
}

func (s *scenario) project(ctx context.Context) error { return s.startProject(ctx, hetzner.Config{}) }

// Servers of these scenarios' time needed it, whether anybody had one or not.
func (s *scenario) projectWithCX11(ctx context.Context) error {
	return s.startProject(ctx, hetzner.Config{Types: []fakecloud.ServerType{hetzner.CX11()}})
}

func (s *scenario) startProject(ctx context.Context, cfg hetzner.Config) (err error) {
	if s.hasCloud() {
		return errors.New("the scenario has a cloud already")
	}
	cfg.Types = append(cfg.Types, s.types...)
	cfg.World, cfg.Seed, cfg.Kubelets, cfg.Profile = s.world, s.rig.World.Seed, s.serverKubelets, s.serverProfile
	cfg.Containers = s.containers
	s.hetzner, err = hetzner.Start(ctx, cfg)
	return err
}

var errNoProject = errors.New(`there is no cloud yet: say "a Hetzner Cloud project" before`)

func (s *scenario) surroundings(name string) error {
	if s.hetzner == nil {
		return errNoProject
	}
	return s.hetzner.CreateSurroundings(name)
}

// serverNode stands for the control plane's. Old autoscalers do nothing while
// there is a Node that is no server of the project, and none does without any Node.
func (s *scenario) serverNode(ctx context.Context, name string) error {
	if s.hetzner == nil {
		return errNoProject
	}
	if err := s.hetzner.CreateServer(name, "", "cx22", "fsn1", " --register-with-taints=node-role.kubernetes.io/control-plane:NoSchedule"); err != nil {
		return err
	}
	return s.nodeReady(ctx, name, 5*time.Minute, 0)
}

func (s *scenario) clientCreates(ctx context.Context, server, serverType, location string) error {
	if s.hetzner == nil {
		return errNoProject
	}
	return createServer(ctx, s.hetzner.Client(), server, serverType, location)
}

func (s *scenario) clientByNameCreates(ctx context.Context, server, serverType, location string) error {
	if s.hetzner == nil {
		return errNoProject
	}
	client, err := s.hetzner.ClientByName()
	if err != nil {
		return err
	}
	return createServer(ctx, client, server, serverType, location)
}

// createServer makes the calls that an autoscaler makes. It is none.
func createServer(ctx context.Context, client *hcloud.Client, server, serverType, location string) error {
	t, _, err := client.ServerType.GetByName(ctx, serverType)
	if err != nil || t == nil {
		return fmt.Errorf("looking for server type %q: %w", serverType, cmp.Or(err, errors.New("there is none")))
	}
	image, _, err := client.Image.GetForArchitecture(ctx, hetzner.Image, t.Architecture)
	if err != nil || image == nil {
		return fmt.Errorf("looking for image %q: %w", hetzner.Image, cmp.Or(err, errors.New("there is none")))
	}
	_, _, err = client.Server.Create(ctx, hcloud.ServerCreateOpts{
		Name: server, ServerType: t, Image: image, Location: &hcloud.Location{Name: location}, UserData: hetzner.UserData(""),
	})
	return err
}

func (s *scenario) inject(f fault.Fault) error {
	switch {
	case s.hetzner != nil:
		return s.hetzner.Inject(f)
	case s.groups != nil:
		return s.groups.Inject(f)
	case s.instances != nil:
		return s.instances.Inject(f)
	}
	return errNoCloudToBreak
}
