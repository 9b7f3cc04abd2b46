package then

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nodestorm/harness/sentences/words"
	"nodestorm/sim/history"
)

// Kubespray are those about an installation by Kubespray.
var Kubespray = []Sentence{
	{Words: `the installation has succeeded`, Holds: `
- never: {source: harness, actor: order, detail: {failed: true}}
  ever: true
- happens: {source: harness, actor: order}
  ever: true
`},
	{Words: `every Node is initialized within DURATION`, Observe: nodesInitialized},
	{Words: `every kubelet has its serving certificate within DURATION`, Observe: servingCertificates},
	{Words: `logs and metrics were served`, Holds: `
- finally: {value: detail.refused, of: {source: harness, verb: asked kubelets, actor: somebody}, is: false}
`},
}

// Kubelets are those about Nodes of kubelets. One about labels asks the world.
var Kubelets = []Sentence{
	{Words: `the Node "NAME" is no longer Ready within DURATION`, Holds: `
- eventually: {value: detail.ready, of: {source: api, resource: nodes, name: "$1"}, is: {matches: ["False.*", "Unknown.*"]}}
- happens: {source: api, resource: nodes, name: "$1", detail: {ready: {matches: "True.*"}}}
  ever: true
`},
	{Words: `the pod "NAME" is gone within DURATION`, Observe: podGone},
}

// Nodes are those about simulated nodes.
var Nodes = []Sentence{
	{Words: `DURATION from now, the Node "NAME" has not registered since a fault was armed for it`, Holds: `
- noSequence:
  - match: {source: fault, verb: armed, name: "$2"}
  - match: {source: node, verb: register, resource: nodes, name: "$2"}
- happens: {source: fault, verb: armed, name: "$2"}
  ever: true
`},
	{Words: `the Node "NAME" is Ready within DURATION`, Holds: `
- eventually: {value: detail.ready, of: {source: api, resource: nodes, name: "$1"}, is: {matches: "True.*"}}
`},
	{Words: `the Node "NAME" becomes NotReady at least N time[s] within DURATION`, Holds: `
- count: {source: node, verb: notready, resource: nodes, name: "$1"}
  atLeast: #2
`},
	{Words: `the Node "NAME" keeps the taint "TAINT" for DURATION`, Holds: `
- throughout: {value: detail.taints, of: {source: api, resource: nodes, name: "$1"}, is: {contains: "$2"}}
- never: {source: api, verb: delete, resource: nodes, name: "$1"}
`},
	{Words: `the Node "NAME" is deleted within DURATION`, Holds: `
- happens: {source: api, verb: delete, resource: nodes, name: "$1", detail: {subresource: {exists: false}}}
`},
}

const (
	// uninitialized begins the taint that a cloud controller manager lifts (k8s.io/cloud-provider/api).
	uninitialized = "node.cloudprovider.kubernetes.io/uninitialized"
	// servingSigner signs the serving certificates of kubelets (k8s.io/api/certificates/v1).
	servingSigner = "kubernetes.io/kubelet-serving"
)

var errNoMachines = errors.New(`there are no virtual machines yet: say "the virtual machines …" before`)

func nodesInitialized(args words.Args) (Observation, error) {
	all := nodes{}
	return eventually(args.Duration(0), all, func() error {
		if len(all) == 0 {
			return errNoMachines
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			n, err := all.lookup(name)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(n.taints, func(t string) bool { return strings.HasPrefix(t, uninitialized) }) || n.providerID == "" {
				return fmt.Errorf("node %q has the taints %v and the provider ID %q", name, n.taints, n.providerID)
			}
		}
		return nil
	}), nil
}

func servingCertificates(args words.Args) (Observation, error) {
	all, issued := nodes{}, map[string]bool{}
	lacking := false // a run of before the audit log had who wants what
	certificates := entryFunc(func(r history.Entry) {
		if taken(r, "certificatesigningrequests", "") && r.Verb == "create" && r.Detail.Text("signer") == "" {
			lacking = true
		}
		if taken(r, "certificatesigningrequests", "status") && r.Detail.Text("signer") == servingSigner && r.Detail["issued"] == true {
			issued[r.Detail.Text("user")] = true
		}
	})
	return eventually(args.Duration(0), twoStates{all, certificates}, func() error {
		switch {
		case len(all) == 0:
			return errNoMachines
		case lacking:
			return errLacking
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !issued["system:node:"+name] {
				return fmt.Errorf("the kubelet of %q has no serving certificate", name)
			}
		}
		return nil
	}), nil
}
