package features_test

import (
	"context"
	"os"
	"testing"

	"github.com/cucumber/godog"

	"nodestorm/harness/steps"
	"nodestorm/harness/target"
	"nodestorm/harness/target/targettest"
	"nodestorm/harness/world"
)

// The features of world/ tell of our own world, and need no target.
func worldSuite() godog.TestSuite {
	return godog.TestSuite{Options: &godog.Options{FS: os.DirFS("."), Paths: []string{"world"}, Tags: *tags}}
}

func TestWorldSteps(t *testing.T) {
	features, err := worldSuite().RetrieveFeatures()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range features {
		for _, pickle := range f.Pickles {
			if err := steps.Check(pickle.Steps, os.DirFS("world")); err != nil {
				t.Errorf("%s: scenario %q: %v", f.Uri, pickle.Name, err)
			}
		}
	}
}

func TestWorld(t *testing.T) {
	kubernetes := targettest.Get(t, target.Kubernetes)
	suite := worldSuite()
	rig := steps.Rig{
		Beside:  os.DirFS("world"),
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
