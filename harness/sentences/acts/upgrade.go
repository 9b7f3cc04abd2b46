package acts

import (
	"context"
	"errors"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/scenarios"
)

// upgradeSentences replace the target by another release of it while the cluster lives.
var upgradeSentences = scene.Sentences{
	Worlds: "any", Records: "releases that take the target's place (harness)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `the release RELEASE runs in place of the target until it is upgraded`,
			Wants: wantsVersion(scene.Change{First: true}), Check: checkFirst, Act: startWith},
		{Role: scene.Given, Words: `the release before the target runs in its place until it is upgraded`,
			Wants: wantsBefore(1), Check: checkFirst, Act: startBefore(1)},
		{Role: scene.Given, Words: `the second release before the target runs in its place until it is upgraded`,
			Wants: wantsBefore(2), Check: checkFirst, Act: startBefore(2)},
		upgraded(`the target is upgraded`, scene.LeftBehind{}),
		upgraded(`the target is upgraded, and its CRDs are left behind`, scene.LeftBehind{CRDs: true}),
		upgraded(`the target is upgraded, and its roles are left behind`, scene.LeftBehind{Roles: true}),
		upgraded(`the target is upgraded, and its lease is left behind`, scene.LeftBehind{Lease: true}),
		upgraded(`the target is upgraded, but for CRDs that are refused`, scene.LeftBehind{Refused: true}),
		{Role: scene.When, Words: `the target is upgraded to RELEASE`, Needs: []scene.Need{scene.CanUpgrade}, Wants: wantsVersion(scene.Change{}),
			Check: checkUpgradeTo, Act: upgradeTo},
		{Role: scene.When, Words: `the target is rolled back`, Needs: []scene.Need{scene.CanUpgrade}, Check: checkRollBack,
			Wants: wants(scene.Change{Back: true}), Act: rollBack},
	},
}

// upgraded is a sentence by which the build under test takes the place of the release that runs.
func upgraded(words string, left scene.LeftBehind) scene.Sentence {
	return scene.Sentence{
		Role: scene.When, Words: words, Needs: []scene.Need{scene.CanUpgrade}, Check: checkUpgrade, Wants: wants(scene.Change{Left: left}),
		Act: upgrade(left),
	}
}

func wants(c scene.Change) func(words.Args) (scene.Wants, error) {
	return func(words.Args) (scene.Wants, error) { return scene.Wants{Change: &c}, nil }
}

func wantsVersion(c scene.Change) func(words.Args) (scene.Wants, error) {
	return func(a words.Args) (scene.Wants, error) {
		return scene.Wants{Versions: []string{a.Text(0)}, Change: &c}, nil
	}
}

// wantsBefore wants the n-th release before the target.
func wantsBefore(n int) func(words.Args) (scene.Wants, error) {
	return func(words.Args) (scene.Wants, error) {
		return scene.Wants{Before: n, Change: &scene.Change{First: true}}, nil
	}
}

func checkFirst(f *scene.Feature, _ words.Args) error {
	if f.Target != "" {
		return errors.New("the target runs already: say it before")
	}
	f.Older = true
	return nil
}

func checkUpgrade(f *scene.Feature, a words.Args) error {
	if f.Target != "" && !f.Older {
		return errors.New(`the build under test runs already: say "the release v1.6.4 runs in place of the target until it is upgraded" ` +
			`in a Given before, or which release takes its place: "the target is upgraded to v1.7.0"`)
	}
	return checkUpgradeTo(f, a)
}

func checkUpgradeTo(f *scene.Feature, a words.Args) error {
	f.Upgraded = true
	return checkTarget(f, a)
}

func checkRollBack(f *scene.Feature, a words.Args) error {
	if f.Target != "" && !f.Upgraded {
		return errors.New(`nothing took the place of the target that could be rolled back: say "the target is upgraded" before`)
	}
	return checkTarget(f, a)
}

func startWith(_ context.Context, s *scene.Scene, a words.Args) error {
	s.StartWith(a.Text(0))
	return nil
}

func startBefore(n int) func(context.Context, *scene.Scene, words.Args) error {
	return func(_ context.Context, s *scene.Scene, _ words.Args) error {
		version, err := scenarios.ReleaseBefore(s.Rig.Target.Name, s.Rig.Target.Version, n)
		if err == nil {
			s.StartWith(version)
		}
		return err
	}
}

func upgrade(left scene.LeftBehind) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, _ words.Args) error { return s.Upgrade(ctx, "", left) }
}

func upgradeTo(ctx context.Context, s *scene.Scene, a words.Args) error {
	return s.Upgrade(ctx, a.Text(0), scene.LeftBehind{})
}

func rollBack(ctx context.Context, s *scene.Scene, _ words.Args) error { return s.RollBack(ctx) }
