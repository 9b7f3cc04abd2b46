package aws_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
)

// What the cloud controller manager asks of an instance that was launched by hand: by the name of its Node and by its ID, and where
// in the network it is.
func TestNodes(t *testing.T) {
	w := newWorld(t)
	image := textAfter(w.ec2(200, "DescribeImages", "Filter.1.Name", "name", "Filter.1.Value.1", "*x86_64*20260915"), "<imageId>")
	run := func(typeName string) error {
		form := url.Values{
			"Action": {"RunInstances"}, "Version": {"2016-11-15"}, "MinCount": {"1"}, "MaxCount": {"1"}, "ImageId": {image}, "InstanceType": {typeName},
			"Placement.AvailabilityZone": {"us-west-2b"},
		}
		return w.server.CallAsOwner(t.Context(), "ec2", form)
	}
	if err := run("m5.large"); err != nil {
		t.Fatal(err)
	}
	w.pass(10 * time.Second)
	listed := w.ec2(200, "DescribeInstances")
	w.contains(listed, "<availabilityZone>us-west-2b</availabilityZone>", "<deviceIndex>0</deviceIndex>",
		"<privateIpAddressesSet><item><privateIpAddress>10.0.")
	id, name := textAfter(listed, "<instanceId>"), textAfter(listed, "<privateDnsName>")
	w.contains(w.ec2(200, "DescribeInstances", "Filter.1.Name", "private-dns-name", "Filter.1.Value.1", name, "Filter.2.Name", "instance-state-name",
		"Filter.2.Value.1", "running"), id)
	if calls := len(w.log.events); !strings.Contains(w.ec2(200, "DescribeInstanceTopology", "InstanceId.1", id), "<instanceSet>") ||
		len(w.log.events) != calls+1 {
		t.Errorf("of %s there is a topology, or none: %v", id, w.log.events[calls:])
	}
	w.contains(w.ec2(400, "DescribeInstanceTopology", "InstanceId.1", "i-0123456789abcdef0"), "InvalidInstanceID.NotFound")
	if !slices.ContainsFunc(w.log.events, func(e history.Event) bool { return e.Verb == "RunInstances" && e.Actor == "aws-cli" && e.Code == 200 }) {
		t.Error("the history does not say that the instance was launched by hand")
	}
	if err := run("m99.large"); err == nil || !strings.Contains(err.Error(), "Invalid value 'm99.large' for InstanceType") {
		t.Errorf("a type that there is not: %v", err)
	}
	if err := w.server.CallAsOwner(t.Context(), "ec2", url.Values{"Action": {"Nothing"}}); err == nil {
		t.Error("an action that there is not is done")
	}
}

// Where an instance of a type with a topology is, is not known here, and the run says so.
func TestPlaced(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	w.ec2(200, "CreateFleet", w.fleet("nodes", "p4d.24xlarge")...)
	w.pass(10 * time.Second)
	id := textAfter(w.ec2(200, "DescribeInstances"), "<instanceId>")
	w.ec2(200, "DescribeInstanceTopology", "InstanceId.1", id)
	for _, e := range w.log.events {
		if e.Verb == history.Unreadable {
			return
		}
	}
	t.Error("nothing says that the topology is not known")
}
