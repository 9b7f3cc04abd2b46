// Package acts has the sentences that any world can have: clusters, machines, objects, programs that end and start again,
// and records to wait for. Those of clouds, of programs and of faults are elsewhere.
package acts

import (
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/run/then"
)

// First are those that are said first, Last what comes after clouds and programs.
func First() []deploy.Sentences {
	return []deploy.Sentences{{Sentences: clusterSentences, Thens: then.Pods}, {Sentences: objectSentences}, {Sentences: targetSentences}}
}

// Last see First.
func Last() []deploy.Sentences {
	return []deploy.Sentences{
		{Sentences: serverSentences, Thens: then.Servers}, {Sentences: flapSentences},
		{Sentences: kubeletSentences, Thens: then.Kubelets}, {Sentences: nodeSentences, Thens: then.Nodes},
	}
}

// Programs are about any program, Upgrades about other releases of the target, and Planes about those of Kubernetes.
var (
	Programs = programSentences
	Upgrades = upgradeSentences
	Planes   = planeSentences
)
