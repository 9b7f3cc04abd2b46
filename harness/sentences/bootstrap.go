package sentences

import (
	"strings"

	"context"
	"encoding/base64"
	"github.com/cucumber/messages/go/v21"
	"slices"

	"github.com/cucumber/godog"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program/ccm"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/run/then"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

func (s *scenario) registerServers(on sentences) {
	on.Given(`^`+userDataWords+`$`, s.serversBootWith)
	on.Given(`^servers with (simulated|`+realKubelet+`) kubelets$`, s.serversWithKubelets)
	on.Given(`^CSINodes that come `+span+` late$`, s.csiNodesLate)
	on.Given(`^servers whose Nodes are Ready `+span+` after their registration$`, s.serversReadyAfter)
	on.Given(`^`+hetznerCCM+`$`, s.hetznerCCM)

	on.When(`^`+hetznerCCM+` comes$`, s.hetznerCCM)

	observe(on, then.Servers)
}

// Parts are the names of what Rig.With can hold: nodestorm's own parts of worlds, and
// the released ones that can stand in for them.
var Parts = []string{
	builds.CSRApprover.Name, builds.ReleasedCSRApprover,
	builds.CCM.Name, ccm.Name,
	builds.CCMVSphere.Name, ccm.VSphereName,
}

// StandsIn tells whether a program of Parts is one of ours, or the released one for it.
func StandsIn(name string, own builds.Ref) bool {
	i := slices.Index(Parts, own.Name)
	return i >= 0 && (name == own.Name || name == Parts[i+1])
}

// What takes parts of ours, see part.
const (
	hetznerCCM = "a cloud controller manager for the Hetzner Cloud"
	vSphere    = "a vSphere"
)

// Needs are the builds that the steps take out of the store: the releases that they name, and
// parts of ours, which those of Rig.With can stand in for.
func Needs(steps []*messages.PickleStep) []builds.Ref {
	refs := Releases(steps)
	for _, step := range steps {
		switch {
		case strings.HasPrefix(step.Text, hetznerCCM):
			refs = append(refs, builds.CCM)
		case step.Text == vSphere:
			refs = append(refs, builds.CSRApprover, builds.CCMVSphere)
		}
	}
	return refs
}

// part is a program of the world beside the target: a released one that the user has
// chosen, or nodestorm's own as the store has it.
func (s *scenario) part(own builds.Ref) (t builds.Target, err error) {
	i := slices.IndexFunc(s.rig.With, func(t builds.Target) bool { return StandsIn(t.Name, own) })
	if i >= 0 {
		t = s.rig.With[i]
	} else {
		store, err := buildstore.Open("")
		if err != nil {
			return t, err
		}
		if t, err = store.Get(own); err != nil {
			return t, err
		}
	}
	s.world.History().Record(history.Event{
		Source: history.Harness, Verb: "part", Actor: t.Name,
		Detail: map[string]any{"version": t.Version, "source": string(t.Source.Kind), "sha256": t.SHA256},
	})
	return t, nil
}

// userDataWords is the step that says how they boot, in HCLOUD_CLOUD_INIT.
const userDataWords = "servers of the node groups boot with this user data:"

// serversBootWith is for what Cluster Autoscaler creates.
func (s *scenario) serversBootWith(ctx context.Context, text *godog.DocString) error {
	s.env = append(s.env, manifest.Variable{Name: "HCLOUD_CLOUD_INIT", Value: base64.StdEncoding.EncodeToString([]byte(text.Content))})
	if !s.serverReal {
		return nil
	}
	return s.checkKubelet(ctx, text.Content)
}

func (s *scenario) serversReadyAfter(delay string) (err error) {
	s.serverReady, err = duration(delay)
	return err
}

// serversWithKubelets is for servers that boot from now on; without it they are simulated.
func (s *scenario) serversWithKubelets(kind string) error {
	if s.kubelets == nil {
		return errNoKubelets
	}
	s.serverReal = kind == realKubelet
	return nil
}

// serverKubelets is whose a server is: nobody's, where it is simulated.
func (s *scenario) serverKubelets(fakecloud.Instance) *kubelet.Machines {
	if !s.serverReal {
		return nil
	}
	return s.kubelets
}

func (s *scenario) csiNodesLate(ctx context.Context, late string) error {
	if s.kubelets == nil {
		return errNoKubelets
	}
	d, err := duration(late)
	if err != nil {
		return err
	}
	return s.kubelets.DelayCSINodes(ctx, d)
}

// serverProfile is how a cloud's instances behave that boot from now on.
func (s *scenario) serverProfile(fakecloud.Instance) node.Profile {
	p := node.DefaultProfile()
	p.BootDelay = 0 // the server type's
	p.Agents, p.Faults = s.profile.Agents, s.nextFaults()
	if s.serverReady > 0 {
		p.ReadyDelay = s.serverReady
	}
	return p
}

func (s *scenario) hetznerCCM(ctx context.Context) error {
	if s.hetzner == nil {
		return errNoProject
	}
	t, err := s.part(builds.CCM)
	if err != nil {
		return err
	}
	manager, err := ccm.Install(ctx, s.world, t)
	if err != nil {
		return err
	}
	cfg := ccm.Config{}
	for _, v := range s.hetzner.Env() {
		switch v.Name {
		case "HCLOUD_ENDPOINT":
			cfg.Endpoint = v.Value
		case "HCLOUD_TOKEN":
			cfg.Token = v.Value
		}
	}
	_, err = manager.Start(ctx, cfg)
	return err
}
