package checker_test

import (
	"testing"

	"nodestorm/sim/history/checker"
	"nodestorm/sim/strict"
)

// What events can be is no mistake, however seldom it is. (What they cannot be is in the tests of lint.)
func TestWhatCanMatch(t *testing.T) {
	for _, pattern := range []string{
		`{source: api, code: [200, 201, 409, 599]}`,
		`{source: api, code: {not: 200}}`,
		`{source: cloud, code: {above: 399}}`,
		`{source: api, code: {matches: "5.."}}`,
		`{source: log, code: {exists: false}}`,
		`{source: [log, api], code: 500}`,
		`{source: api, resource: nodeclaims, detail: {deleting: true, conditions.Launched: "Unknown: LaunchFailed", conditions.Paid: "True"}}`,
		`{source: api, resource: nodeclaims, detail: {conditions.Ready: {contains: NotReady}, conditions: {exists: true}}}`,
		`{source: api, resource: nodes, detail: {ready: "False: KubeletNotReady", registered: {exists: false}, unschedulable: {not: true}}}`,
		`{source: api, resource: [pods, nodes], detail: {taints: {lacks: "a:NoSchedule"}}}`,
		`{source: api, resource: deployments, detail: {replicas: 0, subresource: scale}}`,
		`{source: api, resource: pods, detail: {gracePeriodSeconds: -1, cpu: {below: 1}, owner: {contains: ReplicaSet}}}`,
		`{source: api, resource: pods, detail: {gracePeriodSeconds: {below: 0}}}`,
		`{source: api, resource: widgets, verb: [create, deletecollection]}`,
		`{source: api, resource: {matches: nodecliams}}`,
		`{source: api, resource: {matches: "(node|machine).*"}, detail: {taints: {exists: true}}}`,
		`{source: api, resource: [leases, pods]}`,
		`{source: api, resource: clusterroles, name: "system:Node"}`,
		`{source: api, name: {contains: web-}, namespace: {exists: false}}`,
		`{source: cloud, name: Server_1}`,
		`{source: cloud, verb: "GET /whatever"}`, // as long as no cloud is known
		`{source: cloud, verb: created, detail: {hourlyEUR: 0.005, error: {exists: false}}}`,
		`{source: cloud, verb: [target, deleted], resource: nodegroups}`,
		`{source: [api, cloud, node, log], resource: nodegroups, name: a}`,
		`{source: fault, verb: effective, resource: nodeclaims.karpenter.sh, name: "best-*"}`,
		`{source: fault, resource: instances, detail: {code: 500}}`,
		`{source: node, verb: {matches: "(not)?ready"}, namespace: {not: default}}`,
		`{source: node, verb: boot, resource: machines}`,
		`{source: log, verb: log, detail: {NodeClaim.name: a, level: ERROR}}`,
		`{source: log, verb: loop, resource: {exists: false}, detail: {idle: true}}`,
		`{source: harness, verb: rollout, resource: deployments, namespace: kube-system}`,
		`{source: {not: clock}, verb: whatever, resource: whatever, code: 200}`,
	} {
		var s checker.Statement
		if err := strict.Unmarshal([]byte("never: "+pattern), &s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
