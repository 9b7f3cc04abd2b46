package acts

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/programs"
	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/cloudinit"
	"nodestorm/sim/machine/node"
	"nodestorm/sim/machine/workload"
)

var clusterSentences = scene.Sentences{
	Worlds: "any", Records: "calls to the API server (api), simulated nodes (node)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a cluster`, Begins: true, Act: cluster(func(*world.Config, words.Args) {})},
		{Role: scene.Given, Words: `a cluster without the admission plugin DefaultTolerationSeconds`, Begins: true,
			Act: cluster(withoutDefaultTolerations)},
		{Role: scene.Given, Words: `a cluster with the admission plugin "NAME"`, Begins: true, Check: checkPlugin,
			Act: cluster(func(c *world.Config, a words.Args) {
				c.APIServer = map[string][]string{"enable-admission-plugins": {a.Text(0)}}
			})},
		{Role: scene.Given, Words: `a cluster whose API server also serves "NAME"`, Begins: true, Check: checkServes,
			Act: cluster(func(c *world.Config, a words.Args) { c.Serves = []string{a.Text(0)} })},
		{Role: scene.Given, Words: `a cluster whose kube-controller-manager has the feature gate "GATE"`, Begins: true,
			Act: cluster(func(c *world.Config, a words.Args) { c.ControllerManager = []string{"--feature-gates=" + a.Text(0)} })},
		{Role: scene.Given, Words: `a Ready Node "NAME" for system pods only`, Act: systemNode},
		{Role: scene.Given, Words: `machines that register DURATION after their launch and are Ready DURATION later`,
			Check: checkRegister, Act: machinesRegister},
		{Role: scene.Given, Words: `a node agent "NAME" that taints its Node with "TAINT" from DURATION to DURATION after registration`,
			Act: agent},
		{Role: scene.Given, Words: `a pod "NAME" that requests CPU is Running`, Act: runningPod},
		{Role: scene.Given, Words: `Karpenter has initialized a Node, and DURATION have passed since the first NodeClaim was created`,
			Check: waited, Act: machineInitialized},
		{Role: scene.When, Words: `a pod "NAME" that requests CPU is created`, Act: createPod},
		{Role: scene.When, Words: `a Deployment "NAME" of N pod[s] that [requests|request] CPU is created`, Act: createDeployment},
	},
}

// cluster is the step that starts one.
func cluster(with func(*world.Config, words.Args)) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) error {
		cfg := s.Rig.World
		with(&cfg, a)
		return start(ctx, s, cfg)
	}
}

// The admission plugin's toleration of 300 s is in almost every cluster; it is
// switched off where users bring pods with tolerations of their own.
func withoutDefaultTolerations(cfg *world.Config, _ words.Args) {
	cfg.APIServer = map[string][]string{"disable-admission-plugins": {"DefaultTolerationSeconds"}}
}

// plugins are the admission plugins that are off in an API server of Kubernetes 1.36 and need no file of their own.
var plugins = []string{"AlwaysPullImages", "DenyServiceExternalIPs", "ExtendedResourceToleration", "LimitPodHardAntiAffinityTopology",
	"NamespaceAutoProvision", "NamespaceExists", "OwnerReferencesPermissionEnforcement", "PodNodeSelector", "PodTolerationRestriction"}

func checkPlugin(_ *scene.Feature, a words.Args) error {
	if !slices.Contains(plugins, a.Text(0)) {
		return fmt.Errorf("%q is no admission plugin that can be switched on; want one of %s", a.Text(0), strings.Join(plugins, ", "))
	}
	return nil
}

var groupVersion = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/v[0-9]+([a-z]+[0-9]+)?$`)

// checkServes is about a version of an API group that is off by default.
func checkServes(_ *scene.Feature, a words.Args) error {
	if !groupVersion.MatchString(a.Text(0)) {
		return fmt.Errorf("%q is no version of an API group, such as resource.k8s.io/v1beta1", a.Text(0))
	}
	return nil
}

func start(ctx context.Context, s *scene.Scene, cfg world.Config) (err error) {
	if s.World != nil {
		return errors.New("the scenario has a cluster already")
	}
	s.Boots.Profile = node.DefaultProfile()
	cfg.Nodes.Adopt = func(n *corev1.Node) (node.Profile, bool) {
		for _, k := range programs.All {
			if k.Adopts == nil {
				continue
			}
			if p, its := k.Adopts(s, n); its {
				return p, true
			}
		}
		return node.Profile{}, false
	}
	cfg.Breakable = slices.DeleteFunc(slices.Clone(world.Controllers), func(name string) bool { return !s.Breaks[name] })
	w, err := world.Start(ctx, cfg)
	if err != nil {
		return err
	}
	s.World = w
	for _, name := range cfg.Breakable {
		s.Run(name, controller{w.Way(name)})
	}
	s.Rig.Started(w)
	for _, version := range cfg.Serves {
		// mutant: a version of an API group that is not served is no problem
		if _, err := w.Client().Discovery().ServerResourcesForGroupVersion(version); err != nil {
			return fmt.Errorf("the API server was asked to serve %s, and does not: %w", version, err)
		}
	}
	guard(ctx, s)
	if s.Rig.Machines != nil {
		s.Containers, err = s.Rig.Machines(ctx, w)
	}
	return err
}

// controller is a program of the control plane whose way to the API server can be broken.
type controller struct{ way *apifault.Proxy }

// Way implements [scene.Program].
func (c controller) Way() *apifault.Proxy { return c.way }

// Settings implements [scene.Program].
func (controller) Settings() []string { return nil }

// systemNode keeps the cluster out of full disruption: if no Node at all is
// Ready, kube-controller-manager evicts nothing and taints nothing NoExecute.
func systemNode(ctx context.Context, s *scene.Scene, a words.Args) error {
	return s.SystemNode(ctx, a.Text(0), "")
}

// checkRegister finds a scenario in which nothing launches machines that register so, or has done before it is said.
func checkRegister(f *scene.Feature, _ words.Args) error {
	if f.Target != "" {
		return errors.New("the target runs already, and its machines are not as this says: say it before")
	}
	f.Owed = append(f.Owed, func(f *scene.Feature) error {
		if f.Launches || f.Runs[builds.KarpenterAWS] { // of an AWS region all instances are as this says
			return nil
		}
		for _, k := range programs.All {
			if k.Adopts != nil && f.Runs[k.Name] {
				return nil
			}
		}
		return errors.New(`it is about machines that Karpenter launches, and the scenario has no Karpenter: of servers of other ` +
			`clouds say "servers whose Nodes are Ready DURATION after their registration", or leave it out`)
	})
	return nil
}

func machinesRegister(_ context.Context, s *scene.Scene, a words.Args) error {
	s.Boots.Register, s.Boots.Profile.ReadyDelay = a.Duration(0), a.Duration(1)
	return nil
}

func agent(_ context.Context, s *scene.Scene, a words.Args) error {
	t, err := cloudinit.ParseTaint(a.Text(1))
	if err != nil {
		return err
	}
	agents := &s.Boots.Profile.Agents
	*agents = append(*agents, node.Agent{Name: a.Text(0), Taint: t, SetAfter: a.Duration(2), LiftAfter: a.Duration(3)})
	return nil
}

// waited is for a sentence after which $name and so on stand for something.
func waited(f *scene.Feature, _ words.Args) error {
	f.Awaited = true
	return nil
}

// machineInitialized waits for Karpenter to call its only machine initialized, for whose
// Node $name stands from then on, and for a time since its launch.
func machineInitialized(ctx context.Context, s *scene.Scene, a words.Args) error {
	launched, err := s.Within(ctx, time.Second, 0, claimCreated)
	if err != nil {
		return fmt.Errorf("looking for the NodeClaim: %w", err)
	}
	initialized, err := s.Within(ctx, 10*time.Minute, 0, nodeInitialized)
	if err != nil {
		return fmt.Errorf("waiting for the Node to be initialized: %w", err)
	}
	s.Awaited = &initialized
	at := s.World.History().Start().Add(launched.Virtual + a.Duration(0))
	return s.Sleep(ctx, at.Sub(s.World.Clock().Now()))
}

// A claim is created by the target, and the API server took it.
func claimCreated(r history.Entry) bool {
	return r.Source == history.API && r.Verb == "create" && r.Object.Resource == "nodeclaims" && r.Code < 300
}

// Karpenter labels the Node when all it waits for is there.
func nodeInitialized(r history.Entry) bool {
	initialized, _ := r.Detail["initialized"].(bool)
	return r.Source == history.API && r.Object.Resource == "nodes" && initialized
}

const namespace = "default"

func demand(s *scene.Scene) *workload.Demand { return workload.New(s.World.Client()) }

func createPod(ctx context.Context, s *scene.Scene, a words.Args) error {
	pod, err := workload.Pod(namespace, a.Text(0), workload.Template{CPU: a.Text(1)})
	if err != nil {
		return err
	}
	return demand(s).Create(ctx, pod)
}

func runningPod(ctx context.Context, s *scene.Scene, a words.Args) error {
	if err := createPod(ctx, s, a); err != nil {
		return err
	}
	running, err := then.PodRuns(a.Text(0), 10*time.Minute)
	if err != nil {
		return err
	}
	return Holds(ctx, s, running)
}

func createDeployment(ctx context.Context, s *scene.Scene, a words.Args) error {
	deployment, err := workload.Deployment(namespace, a.Text(0), int32(min(a.Int(1), math.MaxInt32)), workload.Template{CPU: a.Text(2)})
	if err != nil {
		return err
	}
	return demand(s).Create(ctx, deployment)
}
