package invariants

// groupUpgrades are those of an autoscaler of groups.
var groupUpgrades = []story{
	{"upgrade-leaves-alone", "a group is scaled up", grpc, groupAtRest + newRelease("20m") + `
		21m log plan nodegroups//pool cluster-autoscaler from=1 to=2
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "a group is scaled up without a plan", grpc, groupAtRest + newRelease("20m") + `
		21m cloud NodeGroupIncreaseSize nodegroups//pool cluster-autoscaler 200
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "a Node is tainted", grpc, groupAtRest + newRelease("20m") + `
		21m api update nodes//a cluster-autoscaler 200 taints=ToBeDeletedByClusterAutoscaler=1:NoSchedule
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "a pod of an autoscaler of groups is evicted", grpc, groupAtRest + newRelease("20m") + `
		21m api create pods/default/web cluster-autoscaler 201 subresource=eviction
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "an instance is deleted", grpc, groupAtRest + newRelease("20m") + `
		21m cloud NodeGroupDeleteNodes instances//a cluster-autoscaler 200
		` + quiet, []uint64{8, 10}},
	{"upgrade-leaves-alone", "on the way back of an autoscaler of groups", grpc, groupAtRest + newRelease("20m") + newRelease("40m") + `
		41m cloud NodeGroupDeleteNodes instances//a cluster-autoscaler 200
		` + quiet, []uint64{10, 12}},
	{"upgrade-leaves-alone", "a Node is a candidate, and calls are refused", grpc, groupAtRest + newRelease("20m") + `
		21m api update nodes//a cluster-autoscaler 200 taints=DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule
		22m cloud NodeGroupDeleteNodes instances//a cluster-autoscaler 500
		23m cloud NodeGroupIncreaseSize nodegroups//pool cluster-autoscaler 500
		` + quiet, nil},
	{"upgrade-leaves-alone", "a pod came to an autoscaler of groups", grpc, groupAtRest + newRelease("20m") + `
		21m api create pods/default/more replicaset-controller 201
		22m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/more
		` + quiet, nil},
	{"upgrade-leaves-alone", "a Node that was unneeded for some time", grpc, groupAtRest + `
		9m api delete pods/default/web kubectl 200 gracePeriodSeconds=0` + newRelease("17m") + `
		26m cloud NodeGroupDeleteNodes instances//a cluster-autoscaler 200
		` + quiet, nil},
	{"upgrade-leaves-alone", "one that is unneeded sooner", with(grpc, "--scale-down-unneeded-time=1m", "--scale-down-delay-after-add=1m"), groupAtRest + `
		9m api delete pods/default/web kubectl 200 gracePeriodSeconds=0` + newRelease("17m") + `
		19m cloud NodeGroupDeleteNodes instances//a cluster-autoscaler 200
		` + quiet, []uint64{9, 11}},
	{"upgrade-leaves-alone", "an instance is on its way", grpc, groupAtRest + `
		3m cloud created instances//b fakecloud group=pool` + newRelease("20m") + `
		21m cloud NodeGroupDeleteNodes instances//b cluster-autoscaler 200
		` + quiet, nil},
	{"upgrade-leaves-alone", "an instance is going", grpc, groupAtRest + `
		3m cloud deleting instances//a fakecloud group=pool` + newRelease("20m") + `
		21m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, nil},
	{"upgrade-leaves-alone", "a Node was to go", grpc, groupAtRest + `
		3m api update nodes//a cluster-autoscaler 200 taints=ToBeDeletedByClusterAutoscaler=1:NoSchedule` + newRelease("20m") + `
		21m cloud NodeGroupDeleteNodes instances//a cluster-autoscaler 200
		` + quiet, nil},
	{"upgrade-leaves-alone", "an autoscaler of groups, much later", grpc, groupAtRest + newRelease("20m") + `
		31m cloud NodeGroupDeleteNodes instances//a cluster-autoscaler 200
		` + quiet, nil},

	{"upgrade-carries-on", "an instance that starts for ever", grpc, launched + newRelease("2m") + quiet, []uint64{4, 5}},
	{"upgrade-carries-on", "one that joins, one that is given up", grpc, launched + `
		62s cloud created instances//b fakecloud group=pool` + newRelease("2m") + `
		3m api create nodes//a sim-node 201 taints=
		20m cloud deleting instances//b fakecloud group=pool
		` + quiet, nil},
	{"upgrade-carries-on", "an instance, while the cloud refuses", grpc, launched + `
		62s fault armed fakecloud effect=refuse fault=every_call` + newRelease("2m") + quiet, nil},
	{"upgrade-carries-on", "an instance that may take longer", with(grpc, "--max-node-provision-time=90m"), launched + newRelease("2m") + quiet, nil},
	{"upgrade-carries-on", "a Node that stays tainted", grpc, groupAtRest + `
		9m api update nodes//a cluster-autoscaler 200 taints=ToBeDeletedByClusterAutoscaler=1:NoSchedule` + newRelease("10m") + quiet, []uint64{8, 9}},
	{"upgrade-carries-on", "one that is untainted", grpc, groupAtRest + `
		9m api update nodes//a cluster-autoscaler 200 taints=ToBeDeletedByClusterAutoscaler=1:NoSchedule` + newRelease("10m") + `
		11m api update nodes//a cluster-autoscaler 200 taints=
		` + quiet, nil},
	{"upgrade-carries-on", "one whose instance goes", grpc, groupAtRest + `
		9m api update nodes//a cluster-autoscaler 200 taints=ToBeDeletedByClusterAutoscaler=1:NoSchedule` + newRelease("10m") + `
		11m cloud deleting instances//a fakecloud group=pool
		` + quiet, nil},
	{"upgrade-carries-on", "a scale-up is forgotten", grpc, halfScaled + newRelease("2m") + quiet, []uint64{5, 8}},
	{"upgrade-carries-on", "it is planned again", grpc, halfScaled + newRelease("2m") + `
		3m log plan nodegroups//pool cluster-autoscaler from=1 to=2 Pods=default/more
		` + quiet, nil},
	{"upgrade-carries-on", "its pods have gone", grpc, halfScaled + newRelease("2m") + `
		3m api create pods/default/web kube-scheduler 201 subresource=binding node=a
		4m api delete pods/default/more kubectl 200 gracePeriodSeconds=0
		` + quiet, nil},
	{"upgrade-carries-on", "it had failed", grpc, halfScaled + `
		62s cloud NodeGroupIncreaseSize nodegroups//pool cluster-autoscaler 500` + newRelease("2m") + quiet, nil},

	{"restart-idempotence", "an instance is on its way when another release comes", grpc, launched + newRelease("2m") + `
		3m log plan nodegroups//pool cluster-autoscaler from=0 to=1 Pods=default/web
		` + quiet, []uint64{3, 4, 6, 7}},
}

// newRelease is another release that takes Cluster Autoscaler's place.
func newRelease(at string) string {
	return "\n" + at + " harness upgraded programs//cluster-autoscaler cluster-autoscaler version=1.36.1\n" +
		at + " harness started programs//cluster-autoscaler cluster-autoscaler\n"
}

const (
	// groupAtRest is a pod on the instance that was launched for it.
	groupAtRest = launched + `
		70s api create nodes//a sim-node 201 taints=
		71s node ready nodes//a sim-node
		72s api create pods/default/web kube-scheduler 201 subresource=binding node=a
`
	// halfScaled are two pods, for one of which there is an instance.
	halfScaled = `
		1s api create pods/default/web nodestorm 201
		2s api patch pods/default/web kube-scheduler 200 reason=Unschedulable
		3s api create pods/default/more nodestorm 201
		4s api patch pods/default/more kube-scheduler 200 reason=Unschedulable
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=2 Pods=default/web,_default/more
		61s cloud created instances//a fakecloud group=pool
		62s api create nodes//a sim-node 201 taints=
`
)
