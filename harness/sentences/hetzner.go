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
	"nodestorm/sim/history"
)

func (s *scenario) registerHetzner(on sentences) {
	on.Given(`^a Hetzner Cloud project$`, s.project)
	on.Given(`^a Hetzner Cloud project that still has the server type "cx11"$`, s.projectWithCX11)
	on.Given(`^a network, a firewall and an SSH key `+name+`$`, s.surroundings)
	on.Given(`^a Ready node `+name+` on a server of the project$`, s.serverNode)
	on.Given(`^a Ready node `+name+` with the provider ID `+name+`$`, s.foreignNode)

	on.When(`^a client creates the server `+name+` of type `+name+` in `+name+`$`, s.clientCreates)
	on.When(`^a client that knows api.hetzner.cloud only creates the server `+name+` of type `+name+` in `+name+`$`, s.clientByNameCreates)

	on.Then(`^no running server is deleted within `+span+`$`, named(`
- noSequence:
  - match: {source: cloud, verb: running, resource: instances}
    capture: {server: name}
  - match: {source: cloud, verb: deleting, resource: instances, name: $server}
    absent: [{source: cloud, resource: instances, name: $server}]
- happens: {source: cloud, verb: running, resource: instances, detail: {group: {exists: true}}}
  ever: true
`))
	on.Then(`^no server is deleted within `+span+`$`, named(`
- never: {source: cloud, verb: deleting, resource: instances}
  ever: true
- happens: {source: cloud, verb: created, resource: instances, detail: {group: {exists: true}}}
  ever: true
`))
	on.Then(`^the node `+name+` is Ready within `+span+` and has the provider ID of its server$`, named(`
- happens: {source: node, verb: ready, resource: nodes, name: "$1"}
- sequence:
  - match: {source: cloud, verb: created, resource: instances, name: "$1"}
    capture: {id: detail.id}
  - match: {source: api, resource: nodes, name: "$1", detail: {providerID: "hcloud://${id}"}}
`))
	on.Then(`^a server of the group `+name+` that has not started is deleted within `+span+`$`, named(`
- sequence:
  - match: {source: cloud, verb: [created, starting], resource: instances, detail: {group: "$1"}}
    capture: {server: name}
  - match: {source: cloud, verb: deleting, resource: instances, name: $server}
    absent: [{source: cloud, resource: instances, name: $server}]
`))
	on.Then(`^a server that is off is deleted within `+span+`$`, s.offServerDeleted)
	on.Then(`^`+number+` servers? of the group `+name+` (?:is|are) created within `+span+`$`, named(`
- count: {source: cloud, verb: created, resource: instances, detail: {group: "$2"}}
  atLeast: #1
`))
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

// offServerDeleted counts from when the first server is off, for which it waits.
func (*scenario) offServerDeleted(d string) (observation, error) {
	const turnsOff = 10 * time.Minute
	limit, err := duration(d)
	var off history.Record
	var deadline time.Duration
	still := func() error {
		if off.Seq == 0 {
			return fmt.Errorf("waiting for a server to be off: %w", errWindow)
		}
		return fmt.Errorf("server %s is off since %s and still there", off.Object.Name, off.Virtual.Round(100*time.Millisecond))
	}
	return observation{
		window: turnsOff + limit,
		see: func(r history.Record, at phase) (bool, error) {
			if at == begun && deadline == 0 {
				if deadline = r.Virtual + turnsOff; off.Seq != 0 {
					deadline = r.Virtual + limit
				}
			}
			switch {
			case at == begun && r.Virtual > deadline:
				return true, still()
			case off.Seq == 0 && life(r) && r.Verb == "off":
				off = r
				if at == begun {
					deadline = r.Virtual + limit
				}
			case off.Seq != 0 && life(r) && r.Verb == "deleting" && r.Object.Name == off.Object.Name:
				return true, nil
			}
			return false, nil
		},
		over: still,
	}, err
}
