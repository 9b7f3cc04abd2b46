package invariants

import (
	"fmt"
	"strings"
)

// story is a history that holds an invariant, or breaks it.
type story struct {
	invariant, name string
	of              Subject
	text            string
	evidence        []uint64 // nil if it holds
}

// cases are histories that hold an invariant, and ones that break it.
var cases = append([]story{
	{"no-crash", "panic", ca, `
		1m harness died cluster-autoscaler error=panic
		` + quiet, []uint64{1}},
	{"no-crash", "killed and started by us", ca, `
		1m harness killed programs//cluster-autoscaler cluster-autoscaler
		2m harness started programs//cluster-autoscaler cluster-autoscaler
		3m harness died etcd error=gone
		` + quiet, nil},

	{"no-crash", "a panic that a controller recovers from", karp, `
		1m log log karpenter message=Observed_a_panic_in_reconciler:_nil
		` + quiet, []uint64{1}},
	{"no-crash", "a panic in klog's words", ca, `
		1m log failed cluster-autoscaler message="Observed_a_panic"_panic="nil"
		` + quiet, []uint64{1}},

	{"no-race", "its own", ca, `
		1m log race cluster-autoscaler message=read_in_a,_write_in_b
		` + quiet, []uint64{1}},
	{"no-race", "another program's", ca, `
		1m log race kube-scheduler message=read_in_a,_write_in_b
		` + quiet, nil},

	{"bounded-loop", "one that hangs", ca, `
		1m log loop cluster-autoscaler
		12m log loop cluster-autoscaler
		13m harness ended`, []uint64{1}},
	{"bounded-loop", "the last hangs", ca, `
		1m log loop cluster-autoscaler
		` + quiet, []uint64{1}},
	{"bounded-loop", "more is allowed", with(ca, "--max-inactivity=2h"), `
		1m log loop cluster-autoscaler
		` + quiet, nil},
	{"bounded-loop", "it hangs as it starts again", ca, `
		1m log loop cluster-autoscaler
		2m harness killed programs//cluster-autoscaler cluster-autoscaler
		3m harness started programs//cluster-autoscaler cluster-autoscaler
		` + quiet, []uint64{3}},
	{"bounded-loop", "it was stopped during the loop", ca, `
		1m log loop cluster-autoscaler
		2m harness stopped programs//cluster-autoscaler cluster-autoscaler
		20m harness started programs//cluster-autoscaler cluster-autoscaler
		21m log loop cluster-autoscaler
		22m harness ended`, nil},

	{"graceful-deletion", "by force", karp, `
		1m api delete pods/default/web karpenter 200 gracePeriodSeconds=0
		` + quiet, []uint64{1}},
	{"graceful-deletion", "kubelet's own, one with grace, one refused", karp, `
		1m api delete pods/default/web karpenter 200 gracePeriodSeconds=30
		2m api delete pods/default/web sim-node 200 gracePeriodSeconds=0
		3m api delete pods/default/api karpenter 404 gracePeriodSeconds=0
		` + quiet, nil},

	{"bounds", "a plan beyond the maximum", ca, `
		1m log plan nodegroups//pool cluster-autoscaler from=2 to=3
		` + quiet, []uint64{1}},
	{"bounds", "a maximum that was lowered", capi, `
		1s step passed kind=Context text=a_MachineDeployment_"workers"_of_0_to_2_machines
		2s cloud created instances//a fakecloud group=workers
		3s cloud created instances//b fakecloud group=workers
		4s step passed kind=Action text="MachineDeployment/workers"_is_annotated_"cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size=1"
		` + quiet, []uint64{4}},
	{"bounds", "a minimum that is enforced", with(ca, "--nodes=1:3:cx22:fsn1:other", "--enforce-node-group-min-size=true"), `
		1m cloud created instances//control fakecloud
		` + quiet, []uint64{1}},
	{"bounds", "a minimum that is not", with(ca, "--nodes=1:3:cx22:fsn1:other"), `
		1m cloud created instances//control fakecloud
		` + quiet, nil},
	{"bounds", "a minimum for which there may be no more instances", with(ca, "--nodes=1:3:cx22:fsn1:other", "--nodes=0:3:cx22:fsn1:pool", "--enforce-node-group-min-size=true", "--max-nodes-total=1"), `
		1m cloud created instances//a fakecloud group=pool
		` + quiet, nil},
	{"bounds", "a minimum that is enforced, and the cloud refuses", with(ca, "--nodes=1:3:cx22:fsn1:other", "--enforce-node-group-min-size=true"), `
		1s fault armed fakecloud effect=refuse fault=every_call
		1m cloud created instances//control fakecloud
		` + quiet, nil},
	{"bounds", "within", ca, `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=2
		2m cloud created instances//a fakecloud group=pool
		2m cloud created instances//b fakecloud group=pool
		` + quiet, nil},

	{"drained-first", "with a pod on it", ca, launched + `
		70s api create nodes//a sim-node 201 taints=
		71s node ready nodes//a sim-node
		80s api create pods/default/web kube-scheduler 201 subresource=binding node=a
		20m cloud DELETE_/servers/{id} servers//a cluster-autoscaler 200 group=pool
		` + quiet, []uint64{7, 8}},
	{"drained-first", "evicted, or of a DaemonSet, or not Ready", ca, launched + `
		70s api create nodes//a sim-node 201 taints=
		71s node ready nodes//a sim-node
		79s api create pods/default/daemon daemon-set-controller 201 owner=DaemonSet/daemon
		80s api create pods/default/daemon kube-scheduler 201 subresource=binding node=a
		80s api create pods/default/web kube-scheduler 201 subresource=binding node=a
		19m api create pods/default/web cluster-autoscaler 201 subresource=eviction
		20m cloud DELETE_/servers/{id} servers//a cluster-autoscaler 200 group=pool
		` + quiet, nil},

	{"drained-first", "it has ended, and stays for others to see", ca, launched + `
		70s api create nodes//a sim-node 201 taints=
		71s node ready nodes//a sim-node
		80s api create pods/default/web job-controller 201 owner=Job/web
		80s api create pods/default/web kube-scheduler 201 subresource=binding node=a
		2m node terminated pods/default/web sim-node exitCode=0
		20m cloud DELETE_/servers/{id} servers//a cluster-autoscaler 200 group=pool
		` + quiet, nil},

	{"no-leak", "never a Node", ca, launched + quiet, []uint64{4}},
	{"no-leak", "deleted in the end", ca, launched + `
		30m cloud deleting instances//a fakecloud group=pool
		` + quiet, nil},
	{"no-leak", "it cannot be deleted", ca, launched + `
		50m fault armed fakecloud effect=refuse fault=every_call
		` + quiet, nil},
	{"no-leak", "its group is taken away, and no group has it", ca, launched + `
		2m cloud deleted nodegroups//pool fakecloud
		` + quiet, nil},
	{"no-leak", "the target was stopped", ca, launched + `
		2m harness stopped programs//cluster-autoscaler cluster-autoscaler
		` + quiet, nil},

	{"patience", "deleted while it boots", ca, launched + `
		65s cloud running instances//a fakecloud group=pool
		5m cloud DELETE_/servers/{id} servers//a cluster-autoscaler 200 group=pool
		` + quiet, []uint64{4, 6}},
	{"patience", "a machine of Cluster API", capi, `
		60s cloud created instances//workers-x fakecloud group=workers
		5m api update machines/default/workers-x cluster-autoscaler 200
		301s api patch machinedeployments/default/workers cluster-autoscaler 200 subresource=scale
		` + quiet, []uint64{1, 3}},
	{"patience", "it had its time, or goes off, or another deletes it", ca, launched + `
		61s cloud created instances//b fakecloud group=pool
		62s cloud created instances//c fakecloud group=pool
		70s fault effective instances//b fakecloud effect=turnsOff fault=off
		5m cloud DELETE_/servers/{id} servers//b cluster-autoscaler 200 group=pool
		6m cloud DELETE_/servers/{id} servers//c nodestorm 200 group=pool
		20m cloud DELETE_/servers/{id} servers//a cluster-autoscaler 200 group=pool
		` + quiet, nil},

	{"right-victim", "another one goes", capi, `
		1s cloud created instances//workers-x fakecloud group=workers
		2s cloud created instances//workers-y fakecloud group=workers
		20m api update machines/default/workers-x cluster-autoscaler 200
		1201s api patch machinedeployments/default/workers cluster-autoscaler 200 subresource=scale
		1202s api delete machines/default/workers-y capi-manager 200
		` + quiet, []uint64{4, 5}},
	{"right-victim", "the one that was marked", capi, `
		1s cloud created instances//workers-x fakecloud group=workers
		2s cloud created instances//workers-y fakecloud group=workers
		20m api update machines/default/workers-x cluster-autoscaler 200
		1201s api patch machinedeployments/default/workers cluster-autoscaler 200 subresource=scale
		1202s api delete machines/default/workers-x capi-manager 200
		1203s api delete machines/default/workers-y kubectl 200
		` + quiet, nil},

	{"taint-hygiene", "left from before a restart", ca, `
		1m api update nodes//a cluster-autoscaler 200 taints=ToBeDeletedByClusterAutoscaler=1:NoSchedule
		2m harness started programs//cluster-autoscaler cluster-autoscaler
		130s log loop cluster-autoscaler
		140s log loop cluster-autoscaler
		150s log loop cluster-autoscaler
		160s log loop cluster-autoscaler
		161s harness ended`, []uint64{1, 6}},
	{"taint-hygiene", "cleaned up", ca, `
		1m api update nodes//a cluster-autoscaler 200 taints=ToBeDeletedByClusterAutoscaler=1:NoSchedule
		2m harness started programs//cluster-autoscaler cluster-autoscaler
		130s log loop cluster-autoscaler
		131s api update nodes//a cluster-autoscaler 200 taints=
		140s log loop cluster-autoscaler
		150s log loop cluster-autoscaler
		160s log loop cluster-autoscaler
		161s harness ended`, nil},
	{"taint-hygiene", "a drain without an end", ca, `
		1m api update nodes//a cluster-autoscaler 200 taints=ToBeDeletedByClusterAutoscaler=1:NoSchedule
		22m log loop cluster-autoscaler
		23m harness ended`, []uint64{1, 2}},

	{"taint-hygiene", "the machine is gone, and its Node is still there", ca, `
		30s cloud created instances//a fakecloud group=pool
		1m api update nodes//a cluster-autoscaler 200 taints=ToBeDeletedByClusterAutoscaler=1:NoSchedule
		61s cloud deleted instances//a fakecloud group=pool
		22m log loop cluster-autoscaler
		23m harness ended`, nil},

	{"taint-hygiene", "a pod has come to a candidate", ca, comes + `
		5m harness ended`, []uint64{1, 12}},
	{"taint-hygiene", "a pod has come to a candidate of a group that is taken away", ca, `
		30s cloud created instances//a fakecloud group=pool
		50s cloud deleted nodegroups//pool fakecloud` + comes + `
		5m harness ended`, nil},
	{"taint-hygiene", "a pod has come to a candidate of a group that is there", ca, `
		30s cloud created instances//a fakecloud group=pool` + comes + `
		5m harness ended`, []uint64{2, 13}},
	{"taint-hygiene", "a pod has come to a candidate, which goes with it", ca, comes + `
		4m api update nodes//a cluster-autoscaler 200 taints=DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule,ToBeDeletedByClusterAutoscaler=1:NoSchedule
		241s api create pods/default/web cluster-autoscaler 201 subresource=eviction
		5m harness ended`, nil},
	{"taint-hygiene", "a pod has come to a candidate that takes half of it", ca, `
		50s api create nodes//a sim-node 201 cpu=8000` + strings.Replace(comes, "nodestorm 201", "nodestorm 201 cpu=4000", 1) + `
		5m harness ended`, []uint64{2, 13}},
	{"taint-hygiene", "a pod has come to a candidate that can be moved with another one", ca, `
		50s api create nodes//a sim-node 201 cpu=8000` + strings.Replace(comes, "nodestorm 201", "nodestorm 201 cpu=3900", 1) + `
		5m harness ended`, nil},
	{"taint-hygiene", "a pod has come to a candidate that takes more than a threshold of its own", with(ca, "--scale-down-utilization-threshold=0.4"), `
		50s api create nodes//a sim-node 201 cpu=8000` + strings.Replace(comes, "nodestorm 201", "nodestorm 201 cpu=3900", 1) + `
		5m harness ended`, []uint64{2, 13}},
	{"taint-hygiene", "a pod has come to a candidate, which already goes with it", ca, strings.Replace(comes, "150s log loop", `149s api update nodes//a cluster-autoscaler 200 taints=DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule,ToBeDeletedByClusterAutoscaler=1:NoSchedule
		150s log loop`, 1) + `
		160s api create pods/default/web cluster-autoscaler 201 subresource=eviction
		5m harness ended`, nil},
	{"taint-hygiene", "a pod has come to a candidate, which goes once that is gone", ca, comes + `
		4m api delete pods/default/web kubectl 200
		5m api update nodes//a cluster-autoscaler 200 taints=DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule,ToBeDeletedByClusterAutoscaler=1:NoSchedule
		6m harness ended`, []uint64{1, 12}},

	{"back-off", "tried again at once", ca, `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud POST_/servers servers//a cluster-autoscaler 412 group=pool
		70s log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, []uint64{1, 2, 3}},
	{"back-off", "the cloud has none left", grpc, `
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//best-1 fakecloud group=best
		62s cloud failed instances//best-1 fakecloud group=best
		70s log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, []uint64{1, 3, 4}},
	{"back-off", "what the cloud created in place of one that is gone has failed", grpc, `
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//best-1 fakecloud group=best
		5m cloud deleted instances//best-1 fakecloud group=best
		5m cloud failed instances//best-2 fakecloud group=best
		6m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},
	{"back-off", "one that could not even be created", grpc, `
		1m log plan nodegroups//best cluster-autoscaler from=0 to=2 Pods=default/web
		61s cloud created instances//best-1 fakecloud group=best
		61s cloud failed instances//best-2 fakecloud group=best
		2m log plan nodegroups//best cluster-autoscaler from=1 to=2 Pods=default/web
		` + quiet, []uint64{1, 3, 4}},
	{"back-off", "after it, and another group", ca, `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud POST_/servers servers//a cluster-autoscaler 412 group=pool
		70s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/web
		7m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},

	{"fail-over", "the other group is tried late", grpc, pending + `
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud NodeGroupIncreaseSize nodegroups//best cluster-autoscaler 500
		20m log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, []uint64{3, 4, 5}},
	{"fail-over", "the same type is never tried", with(ca, "--nodes=0:2:cx22:fsn1:second"), pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud POST_/servers servers//a cluster-autoscaler 412 group=pool
		` + quiet, []uint64{3, 4}},
	{"fail-over", "while the cloud refuses", grpc, pending + `
		3s fault armed fakecloud effect=refuse fault=every_call
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud NodeGroupIncreaseSize nodegroups//best cluster-autoscaler 500
		20m log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},
	{"fail-over", "the other group failed before", grpc, pending + `
		50s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/web
		51s cloud NodeGroupIncreaseSize nodegroups//other cluster-autoscaler 500
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud NodeGroupIncreaseSize nodegroups//best cluster-autoscaler 500
		6m log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},
	{"fail-over", "soon", grpc, pending + `
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud NodeGroupIncreaseSize nodegroups//best cluster-autoscaler 500
		70s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},

	{"isolation", "the template of one group stops all", grpc, stopped, []uint64{1, 20}},
	{"isolation", "a fault of the whole cloud", grpc, `
		1s fault effective fakecloud fault=f effect=refuse
		` + stopped, nil},

	{"limits", "one more", with(ca, "--max-nodes-total=1"), `
		1s cloud created instances//control fakecloud
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		` + quiet, []uint64{3}},
	{"limits", "one more for a minimum", with(ca, "--max-nodes-total=1", "--enforce-node-group-min-size=true"), `
		1s cloud created instances//control fakecloud
		61s cloud created instances//a fakecloud group=pool
		` + quiet, []uint64{2}},
	{"limits", "a person's", with(ca, "--max-nodes-total=1"), `
		1s cloud created instances//control fakecloud
		61s cloud created instances//a fakecloud group=pool
		` + quiet, nil},
	{"limits", "no more", with(ca, "--max-nodes-total=2"), `
		1s cloud created instances//control fakecloud
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		` + quiet, nil},

	{"no-demotion", "the second choice", capi, `
		1m log plan nodegroups//MachineDeployment/default/first cluster-autoscaler from=1 to=2 Pods=default/web
		61s api update machinedeployments/default/first cluster-autoscaler 409 subresource=scale
		70s log plan nodegroups//MachineDeployment/default/second cluster-autoscaler from=1 to=2 Pods=default/web
		` + quiet, []uint64{2, 3}},
	{"no-demotion", "written again", capi, `
		1m log plan nodegroups//MachineDeployment/default/first cluster-autoscaler from=1 to=2 Pods=default/web
		61s api update machinedeployments/default/first cluster-autoscaler 409 subresource=scale
		62s api update machinedeployments/default/first cluster-autoscaler 200 subresource=scale
		70s log plan nodegroups//MachineDeployment/default/second cluster-autoscaler from=1 to=2 Pods=default/api
		` + quiet, nil},

	{"no-oscillation", "launched for what was evicted", capi, `
		1m api create pods/default/web-1 replicaset-controller 201 owner=ReplicaSet/web
		10m api create pods/default/web-1 cluster-autoscaler 201 subresource=eviction
		601s api create pods/default/web-2 replicaset-controller 201 owner=ReplicaSet/web
		11m log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=1 to=2 Pods=default/web-2
		` + quiet, []uint64{2, 4}},
	{"no-oscillation", "launched for what was evicted, after others of its own were bound", capi, `
		1m api create pods/default/web-1 replicaset-controller 201 owner=ReplicaSet/web
		10m api create pods/default/web-1 cluster-autoscaler 201 subresource=eviction
		601s api create pods/default/web-2 replicaset-controller 201 owner=ReplicaSet/web
		601s api create pods/default/web-3 replicaset-controller 201 owner=ReplicaSet/web
		602s api create pods/default/web-3 kube-scheduler 201 subresource=binding node=a
		11m log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=1 to=2 Pods=default/web-2
		` + quiet, []uint64{2, 6}},
	{"no-oscillation", "launched for what was evicted, whose place another kind of pod took", capi, `
		1m api create pods/default/web-1 replicaset-controller 201 owner=ReplicaSet/web
		2m api create pods/default/api-1 replicaset-controller 201 owner=ReplicaSet/api
		10m api create pods/default/web-1 cluster-autoscaler 201 subresource=eviction
		601s api create pods/default/web-2 replicaset-controller 201 owner=ReplicaSet/web
		602s api create pods/default/api-1 kube-scheduler 201 subresource=binding node=a
		11m log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=1 to=2 Pods=default/web-2
		` + quiet, nil},
	{"no-oscillation", "a user takes an instance away on which there was room", grpc, `
		30s cloud created instances//b fakecloud group=alpha
		1m api create pods/default/web-1 replicaset-controller 201 owner=ReplicaSet/web
		9m cloud deleting instances//b fakecloud group=alpha
		10m api create pods/default/web-1 cluster-autoscaler 201 subresource=eviction
		601s api create pods/default/web-2 replicaset-controller 201 owner=ReplicaSet/web
		11m log plan nodegroups//alpha cluster-autoscaler from=0 to=1 Pods=default/web-2
		` + quiet, nil},
	{"no-oscillation", "it takes an instance away itself on which there was room", grpc, `
		30s cloud created instances//b fakecloud group=alpha
		1m api create pods/default/web-1 replicaset-controller 201 owner=ReplicaSet/web
		9m cloud deleting instances//b fakecloud group=alpha
		9m cloud NodeGroupDeleteNodes instances//b cluster-autoscaler 200 group=alpha
		10m api create pods/default/web-1 cluster-autoscaler 201 subresource=eviction
		601s api create pods/default/web-2 replicaset-controller 201 owner=ReplicaSet/web
		11m log plan nodegroups//alpha cluster-autoscaler from=0 to=1 Pods=default/web-2
		` + quiet, []uint64{5, 7}},
	{"no-oscillation", "another pod, or much later", capi, `
		1m api create pods/default/web-1 replicaset-controller 201 owner=ReplicaSet/web
		10m api create pods/default/web-1 cluster-autoscaler 201 subresource=eviction
		11m log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=1 to=2 Pods=default/other
		40m api create pods/default/web-2 replicaset-controller 201 owner=ReplicaSet/web
		41m log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=1 to=2 Pods=default/web-2
		` + quiet, nil},
	{"no-oscillation", "what was evicted has found a place, and another pod's Node is lost", capi, `
		1m api create pods/default/web-1 replicaset-controller 201 owner=ReplicaSet/web
		10m api create pods/default/web-1 cluster-autoscaler 201 subresource=eviction
		601s api create pods/default/web-2 replicaset-controller 201 owner=ReplicaSet/web
		602s api create pods/default/web-2 kube-scheduler 201 subresource=binding node=a
		11m api create pods/default/web-3 replicaset-controller 201 owner=ReplicaSet/web
		12m log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=1 to=2 Pods=default/web-3
		` + quiet, nil},
	{"no-oscillation", "a pod whose eviction no budget allows", karp, `
		1m api create pods/default/web kube-scheduler 201 subresource=binding node=a
		2m api create pods/default/web karpenter 429 subresource=eviction
		121s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		122s api create nodeclaims//default-b karpenter 201
		` + quiet, []uint64{2, 4}},
	{"no-oscillation", "a NodePool of a fixed size creates a machine in that time", karp, `
		1s api create nodepools//static kubectl 201 replicas=1
		1m api create pods/default/web kube-scheduler 201 subresource=binding node=a
		2m api create pods/default/web karpenter 429 subresource=eviction
		121s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		122s api create nodeclaims//static-b karpenter 201 nodePool=static
		` + quiet, nil},
	{"no-oscillation", "a pod whose budget goes", karp, `
		1m api create pods/default/web kube-scheduler 201 subresource=binding node=a
		2m api create pods/default/web karpenter 429 subresource=eviction
		121s api delete poddisruptionbudgets/default/web kubectl 200
		122s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		123s api create nodeclaims//default-b karpenter 201
		` + quiet, nil},
	{"no-oscillation", "only the budget of another namespace goes, and its own is looked at", karp, `
		1m api create pods/default/web kube-scheduler 201 subresource=binding node=a
		2m api create pods/default/web karpenter 429 subresource=eviction
		121s api delete poddisruptionbudgets/other/web kubectl 200
		122s api update poddisruptionbudgets/default/web disruption-controller 200 subresource=status
		123s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		124s api create nodeclaims//default-b karpenter 201
		` + quiet, []uint64{2, 6}},

	{"no-overshoot", "launched for twice", ca, pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		2m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/web
		3m cloud deleting instances//a fakecloud group=pool
		` + quiet, []uint64{3, 4, 5}},
	{"no-overshoot", "the list of servers leaves out the first", ca, pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		62s fault effective instances//a fakecloud effect=missing fault=eventually_consistent
		2m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		121s cloud created instances//b fakecloud group=pool
		130s api create nodes//a sim-node 201 taints=
		130s api create nodes//b sim-node 201 taints=
		131s node ready nodes//a sim-node
		131s node ready nodes//b sim-node
		140s api create pods/default/web kube-scheduler 201 subresource=binding node=a
		` + quiet, nil},
	{"no-overshoot", "the list of servers leaves out the first, as it left out others before", ca, `
		1s fault matched instances//control fakecloud effect=missing fault=eventually_consistent
		1s fault effective instances//control fakecloud effect=missing fault=eventually_consistent
		` + pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		62s fault matched instances//a fakecloud effect=missing fault=eventually_consistent
		2m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		3m cloud deleting instances//a fakecloud group=pool
		` + quiet, nil},
	{"no-overshoot", "the list was wrong before the first only", ca, `
		1s fault effective fakecloud effect=stale fault=old_news
		` + pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		2m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/web
		3m cloud deleting instances//a fakecloud group=pool
		` + quiet, []uint64{4, 5, 6}},
	{"no-overshoot", "a list that is wrong where sizes are not taken from it", grpc, pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		62s fault effective instances//a fakecloud effect=missing fault=eventually_consistent
		2m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/web
		3m cloud deleting instances//a fakecloud group=pool
		` + quiet, []uint64{3, 4, 6}},
	{"no-overshoot", "one that another client asked for is on its way", capi, `
		1m cloud created instances//workers-x fakecloud group=workers
		61s log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=1 to=2 Pods=default/web
		3m cloud deleting instances//workers-x fakecloud group=workers
		` + quiet, []uint64{1, 2}},
	{"no-overshoot", "another client has asked for one too many, and its own call is refused", capi, pending + `
		1m log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=1 to=2 Pods=default/web
		61s api patch machinedeployments/default/workers kubectl 200 subresource=scale replicas=3
		62s cloud created instances//a fakecloud group=workers
		62s cloud created instances//b fakecloud group=workers
		63s api update machinedeployments/default/workers cluster-autoscaler 409 subresource=scale
		70s api create nodes//a sim-node 201 taints=
		70s api create nodes//b sim-node 201 taints=
		71s node ready nodes//a sim-node
		71s node ready nodes//b sim-node
		75s api create pods/default/web kube-scheduler 201 subresource=binding node=b
		` + quiet, nil},
	{"no-overshoot", "one too many, and a later call is refused", capi, pending + `
		1m log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=0 to=2 Pods=default/web
		61s api patch machinedeployments/default/workers cluster-autoscaler 200 subresource=scale
		62s cloud created instances//a fakecloud group=workers
		62s cloud created instances//b fakecloud group=workers
		70s api create nodes//a sim-node 201 taints=
		70s api create nodes//b sim-node 201 taints=
		71s node ready nodes//a sim-node
		71s node ready nodes//b sim-node
		75s api create pods/default/web kube-scheduler 201 subresource=binding node=b
		80s api patch machinedeployments/default/workers cluster-autoscaler 409 subresource=scale
		` + quiet, []uint64{3, 5}},
	{"no-overshoot", "one too many", ca, pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=2 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		61s cloud created instances//b fakecloud group=pool
		70s api create nodes//a sim-node 201 taints=
		70s api create nodes//b sim-node 201 taints=
		71s node ready nodes//a sim-node
		71s node ready nodes//b sim-node
		80s api create pods/default/web kube-scheduler 201 subresource=binding node=a
		` + quiet, []uint64{3, 5}},
	{"no-overshoot", "the pod takes the place of one that goes while its instance is on its way", ca, `
		0s api create pods/default/old nodestorm 201
		1s api create pods/default/old kube-scheduler 201 subresource=binding node=a
		` + pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/web
		61s cloud created instances//b fakecloud group=pool
		70s api create nodes//b sim-node 201 taints=
		71s api delete pods/default/old replicaset-controller 200
		80s api create pods/default/web kube-scheduler 201 subresource=binding node=a
		81s node ready nodes//b sim-node
		` + quiet, nil},
	{"no-overshoot", "the first failed, or the pod is a new one", ca, pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		62s cloud failed instances//a fakecloud group=pool
		8m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		481s cloud created instances//b fakecloud group=pool
		9m api create pods/default/web nodestorm 201
		10m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/web
		` + quiet, nil},
	{"no-overshoot", "the group had room for one of two, and another group takes the other", grpc, pending + `
		1s api create pods/default/more nodestorm 201
		2s api patch pods/default/more kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//best cluster-autoscaler from=3 to=4 Pods=default/web,_default/more message=plans_to_scale_best_from_3_to_4,_of_4_at_most
		61s cloud created instances//a fakecloud group=best
		70s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/more
		71s cloud created instances//b fakecloud group=other
		` + quiet, nil},
	{"no-overshoot", "the group had room, and one is launched for twice", grpc, `
		0s api create pods/default/web nodestorm 201 owner=ReplicaSet/web
		1s api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		1s api create pods/default/more nodestorm 201 owner=ReplicaSet/web
		2s api patch pods/default/more kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//best cluster-autoscaler from=3 to=4 Pods=default/web,_default/more message=plans_to_scale_best_from_3_to_4,_of_9_at_most
		61s cloud created instances//a fakecloud group=best
		70s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/more
		71s cloud created instances//b fakecloud group=other
		` + quiet, []uint64{5, 6, 7}},
	{"no-overshoot", "only one at a time is launched", with(grpc, "--max-nodes-per-scaleup=1"), `
		0s api create pods/default/web nodestorm 201 owner=ReplicaSet/web
		1s api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		1s api create pods/default/more nodestorm 201 owner=ReplicaSet/web
		2s api patch pods/default/more kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//best cluster-autoscaler from=3 to=4 Pods=default/web,_default/more message=plans_to_scale_best_from_3_to_4,_of_9_at_most
		61s cloud created instances//a fakecloud group=best
		70s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/more
		71s cloud created instances//b fakecloud group=other
		` + quiet, nil},
	{"no-overshoot", "two at a time may be launched, and one is launched for twice", with(grpc, "--max-nodes-per-scaleup=2"), `
		0s api create pods/default/web nodestorm 201 owner=ReplicaSet/web
		1s api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		1s api create pods/default/more nodestorm 201 owner=ReplicaSet/web
		2s api patch pods/default/more kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//best cluster-autoscaler from=3 to=4 Pods=default/web,_default/more message=plans_to_scale_best_from_3_to_4,_of_9_at_most
		61s cloud created instances//a fakecloud group=best
		70s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/more
		71s cloud created instances//b fakecloud group=other
		` + quiet, []uint64{5, 6, 7}},
	{"no-overshoot", "pods of two kinds, which may not fit as they were meant to", grpc, pending + `
		1s api create pods/default/more nodestorm 201
		2s api patch pods/default/more kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//best cluster-autoscaler from=3 to=4 Pods=default/web,_default/more message=plans_to_scale_best_from_3_to_4,_of_9_at_most
		61s cloud created instances//a fakecloud group=best
		70s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/more
		71s cloud created instances//b fakecloud group=other
		` + quiet, nil},
	{"no-overshoot", "pods of two kinds with instances of two groups: the small one fits on what is meant for the large one", grpc, pending + `
		1s api create pods/default/more nodestorm 201
		2s api patch pods/default/more kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//small cluster-autoscaler from=0 to=1 Pods=default/more
		61s cloud created instances//a fakecloud group=small
		70s log plan nodegroups//large cluster-autoscaler from=0 to=1 Pods=default/web
		71s cloud created instances//b fakecloud group=large
		80s log plan nodegroups//large cluster-autoscaler from=1 to=2 Pods=default/web
		` + quiet, nil},
	{"no-overshoot", "another pod, whose instance others have taken, may take the place", grpc, pending + `
		1s api create pods/default/more nodestorm 201
		2s api patch pods/default/more kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/more
		61s cloud created instances//a fakecloud group=best
		62s log plan nodegroups//best cluster-autoscaler from=1 to=2 Pods=default/web
		63s cloud created instances//b fakecloud group=best
		70s api create nodes//a sim-node 201 taints=
		71s node ready nodes//a sim-node
		80s log plan nodegroups//best cluster-autoscaler from=2 to=3 Pods=default/web
		` + quiet, nil},
	{"no-overshoot", "the first is gone", ca, pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		90s cloud deleting instances//a fakecloud group=pool
		2m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},
	{"no-overshoot", "another pod, whose instance failed, may take the place", grpc, pending + `
		1s api create pods/default/big nodestorm 201
		2s api patch pods/default/big kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//best-1 fakecloud group=best
		62s cloud failed instances//best-1 fakecloud group=best
		63s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/big
		64s cloud created instances//other-1 fakecloud group=other
		80s log plan nodegroups//other cluster-autoscaler from=1 to=2 Pods=default/big
		` + quiet, nil},
	{"no-overshoot", "a claim is on its way", karp, claimed + `
		70s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		71s api create nodeclaims//default-b karpenter 201
		` + quiet, []uint64{4, 7}},
	{"no-overshoot", "a claim whose pods the log does not name", karp, pending + `
		1m log log karpenter message=found_provisionable_pod(s) Pods=default/web
		61s api create nodeclaims//default-a karpenter 201
		70s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		71s api create nodeclaims//default-b karpenter 201
		` + quiet, []uint64{4, 6}},
	{"no-overshoot", "a claim for another pod", karp, claimed + `
		70s log log karpenter message=found_provisionable_pod(s) Pods=default/web,_default/api
		71s api create nodeclaims//default-b karpenter 201
		` + quiet, nil},

	{"no-stuck-deletion", "stuck", karp, claimed + `
		2m api delete nodeclaims//default-a karpenter 200
		` + quiet, []uint64{6}},
	{"no-stuck-deletion", "gone, and one that was not deleted", karp, claimed + `
		1m api create nodeclaims//default-b karpenter 201
		2m api delete nodeclaims//default-b karpenter 200
		130s log log karpenter message=deleted_nodeclaim NodeClaim=default-b
		` + quiet, nil},

	{"pause-respected", "scaled", with(capi), `
		1m step passed kind=Context text="MachineDeployment/first"_is_annotated_"cluster.x-k8s.io/paused="
		2m api patch machinedeployments/default/first cluster-autoscaler 200 subresource=scale
		` + quiet, []uint64{1, 2}},
	{"pause-respected", "releases before that one did not promise it", unpaused, `
		1m step passed kind=Context text="MachineDeployment/first"_is_annotated_"cluster.x-k8s.io/paused="
		2m api patch machinedeployments/default/first cluster-autoscaler 200 subresource=scale
		` + quiet, nil},

	{"prompt-batches", "late", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		2m log log karpenter message=found_provisionable_pod(s) Pods=default/web
		` + quiet, []uint64{2}},
	{"prompt-batches", "its watch comes back after a fault", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		10s fault armed pods// sim-apifault fault=f effect=cut
		50s fault cleared pods// sim-apifault fault=f effect=cut
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		90s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		` + quiet, nil},
	{"prompt-batches", "long after a fault", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		10s fault armed pods// sim-apifault fault=f effect=cut
		50s fault cleared pods// sim-apifault fault=f effect=cut
		2m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		170s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		` + quiet, []uint64{4}},
	{"prompt-batches", "no NodePool is ready", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		62s log log karpenter message=no_nodepools_found
		6m log log karpenter message=found_provisionable_pod(s) Pods=default/web
		` + quiet, nil},
	{"prompt-batches", "its first batch was dropped", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		72300ms log log karpenter message=found_provisionable_pod(s) Pods=default/web
		` + quiet, nil},
	{"prompt-batches", "a little later", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		73300ms log log karpenter message=found_provisionable_pod(s) Pods=default/web
		` + quiet, []uint64{2}},
	{"prompt-batches", "it waits for the lease of the one before it", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		50s harness started programs//karpenter ns
		51s log log karpenter message=attempting_to_acquire_leader_lease_karpenter/karpenter-leader-election...
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		76s log log karpenter message=successfully_acquired_lease_karpenter/karpenter-leader-election
		78s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		` + quiet, nil},
	{"prompt-batches", "it leads already", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		51s log log karpenter message=successfully_acquired_lease_karpenter/karpenter-leader-election
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		78s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		` + quiet, []uint64{3}},
	{"prompt-batches", "never", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		` + quiet, []uint64{2}},
	{"prompt-batches", "an event says that there is no place", karp, `
		1s log log karpenter message=found_provisionable_pod(s) Pods=default/other
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		61s api create events/default/e karpenter 201 reason=FailedScheduling about=Pod/web message=no
		` + quiet, nil},
	{"prompt-batches", "in time, and one that is not named", karp, `
		1m api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		65s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		2m api patch pods/default/api kube-scheduler 200 reason=Unschedulable
		125s log log karpenter message=found_provisionable_pod(s) Pods=default/other_and_5_other(s)
		` + quiet, nil},

	{"replacement", "lost, and that was all", ca, pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		70s cloud off instances//a fakecloud group=pool
		71s cloud deleting instances//a fakecloud group=pool
		` + quiet, []uint64{3, 5}},
	{"replacement", "launched anew", ca, pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		70s cloud off instances//a fakecloud group=pool
		17m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},

	{"restart-idempotence", "launched again", grpc, pending + `
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//best-1 fakecloud group=best
		70s harness started programs//cluster-autoscaler cluster-autoscaler
		80s log plan nodegroups//best cluster-autoscaler from=1 to=2 Pods=default/web
		` + quiet, []uint64{3, 4, 5, 6}},
	{"restart-idempotence", "the first has failed", grpc, pending + `
		1m log plan nodegroups//best cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//best-1 fakecloud group=best
		62s cloud failed instances//best-1 fakecloud group=best
		70s harness started programs//cluster-autoscaler cluster-autoscaler
		80s log plan nodegroups//best cluster-autoscaler from=1 to=2 Pods=default/web
		` + quiet, nil},

	{"startup-discipline", "another pod has the place on what was launched beside it", ca, pending + `
		3s api create pods/default/web-2 nodestorm 201
		4s api patch pods/default/web-2 kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=2 Pods=default/web,_default/web-2
		61s cloud created instances//a fakecloud group=pool
		61s cloud created instances//b fakecloud group=pool
		70s api create nodes//a sim-node 201 taints=node.kubernetes.io/not-ready:NoSchedule
		71s api create nodes//b sim-node 201 taints=
		72s node ready nodes//b sim-node
		73s api create pods/default/job nodestorm 201
		74s api create pods/default/job kube-scheduler 201 subresource=binding node=b
		80s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},
	{"startup-discipline", "it has not heard of a pod that has a place since", ca, pending + starting + `
		71s fault effective pods cluster-autoscaler call=watch_pods effect=freeze fault=silent
		80s log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},
	{"startup-discipline", "launched while it starts", ca, pending + starting + `
		2m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/web
		` + quiet, []uint64{3, 5, 7}},
	{"startup-discipline", "it does not fit there", ca, pending + starting + `
		100s api patch nodes//a nodestorm-ccm 200 taints=dedicated=a:NoSchedule
		2m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/web
		` + quiet, nil},
	{"startup-discipline", "its group is taken away, and no group has it", ca, pending + starting + `
		100s cloud deleted nodegroups//pool fakecloud
		2m log plan nodegroups//other cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},
	{"startup-discipline", "a user has cordoned it", ca, pending + starting + `
		100s api patch nodes//a node-controller 200 taints=node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule,node.kubernetes.io/unschedulable:NoSchedule
		2m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/web
		` + quiet, nil},
	{"startup-discipline", "of Karpenter's, that a user has cordoned", karp, claimed + `
		65s api patch nodeclaims//default-a karpenter 200 providerID=kwok://a
		66s api create nodes//a karpenter 201 providerID=kwok://a taints=node.kubernetes.io/not-ready:NoSchedule
		68s api patch nodes//a node-controller 200 providerID=kwok://a taints=node.kubernetes.io/not-ready:NoSchedule,node.kubernetes.io/unschedulable:NoSchedule
		70s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		71s api create nodeclaims//default-b karpenter 201
		` + quiet, nil},
	{"startup-discipline", "of Karpenter's, and another pod has its place", karp, claimed + `
		65s api patch nodeclaims//default-a karpenter 200 providerID=kwok://a
		66s api create nodes//a karpenter 201 providerID=kwok://a taints=node.kubernetes.io/not-ready:NoSchedule
		67s api create pods/default/other nodestorm 201
		68s api create pods/default/other kube-scheduler 201 subresource=binding node=a
		70s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		71s api create nodeclaims//default-b karpenter 201
		` + quiet, nil},
	{"startup-discipline", "of Karpenter's, and a buffer has lost its room elsewhere", karp, claimed + `
		62s log log karpenter message=found_provisionable_pod(s) Pods=default/web,_default/capacity-buffer-spare-1
		65s api patch nodeclaims//default-a karpenter 200 providerID=kwok://a
		66s api create nodes//a karpenter 201 providerID=kwok://a taints=node.kubernetes.io/not-ready:NoSchedule
		70s log log karpenter message=found_provisionable_pod(s) Pods=default/web,_default/capacity-buffer-spare-1
		71s api create nodeclaims//default-b karpenter 201
		` + quiet, nil},
	{"startup-discipline", "of Karpenter's", karp, claimed + `
		65s api patch nodeclaims//default-a karpenter 200 providerID=kwok://a
		66s api create nodes//a karpenter 201 providerID=kwok://a taints=node.kubernetes.io/not-ready:NoSchedule
		70s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		71s api create nodeclaims//default-b karpenter 201
		` + quiet, []uint64{4, 9}},

	{"target-honesty", "still asked for", capi, timedOut + quiet, []uint64{3, 4}},
	{"target-honesty", "taken back", capi, timedOut + `
		17m api update machinedeployments/default/workers cluster-autoscaler 200 subresource=scale
		` + quiet, nil},

	{"truthful-success", "nothing was created", ca, `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud POST_/servers servers//a cluster-autoscaler 412 group=pool
		62s api create events/kube-system/e cluster-autoscaler 201 reason=ScaledUpGroup message=Scale-up:_group_pool_size_set_to_1_instead_of_0_(max:_3)
		` + quiet, []uint64{1, 2, 3}},
	{"truthful-success", "nothing was removed", ca, launched + `
		20m api create events/kube-system/e cluster-autoscaler 201 reason=ScaleDownEmpty message=Scale-down:_empty_node_a_removed
		` + quiet, []uint64{4, 5}},
	{"truthful-success", "it was", ca, `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool id=7
		62s api create events/kube-system/e cluster-autoscaler 201 reason=ScaledUpGroup message=Scale-up:_group_pool_size_set_to_1_instead_of_0_(max:_3)
		20m cloud DELETE_/servers/{id} servers//a cluster-autoscaler 200 group=pool
		20m api create events/kube-system/e cluster-autoscaler 201 reason=DeleteUnregistered message=Removed_unregistered_node_hcloud://7
		` + quiet, nil},

	{"restart-idempotence", "a claim is on its way when another release comes", karp, claimed + upgraded("2m") + `
		3m log log karpenter message=found_provisionable_pod(s) Pods=default/web
		181s api create nodeclaims//default-b karpenter 201
		` + quiet, []uint64{4, 9}},
	{"restart-idempotence", "it is waited for, and given up", karp, claimed + upgraded("2m") + `
		3m log log karpenter message=found_provisionable_pod(s) Pods=default/web
		16m api delete nodeclaims//default-a karpenter 200
		961s log log karpenter message=found_provisionable_pod(s) Pods=default/web
		962s api create nodeclaims//default-b karpenter 201
		` + quiet, nil},

	{"upgrade-carries-on", "a machine that starts for ever", karp, claimed + upgraded("2m") + quiet, []uint64{4, 6}},
	{"upgrade-carries-on", "one that starts, and one that is given up", karp, claimed + `
		63s api create nodeclaims//default-b karpenter 201` + upgraded("2m") + `
		3m api patch nodeclaims//default-a karpenter 200 conditions=Initialized
		17m api delete nodeclaims//default-b karpenter 200
		` + quiet, nil},
	{"upgrade-carries-on", "a Node that stays marked", karp, atRest + `
		9m api patch nodes//a karpenter 200 taints=karpenter.sh/disrupted:NoSchedule` + upgraded("10m") + quiet, []uint64{8, 9}},
	{"upgrade-carries-on", "one that is unmarked, and one that goes", karp, atRest + `
		2m api create nodeclaims//b karpenter 201 providerID=kwok://b conditions=Initialized
		2m api create nodes//b karpenter 201 providerID=kwok://b taints=
		9m api patch nodes//a karpenter 200 taints=karpenter.sh/disrupted:NoSchedule
		9m api patch nodes//b karpenter 200 taints=karpenter.sh/disrupted:NoSchedule` + upgraded("10m") + `
		11m api patch nodes//a karpenter 200 taints=
		11m api delete nodeclaims//b karpenter 200
		` + quiet, nil},
	{"restart-idempotence", "another process stands by", karp, claimed + `
		90s harness started programs//karpenter-2 karpenter
		3m log log karpenter message=found_provisionable_pod(s) Pods=default/web
		181s api create nodeclaims//default-b karpenter 201
		` + quiet, nil},
	{"restart-idempotence", "another process leads", karp, standsBy + `
		2m harness killed programs//karpenter karpenter
		121s harness started programs//karpenter karpenter
		136s log log karpenter message=Successfully_acquired_lease
		3m log log karpenter message=found_provisionable_pod(s) Pods=default/web
		181s api create nodeclaims//default-b karpenter 201
		` + quiet, []uint64{4, 11}},
	{"restart-idempotence", "another process goes on, and no lease is heard of", karp, standsBy + `
		2m harness stopped programs//karpenter karpenter
		3m log log karpenter message=found_provisionable_pod(s) Pods=default/web
		181s api create nodeclaims//default-b karpenter 201
		` + quiet, []uint64{4, 9}},
	{"upgrade-carries-on", "both releases run for a moment", karp, claimed + upgradedBeside + quiet, []uint64{4, 6}},
	{"upgrade-carries-on", "the release that came is stopped", karp, claimed + upgradedBeside + `
		3m harness stopped programs//karpenter-2 karpenter
		` + quiet, nil},
	{"upgrade-carries-on", "the release is stopped", karp, claimed + upgraded("2m") + `
		3m harness stopped programs//karpenter karpenter
		` + quiet, nil},

	{"upgrade-leaves-alone", "a machine is launched", karp, atRest + upgraded("10m") + `
		11m api create nodeclaims//b karpenter 201
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "a machine is launched when the control plane is upgraded", karp, atRest + `
		10m harness upgraded programs//kubernetes kubernetes version=v1.36.3
		11m api create nodeclaims//b karpenter 201
		` + quiet, []uint64{8, 9}},
	{"upgrade-leaves-alone", "one drifts", karp, atRest + upgraded("10m") + `
		11m api patch nodeclaims//a karpenter 200 conditions=Initialized,Consolidatable,Drifted:NodePoolDrifted
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "one is marked", karp, atRest + upgraded("10m") + `
		11m api patch nodes//a karpenter 200 taints=karpenter.sh/disrupted:NoSchedule
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "one is removed", karp, atRest + upgraded("10m") + `
		11m api delete nodeclaims//a karpenter 200
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "a pod is evicted", karp, atRest + upgraded("10m") + `
		11m api create pods/default/web karpenter 201 subresource=eviction
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "the process that comes beside the other one launches", karp, atRest + upgradedPodByPod + `
		11m api create nodeclaims//b karpenter 201 replica=karpenter-2
		` + quiet, []uint64{8, 12}},
	{"upgrade-leaves-alone", "it has one drift", karp, atRest + upgradedPodByPod + `
		11m api patch nodeclaims//a karpenter 200 replica=karpenter-2 conditions=Initialized,Consolidatable,Drifted:NodePoolDrifted
		` + quiet, []uint64{8, 12}},
	{"upgrade-leaves-alone", "it removes one", karp, atRest + upgradedPodByPod + `
		11m api delete nodeclaims//a karpenter 200 replica=karpenter-2
		` + quiet, []uint64{8, 12}},
	{"upgrade-leaves-alone", "it begins before the other one has ended", karp, atRest + `
		10m harness upgraded programs//karpenter karpenter version=v1.7.0
		10m harness started programs//karpenter-2 karpenter
		601s api create nodeclaims//b karpenter 201 replica=karpenter-2
		602s harness stopped programs//karpenter karpenter
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "a third process does on the way back", karp, atRest + upgradedPodByPod + `
		20m harness upgraded programs//karpenter karpenter version=v1.6.4
		20m harness started programs//karpenter-3 karpenter
		1201s harness stopped programs//karpenter-2 karpenter
		21m api create pods/default/web karpenter 201 replica=karpenter-3 subresource=eviction
		` + quiet, []uint64{12, 15}},
	{"upgrade-leaves-alone", "nothing is done pod by pod", karp, atRest + upgradedPodByPod + `
		11m api patch nodeclaims//a karpenter 200 replica=karpenter-2 conditions=Initialized,Consolidatable
		` + quiet, nil},
	{"upgrade-leaves-alone", "on the way back", karp, atRest + upgraded("10m") + upgraded("20m") + `
		21m api delete nodeclaims//a karpenter 200
		` + quiet, []uint64{10, 12}},
	{"upgrade-leaves-alone", "it notes things, and a call is refused", karp, atRest + upgraded("10m") + `
		11m api patch nodeclaims//a karpenter 200 conditions=Initialized,Consolidatable
		11m api patch nodes//a karpenter 200 taints=
		11m api patch nodepools//default karpenter 200 subresource=status
		11m api delete nodeclaims//a karpenter 404
		` + quiet, nil},
	{"upgrade-leaves-alone", "a pod came", karp, atRest + upgraded("10m") + `
		11m api create pods/default/more replicaset-controller 201
		12m api create nodeclaims//b karpenter 201
		` + quiet, nil},
	{"upgrade-leaves-alone", "a pod came before, and waits", karp, atRest + `
		4m api create pods/default/more replicaset-controller 201` + upgraded("10m") + `
		11m api create nodeclaims//b karpenter 201
		` + quiet, nil},
	{"upgrade-leaves-alone", "a pod went shortly before", karp, atRest + `
		9m api delete pods/default/web kubectl 200` + upgraded("10m") + `
		11m api delete nodeclaims//a karpenter 200
		` + quiet, nil},
	{"upgrade-leaves-alone", "a machine starts", karp, atRest + `
		3m api create nodeclaims//b karpenter 201` + upgraded("10m") + `
		11m api delete nodeclaims//b karpenter 200
		12m api create nodeclaims//c karpenter 201
		` + quiet, nil},
	{"upgrade-leaves-alone", "one drifts for a change of its NodePool", karp, atRest + upgraded("10m") + `
		11m api patch nodepools//default kubectl 200
		12m api patch nodeclaims//a karpenter 200 conditions=Initialized,Consolidatable,Drifted:NodePoolDrifted
		13m api delete nodeclaims//a karpenter 200
		` + quiet, nil},
	{"upgrade-leaves-alone", "one that was not to be consolidated until then, and one that had drifted", karp, atRest + `
		67s api patch nodeclaims//a karpenter 200 conditions=Initialized
		2m api create nodeclaims//b karpenter 201 providerID=kwok://b conditions=Initialized,Consolidatable,Drifted` + upgraded("10m") + `
		11m api delete nodeclaims//a karpenter 200
		12m api delete nodeclaims//b karpenter 200
		` + quiet, nil},
	{"upgrade-leaves-alone", "a fault is armed, or a Node is not ready", karp, atRest + `
		2m fault armed fakecloud effect=refuse fault=every_call` + upgraded("10m") + `
		11m api create nodeclaims//b karpenter 201
		12m fault cleared fakecloud effect=refuse fault=every_call
		13m node notready nodes//a sim-node` + upgraded("20m") + `
		21m api create nodeclaims//c karpenter 201
		` + quiet, nil},
	{"upgrade-leaves-alone", "much later, or without an upgrade", karp, atRest + `
		9m api delete nodeclaims//other karpenter 200` + upgraded("20m") + `
		31m api create nodeclaims//b karpenter 201
		` + quiet, nil},
}, groupUpgrades...)

// upgraded is another release that takes Karpenter's place.
func upgraded(at string) string {
	return "\n" + at + " harness upgraded programs//karpenter karpenter version=v1.7.0\n" + at + " harness started programs//karpenter karpenter\n"
}

const (
	// standsBy is a second process beside the first, upgradedBeside a release that comes before the one that runs has ended.
	standsBy = claimed + `
		90s harness started programs//karpenter-2 karpenter
`
	upgradedBeside = `
		2m harness upgraded programs//karpenter karpenter version=v1.7.0
		2m harness started programs//karpenter-2 karpenter
		121s harness stopped programs//karpenter karpenter
`
	// upgradedPodByPod is upgradedBeside where all is in order. The release that comes leads when the lease of the other has run out.
	upgradedPodByPod = `
		10m harness upgraded programs//karpenter karpenter version=v1.7.0
		10m harness started programs//karpenter-2 karpenter
		601s harness stopped programs//karpenter karpenter
		616s log log karpenter message=Successfully_acquired_lease replica=karpenter-2
`
	// atRest is a pod on the machine that was launched for it.
	atRest = `
		1m api create pods/default/web replicaset-controller 201
		61s api create nodeclaims//a karpenter 201 providerID=kwok://a
		62s api create nodes//a karpenter 201 providerID=kwok://a taints=
		63s node ready nodes//a sim-node
		64s api create pods/default/web kube-scheduler 201 subresource=binding node=a
		65s node running pods/default/web sim-node
		66s api patch nodeclaims//a karpenter 200 conditions=Initialized,Consolidatable
`
	// pending is a pod that waits, launched an instance for it.
	pending = `
		1s api create pods/default/web nodestorm 201
		2s api patch pods/default/web kube-scheduler 200 reason=Unschedulable
`
	launched = pending + `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
`
	// starting is its Node.
	starting = `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		61s cloud created instances//a fakecloud group=pool
		70s api create nodes//a sim-node 201 taints=node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule
		71s node ready nodes//a sim-node
`
	// claimed is a NodeClaim for the pod.
	claimed = pending + `
		1m log log karpenter message=found_provisionable_pod(s) Pods=default/web
		61s api create nodeclaims//default-a karpenter 201
		62s api create events/default/e karpenter 201 reason=Nominated about=Pod/web message=Pod_should_schedule_on:_nodeclaim/default-a
`
	// timedOut is a scale-up of which no Node came.
	timedOut = `
		1m log plan nodegroups//MachineDeployment/default/workers cluster-autoscaler from=1 to=2 Pods=default/web
		61s cloud created instances//workers-x fakecloud group=workers
		16m api create events/kube-system/e cluster-autoscaler 201 reason=ScaleUpTimedOut message=Nodes_added_to_group_MachineDeployment/default/workers_failed_to_register_within_15m
`
)

// comes is a pod that has come to a candidate, and stays there for nine loops.
var comes = func() string {
	text := `
		1m api update nodes//a cluster-autoscaler 200 taints=DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule
		61s api create pods/default/web nodestorm 201
		62s api create pods/default/web kube-scheduler 201 subresource=binding node=a
`
	for i := range 9 {
		text += fmt.Sprintf("%ds log loop cluster-autoscaler\n", 70+10*i)
	}
	return text
}()

// stopped are loops that one group stops.
var stopped = func() (text string) {
	for i := range 12 {
		text += fmt.Sprintf("%ds log error cluster-autoscaler message=Failed_to_get_node_infos_for_groups\n%ds log loop cluster-autoscaler\n", 60+10*i, 65+10*i)
	}
	return text + "5m harness ended"
}()
