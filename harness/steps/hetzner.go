package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/fault"
	"nodestorm/harness/hetzner"
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

	on.Then(`^no running server is deleted within `+span+`$`, s.noRunningServerDeleted)
	on.Then(`^no server is deleted within `+span+`$`, s.noServerDeleted)
	on.Then(`^the node `+name+` is Ready within `+span+` and has the provider ID of its server$`, s.serverJoins)
	on.Then(`^a server of the group `+name+` that has not started is deleted within `+span+`$`, s.startingServerDeleted)
	on.Then(`^a server that is off is deleted within `+span+`$`, s.offServerDeleted)
	on.Then(`^`+number+` servers? of the group `+name+` (?:is|are) created within `+span+`$`, s.serversCreated)
}

func (s *scenario) project(ctx context.Context) error { return s.startProject(ctx, hetzner.Config{}) }

// Servers of these scenarios' time needed it, whether anybody had one or not.
func (s *scenario) projectWithCX11(ctx context.Context) error {
	return s.startProject(ctx, hetzner.Config{Types: []fakecloud.ServerType{hetzner.CX11()}})
}

func (s *scenario) startProject(ctx context.Context, cfg hetzner.Config) (err error) {
	if s.hetzner != nil {
		return errors.New("the scenario has a project already")
	}
	cfg.Types = append(cfg.Types, s.types...)
	cfg.World, cfg.Seed, cfg.Kubelets, cfg.Profile = s.world, s.rig.World.Seed, s.serverKubelets, s.serverProfile
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

// serverJoins looks at what the cluster has, and at what the cloud has.
func (*scenario) serverJoins(name, d string) (observation, error) {
	servers := &joined{nodes: nodes{}}
	return window(d, observation{
		see: func(r history.Record, at phase) (bool, error) {
			servers.take(r)
			if at < asked || r.Source != history.Node || r.Verb != "ready" || r.Object.Name != name {
				return false, nil
			}
			return true, servers.hasProviderID(name)
		},
		over: func() error { return fmt.Errorf("waiting for node %q to be Ready: %w", name, errWindow) },
	})
}

func (s *scenario) inject(f fault.Fault) error {
	if s.hetzner == nil {
		return errNoProject
	}
	return s.hetzner.Inject(f)
}

func (*scenario) noRunningServerDeleted(d string) (observation, error) {
	last := map[string]history.Record{}
	ran := subject{"no server of a group has run", func(r history.Record) bool { return life(r) && r.Verb == "running" && r.Detail["group"] != nil }}
	return never(d, ran, func(r history.Record) error {
		if !life(r) {
			return nil
		}
		before := last[r.Object.Name]
		last[r.Object.Name] = r
		if r.Verb == "deleting" && before.Verb == "running" {
			return fmt.Errorf("server %s is deleted after running for %s", r.Object.Name, (r.Virtual - before.Virtual).Round(100*time.Millisecond))
		}
		return nil
	})
}

func (*scenario) noServerDeleted(d string) (observation, error) {
	last := map[string]history.Record{}
	created := subject{"no server of a group has been created", func(r history.Record) bool { return life(r) && r.Verb == "created" && r.Detail["group"] != nil }}
	return never(d, created, func(r history.Record) error {
		if !life(r) {
			return nil
		}
		before := last[r.Object.Name]
		last[r.Object.Name] = r
		if r.Verb == "deleting" {
			return fmt.Errorf("server %s, %s, is deleted", r.Object.Name, before.Verb)
		}
		return nil
	})
}

func serverOf(group string) subject {
	return subject{fmt.Sprintf("no server of group %q has been created", group), func(r history.Record) bool {
		return life(r) && r.Verb == "created" && r.Detail["group"] == group
	}}
}

func (*scenario) startingServerDeleted(group, d string) (observation, error) {
	before := map[string]history.Record{}
	return within(d, func(r history.Record) bool {
		if !life(r) {
			return false
		}
		last := before[r.Object.Name]
		before[r.Object.Name] = r
		return r.Verb == "deleting" && last.Detail["group"] == group && (last.Verb == "created" || last.Verb == "starting")
	}, func() error { return fmt.Errorf("no server of group %q was deleted before it had started", group) })
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

// serversCreated counts from the Whens before it, or from the beginning while there
// was none.
func (*scenario) serversCreated(want int, group, d string) (observation, error) {
	created := 0
	return within(d, func(r history.Record) bool {
		if life(r) && r.Verb == "created" && r.Detail["group"] == group {
			created++
		}
		return created >= want
	}, func() error { return fmt.Errorf("%d of %d servers of group %q", created, want, group) })
}
