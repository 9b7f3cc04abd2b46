package acts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"nodestorm/fakecloud"
	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/machines"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/machine/node"
)

// targetSentences hold for any target.
var targetSentences = scene.Sentences{
	Worlds: "any", Records: "calls to the API server (api), the target's log (log)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `the target has the environment variables:`, Table: true,
			Wants: wantsEnvironment, Check: checkEnvironment, Act: environment},
		{Role: scene.Given, Words: `the target has N replicas`, Wants: wantsReplicas, Check: checkReplicas, Act: replicas},
		{Role: scene.Given, Words: typesWords, Table: true, Needs: []scene.Need{cloudless}, Check: checkTypes, Act: instanceTypes},
		{Role: scene.Given, Words: `these node groups:`, Table: true, Needs: []scene.Need{scene.AnyCloud},
			Wants: wantsGroups, Check: checkGroups, Act: nodeGroups},
		{Role: scene.Given, Words: `these Ready Nodes:`, Table: true, Wants: wantsNodes, Check: checkNodes, Act: nodesReady},
	},
}

const typesWords = "the cloud also has these instance types:"

var cloudless = scene.Need{There: scene.NoCloud.There, Missing: "the cloud is there already: say before it what it has"}

func wantsEnvironment(a words.Args) (w scene.Wants, err error) {
	all, err := scene.Variables(a.Table)
	for _, v := range all {
		if w.Env = append(w.Env, v.Name); v.Name == "FEATURE_GATES" {
			w.Gates = append(w.Gates, scene.Gates(v.Value)...)
		}
	}
	return w, err
}

func checkEnvironment(f *scene.Feature, a words.Args) error {
	if f.Target != "" {
		return errors.New("the target runs already: say it before")
	}
	_, err := scene.Variables(a.Table)
	return err
}

func environment(_ context.Context, s *scene.Scene, a words.Args) error {
	env, err := scene.Variables(a.Table)
	s.Settings.Env = append(s.Settings.Env, env...)
	return err
}

func wantsReplicas(a words.Args) (scene.Wants, error) { return scene.Wants{Replicas: a.Int(0)}, nil }

// checkReplicas finds a target that has one process, whatever a step says.
func checkReplicas(f *scene.Feature, a words.Args) error {
	if f.Target != "" {
		return errors.New("the target runs already: say it before")
	}
	if n := a.Int(0); n < 1 || n > mostReplicas {
		return fmt.Errorf("%d replicas: want 1 to %d", n, mostReplicas)
	}
	f.Owed = append(f.Owed, func(f *scene.Feature) error {
		// mutant: a target of which there is one process may have two replicas
		if f.Target != "" && !slices.Contains([]string{"karpenter", "cluster-autoscaler"}, builds.Ref{Name: f.Target}.Program()) {
			return fmt.Errorf("%s runs as one process: only Karpenter and Cluster Autoscaler can have replicas", f.Target)
		}
		return nil
	})
	return nil
}

// mostReplicas are as many as anyone has who runs more than one.
const mostReplicas = 3

func replicas(_ context.Context, s *scene.Scene, a words.Args) error {
	s.Settings.Replicas = a.Int(0)
	return nil
}

func checkTypes(_ *scene.Feature, a words.Args) error {
	_, err := typesOf(a.Table)
	return err
}

func instanceTypes(_ context.Context, s *scene.Scene, a words.Args) (err error) {
	s.Settings.Types, err = typesOf(a.Table)
	return err
}

// wantsGroups counts the machines that they begin with. What is wrong with the table is for others to say.
func wantsGroups(a words.Args) (w scene.Wants, _ error) {
	groups, _ := groupsOf(a.Table)
	for _, g := range groups {
		w.Nodes += g.Min
		w.Marked = w.Marked || g.Marked()
	}
	return w, nil
}

func checkGroups(f *scene.Feature, a words.Args) error {
	f.Grouped = true
	_, err := groupsOf(a.Table)
	return err
}

// nodeGroups are there with their least number of nodes where the cloud has them without
// an autoscaler.
func nodeGroups(ctx context.Context, s *scene.Scene, a words.Args) error {
	all, err := groupsOf(a.Table)
	if err != nil {
		return err
	}
	for _, g := range all {
		if err := s.Cloud.Group(ctx, s, g); err != nil {
			return fmt.Errorf("node group %q: %w", g.Name, err)
		}
	}
	return nil
}

func wantsNodes(a words.Args) (scene.Wants, error) {
	return scene.Wants{Nodes: max(len(a.Table)-1, 0)}, nil
}

func checkNodes(_ *scene.Feature, a words.Args) error {
	_, err := nodesOf(a.Table)
	return err
}

// nodesReady has Nodes that are Ready, each on a machine of a type of the cloud: of the cloud itself if that has
// machines of no group, else on a simulated machine that no cloud has.
func nodesReady(ctx context.Context, s *scene.Scene, a words.Args) error {
	all, err := nodesOf(a.Table)
	if err != nil {
		return err
	}
	before := s.Seq()
	for _, n := range all {
		if cloud, boots := s.Cloud.(scene.Booter); boots {
			err = cloud.Boot(s, scene.Node{Name: n.name, Type: n.kind, Zone: n.zone, Group: n.group, Flags: n.flags()})
		} else {
			err = bootMachine(s, n)
		}
		if err != nil {
			return fmt.Errorf("node %q: %w", n.name, err)
		}
	}
	for _, n := range all {
		if err := s.NodeReady(ctx, n.name, 5*time.Minute, before); err != nil {
			return err
		}
	}
	return nil
}

func bootMachine(s *scene.Scene, n nodeRow) error {
	if n.group != "" {
		return fmt.Errorf("group %q: only servers of the Hetzner Cloud are put into a group by hand", n.group)
	}
	profile := s.Boots.Profile
	profile.BootDelay, profile.Kubelet = 0, s.Boots.Kubelet()
	spec := node.Spec{Name: n.name, Labels: n.labels, Taints: n.taints, Profile: profile}
	if spec.Labels == nil {
		spec.Labels = map[string]string{}
	}
	if n.zone != "" {
		spec.Labels[corev1.LabelTopologyZone] = n.zone
	}
	if n.kind != "" {
		offer := fakecloud.Hetzner()
		if err := offer.Add(s.Settings.Types...); err != nil {
			return err
		}
		t := offer.ServerType(n.kind)
		if t == nil {
			return fmt.Errorf(`there is no instance type %q: say "%s" before`, n.kind, typesWords)
		}
		var err error
		if spec.Capacity, spec.Allocatable, err = machines.Resources(t, nil); err != nil {
			return err
		}
		spec.Labels[corev1.LabelInstanceTypeStable] = n.kind
	}
	return s.World.Fleet().Boot(spec)
}
