package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program/clusterautoscaler"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/fault"
	"nodestorm/sim/machine/node"
)

// Needed is that the scenario has one.
var Needed = scene.ProgramIs[Program](`there is no Cluster API yet: say "Cluster API v1.9.5" before`)

var sentences = []deploy.Sentences{
	{Thens: then.ClusterAPI, Sentences: scene.Sentences{
		Worlds: "Cluster API", Records: "calls to the API server (api), instances (cloud), faults of machines (fault)",
		Rows: []scene.Sentence{
			{Role: scene.Given, Words: `Cluster API`, Needs: []scene.Need{scene.NoCloud}, Check: starts, Act: testedClusterAPI},
			{Role: scene.Given, Words: `Cluster API VERSION`, Needs: []scene.Need{scene.NoCloud},
				Wants: wantsRelease, Check: declareKinds, Act: releasedClusterAPI},
			{Role: scene.Given, Words: `Cluster API VERSION in a management cluster of its own`, Needs: []scene.Need{scene.NoCloud},
				Wants: wantsRelease, Check: declareKinds, Act: separateClusterAPI},
			{Role: scene.Given, Words: `Cluster API VERSION that lets machines taint their Nodes`, Needs: []scene.Need{scene.NoCloud},
				Wants: wantsRelease, Check: declareKinds, Act: taintingClusterAPI},
			{Role: scene.Given, Words: `a MachineDeployment "NAME" with N Running machine[s]`, Needs: []scene.Need{Needed}, Act: machineDeployment},
			{Role: scene.Given, Words: `a MachinePool "NAME" with N Running instance[s]`, Needs: []scene.Need{Needed}, Act: machinePool},
			{Role: scene.Given, Words: `a MachineHealthCheck that replaces machines of "NAME" whose Node is not Ready for DURATION`,
				Needs: []scene.Need{Needed}, Act: healthCheck},
			{Role: scene.Given, Words: `a MachineHealthCheck that replaces machines of "NAME" that have no Node after DURATION`,
				Needs: []scene.Need{Needed}, Act: startupCheck},
			{Role: scene.When, Words: `the MachineDeployment "NAME" changes to instances of the type "NAME"`,
				Needs: []scene.Need{Needed}, Act: rotate},
			{Role: scene.When, Words: `the kubelet of a machine of the MachineDeployment "NAME" stops sending heartbeats`,
				Needs: []scene.Need{Needed}, Act: silence},

			{Role: scene.Then, Words: `the MachineDeployment "NAME" has N Running machine[s] within DURATION`,
				Needs: []scene.Need{Needed}, Act: runningMachines},
			{Role: scene.Then, Words: `the MachineDeployment "NAME" has N machine[s] in the phase "NAME" within DURATION`,
				Needs: []scene.Need{Needed}, Act: machinesInPhase},
			{Role: scene.Then, Words: `the MachinePool "NAME" has N Running instance[s] within DURATION`, Needs: []scene.Need{Needed},
				Act: runningPool},
			{Role: scene.Then, Words: `the machines of the former instance type are gone within DURATION`,
				Needs: []scene.Need{Needed, needsFormer}, Act: formerMachinesGone},
			{Role: scene.Then, Words: `the machine whose kubelet stopped sending heartbeats is gone within DURATION`,
				Needs: []scene.Need{Needed, needsSilent}, Act: silentMachineGone},
		},
	}},
	{Thens: then.ClusterAPIAutoscaler, Sentences: scene.Sentences{
		Worlds:  "Cluster Autoscaler with Cluster API",
		Records: "calls to the API server (api), the autoscaler's log (log), faults between them (fault)",
		Rows: []scene.Sentence{
			{Role: scene.Given, Words: `a MachineDeployment "NAME" of N to N machines, N of them Running`, Needs: []scene.Need{Needed},
				Act: boundedMachines},
			{Role: scene.Given, Words: `Cluster Autoscaler for Cluster API`, Needs: []scene.Need{scene.AnyCloud},
				Check: clusterautoscaler.Starts, Act: clusterautoscaler.Deploy},
			{Role: scene.Given, Words: `Cluster Autoscaler that prefers the MachineDeployment "NAME" to "NAME"`, Needs: []scene.Need{Needed},
				Check: clusterautoscaler.Starts, Act: preferringAutoscaler},
		},
	}},
	{Thens: then.Calm, Sentences: scene.Sentences{
		Worlds: "Cluster API", Records: "faults of machines (fault), calls to the API server (api)",
		Rows: []scene.Sentence{
			{Role: scene.Then, Words: `DURATION from now, the MachineDeployment "NAME" has N machine[s]`, Needs: []scene.Need{Needed},
				Act: stillMachines},
		},
	}},
}

// groups end the API groups whose objects are in the management cluster.
const groups = "cluster.x-k8s.io"

// isKind reports whether a kind whose group is left out is Cluster API's.
func isKind(kind string) bool {
	switch strings.TrimSuffix(strings.ToLower(kind), "s") {
	case "cluster", "machine", "machineset", "machinedeployment", "machinepool", "machinehealthcheck":
		return true
	}
	return false
}

func wantsRelease(a words.Args) (scene.Wants, error) {
	return scene.Wants{System: "clusterapi", Releases: []builds.Ref{{Name: Name, Version: a.Text(0)}}}, nil
}

// declareKinds notes that the world has its kinds, starts that it is the target, too.
func declareKinds(f *scene.Feature, _ words.Args) error {
	f.Brings(Name)
	return nil
}

func starts(f *scene.Feature, _ words.Args) error {
	f.Brings(Name)
	return f.Starts(Name)
}

// Program is a Cluster API of a scenario, and its cloud.
type Program struct{ *ClusterAPI }

// Settings implements [scene.Program].
func (Program) Settings() []string { return nil }

// Has reports whether objects of a kind are in the management cluster.
func (Program) Has(kind schema.GroupKind) bool {
	return strings.HasSuffix(kind.Group, groups) || kind.Group == "" && isKind(kind.Kind)
}

// Inject implements fault.Injector. It refuses faults of a cloud's calls: its calls are objects.
func (p Program) Inject(f fault.Fault) error {
	if !Faults.Has(f.Effect) {
		return scene.CloudToBreak.Missing
	}
	return p.ClusterAPI.Inject(f)
}

// Group says by annotations what a machine of a group has that may have none:
// releases differ in whether they can read its template.
func (p Program) Group(ctx context.Context, _ *scene.Scene, g scene.Group) error {
	if len(g.Options) > 0 {
		return scene.ErrOptions
	}
	marks, taints := g.Labels, strings.Join(g.Taints, ",")
	if g.Zone != "" { // as a cloud controller manager would label the node
		marks = strings.TrimSuffix(corev1.LabelTopologyZone+"="+g.Zone+","+g.Labels, ",")
	}
	shape, err := p.Shape(g.Type)
	if err != nil {
		return err
	}
	annotations := Bounds(g.Min, g.Max)
	if g.Min == 0 {
		maps.Copy(annotations, shape)
		if marks != "" {
			annotations[LabelsAnnotation] = marks
		}
		if taints != "" {
			annotations[TaintsAnnotation] = taints
		}
	}
	return p.create(ctx, MachineDeployment{
		Name: g.Name, Replicas: int64(g.Min), InstanceType: g.Type, Annotations: annotations, NodeLabels: marks, Taints: taints, Zone: g.Zone,
	})
}

// create makes a MachineDeployment, and waits for its machines.
func (p Program) create(ctx context.Context, d MachineDeployment) error {
	if err := p.CreateMachineDeployment(ctx, d); err != nil {
		return err
	}
	_, err := p.AwaitRunning(ctx, d.Name, int(d.Replicas), 10*time.Minute)
	return err
}

func (p Program) Reach(ctx context.Context, _ *scene.Scene) (scene.Reach, error) {
	err := p.Grant(ctx, metav1.NamespaceSystem, clusterautoscaler.Name, ExampleRights)
	return scene.Reach{Provider: "clusterapi", Management: p.Management()}, err
}

func (Program) RemoveNodes(context.Context, *scene.Scene) error {
	return errors.New("the controllers of Cluster API remove the Nodes of their machines: leave it out")
}

// testedClusterAPI is the build under test.
func testedClusterAPI(ctx context.Context, s *scene.Scene, _ words.Args) error {
	if t := s.Rig.Target; t.Name != Name {
		return fmt.Errorf(`the target is %s: say which release of Cluster API is to be there, "Cluster API v1.12.0"`, t.Ref)
	}
	first, err := s.FirstRelease()
	if err != nil {
		return err
	}
	if err := bringClusterAPI(ctx, s, first, Config{}); err != nil {
		return err
	}
	s.Target = scene.ProgramOf[Program](s)
	return nil
}

// releasedClusterAPI is a release that the sentence names: it is part of the world, not the
// build under test.
func releasedClusterAPI(ctx context.Context, s *scene.Scene, a words.Args) error {
	return startClusterAPI(ctx, s, a.Text(0), Config{})
}

func separateClusterAPI(ctx context.Context, s *scene.Scene, a words.Args) error {
	management, err := s.World.StartCluster(ctx, "management")
	if err != nil {
		return err
	}
	return startClusterAPI(ctx, s, a.Text(0), Config{Management: management})
}

func taintingClusterAPI(ctx context.Context, s *scene.Scene, a words.Args) error {
	return startClusterAPI(ctx, s, a.Text(0), Config{Variables: TaintPropagation})
}

func startClusterAPI(ctx context.Context, s *scene.Scene, version string, cfg Config) error {
	store, err := buildstore.Open("")
	if err != nil {
		return err
	}
	t, err := store.Get(builds.Ref{Name: Name, Version: version})
	if err != nil {
		return err
	}
	return bringClusterAPI(ctx, s, t, cfg)
}

func bringClusterAPI(ctx context.Context, s *scene.Scene, t builds.Target, cfg Config) error {
	cfg.Target, cfg.Types, cfg.Broken = t, s.Settings.Types, s.Breaks[Name]
	cfg.World, cfg.Seed, cfg.Containers, cfg.Profile = s.World, s.Rig.World.Seed, s.Containers, s.Boots.ServerProfile
	api, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	c := Program{api}
	s.Cloud = c
	s.Run(Name, c)
	return nil
}

func machineDeployment(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.ProgramOf[Program](s).create(ctx, MachineDeployment{Name: a.Text(0), Replicas: int64(a.Int(1))})
}

// boundedMachines is a node group of the autoscaler.
func boundedMachines(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.ProgramOf[Program](s).create(ctx, MachineDeployment{
		Name: a.Text(0), Replicas: int64(a.Int(3)), Annotations: Bounds(a.Int(1), a.Int(2)),
	})
}

func machinePool(ctx context.Context, s *scene.Scene, a words.Args) error {
	api := scene.ProgramOf[Program](s)
	if err := api.CreateMachinePool(ctx, MachineDeployment{Name: a.Text(0), Replicas: int64(a.Int(1))}); err != nil {
		return err
	}
	return api.AwaitPool(ctx, a.Text(0), a.Int(1), 10*time.Minute)
}

// The spans that the sentences leave open are longer than those that they name.
const patient = 20 * time.Minute

func healthCheck(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.ProgramOf[Program](s).CreateHealthCheck(ctx, a.Text(0), a.Duration(1), patient)
}

func startupCheck(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.ProgramOf[Program](s).CreateHealthCheck(ctx, a.Text(0), patient, a.Duration(1))
}

func preferringAutoscaler(ctx context.Context, s *scene.Scene, a words.Args) error {
	clusterautoscaler.Expand(s, "priority")
	if err := scene.ProgramOf[Program](s).Prefer(ctx, metav1.NamespaceSystem, a.Text(0), a.Text(1)); err != nil {
		return err
	}
	return clusterautoscaler.Deploy(ctx, s, a)
}

// goingMachines are those that are to go: of a type that was changed, or without heartbeats.
type goingMachines struct{ former, silent []Machine }

var (
	needsFormer = scene.Need{There: func(s *scene.Scene) bool { return len(scene.State[goingMachines](s).former) > 0 },
		Missing: "no MachineDeployment has changed to instances of another type: have one do so before"}
	needsSilent = scene.Need{There: func(s *scene.Scene) bool { return len(scene.State[goingMachines](s).silent) > 0 },
		Missing: "the kubelet of no machine of a MachineDeployment has stopped sending heartbeats: have one do so before"}
)

func rotate(ctx context.Context, s *scene.Scene, a words.Args) (err error) {
	api, deployment, instanceType := scene.ProgramOf[Program](s), a.Text(0), a.Text(1)
	if scene.State[goingMachines](s).former, err = api.Machines(ctx, deployment); err != nil {
		return err
	}
	return api.Rotate(ctx, deployment, deployment+"-"+instanceType, instanceType)
}

func silence(ctx context.Context, s *scene.Scene, a words.Args) error {
	machines, err := scene.ProgramOf[Program](s).Machines(ctx, a.Text(0))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(machines, func(m Machine) bool { return m.Node != "" })
	if i < 0 {
		return fmt.Errorf("no machine of %q has a node: %v", a.Text(0), machines)
	}
	scene.State[goingMachines](s).silent = machines[i : i+1]
	return s.Nodes().Inject(fault.Fault{Name: "silence", Match: node.Match{Node: machines[i].Node}, Effect: node.HeartbeatsStop{}})
}

func runningMachines(ctx context.Context, s *scene.Scene, a words.Args) error {
	_, err := scene.ProgramOf[Program](s).AwaitRunning(ctx, a.Text(0), a.Int(1), a.Duration(2))
	return err
}

func machinesInPhase(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.ProgramOf[Program](s).AwaitPhase(ctx, a.Text(0), a.Text(2), a.Int(1), a.Duration(3))
}

func runningPool(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.ProgramOf[Program](s).AwaitPool(ctx, a.Text(0), a.Int(1), a.Duration(2))
}

func formerMachinesGone(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.ProgramOf[Program](s).AwaitGone(ctx, scene.State[goingMachines](s).former, a.Duration(0))
}

func silentMachineGone(ctx context.Context, s *scene.Scene, a words.Args) error {
	return scene.ProgramOf[Program](s).AwaitGone(ctx, scene.State[goingMachines](s).silent, a.Duration(0))
}

func stillMachines(ctx context.Context, s *scene.Scene, a words.Args) error {
	if err := s.Sleep(ctx, a.Duration(0)); err != nil {
		return err
	}
	machines, err := scene.ProgramOf[Program](s).Machines(ctx, a.Text(1))
	if err == nil && len(machines) != a.Int(2) {
		err = fmt.Errorf("MachineDeployment %q has the machines %v", a.Text(1), machines)
	}
	return err
}

// itsObjects are those of its API groups.
func itsObjects(kind schema.GroupVersionKind, runs bool) (its bool, err error) {
	its = strings.HasSuffix(kind.Group, groups)
	if its && !runs {
		err = deploy.NoKind(kind, `say "Given Cluster API v1.9.5" before`)
	}
	return its, err
}
