package sentences

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cloud/nodegroups"
	"nodestorm/harness/program/clusterapi"
	"nodestorm/harness/run/then"
	"nodestorm/sim/machine/node"
)

// release is one of upstream's, or a build of one's own that is called after it.
const release = `(v\d+\.\d+\.\d+(?:-[A-Za-z0-9._+-]+)?)`

// testedClusterAPI is the step that brings Cluster API as the build under test.
const testedClusterAPI = "Cluster API"

var namesRelease = regexp.MustCompile(`^Cluster API ` + release)

// Releases are those that steps name as parts of the world.
func Releases(steps []*messages.PickleStep) (refs []builds.Ref) {
	for _, step := range steps {
		if m := namesRelease.FindStringSubmatch(step.Text); m != nil {
			refs = append(refs, builds.Ref{Name: clusterapi.Name, Version: m[1]})
		}
	}
	return refs
}

// System is the cloud that steps speak of, which a build of Cluster Autoscaler then has to
// serve; empty if they speak of none.
func System(steps []*messages.PickleStep) string {
	for _, step := range steps {
		switch {
		case strings.HasPrefix(step.Text, "a Hetzner Cloud project"):
			return "hetzner"
		case step.Text == groupsCloud:
			return nodegroups.Provider
		case step.Text == instancesCloud:
			return builds.Instances
		case namesRelease.MatchString(step.Text):
			return "clusterapi"
		}
	}
	return ""
}

func (s *scenario) registerClusterAPI(on sentences) {
	on.Given(`^`+testedClusterAPI+`$`, s.testedClusterAPI)
	on.Given(`^Cluster API `+release+`$`, s.clusterAPI)
	on.Given(`^Cluster API `+release+` in a management cluster of its own$`, s.separateClusterAPI)
	on.Given(`^Cluster API `+release+` that lets machines taint their nodes$`, s.taintingClusterAPI)
	on.Given(`^a MachineDeployment `+name+` with `+number+` Running machines?$`, s.machineDeployment)
	on.Given(`^a MachinePool `+name+` with `+number+` Running instances?$`, s.machinePool)
	on.Given(`^a MachineHealthCheck that replaces machines of `+name+` whose node is not Ready for `+span+`$`, s.healthCheck)
	on.Given(`^a MachineHealthCheck that replaces machines of `+name+` that have no node after `+span+`$`, s.startupCheck)

	on.When(`^the MachineDeployment `+name+` changes to instances of the type `+name+`$`, s.rotate)
	on.When(`^the kubelet of a machine of `+name+` falls silent$`, s.silence)

	on.Then(`^the MachineDeployment `+name+` has `+number+` Running machines? within `+span+`$`, s.runningMachines)
	on.Then(`^the MachineDeployment `+name+` has `+number+` machines? in the phase `+name+` within `+span+`$`, s.machinesInPhase)
	on.Then(`^the MachinePool `+name+` has `+number+` Running instances? within `+span+`$`, s.runningPool)
	observe(on, then.ClusterAPI)
	on.Then(`^(?:that machine is|its old machines are) gone within `+span+`$`, s.oldMachinesGone)
}

// testedClusterAPI is the build under test.
func (s *scenario) testedClusterAPI(ctx context.Context) error {
	if t := s.rig.Target; t.Name != clusterapi.Name {
		return fmt.Errorf(`the target is %s: say which release of Cluster API is to be there, "Cluster API v1.12.0"`, t.Ref)
	}
	return s.bringClusterAPI(ctx, s.rig.Target, clusterapi.Config{})
}

// clusterAPI is a release that the sentence names: it is part of the world, not the
// build under test.
func (s *scenario) clusterAPI(ctx context.Context, version string) error {
	return s.startClusterAPI(ctx, version, clusterapi.Config{})
}

func (s *scenario) separateClusterAPI(ctx context.Context, version string) error {
	management, err := s.world.StartCluster(ctx, "management")
	if err != nil {
		return err
	}
	return s.startClusterAPI(ctx, version, clusterapi.Config{Management: management})
}

func (s *scenario) taintingClusterAPI(ctx context.Context, version string) error {
	return s.startClusterAPI(ctx, version, clusterapi.Config{Variables: clusterapi.TaintPropagation})
}

func (s *scenario) startClusterAPI(ctx context.Context, version string, cfg clusterapi.Config) error {
	store, err := buildstore.Open("")
	if err != nil {
		return err
	}
	t, err := store.Get(builds.Ref{Name: clusterapi.Name, Version: version})
	if err != nil {
		return err
	}
	return s.bringClusterAPI(ctx, t, cfg)
}

func (s *scenario) bringClusterAPI(ctx context.Context, t builds.Target, cfg clusterapi.Config) (err error) {
	cfg.Target, cfg.Types, cfg.Broken = t, s.types, s.breaksCAPI
	cfg.World, cfg.Seed, cfg.Containers, cfg.Profile = s.world, s.rig.World.Seed, s.containers, s.serverProfile
	s.capi, err = clusterapi.Up(ctx, cfg)
	return err
}

var errNoClusterAPI = errors.New(`there is no Cluster API yet: say "Cluster API v1.9.5" before`)

func (s *scenario) machineDeployment(ctx context.Context, name string, machines int) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	if err := s.capi.CreateMachineDeployment(ctx, clusterapi.MachineDeployment{Name: name, Replicas: int64(machines)}); err != nil {
		return err
	}
	_, err := s.capi.AwaitRunning(ctx, name, machines, 10*time.Minute)
	return err
}

func (s *scenario) machinePool(ctx context.Context, name string, instances int) error {
	return s.createPool(ctx, clusterapi.MachineDeployment{Name: name, Replicas: int64(instances)})
}

func (s *scenario) createPool(ctx context.Context, pool clusterapi.MachineDeployment) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	if err := s.capi.CreateMachinePool(ctx, pool); err != nil {
		return err
	}
	return s.capi.AwaitPool(ctx, pool.Name, int(pool.Replicas), 10*time.Minute)
}

// The spans that the sentences leave open are longer than those that they name.
const patient = 20 * time.Minute

func (s *scenario) healthCheck(ctx context.Context, deployment, notReady string) error {
	d, err := duration(notReady)
	if err != nil {
		return err
	}
	return s.createHealthCheck(ctx, deployment, d, patient)
}

func (s *scenario) startupCheck(ctx context.Context, deployment, startup string) error {
	d, err := duration(startup)
	if err != nil {
		return err
	}
	return s.createHealthCheck(ctx, deployment, patient, d)
}

func (s *scenario) createHealthCheck(ctx context.Context, deployment string, notReady, startup time.Duration) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	return s.capi.CreateHealthCheck(ctx, deployment, notReady, startup)
}

func (s *scenario) rotate(ctx context.Context, deployment, instanceType string) (err error) {
	if s.capi == nil {
		return errNoClusterAPI
	}
	if s.old, err = s.capi.Machines(ctx, deployment); err != nil {
		return err
	}
	return s.capi.Rotate(ctx, deployment, deployment+"-"+instanceType, instanceType)
}

func (s *scenario) silence(ctx context.Context, deployment string) error {
	if s.capi == nil {
		return errNoClusterAPI
	}
	machines, err := s.capi.Machines(ctx, deployment)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(machines, func(m clusterapi.Machine) bool { return m.Node != "" })
	if i < 0 {
		return fmt.Errorf("no machine of %q has a node: %v", deployment, machines)
	}
	s.old = machines[i : i+1]
	return s.injectNode(machines[i].Node, node.Fault{Name: "silence", Effect: node.HeartbeatsStop{}})
}

func (s *scenario) runningMachines(ctx context.Context, deployment string, want int, window string) error {
	d, err := duration(window)
	if err != nil {
		return err
	}
	if s.capi == nil {
		return errNoClusterAPI
	}
	_, err = s.capi.AwaitRunning(ctx, deployment, want, d)
	return err
}

func (s *scenario) machinesInPhase(ctx context.Context, deployment string, want int, phase, window string) error {
	d, err := duration(window)
	if err != nil {
		return err
	}
	if s.capi == nil {
		return errNoClusterAPI
	}
	return s.capi.AwaitPhase(ctx, deployment, phase, want, d)
}

func (s *scenario) runningPool(ctx context.Context, pool string, want int, window string) error {
	d, err := duration(window)
	if err != nil {
		return err
	}
	if s.capi == nil {
		return errNoClusterAPI
	}
	return s.capi.AwaitPool(ctx, pool, want, d)
}

func (s *scenario) oldMachinesGone(ctx context.Context, window string) error {
	d, err := duration(window)
	if err != nil {
		return err
	}
	if len(s.old) == 0 {
		return errors.New("no machine is to go")
	}
	return s.capi.AwaitGone(ctx, s.old, d)
}
