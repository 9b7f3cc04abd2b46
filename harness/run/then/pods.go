package then

import (
	"errors"
	"fmt"
	"time"

	"nodestorm/harness/sentences/words"
)

// podRuns is what a pod's kubelet says, until it is evicted or deleted.
const podRuns = `
- eventually:
    value: verb
    of: {source: [api, node], namespace: default, resource: pods, name: "$1", verb: [create, running, terminated, delete]}
    is: running
`

// NodeClaims are those about the machines that Karpenter asks for.
var NodeClaims = []Sentence{
	{Words: `DURATION from now, exactly N NodeClaim[s] [has|have] been created since the start`, Holds: `
- count: {source: api, verb: create, resource: nodeclaims}
  atLeast: #2
  atMost: #2
  ever: true
`},
	{Words: `DURATION from now, between N and N NodeClaims have been created since the start`, Holds: `
- count: {source: api, verb: create, resource: nodeclaims}
  atLeast: #2
  atMost: #3
  ever: true
`},
}

// Pods are those about demand.
var Pods = []Sentence{
	{Words: `the pod "NAME" is Running within DURATION`, Holds: podRuns},
	{Words: `every pod is Running within DURATION`, Observe: everyPodRuns},
	{Words: `a pod of the Deployment "NAME" is Running within DURATION`, Holds: `
- eventually:
    value: verb
    of: {source: [api, node], namespace: default, resource: pods, name: {matches: "$1-[a-z0-9]+-[a-z0-9]+"}, ` +
		`verb: [create, running, terminated, delete]}
    is: running
  forAny: [name]
`},
}

// PodRuns is that a pod runs within a window.
func PodRuns(name string, within time.Duration) (Observation, error) {
	running, err := Sentence{Holds: podRuns}.statements([]string{name})
	if err != nil {
		return Observation{}, err
	}
	return allHold(running, within), nil
}

// podsCome is how long controllers need at most until the first pods are there of what was
// created or scaled: two calls, and the retry of one.
const podsCome = 5 * time.Second

// everyPodRuns holds at a moment at which every pod that is there runs, once those are there that
// the step before has asked for.
func everyPodRuns(args words.Args) (Observation, error) {
	pods := everyPod()
	o := eventually(args.Duration(0), pods, func() error {
		if !pods.ever {
			return errors.New("there has never been a pod, but for those of DaemonSets")
		}
		waiting := pods.waiting()
		if len(waiting) == 0 {
			return nil
		}
		return fmt.Errorf("%d of %d pods do not run, such as %s", len(waiting), len(pods.all), waiting[0])
	})
	o.settle = min(podsCome, o.window)
	return o, nil
}

// podGone is about one that has been there.
func podGone(args words.Args) (Observation, error) {
	name := args.Text(0)
	pods := podsOf(name)
	return eventually(args.Duration(1), pods, func() error {
		if !pods.ever {
			return fmt.Errorf("there has never been a pod %q", name)
		}
		if p := pods.all[name]; p != nil {
			return fmt.Errorf("pod %q is %s", name, p.phase)
		}
		return nil
	}), nil
}
