package invariants

// cases are histories that hold an invariant, and ones that break it.
var cases = []struct {
	invariant, name string
	of              Subject
	text            string
	evidence        []uint64 // nil if it holds
}{
	{"no-crash", "panic", ca, `
		1m harness died cluster-autoscaler error=panic
		` + quiet, []uint64{1}},
	{"no-crash", "killed and started by us", ca, `
		1m harness killed programs//cluster-autoscaler cluster-autoscaler
		2m harness started programs//cluster-autoscaler cluster-autoscaler
		3m harness died etcd error=gone
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
	{"bounded-loop", "it was stopped meanwhile", ca, `
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
	{"bounds", "a minimum that is enforced, and the cloud refuses", with(ca, "--nodes=1:3:cx22:fsn1:other", "--enforce-node-group-min-size=true"), `
		1s fault armed fakecloud effect=refuse fault=every_call
		1m cloud created instances//control fakecloud
		` + quiet, nil},
	{"bounds", "within", ca, `
		1m log plan nodegroups//pool cluster-autoscaler from=0 to=2
		2m cloud created instances//a fakecloud group=pool
		2m cloud created instances//b fakecloud group=pool
		` + quiet, nil},
}
