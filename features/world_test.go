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
// eks/ of what instances of EKS become; those of workloads/ are worlds to compare in; those of scale/ are
// benchmarks.
func suiteOf(paths ...string) godog.TestSuite {
	return godog.TestSuite{Options: &godog.Options{FS: os.DirFS("."), Paths: paths, Tags: *tags}}
}

func TestWorldSteps(t *testing.T) {
	for _, folder := range []string{"world", "instances", "eks", "workloads", "scale"} {
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

func TestWorld(t *testing.T) { play(t, "world", builds.Target{}, suiteOf("world")) }

func TestInstances(t *testing.T) { play(t, "instances", onInstances(t), suiteOf("instances")) }

func TestEKS(t *testing.T) {
	play(t, "eks", buildstest.Get(t, builds.Ref{Name: builds.KarpenterAWS, Version: "v1.14.0"}), suiteOf("eks"))
}

// Both programs have the same machines, and count what the measures count.
func TestWorkloads(t *testing.T) {
	suite := suiteOf("workloads/beside.feature", "workloads/own-metrics.feature")
	if suite.Options.Tags == "" {
		suite.Options.Tags = "@karpenter"
	}
	play(t, "workloads", onInstances(t), suite)
}

func onInstances(t *testing.T) builds.Target {
	t.Helper()
	return buildstest.Get(t, builds.Ref{Name: "karpenter", Version: "v1.7.0", Provider: builds.Instances})
}

// play plays the scenarios of a suite, whose files are in the folder, on a build if they need one.
func play(t *testing.T, folder string, on builds.Target, suite godog.TestSuite) {
	t.Helper()
	kubernetes := buildstest.Get(t, builds.Kubernetes)
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
