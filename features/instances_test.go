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

// The features of instances/ tell of what only a cloud of instances can do to Karpenter, and of no failure of
// its own.
func TestInstances(t *testing.T) {
	build := targettest.Get(t, target.Ref{Name: "karpenter", Version: "v1.7.0", Provider: target.Instances})
	kubernetes := targettest.Get(t, target.Kubernetes)
	rig := steps.Rig{
		Target:  build,
		Beside:  os.DirFS("instances"),
		Started: func(*world.World) {},
		Step:    func(string) {},
		Failed:  func(what string, err error) { t.Errorf("%s: %v", what, err) },
		Ended:   func([]string) {},
	}
	suite := godog.TestSuite{
		Options: &godog.Options{
			FS: os.DirFS("."), Paths: []string{"instances"}, Tags: *tags, Format: "pretty", Strict: true, TestingT: t,
			DefaultContext: context.WithoutCancel(t.Context()),
		},
		ScenarioInitializer: func(sc *godog.ScenarioContext) {
			rig.World = world.Config{Out: t.TempDir(), Kubernetes: kubernetes.Bin(), Clock: speed, Seed: *seed}
			rig.Initialize(sc)
		},
	}
	if suite.Run() != 0 {
		t.Error("a scenario failed")
	}
}
