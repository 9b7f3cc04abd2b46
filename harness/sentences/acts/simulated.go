package acts

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/memory"
	"nodestorm/sim/machine/node"
)

// nodeSentences have simulated nodes. A "Ready Node" of the cluster's own stays well.
var nodeSentences = scene.Sentences{
	Worlds: "any", Records: "nodes (node), faults of them (fault)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `N simulated node[s]`, Unchecked: true, Wants: wantsSimulated, Act: simulatedNodes},
		{Role: scene.Either, Words: `every new simulated node has a kubelet of Kubernetes VERSION`,
			Wants: wantsKubelets, Check: checkKubelets, Act: kubeletsOf},
		{Role: scene.When, Words: `a machine "NAME" with a simulated kubelet boots`, Act: bootSimulated},
	},
}

func wantsSimulated(a words.Args) (scene.Wants, error) {
	n, err := strconv.ParseUint(a.Text(0), 10, 31)
	if err != nil { // too many to count
		n = math.MaxInt32
	}
	return scene.Wants{Nodes: int(n)}, nil
}

// simulatedNodes boots node-1, node-2 and so on, and does not wait for them.
func simulatedNodes(_ context.Context, s *scene.Scene, a words.Args) error {
	if err := a.Check(); err != nil {
		return err
	}
	n := a.Int(0)
	if err := memory.Check(n); err != nil { // not asked before in a world that stays
		return err
	}
	for i := range n {
		if err := boot(s, fmt.Sprintf("node-%d", i+1)); err != nil {
			return err
		}
	}
	return nil
}

func wantsKubelets(a words.Args) (scene.Wants, error) { return scene.Wants{Kubelets: a.Text(0)}, nil }

func checkKubelets(_ *scene.Feature, a words.Args) error {
	return buildstore.CheckKubernetes(a.Text(0))
}

func kubeletsOf(_ context.Context, s *scene.Scene, a words.Args) error {
	s.Boots.SetKubelet(a.Text(0))
	return nil
}

func bootSimulated(_ context.Context, s *scene.Scene, a words.Args) error { return boot(s, a.Text(0)) }

func boot(s *scene.Scene, machine string) error {
	return s.World.Fleet().Boot(node.Spec{Name: machine, Profile: s.Boots.Next()})
}
