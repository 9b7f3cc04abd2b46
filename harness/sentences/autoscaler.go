package sentences

import (
	"context"
	"os"
	"path/filepath"

	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

var autoscalerSentences = scene.Sentences{
	Worlds: "Cluster Autoscaler, on any of its clouds", Records: "calls to the API server (api), the autoscaler's log (log)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a node group "NAME" of N to N servers of type "NAME" in "NAME"`, Act: nodeGroup},
		{Role: scene.Given, Words: `Cluster Autoscaler`, Needs: []scene.Need{scene.AnyCloud}, Check: startsAutoscaler, Act: autoscaler},
		{Role: scene.Given, Words: `Cluster Autoscaler without rights on the API group "NAME"`, Needs: []scene.Need{scene.AnyCloud},
			Check: startsAutoscaler, Act: autoscalerWithout},
		{Role: scene.Given, Words: `it is recorded how long Cluster Autoscaler's rounds take`, Needs: []scene.Need{needsAutoscaler},
			Act: recordRounds},
		{Role: scene.Given, Words: `this manifest:`, Act: manifestOf},
		{Role: scene.Given, Words: `the Nodes of instances that are gone are removed`, Needs: []scene.Need{scene.AnyCloud}, Act: removeNodes},
	},
}

var needsAutoscaler = scene.ProgramIs[*clusterautoscaler.Autoscaler](`there is no Cluster Autoscaler yet: say "Cluster Autoscaler" before`)

// wanted is what a scenario asks of its Cluster Autoscaler.
type wanted struct {
	expander string
	withheld []string // API groups that it gets no rights on
}

// startsAutoscaler notes that the target runs.
func startsAutoscaler(f *scene.Feature, _ words.Args) error {
	f.Started = true
	return nil
}

func nodeGroup(_ context.Context, s *scene.Scene, a words.Args) error {
	groups := scene.State[scene.Groups](s)
	*groups = append(*groups, scene.Group{Name: a.Text(0), Min: a.Int(1), Max: a.Int(2), Type: a.Text(3), Zone: a.Text(4)})
	return nil
}

// manifestOf is what the feature quotes; it counts in place of the user's.
func manifestOf(_ context.Context, s *scene.Scene, a words.Args) (err error) {
	s.Rig.Manifest, err = manifest.Parse([]byte(a.Quoted), *clusterautoscaler.Kind.Manifest)
	return err
}

func autoscaler(ctx context.Context, s *scene.Scene, _ words.Args) error {
	return startAutoscaler(ctx, s)
}

func autoscalerWithFlags(ctx context.Context, s *scene.Scene, a words.Args) (err error) {
	if s.Settings.Flags, err = flagsOf(a.Table); err != nil {
		return err
	}
	return startAutoscaler(ctx, s)
}

// autoscalerWithUnlisted is for failures that are about the flag itself.
func autoscalerWithUnlisted(ctx context.Context, s *scene.Scene, a words.Args) (err error) {
	if s.Settings.Unlisted, err = flagsOf(a.Table); err != nil {
		return err
	}
	return startAutoscaler(ctx, s)
}

// autoscalerWithout is one whose manifest is older than the build.
func autoscalerWithout(ctx context.Context, s *scene.Scene, a words.Args) error {
	of := scene.State[wanted](s)
	of.withheld = append(of.withheld, a.Text(0))
	return startAutoscaler(ctx, s)
}

// startAutoscaler starts it on the cloud that the scenario has.
func startAutoscaler(ctx context.Context, s *scene.Scene) error {
	reach, err := s.Cloud.Reach(ctx, s)
	if err != nil {
		return err
	}
	if s.Rig.Manifest != nil {
		if err := placeManifest(s); err != nil {
			return err
		}
	}
	of := scene.State[wanted](s)
	cfg := clusterautoscaler.Config{
		World: s.World, Target: s.Rig.Target, Manifest: s.Rig.Manifest, Withheld: of.withheld,
		Intent: clusterautoscaler.Intent{Provider: reach.Provider, Expander: of.expander},
		Env:    append(reach.Env, s.Settings.Env...), Flags: s.Settings.Flags, Unlisted: s.Settings.Unlisted,
		Management: reach.Management, CloudConfig: reach.CloudConfig, Broken: s.Broken(), Rules: s.Rules,
	}
	for _, g := range *scene.State[scene.Groups](s) {
		group := clusterautoscaler.Group{Name: g.Name, Min: g.Min, Max: g.Max, Type: g.Type, Location: g.Zone}
		cfg.Intent.Groups = append(cfg.Intent.Groups, group)
	}
	a, err := clusterautoscaler.Install(ctx, cfg)
	if err != nil {
		return err
	}
	s.Target = a
	s.Run(clusterautoscaler.Name, a)
	_, err = a.Start(ctx)
	return err
}

// recordRounds has it in the history, and so in the pictures, how long rounds take.
func recordRounds(_ context.Context, s *scene.Scene, _ words.Args) error {
	scene.ProgramOf[*clusterautoscaler.Autoscaler](s).RecordRounds()
	return nil
}

func removeNodes(ctx context.Context, s *scene.Scene, _ words.Args) error {
	return s.Cloud.RemoveNodes(ctx, s)
}

// placeManifest writes the mounted files to where they end with the world.
func placeManifest(s *scene.Scene) error {
	dir := filepath.Join(s.World.Dir(), "manifest")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return s.Rig.Manifest.Place(dir)
}
