package hetzner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	api "github.com/hetznercloud/hcloud-go/v2/hcloud"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud"
	"nodestorm/harness/cloud"
	"nodestorm/harness/cloud/live"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

// Kind is that of a Hetzner Cloud project.
var Kind = live.Register(&live.Kind{
	Facts: cloud.Named(Name), Sentences: sentences, Thens: then.Hetzner,
	Calls: hcloud.Calls, Operations: hcloud.Operations, Call: hcloud.Call, Examples: "create servers, delete servers, list servers",
	Catalogue: fakecloud.Hetzner, Variables: []string{ClusterConfigVariable}, CheckManifest: CheckConfig, Alone: alone,
})

var sentences = scene.Sentences{
	Worlds: "a Hetzner Cloud project", Records: "the cloud's servers, actions and calls (cloud), its faults (fault)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a Hetzner Cloud project`, Wants: isHetzner, Needs: []scene.Need{scene.NoCloud}, Act: project},
		{Role: scene.Given, Words: `a Hetzner Cloud project that still has the server type "cx11"`, Wants: isHetzner,
			Needs: []scene.Need{scene.NoCloud}, Act: projectWithCX11},
		{Role: scene.Given, Words: `a network, a firewall and an SSH key "NAME"`, Needs: []scene.Need{Needed}, Act: surroundings},
		{Role: scene.Given, Words: `a Ready Node "NAME" on a server of the project`, Needs: []scene.Need{Needed}, Act: serverNode},
		{Role: scene.Given, Words: `a Ready Node "NAME" with the provider ID "NAME"`, Act: foreignNode},
		{Role: scene.When, Words: `a client creates the server "NAME" of type "NAME" in "NAME"`, Needs: []scene.Need{Needed},
			Act: clientCreates},
		{Role: scene.When, Words: `a client that uses only api.hetzner.cloud creates the server "NAME" of type "NAME" in "NAME"`,
			Needs: []scene.Need{Needed}, Act: clientByNameCreates},
	},
}

// Needed is that the scenario has one.
var Needed = scene.CloudIs[*Project](`there is no cloud yet: say "a Hetzner Cloud project" before`)

// Name is what Cluster Autoscaler, and records, call the cloud.
const Name = "hetzner"

func isHetzner(words.Args) (scene.Wants, error) { return scene.Wants{System: Name}, nil }

func project(ctx context.Context, s *scene.Scene, _ words.Args) error { return startProject(ctx, s) }

// Servers of these scenarios' time needed it, whether anybody had one or not.
func projectWithCX11(ctx context.Context, s *scene.Scene, _ words.Args) error {
	return startProject(ctx, s, CX11())
}

func startProject(ctx context.Context, s *scene.Scene, types ...fakecloud.ServerType) error {
	on := s.Setting()
	on.Types = append(types, on.Types...)
	p, err := Start(ctx, on)
	if err != nil {
		return err
	}
	s.Cloud = p
	return nil
}

// Group is one of which only the autoscaler knows.
func (p *Project) Group(_ context.Context, s *scene.Scene, g scene.Group) error {
	if len(g.Options) > 0 {
		return scene.ErrOptions
	}
	g.Type, g.Zone = cmp.Or(g.Type, "cx22"), cmp.Or(g.Zone, "fsn1")
	if p.Catalogue().ServerType(g.Type) == nil {
		return fmt.Errorf("there is no server type %q", g.Type)
	}
	if _, err := ConfigOf(g.Labels, g.Taints); err != nil {
		return err
	}
	groups := scene.State[scene.Groups](s)
	*groups = append(*groups, g)
	return nil
}

// Boot has a Node on a server of the project.
func (p *Project) Boot(_ *scene.Scene, n scene.Node) error {
	return p.CreateServer(n.Name, n.Group, cmp.Or(n.Type, "cx22"), cmp.Or(n.Zone, "fsn1"), n.Flags)
}

// Reach has all groups once one of them has labels or taints: the autoscaler wants them all.
func (p *Project) Reach(_ context.Context, s *scene.Scene) (scene.Reach, error) {
	reach := scene.Reach{Provider: Name, Env: p.Env()}
	if s.Rig.Manifest == nil {
		reach.Env = append(reach.Env, Joining()...)
	}
	all, marked := map[string]NodeConfig{}, false
	for _, g := range *scene.State[scene.Groups](s) {
		config := NodeConfig{CloudInit: UserData("")}
		if g.Marked() {
			var err error
			if config, err = ConfigOf(g.Labels, g.Taints); err != nil {
				return reach, err
			}
			marked = true
		}
		all[g.Name] = config
	}
	if marked {
		config, err := ClusterConfig(all)
		if err != nil {
			return reach, err
		}
		reach.Env = append(reach.Env, config)
	}
	return reach, nil
}

// RemoveNodes is what a cloud's controller manager does, where the world has none.
func (p *Project) RemoveNodes(ctx context.Context, s *scene.Scene) error {
	return machines.RemoveNodes(ctx, s.World, p.Cloud)
}

func surroundings(_ context.Context, s *scene.Scene, a words.Args) error {
	return scene.CloudOf[*Project](s).CreateSurroundings(a.Text(0))
}

// serverNode stands for the control plane's. Old autoscalers do nothing while
// there is a Node that is no server of the project, and none does without any Node.
func serverNode(ctx context.Context, s *scene.Scene, a words.Args) error {
	const flags = " --register-with-taints=node-role.kubernetes.io/control-plane:NoSchedule"
	if err := scene.CloudOf[*Project](s).CreateServer(a.Text(0), "", "cx22", "fsn1", flags); err != nil {
		return err
	}
	return s.NodeReady(ctx, a.Text(0), 5*time.Minute, 0)
}

func foreignNode(ctx context.Context, s *scene.Scene, a words.Args) error {
	return s.SystemNode(ctx, a.Text(0), a.Text(1))
}

func clientCreates(ctx context.Context, s *scene.Scene, a words.Args) error {
	return createServer(ctx, scene.CloudOf[*Project](s).Client(), a)
}

func clientByNameCreates(ctx context.Context, s *scene.Scene, a words.Args) error {
	client, err := scene.CloudOf[*Project](s).ClientByName()
	if err != nil {
		return err
	}
	return createServer(ctx, client, a)
}

// createServer makes the calls that an autoscaler makes. It is none.
func createServer(ctx context.Context, client *api.Client, a words.Args) error {
	server, serverType, location := a.Text(0), a.Text(1), a.Text(2)
	t, _, err := client.ServerType.GetByName(ctx, serverType)
	if err != nil || t == nil {
		return fmt.Errorf("looking for server type %q: %w", serverType, cmp.Or(err, errors.New("there is none")))
	}
	image, _, err := client.Image.GetForArchitecture(ctx, Image, t.Architecture)
	if err != nil || image == nil {
		return fmt.Errorf("looking for image %q: %w", Image, cmp.Or(err, errors.New("there is none")))
	}
	_, _, err = client.Server.Create(ctx, api.ServerCreateOpts{
		Name: server, ServerType: t, Image: image, Location: &api.Location{Name: location}, UserData: UserData(""),
	})
	return err
}
