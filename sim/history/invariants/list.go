package invariants

var all = []Invariant{
	{
		Name: "back-off", Of: []Fact{LaunchesForGroups}, begin: backOff,
		Statement: "A group that has failed is left alone for --initial-node-group-backoff-duration",
		When:      "of scale-ups of its own, within one life of the program, which keeps no back-offs",
	},
	{
		Name: "bounded-loop", Of: []Fact{LaunchesForGroups}, begin: boundedLoop,
		Statement: "No loop takes as long as --max-inactivity, after which the program's own health check fails",
		When:      "always, while the program runs",
	},
	{
		Name: "bounds", Of: []Fact{LimitsDeclared}, begin: bounds,
		Statement: "A group never grows beyond its maximum, and one that is outside its limits is brought back",
		When: "of the maximum always; of the minimum with --enforce-node-group-min-size, below " +
			"--max-nodes-total; of being brought back once nothing was disturbed for --max-node-provision-time and five minutes",
	},
	{
		Name: "drained-first", Of: []Fact{LaunchesForGroups}, begin: drainedFirst,
		Statement: "No instance is deleted with a pod on it that was not evicted",
		When:      "of instances whose Node is Ready; pods of DaemonSets, and ones that came within the last second, are left out",
	},
	{
		Name: "fail-over", Of: []Fact{LaunchesForGroups}, begin: failOver,
		Statement: "Pods for which one group has failed get instances of another one within two minutes",
		When: "where the pods get instances in another group later, or there is one of the same type " +
			"and place; unless calls to the cloud are refused, or the other group has failed itself within --max-node-group-backoff-duration",
	},
	{
		Name: "graceful-deletion", Of: []Fact{LaunchesForGroups, MakesClaims}, begin: gracefulDeletion,
		Statement: "No pod is deleted without a grace period, which would forget it while it may still run",
		When:      "always",
	},
	{
		Name: "isolation", Of: []Fact{LaunchesForGroups}, begin: isolation,
		Statement: "What is wrong with one group or one node does not stop ten loops in a row",
		When:      "unless a fault acts on calls that are about no group",
	},
	{
		Name: "limits", Of: []Fact{LaunchesForGroups}, begin: limitsKept,
		Statement: "There are never more instances than --max-nodes-total",
		When:      "where it is set",
	},
	{
		Name: "no-crash", Of: []Fact{Runs}, begin: noCrash,
		Statement: "The program never ends by itself nor panics, whatever the cloud and the API server answer",
		When:      "always",
	},
	{
		Name: "no-demotion", Of: []Fact{ScalesObjects}, begin: noDemotion,
		Statement: "A conflict with another writer of a group does not turn the scale-up to another group",
		When:      "within five minutes of the conflict",
	},
	{
		Name: "no-leak", Of: []Fact{LaunchesForGroups}, begin: noLeak,
		Statement: "No instance stays that is no Node",
		When:      "--max-node-provision-time and five minutes after it was created, unless calls to the cloud are refused",
	},
	{
		Name: "no-oscillation", Of: []Fact{LaunchesForGroups, MakesClaims}, begin: noOscillation,
		Statement: "No instance is launched for pods that were evicted to take their node away, nor for ones that cannot be",
		When: "of Cluster Autoscaler within ten minutes of the eviction, unless a pod of another owner " +
			"was bound since, or another actor has taken an instance away; of Karpenter while the eviction is refused and no budget has changed",
	},
	{
		Name: "no-overshoot", Of: []Fact{LaunchesForGroups, MakesClaims}, begin: noOvershoot,
		Statement: "No instance is launched for a pod while one for it is on its way, and each of those launched together gets a pod",
		When: "of instances on which no fault acts, within --max-node-provision-time; of pods that stay, " +
			"while for every pod that waits an instance is on its way; of Cluster Autoscaler unless a watch of " +
			"its own was silent then, and on Hetzner, where sizes are taken from the list of servers, unless that was wrong",
	},
	{
		Name: "no-race", Of: []Fact{Runs}, begin: noRace,
		Statement: "The program has no data race",
		When:      "of builds with Go's race detector, which says so",
	},
	{
		Name: "no-stuck-deletion", Of: []Fact{MakesClaims}, begin: noStuckDeletion,
		Statement: "A NodeClaim that was deleted is gone once no pod is on its Node",
		When:      "fifteen undisturbed minutes after its deletion",
	},
	{
		Name: "patience", Of: []Fact{LaunchesForGroups}, begin: patience,
		Statement: "No instance that runs, or will, is deleted before it had --max-node-provision-time to become a Node",
		When:      "of instances on which no fault acts that keeps them from it",
	},
	{
		Name: "pause-respected", Of: []Fact{ScalesObjects}, begin: pauseRespected,
		Statement: "A group that is paused is not scaled",
		When:      "from when it is annotated; since 1.36, where paused groups are left out",
	},
	{
		Name: "prompt-batches", Of: []Fact{MakesClaims}, begin: promptBatches,
		Statement: "Karpenter looks for a place for a pod BATCH_IDLE_DURATION after the last new pod, or " +
			"BATCH_MAX_DURATION after it, and twelve seconds, as it looks again after ten",
		When: "from when the pod is found unschedulable, while no fault is armed, nor was in the minute before",
	},
	{
		Name: "replacement", Of: []Fact{LaunchesForGroups}, begin: replaced,
		Statement: "For a pod whose instance was lost another one is launched",
		When:      "--max-node-provision-time and two minutes after the loss, undisturbed",
	},
	{
		Name: "restart-idempotence", Of: []Fact{LaunchesForGroups, MakesClaims}, begin: restartIdempotence,
		Statement: "After a restart no instance is launched for a pod while one for it is on its way",
		When: "of instances on which no fault acts, within --max-node-provision-time; of Cluster " +
			"Autoscaler unless a watch of its own was silent then, and on Hetzner, where sizes are taken " +
			"from the list of servers, unless that was wrong",
	},
	{
		Name: "right-victim", Of: []Fact{ScalesObjects}, begin: rightVictim,
		Statement: "The machine that is deleted is the one that was drained for it",
		When:      "within a minute of the scale-down",
	},
	{
		Name: "startup-discipline", Of: []Fact{LaunchesForGroups, MakesClaims}, begin: startupDiscipline,
		Statement: "No instance is launched for a pod while the Node of an earlier one starts: is not Ready, or tainted",
		When: "within --max-node-provision-time of the instance's creation; of Cluster Autoscaler unless " +
			"a watch of its own was silent then, and on Hetzner, where sizes are taken from the list of servers, unless that was wrong",
	},
	{
		Name: "taint-hygiene", Of: []Fact{LaunchesForGroups}, begin: taintHygiene,
		Statement: "No node stays marked as one that is to go longer than the reason lasts",
		When: "of Nodes whose machine is there: three loops after a restart; 20 minutes after a drain " +
			"began; eight loops after a pod came to a candidate that does not go with it later, while its group " +
			"is there, unless the pods on it request less of it than --scale-down-utilization-threshold",
	},
	{
		Name: "target-honesty", Of: []Fact{LaunchesForGroups}, begin: targetHonesty,
		Statement: "What timed out of a scale-up is asked for no longer",
		When:      "five minutes after the program says that it timed out, unless calls to the cloud are refused",
	},
	{
		Name: "truthful-success", Of: []Fact{LaunchesForGroups}, begin: truthfulSuccess,
		Statement: "What its events say is done has been done",
		When:      "of scale-ups on Hetzner, where the call itself creates; of removals everywhere",
	},
	{
		Name: "upgrade-carries-on", Of: []Fact{LaunchesForGroups, MakesClaims}, begin: upgradeCarriesOn,
		Statement: "What another release finds under way comes to an end: a machine that starts is initialized or given up, one that is " +
			"marked is removed or unmarked, and a scale-up that was decided is carried out",
		When: "twenty undisturbed minutes after an upgrade or the way back; of Cluster Autoscaler no less than " +
			"--max-node-provision-time and five minutes, while no fault is armed",
	},
	{
		Name: "upgrade-leaves-alone", Of: []Fact{LaunchesForGroups, MakesClaims}, begin: upgradeLeavesAlone,
		Statement: "When another release takes the program's place, or the control plane's, no machine is launched, marked, removed or " +
			"drifts for it, and no pod is evicted",
		When: "within ten minutes of an upgrade or the way back, of a cluster in which all was in order and nothing had happened for " +
			"five minutes, until something happens; of removals by Karpenter if the machine was Consolidatable all that time; of Cluster " +
			"Autoscaler if nothing had happened for --scale-down-unneeded-time and --scale-down-delay-after-add either",
	},
}
