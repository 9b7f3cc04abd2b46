package clusterautoscaler

import (
	"context"
	"os"
	"path/filepath"

	"nodestorm/harness/program/deploy"
	"nodestorm/harness/program/manifest"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

var sentences = deploy.Sentences{
	Sentences: scene.Sentences{
		Worlds: "Cluster Autoscaler, on any of its clouds", Records: "calls to the API server (api), the autoscaler's log (log)",
		Rows: []scene.Sentence{
			{Role: scene.Given, Words: `a node group "NAME" of N to N servers of type "NAME" in "NAME"`, Check: grouped, Act: nodeGroup},
			{Role: scene.Given, Words: `Cluster Autoscaler`, Needs: []scene.Need{scene.AnyCloud}, Check: Starts, Act: Deploy},
			{Role: scene.Given, Words: `Cluster Autoscaler with the flags:`, Table: true, Needs: []scene.Need{scene.AnyCloud},
				Wants: scene.WantsFlags, Check: scene.WithFlags(Starts), Act: withFlags},
			{Role: scene.Given, Words: `Cluster Autoscaler with these flags, whether it knows them or not:`, Table: true,
				Needs: []scene.Need{scene.AnyCloud}, Wants: scene.WantsUnlisted, Check: scene.WithFlags(Starts), Act: withUnlisted},
			{Role: scene.Given, Words: `Cluster Autoscaler without rights on the API group "NAME"`, Needs: []scene.Need{scene.AnyCloud},
				Check: Starts, Act: withoutRights},
			{Role: scene.Given, Words: `the durations of Cluster Autoscaler's rounds are recorded`, Needs: []scene.Need{needed}, Act: recordRounds},
			{Role: scene.Given, Words: `this manifest:`, Act: manifestOf},
			{Role: scene.Given, Words: `the Nodes of instances that are gone are removed`, Needs: []scene.Need{scene.AnyCloud}, Act: removeNodes},
		},
	},
	Thens: then.Autoscaler,
}

var needed = scene.ProgramIs[*Autoscaler](`there is no Cluster Autoscaler yet: say "Cluster Autoscaler" before`)

// requirements is what a scenario asks of its Cluster Autoscaler.
type requirements struct {
	expander string
	withheld []string // API groups that it gets no rights on
}

// Starts is the check of sentences that start it.
func Starts(f *scene.Feature, _ words.Args) error { return f.Starts(Name) }

func grouped(f *scene.Feature, _ words.Args) error {
	f.Grouped = true
	return nil
}

// Expand has the one that is started next choose among groups so, see [Intent].
func Expand(s *scene.Scene, expander string) { scene.State[requirements](s).expander = expander }

func nodeGroup(_ context.Context, s *scene.Scene, a words.Args) error {
	groups := scene.State[scene.Groups](s)
	*groups = append(*groups, scene.Group{Name: a.Text(0), Min: a.Int(1), Max: a.Int(2), Type: a.Text(3), Zone: a.Text(4)})
	return nil
}

// manifestOf is what the feature quotes; it counts in place of the user's.
func manifestOf(_ context.Context, s *scene.Scene, a words.Args) (err error) {
	s.Rig.Manifest, err = manifest.Parse([]byte(a.Quoted), manifestOptions)
	return err
}

func withFlags(ctx context.Context, s *scene.Scene, a words.Args) (err error) {
	if s.Settings.Flags, err = scene.Flags(a.Table); err != nil {
		return err
	}
	return Deploy(ctx, s, a)
}

// withUnlisted is for failures that are about the flag itself.
func withUnlisted(ctx context.Context, s *scene.Scene, a words.Args) (err error) {
	if s.Settings.Unlisted, err = scene.Flags(a.Table); err != nil {
		return err
	}
	return Deploy(ctx, s, a)
}

// withoutRights is one whose manifest is older than the build.
func withoutRights(ctx context.Context, s *scene.Scene, a words.Args) error {
	of := scene.State[requirements](s)
	of.withheld = append(of.withheld, a.Text(0))
	return Deploy(ctx, s, a)
}

// Deploy starts it on the cloud that the scenario has.
func Deploy(ctx context.Context, s *scene.Scene, _ words.Args) error {
	reach, err := s.Cloud.Reach(ctx, s)
	if err != nil {
		return err
	}
	if s.Rig.Manifest != nil {
		if err := placeManifest(s); err != nil {
			return err
		}
	}
	first, err := s.FirstRelease()
	if err != nil {
		return err
	}
	of := scene.State[requirements](s)
	cfg := Config{
		World: s.World, Target: first, Manifest: s.Rig.Manifest, Withheld: of.withheld,
		Intent: Intent{Provider: reach.Provider, Expander: of.expander, Discovery: reach.Discovery},
		Env:    append(reach.Env, s.Settings.Env...), Flags: s.Settings.Flags, Unlisted: s.Settings.Unlisted,
		Management: reach.Management, CloudConfig: reach.CloudConfig, Broken: s.Broken(), Rules: s.Rules, Replicas: s.Settings.Replicas,
	}
	for _, g := range *scene.State[scene.Groups](s) {
		cfg.Intent.Groups = append(cfg.Intent.Groups, Group{Name: g.Name, Min: g.Min, Max: g.Max, Type: g.Type, Location: g.Zone})
	}
	a, err := Install(ctx, cfg)
	if err != nil {
		return err
	}
	s.Target = a
	s.Run(Name, a)
	return a.Start(ctx)
}

// recordRounds has it in the history, and so in the pictures, how long rounds take.
func recordRounds(_ context.Context, s *scene.Scene, _ words.Args) error {
	scene.ProgramOf[*Autoscaler](s).RecordRounds()
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
