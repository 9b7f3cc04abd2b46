package then

import (
	"errors"
	"fmt"
	"time"

	"nodestorm/harness/sentences/words"
	"nodestorm/sim/history"
)

// Hetzner are those about what a Hetzner Cloud project does.
var Hetzner = []Sentence{
	{Words: `DURATION from now, a server of a node group has been running since the start, and no running server has been deleted`, Holds: `
- noSequence:
  - match: {source: cloud, verb: running, resource: instances}
    capture: {server: name}
  - match: {source: cloud, verb: deleting, resource: instances, name: $server}
    absent: [{source: cloud, resource: instances, name: $server}]
- happens: {source: cloud, verb: running, resource: instances, detail: {group: {exists: true}}}
  ever: true
`},
	{Words: `DURATION from now, a server of a node group has been created since the start, and no server has been deleted`, Holds: `
- never: {source: cloud, verb: deleting, resource: instances}
  ever: true
- happens: {source: cloud, verb: created, resource: instances, detail: {group: {exists: true}}}
  ever: true
`},
	{Words: `the Node "NAME" is Ready within DURATION and has the provider ID of its server`, Holds: `
- happens: {source: node, verb: ready, resource: nodes, name: "$1"}
- sequence:
  - match: {source: cloud, verb: created, resource: instances, name: "$1"}
    capture: {id: detail.id}
  - match: {source: api, resource: nodes, name: "$1", detail: {providerID: "hcloud://${id}"}}
`},
	{Words: `a server of the group "NAME" that has not started is deleted within DURATION`, Holds: `
- sequence:
  - match: {source: cloud, verb: [created, starting], resource: instances, detail: {group: "$1"}}
    capture: {server: name}
  - match: {source: cloud, verb: deleting, resource: instances, name: $server}
    absent: [{source: cloud, resource: instances, name: $server}]
`},
	{Words: `a server that is off is deleted within DURATION`, Observe: offServerDeleted},
	{Words: `at least N [instance|instances|server|servers] of the group "NAME" [is|are] created within DURATION`, Holds: `
- count: {source: cloud, verb: created, resource: instances, detail: {group: "$2"}}
  atLeast: #1
`},
}

// Servers are those about the servers of a project and their Nodes.
var Servers = []Sentence{
	{Words: `DURATION from now, exactly N [instance|instances|server|servers] of the group "NAME" [has|have] been created since the start`,
		Holds: `
- count: {source: cloud, verb: created, resource: instances, detail: {group: "$3"}}
  atLeast: #2
  atMost: #2
  ever: true
`},
	{Words: `DURATION from now, between N and N [instances|servers] of the group "NAME" have been created since the start`, Holds: `
- count: {source: cloud, verb: created, resource: instances, detail: {group: "$4"}}
  atLeast: #2
  atMost: #3
  ever: true
`},
	{Words: `the Node of the pod "NAME" has the provider ID of its server`, Holds: `
- sequence:
  - match: {source: cloud, verb: created, resource: instances}
    capture: {server: name, id: detail.id}
  - match: {source: api, resource: nodes, name: $server, detail: {providerID: "hcloud://${id}"}}
  - match: {source: api, verb: create, resource: pods, namespace: default, name: "$1", detail: {subresource: binding, node: $server}}
`},
}

// offServerDeleted counts from when the first server is off, for which it waits.
func offServerDeleted(args words.Args) (Observation, error) {
	const turnsOff = 10 * time.Minute
	limit := args.Duration(0)
	var off history.Entry
	var deadline time.Duration
	still := func() error {
		if off.Seq == 0 {
			return fmt.Errorf("waiting for a server to be off: %w", errors.New("the time is over"))
		}
		return fmt.Errorf("server %s is off since %s and still there", off.Object.Name, off.Virtual.Round(100*time.Millisecond))
	}
	return Observation{
		window: turnsOff + limit,
		see: func(r history.Entry, at phase) (bool, error) {
			if at == begun && deadline == 0 {
				if deadline = r.Virtual + turnsOff; off.Seq != 0 {
					deadline = r.Virtual + limit
				}
			}
			switch {
			case at == begun && r.Virtual > deadline:
				return true, still()
			case off.Seq == 0 && life(r) && r.Verb == "off":
				off = r
				if at == begun {
					deadline = r.Virtual + limit
				}
			case off.Seq != 0 && life(r) && r.Verb == "deleting" && r.Object.Name == off.Object.Name:
				return true, nil
			}
			return false, nil
		},
		over: still,
	}, nil
}
