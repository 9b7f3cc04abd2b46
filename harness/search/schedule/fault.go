package schedule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"nodestorm/sim/time/lapse"
)

// faults are alike: one sentence with a place for each %s, and what can be in it.
type faults struct {
	sentence string
	places   [][]string
	// endless says that the sentence can have no time.
	endless bool
}

// The words that stand for what a schedule has.
const (
	anyGroup = "GROUP"
	anyType  = "TYPE"
)

var (
	someCalls = []string{"every call", "the first call", "each of the first 3 calls"}
	someNodes = []string{"the first further simulated node", "each of the first 2 further simulated nodes", "every further simulated node"}
	someOnes  = []string{"the first server", "every server", "the second server", "the third server"}
	someWork  = []string{"every action", "the first action", "the third action"}

	someMachines = []string{"the first machine", "each of the first 2 machines", "every machine"}
)

// groupFaults are those of a cloud of node groups.
var groupFaults = []faults{
	{sentence: `%s "increase groups" to the cloud is refused with "%s"`, places: [][]string{someCalls, {"unavailable", "resource_exhausted", "internal", "deadline_exceeded"}}},
	{sentence: `%s "increase groups" to the cloud for servers of the group "%s" is refused with "resource_exhausted"`, places: [][]string{someCalls, {anyGroup}}},
	{sentence: `%s "%s" to the cloud is refused with "unavailable"`, places: [][]string{someCalls, {"list groups", "list instances", "delete instances", "get templates", "decrease groups", "refresh groups", "find groups", "get targets", "get options"}}},
	{sentence: `%s "%s" to the cloud is answered without the fields "%s"`, places: [][]string{someCalls, {"list instances"}, {"instances.status", "instances.status.instanceState"}}},
	{sentence: `%s "get templates" to the cloud is answered without the fields "nodeInfo,nodeBytes"`, places: [][]string{someCalls}},
	{sentence: `%s "find groups" to the cloud is answered without the fields "nodeGroup"`, places: [][]string{someCalls}},
	{sentence: `%s "%s" to the cloud gets no answer`, places: [][]string{{"the first call"}, {"increase groups", "list instances", "delete instances", "list groups"}}},
	{sentence: `%s "%s" to the cloud is delayed by %s`, places: [][]string{someCalls, {"increase groups", "list instances", "delete instances", "list groups"}, {"2s", "20s"}}},
	{sentence: `%s "%s" to the cloud is done, and its answer lost`, places: [][]string{someCalls, {"increase groups", "delete instances"}}},
	{sentence: `%s "list instances" to the cloud %s`, places: [][]string{{"every call", "the first call"}, {"lists what there was when this began", "lists what there was 1m before", "lists none of them", "lists the first 1 only"}}},
	{sentence: `the server type "%s" cannot be had`, places: [][]string{{anyType}}},
	{sentence: `%s "create_server" in the cloud fails`, places: [][]string{someWork}},
	{sentence: `%s vanishes %s after it runs`, places: [][]string{someOnes, {"5s", "2m"}}},
	{sentence: `%s goes off %s after it runs`, places: [][]string{{"the first server"}, {"5s", "2m"}}},
	{sentence: `%s is owed by the cloud and not created`, places: [][]string{someOnes}},
	{sentence: `the first server %s`, places: [][]string{{"is deleted and its group's target stays", "stays when it is deleted, and its group's target falls", "is not deleted, nor what its call names after it"}}},
}

// instanceFaults are those of a cloud of instances.
var instanceFaults = []faults{
	{sentence: `%s "launch instances" to the cloud is refused with "%s"`, places: [][]string{someCalls, {"resource_unavailable", "resource_limit_exceeded", "server_error", "unavailable", "rate_limit_exceeded"}}},
	{sentence: `%s "%s" to the cloud is refused with "unavailable"`, places: [][]string{someCalls, {"terminate instances", "describe instances", "describe single_instances"}}},
	{sentence: `%s "%s" to the cloud gets no answer`, places: [][]string{{"the first call"}, {"launch instances", "terminate instances"}}},
	{sentence: `%s "%s" to the cloud is delayed by %s`, places: [][]string{someCalls, {"launch instances", "terminate instances", "describe instances"}, {"2s", "30s"}}},
	{sentence: `%s "%s" to the cloud is done, and its answer lost`, places: [][]string{someCalls, {"launch instances", "terminate instances"}}},
	{sentence: `the server type "%s" cannot be had`, places: [][]string{{anyType}}},
	{sentence: `the server type "%s" cannot be had as spot capacity`, places: [][]string{{anyType}}},
	{sentence: `%s is interrupted %s after it runs, with a notice of %s`, places: [][]string{someOnes, {"20s", "2m"}, {"30s", "2m"}}},
	{sentence: `%s vanishes %s after it runs`, places: [][]string{someOnes, {"5s", "2m"}}},
}

// serverFaults are those of servers of the Hetzner Cloud.
var serverFaults = []faults{
	{sentence: `%s "create servers" to the cloud is refused with "%s"`, places: [][]string{someCalls, {"resource_unavailable", "resource_limit_exceeded", "server_error", "rate_limit_exceeded", "placement_error"}}},
	{sentence: `%s "create servers" to the cloud for servers of the group "%s" is refused with "resource_unavailable"`, places: [][]string{someCalls, {anyGroup}}},
	{sentence: `%s "%s" to the cloud is refused with "%s"`, places: [][]string{someCalls, {"list servers", "delete servers", "list server_types"}, {"server_error", "locked", "conflict"}}},
	{sentence: `%s "%s" to the cloud is answered with 503 and no JSON`, places: [][]string{someCalls, {"create servers", "list servers", "delete servers"}}},
	{sentence: `the first call "%s" to the cloud meets a spent rate limit, full again 2m later`, places: [][]string{{"create servers", "list servers", "delete servers"}}},
	{sentence: `%s "%s" to the cloud gets no answer`, places: [][]string{{"the first call"}, {"create servers", "list servers", "delete servers"}}},
	{sentence: `%s "%s" to the cloud is delayed by %s`, places: [][]string{someCalls, {"create servers", "list servers", "delete servers"}, {"2s", "30s"}}},
	{sentence: `%s "%s" to the cloud is done, and its answer lost`, places: [][]string{someCalls, {"create servers", "delete servers"}}},
	{sentence: `%s "list servers" to the cloud %s`, places: [][]string{{"every call", "the first call"}, {"lists what there was when this began", "lists what there was 1m before", "lists none of them", "lists none of them that is younger than 30s", "lists the first 1 only"}}},
	{sentence: `%s "%s" in the cloud %s`, places: [][]string{someWork, {"create_server", "start_server"}, {"fails", "fails after 1m", "never ends", "takes 2m", "takes 4m30s"}}},
	{sentence: `the server type "%s" %s`, places: [][]string{{anyType}, {"cannot be had", "is withdrawn"}}},
	{sentence: `%s of the group "%s" vanishes %s after it runs`, places: [][]string{someOnes, {anyGroup}, {"5s", "2m"}}},
	{sentence: `%s of the group "%s" goes off %s after it runs`, places: [][]string{{"the first server"}, {anyGroup}, {"5s", "2m"}}},
}

// machineSetFaults are those of the machines of a MachineDeployment.
var machineSetFaults = []faults{
	{sentence: `%s of the MachineDeployment "%s" %s`, places: [][]string{someMachines, {anyGroup}, {"is stuck in Provisioning", "fails to be provisioned", "never joins", "gets a provider ID and is lost before it joins", "is reported as failed while it runs", "is held by a finalizer when it is deleted"}}},
}

// machineFaults are those of the machines that come.
var machineFaults = append([]faults{
	{sentence: "%s never registers", places: [][]string{someNodes[:2]}, endless: true},
	{sentence: "%s registers %s late", places: [][]string{someNodes, {"1m", "4m", "8m"}}, endless: true},
}, nodeFaults...)

// nodeFaults are those of machines that have come.
var nodeFaults = []faults{
	{sentence: "%s %s", places: [][]string{someNodes, {"is NotReady", "has no network", "is not heard of", "is NotReady for half of every 40s"}}},
	{sentence: "the first further simulated node has its kubelet restarted, which is down for %s and reports Ready 10s later, from 1m on", places: [][]string{{"20s", "2m"}}, endless: true},
	{sentence: "the first further simulated node has its Node deleted, from %s on", places: [][]string{{"1m", "3m"}}, endless: true},
}

// apiFaults are those on the way from a program to the API server. Its leases are left
// alone: who loses one has to end.
func apiFaults(program string, calls ...string) (all []faults) {
	var writes, watches []string
	for _, call := range calls {
		if strings.HasPrefix(call, "watch ") {
			watches = append(watches, call)
		} else {
			writes = append(writes, call)
		}
	}
	of := fmt.Sprintf(` of the program "%s" `, program)
	return []faults{
		{sentence: `%s "%s"` + of + `is answered with %s`, places: [][]string{someCalls, writes, {"500", "503", "409", "429"}}},
		{sentence: `%s "%s"` + of + `%s`, places: [][]string{someCalls, writes, {"is delayed by 5s", "is delayed by 20s", "breaks its connection", "is done, and its answer lost", "is done, and its answer held back for 10s", "is answered with 504 after 10s"}}},
		{sentence: `every call "%s"` + of + `%s`, places: [][]string{watches, {"goes silent for 1m", "is cut off after 10s", "expires after 20s"}}},
	}
}

// spans are how long faults act, and a Job's pods run.
var spans = []lapse.Duration{lapse.Duration(20 * time.Second), lapse.Duration(time.Minute), lapse.Duration(3 * time.Minute), lapse.Duration(8 * time.Minute)}

// draw is one of them, and how long it acts.
func (f faults) draw(random *rand.Rand, s Schedule) Act {
	var words []any
	for _, place := range f.places {
		word := place[random.IntN(len(place))]
		group := s.Groups[random.IntN(len(s.Groups))]
		switch word {
		case anyGroup:
			word = group.Name
		case anyType:
			word = group.Type
		}
		words = append(words, word)
	}
	a := Act{Do: "fault", Fault: fmt.Sprintf(f.sentence, words...)}
	if !f.endless {
		a.For = spans[random.IntN(len(spans))]
	}
	return a
}
