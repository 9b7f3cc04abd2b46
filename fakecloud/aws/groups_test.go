package aws_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
)

// scaling is a call of Auto Scaling, with the status that it has to have.
func (w *world) scaling(status int, action string, parameters ...string) string {
	w.Helper()
	form := url.Values{"Action": {action}, "Version": {"2011-01-01"}}
	for k := 0; k < len(parameters); k += 2 {
		form.Set(parameters[k], parameters[k+1])
	}
	code, body := w.send("autoscaling.us-west-2.amazonaws.com", "autoscaling", "us-west-2", form.Encode())
	if code != status {
		w.Fatalf("%s: %d, want %d: %s", action, code, status, body)
	}
	return body
}

// group makes a launch template and a group "a" of 1 to 3 instances, as the owner of the account does.
func (w *world) group() {
	w.Helper()
	w.template("a-template", "LaunchTemplateData.InstanceType", "m5.large")
	if err := w.server.CallAsOwner(w.Context(), "autoscaling", url.Values{
		"Action": {"CreateAutoScalingGroup"}, "AutoScalingGroupName": {"a"}, "LaunchTemplate.LaunchTemplateName": {"a-template"}, "MinSize": {"1"},
		"MaxSize": {"3"}, "AvailabilityZones.member.1": {"us-west-2a"},
	}); err != nil {
		w.Fatal(err)
	}
}

// A group keeps to its bounds, and its instances are those of EC2.
func TestGroup(t *testing.T) {
	w := newWorld(t)
	w.group()
	listed := w.scaling(200, "DescribeAutoScalingGroups", "AutoScalingGroupNames.member.1", "a")
	w.contains(listed, "<LifecycleState>Pending</LifecycleState>", "<DesiredCapacity>1</DesiredCapacity>", "<MinSize>1</MinSize>")
	id := textAfter(listed, "<InstanceId>")
	w.contains(w.ec2(200, "DescribeInstances", "InstanceId.1", id), "<key>aws:autoscaling:groupName</key><value>a</value>", "<subnetId>subnet-")
	w.pass(10 * time.Second)
	w.contains(w.scaling(200, "DescribeAutoScalingGroups"), "<LifecycleState>InService</LifecycleState>")
	w.contains(w.scaling(400, "SetDesiredCapacity", "AutoScalingGroupName", "a", "DesiredCapacity", "0"), "ValidationError", "below min value 1")
	w.contains(w.scaling(400, "SetDesiredCapacity", "AutoScalingGroupName", "a", "DesiredCapacity", "4"), "ValidationError", "above max value 3")
	w.contains(w.scaling(400, "TerminateInstanceInAutoScalingGroup", "InstanceId", id, "ShouldDecrementDesiredCapacity", "true"),
		"desiredSize equals minSize (1)")
	w.scaling(200, "SetDesiredCapacity", "AutoScalingGroupName", "a", "DesiredCapacity", "2", "HonorCooldown", "false")
	w.scaling(200, "TerminateInstanceInAutoScalingGroup", "InstanceId", id, "ShouldDecrementDesiredCapacity", "true")
	w.contains(w.scaling(200, "DescribeAutoScalingGroups"), "<DesiredCapacity>1</DesiredCapacity>", "<LifecycleState>Terminating</LifecycleState>")
	if !slices.ContainsFunc(w.log.events, func(e history.Event) bool {
		return e.Verb == "SetDesiredCapacity" && e.Code == 200 && e.Detail.Text("group") == "a" && e.Detail["to"] == 2
	}) {
		t.Error("the history does not say to which size the group was set")
	}
	if body := w.scaling(400, "SetDesiredCapacity", "AutoScalingGroupName", "a", "DesiredCapacity", "1", "Colour", "blue"); !strings.Contains(body,
		"UnknownParameter") {
		t.Errorf("a parameter that there is not: %s", body)
	}
}
