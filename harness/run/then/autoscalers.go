package then

import (
	"fmt"

	"nodestorm/harness/sentences/words"
)

// Autoscaler are those about Cluster Autoscaler, on any of its clouds.
var Autoscaler = []Sentence{
	{Words: `the target size of the group "NAME" becomes N within DURATION`, Holds: `
- happens: {source: [log, cloud], verb: target, resource: nodegroups, name: "$1", detail: {to: #2}}
`},
	{Words: `DURATION from now, the group "NAME" has had [an instance|a server] since the start, and at no time a target size above N`,
		Holds: `
- never: {source: [log, cloud], verb: target, resource: nodegroups, name: "$2", detail: {to: {above: #3}}}
  ever: true
- never: {source: [log, cloud], verb: target, resource: nodegroups, name: "$2", detail: {from: {above: #3}}}
  ever: true
- happens: {source: cloud, verb: created, resource: instances, detail: {group: "$2"}}
  ever: true
`},
}

// ClusterAPI are those about the machines of Cluster API. Others about their phases ask the world.
var ClusterAPI = []Sentence{
	{Words: `the cloud has N instance[s] of "NAME"`, Observe: instancesOf},
	{Words: `all instances are of the type "NAME"`, Holds: `
- finally: {value: detail.type, of: {source: cloud, verb: created, resource: instances}, is: "$1"}
  forEach: [name]
`},
}

// ClusterAPIAutoscaler are those about Cluster Autoscaler with Cluster API.
var ClusterAPIAutoscaler = []Sentence{
	{Words: `the autoscaler scales the Machine[Deployment|Pool] "NAME" within DURATION`, Holds: `
- happens: {source: api, verb: [update, patch], resource: [machinedeployments, machinepools], ` +
		`name: "$1", actor: cluster-autoscaler, detail: {subresource: scale}}
`},
	{Words: `DURATION from now, the autoscaler has reported no Node as removed before it scaled the MachineDeployment "NAME"`, Holds: `
- noSequence:
  - match: {source: api, resource: events, actor: cluster-autoscaler, detail: {message: {contains: " removed"}}}
    absent:
    - since: start
      source: api
      verb: [update, patch]
      resource: [machinedeployments, machinepools]
      name: "$2"
      actor: cluster-autoscaler
      code: [200, 201]
      detail: {subresource: scale}
- happens: {source: api, resource: machinedeployments, name: "$2", actor: {not: cluster-autoscaler}}
  ever: true
`},
	{Words: `DURATION from now, the autoscaler has not scaled the MachineDeployment "NAME" since the start`, Holds: `
- never: {source: api, verb: [update, patch], resource: [machinedeployments, machinepools], ` +
		`name: "$2", actor: cluster-autoscaler, detail: {subresource: scale}}
  ever: true
- happens: {source: api, resource: machinedeployments, name: "$2", actor: {not: cluster-autoscaler}}
  ever: true
`},
}

// Calm are those of which nothing happens.
var Calm = []Sentence{
	{Words: `DURATION from now, a pod has been scheduled since the start, and no eviction has been asked for`, Holds: `
- never: {source: api, verb: create, resource: pods, code: {exists: true}, detail: {subresource: eviction}}
  ever: true
- happens: {source: api, resource: pods, detail: {subresource: binding}}
  ever: true
`},
	{Words: `DURATION from now, a machine has been created since the start, and none has been deleted`, Holds: `
- never: {source: api, verb: delete, resource: machines}
  ever: true
- happens: {source: api, verb: create, resource: machines}
  ever: true
`},
}

func instancesOf(args words.Args) (Observation, error) {
	want, deployment := args.Int(0), args.Text(1)
	var all instances
	return now(&all, func() error {
		got := 0
		for _, i := range all {
			if i.group == deployment {
				got++
			}
		}
		if got != want {
			return fmt.Errorf("the cloud has %d instances of %q", got, deployment)
		}
		return nil
	}), nil
}
