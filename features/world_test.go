package features_test

import (
	"context"
	"os"
	"testing"

	"github.com/cucumber/godog"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/sentences"
	"nodestorm/harness/sentences/validation"
	"nodestorm/harness/world"
)

// Features of world/ are about our own world, and need no target; those of instances/ of what
// only a cloud of instances can do to Karpenter, and of no failure of its own; those of
// eks/ of what instances of EKS become; those of scale/ are benchmarks.
func suiteOf(folder string) godog.TestSuite {
	return godog.TestSuite{Options: &godog.Options{FS: os.DirFS("."), Paths: []string{folder}, Tags: *tags}}
}

func TestWorldSteps(t *testing.T) {
	for _, folder := range []string{"world", "instances", "eks", "scale"} {
		suite := suiteOf(folder)
		features, err := suite.RetrieveFeatures()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range features {
			for _, pickle := range f.Pickles {
				if err := validation.Steps(pickle.Steps, os.DirFS(folder)); err != nil {
					t.Errorf("%s: scenario %q: %v", f.Uri, pickle.Name, err)
				}
			}
		}
	}
}

func TestWorld(t *testing.T) { play(t, "world", builds.Target{}) }

func TestInstances(t *testing.T) {
	play(t, "instances", buildstest.Get(t, builds.Ref{Name: "karpenter", Version: "v1.7.0", Provider: builds.Instances}))
}

func TestEKS(t *testing.T) {
	play(t, "eks", buildstest.Get(t, builds.Ref{Name: builds.KarpenterAWS, Version: "v1.14.0"}))
}

// play plays all scenarios of a folder, on a build if they need one.
func play(t *testing.T, folder string, on builds.Target) {
	t.Helper()
	kubernetes := buildstest.Get(t, builds.Kubernetes)
	suite := suiteOf(folder)
	rig := sentences.Rig{
		Target:  on,
		Beside:  os.DirFS(folder),
		Started: func(*world.World) {},
		Step:    func(string) {},
		Failed:  func(what string, err error) { t.Errorf("%s: %v", what, err) },
		Ended:   func([]string) {},
	}
	suite.ScenarioInitializer = func(sc *godog.ScenarioContext) {
		rig.World = world.Config{Out: t.TempDir(), Kubernetes: kubernetes.Bin(), Clock: speed, Seed: *seed}
		rig.Initialize(sc)
	}
	suite.Options.Format, suite.Options.Strict, suite.Options.TestingT = "pretty", true, t
	suite.Options.DefaultContext = context.WithoutCancel(t.Context())
	if suite.Run() != 0 {
		t.Error("a scenario failed")
	}
}
