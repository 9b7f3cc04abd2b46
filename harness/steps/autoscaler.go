package steps

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cucumber/godog"

	"nodestorm/harness/autoscaler"
	"nodestorm/harness/hetzner"
	"nodestorm/harness/manifest"
	"nodestorm/sim/history"
)

func (s *scenario) registerAutoscaler(on sentences) {
	on.Given(`^a node group `+name+` of `+number+` to `+number+` servers of type `+name+` in `+name+`$`, s.nodeGroup)
	on.Given(`^a server creation timeout of `+number+` minutes?$`, s.creationTimeout)
	on.Given(`^Cluster Autoscaler$`, s.startAutoscaler)
	on.Given(`^Cluster Autoscaler that enforces minimum sizes$`, s.enforcingAutoscaler)
	on.Given(`^Cluster Autoscaler without rights on the API group `+name+`$`, s.autoscalerWithout)
	on.Given(`^this manifest:$`, s.manifestOf)

	on.When(`^the pod `+name+` is deleted$`, s.deletePod)

	on.Then(`^the target size of the group `+name+` is `+number+` within `+span+`$`, s.targetSize)
	on.Then(`^the target size of the group `+name+` is at no time above `+number+` within `+span+`$`, s.targetSizeBound)
}

func (s *scenario) nodeGroup(group string, from, to int, serverType, location string) {
	s.intent.Groups = append(s.intent.Groups, autoscaler.Group{Name: group, Min: from, Max: to, Type: serverType, Location: location})
}

func (s *scenario) creationTimeout(minutes int) {
	s.env = append(s.env, manifest.Variable{Name: "HCLOUD_SERVER_CREATION_TIMEOUT", Value: strconv.Itoa(minutes)})
}

// manifestOf is what the feature quotes; it counts in place of the user's.
func (s *scenario) manifestOf(text *godog.DocString) (err error) {
	s.rig.Manifest, err = manifest.Parse([]byte(text.Content), autoscaler.ManifestOptions())
	return err
}

func (s *scenario) enforcingAutoscaler(ctx context.Context) error {
	s.intent.EnforceMinSize = true
	return s.startAutoscaler(ctx)
}

// autoscalerWithout is one whose manifest is older than the build.
func (s *scenario) autoscalerWithout(ctx context.Context, group string) error {
	s.withheld = append(s.withheld, group)
	return s.startAutoscaler(ctx)
}

func (s *scenario) startAutoscaler(ctx context.Context) (err error) {
	if s.hetzner == nil {
		return errNoProject
	}
	s.intent.Provider = "hetzner"
	env := s.hetzner.Env()
	if s.rig.Manifest == nil {
		env = append(env, hetzner.Joining()...)
	} else if err := s.placeManifest(); err != nil {
		return err
	}
	env = append(env, s.env...)
	s.autoscaler, err = autoscaler.Install(ctx, autoscaler.Config{
		World: s.world, Target: s.rig.Target, Intent: s.intent, Env: env, Manifest: s.rig.Manifest,
		Withheld: s.withheld,
	})
	if err != nil {
		return err
	}
	_, err = s.autoscaler.Start(ctx)
	return err
}

// placeManifest writes the mounted files to where they end with the world.
func (s *scenario) placeManifest() error {
	dir := filepath.Join(s.world.Dir(), "manifest")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return s.rig.Manifest.Place(dir)
}

func (s *scenario) deletePod(ctx context.Context, name string) error {
	return s.demand().DeletePod(ctx, namespace, name)
}

// targetSize is known when the autoscaler says what it is, or was.
func (*scenario) targetSize(group string, want int, d string) (observation, error) {
	last := any("unknown")
	return within(d, func(r history.Record) bool {
		if size, ok := targetOf(r, group); ok {
			last = size
		}
		return last == want
	}, func() error { return fmt.Errorf("the target size of group %q is %v", group, last) })
}

// targetSizeBound also reads what a target size has been before it was set.
func (*scenario) targetSizeBound(group string, most int, d string) (observation, error) {
	return never(d, serverOf(group), func(r history.Record) error {
		for _, key := range []string{"from", "to"} {
			size, ok := count(r, key)
			if _, target := targetOf(r, group); target && ok && size > most {
				return fmt.Errorf("the target size of group %q was %d", group, size)
			}
		}
		return nil
	})
}

func targetOf(r history.Record, group string) (size int, ok bool) {
	if r.Source != history.Logged || r.Verb != autoscaler.Target || r.Object.Name != group {
		return 0, false
	}
	return count(r, "to")
}
