package sentences

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/cucumber/godog"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/cloud/nodegroups"
	"nodestorm/harness/program/ccm"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/run/then"
)

func (s *scenario) registerAutoscaler(on sentences) {
	on.Given(`^a node group `+name+` of `+number+` to `+number+` servers of type `+name+` in `+name+`$`, s.nodeGroup)
	on.Given(`^Cluster Autoscaler$`, s.startAutoscaler)
	on.Given(`^Cluster Autoscaler without rights on the API group `+name+`$`, s.autoscalerWithout)
	on.Given(`^it is recorded how long Cluster Autoscaler's rounds take$`, s.recordRounds)
	on.Given(`^this manifest:$`, s.manifestOf)
	on.Given(`^the Nodes of instances that are gone are removed$`, s.removeNodes)

	observe(on, then.Autoscaler)
}

func (s *scenario) nodeGroup(group string, from, to int, serverType, location string) {
	s.intent.Groups = append(s.intent.Groups, clusterautoscaler.Group{Name: group, Min: from, Max: to, Type: serverType, Location: location})
}

// manifestOf is what the feature quotes; it counts in place of the user's.
func (s *scenario) manifestOf(text *godog.DocString) (err error) {
	s.rig.Manifest, err = manifest.Parse([]byte(text.Content), clusterautoscaler.ManifestOptions())
	return err
}

// autoscalerWithout is one whose manifest is older than the build.
func (s *scenario) autoscalerWithout(ctx context.Context, group string) error {
	s.withheld = append(s.withheld, group)
	return s.startAutoscaler(ctx)
}

// startAutoscaler starts it on the cloud that the scenario has.
func (s *scenario) startAutoscaler(ctx context.Context) (err error) {
	cfg := clusterautoscaler.Config{World: s.world, Target: s.rig.Target, Manifest: s.rig.Manifest, Withheld: s.withheld, Flags: s.flags, Unlisted: s.unlisted, Broken: s.breakable || len(s.rules) > 0, Rules: s.rules}
	switch {
	case s.hetzner != nil:
		s.intent.Provider = "hetzner"
		cfg.Env = s.hetzner.Env()
		if s.rig.Manifest == nil {
			cfg.Env = append(cfg.Env, hetzner.Joining()...)
		}
		if len(s.marked) > 0 {
			config, err := s.clusterConfig()
			if err != nil {
				return err
			}
			cfg.Env = append(cfg.Env, config)
		}
	case s.capi != nil:
		s.intent.Provider = "clusterapi"
		cfg.Management = s.capi.Management()
		if err := s.capi.Grant(ctx, metav1.NamespaceSystem, clusterautoscaler.Name, clusterapi.ExampleRights); err != nil {
			return err
		}
	case s.groups != nil:
		s.intent.Provider = nodegroups.Provider
		if cfg.CloudConfig, err = s.groups.CloudConfig(s.callTimeout); err != nil {
			return err
		}
	default:
		return errNoCloud
	}
	if s.rig.Manifest != nil {
		if err := s.placeManifest(); err != nil {
			return err
		}
	}
	cfg.Intent, cfg.Env = s.intent, append(cfg.Env, s.env...)
	if s.autoscaler, err = clusterautoscaler.Install(ctx, cfg); err != nil {
		return err
	}
	_, err = s.autoscaler.Start(ctx)
	return err
}

// recordRounds has it in the history, and so in the pictures, how long rounds take.
func (s *scenario) recordRounds() error {
	if s.autoscaler == nil {
		return errors.New(`there is no Cluster Autoscaler yet: say "Cluster Autoscaler" before`)
	}
	s.autoscaler.RecordRounds()
	return nil
}

// clusterConfig tells of all groups once one of them has labels or taints: it wants them
// all.
func (s *scenario) clusterConfig() (manifest.Variable, error) {
	all := map[string]hetzner.NodeConfig{}
	for _, g := range s.intent.Groups {
		config, marked := s.marked[g.Name]
		if !marked {
			config = hetzner.NodeConfig{CloudInit: hetzner.UserData("")}
		}
		all[g.Name] = config
	}
	return hetzner.ClusterConfig(all)
}

// removeNodes is what a cloud's controller manager does, where the world has none.
func (s *scenario) removeNodes(ctx context.Context) error {
	switch {
	case s.groups != nil:
		return ccm.RemoveNodes(ctx, s.world, s.groups.Cloud)
	case s.hetzner != nil:
		return ccm.RemoveNodes(ctx, s.world, s.hetzner.Cloud)
	case s.capi != nil:
		return errors.New("the controllers of Cluster API remove the Nodes of their machines: leave it out")
	}
	return errNoCloud
}

var errNoCloud = errors.New(`there is no cloud yet: say "a Hetzner Cloud project", "a cloud of node groups" or "Cluster API v1.9.5" before`)

// placeManifest writes the mounted files to where they end with the world.
func (s *scenario) placeManifest() error {
	dir := filepath.Join(s.world.Dir(), "manifest")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return s.rig.Manifest.Place(dir)
}
