package invariants

var (
	anyTarget         = []string{"cluster-autoscaler", "karpenter", "kubespray"}
	clusterAutoscaler = []string{"cluster-autoscaler"}
	autoscalers       = []string{"cluster-autoscaler", "karpenter"}
)

var all = []Invariant{
	{
		Name: "bounded-loop", Of: clusterAutoscaler, begin: boundedLoop,
		Statement: "No loop takes as long as --max-inactivity, after which the program's own health check fails",
		When:      "always, while the program runs",
	},
	{
		Name: "bounds", Of: []string{"cluster-autoscaler/hetzner", "cluster-autoscaler/clusterapi"}, begin: bounds,
		Statement: "A group never grows beyond its maximum, and one that is outside its limits is brought back",
		When:      "of the maximum always; of the minimum with --enforce-node-group-min-size; of being brought back once nothing was disturbed for --max-node-provision-time and five minutes",
	},
	{
		Name: "graceful-deletion", Of: autoscalers, begin: gracefulDeletion,
		Statement: "No pod is deleted without a grace period, which would forget it while it may still run",
		When:      "always",
	},
	{
		Name: "no-crash", Of: anyTarget, begin: noCrash,
		Statement: "The program never ends by itself, whatever the cloud and the API server answer",
		When:      "always",
	},
}
