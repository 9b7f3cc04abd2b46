package aws_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/fakecloud/aws"
	"nodestorm/fakecloud/aws/wire/wiretest"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
	"nodestorm/sim/history"
)

func (w *world) inject(faults string) {
	w.Helper()
	all, err := fault.Parse([]byte("faults:\n"+faults), cloudfault.Faults)
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range all {
		if err := w.cloud.Inject(f); err != nil {
			w.Fatal(err)
		}
	}
}

// Faults in fleets: some of the capacity, all of it, a full subnet, a code of one's own, and nothing said at all.
func TestFleetFaults(t *testing.T) {
	for _, test := range []struct {
		name, faults string
		wants        []string
		wantsNot     string
	}{
		{"none in one zone", `- {name: a, unavailable: {type: m5.large, location: us-west-2a}}`, []string{
			"<errorCode>InsufficientInstanceCapacity</errorCode>", "<availabilityZone>us-west-2a</availabilityZone>", "<instanceIds><item>i-",
			"<availabilityZone>us-west-2b</availabilityZone>",
		}, "us-west-2c"},
		{"none as spot", `- {name: a, unavailable: {type: m5.large, capacity: spot}}`, []string{"<instanceIds><item>i-"}, "errorCode"},
		{"none at all", `- {name: a, unavailable: {type: m5.large}}`, []string{"<fleetInstanceSet></fleetInstanceSet>", "us-west-2a", "us-west-2b",
			"us-west-2c"}, "<instanceIds>"},
		{"a code of one's own, once", `- {name: a, limit: 1, match: {operation: CreateFleet, type: m5.*}, notLaunched: {code: VcpuLimitExceeded}}`,
			[]string{"<errorCode>VcpuLimitExceeded</errorCode>", "<instanceIds><item>i-"}, "us-west-2c"},
		{"nothing said", `- {name: a, match: {type: m5.large}, notLaunched: {}}`,
			[]string{"<fleetInstanceSet></fleetInstanceSet>", "<errorSet></errorSet>"}, "i-0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.template("nodes")
			w.inject(test.faults)
			body := w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...)
			w.contains(body, test.wants...)
			if strings.Contains(body, test.wantsNot) {
				t.Errorf("%q is in %s", test.wantsNot, body)
			}
		})
	}
}

// A full subnet is an error of the fleet, and the next one is taken.
func TestFullSubnet(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	if err := w.server.LeaveFree(cluster+"-us-west-2a", 3); err != nil {
		t.Fatal(err)
	}
	more := []string{"TargetCapacitySpecification.TotalTargetCapacity", "4"}
	w.contains(w.ec2(200, "DescribeSubnets"), "<availableIpAddressCount>3</availableIpAddressCount>")
	body := w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large", more...)...)
	w.contains(body, "<errorCode>InsufficientFreeAddressesInSubnet</errorCode>", "<availabilityZone>us-west-2b</availabilityZone>")
	if n := len(w.cloud.Instances()); n != 4 {
		t.Errorf("%d instances were launched, want 4", n)
	}
	said := w.log.events[len(w.log.events)-1].Detail
	if got, _ := said["instances"].([]string); said["asked"] != int64(4) || len(got) != 4 ||
		said["error"] != "InsufficientFreeAddressesInSubnet" {
		t.Errorf("the record of the fleet has %v", said)
	}
	if err := w.server.AddSubnet("second", "us-west-2a", 100); err != nil {
		t.Fatal(err)
	}
	id := textAfter(w.ec2(200, "DescribeSubnets", "Filter.1.Name", "tag:Name", "Filter.1.Value.1", "second"), "<subnetId>")
	w.contains(w.ec2(200, "DescribeSubnets", "SubnetId.1", id), "<availableIpAddressCount>100</", "<availabilityZone>us-west-2a</")
	in := []string{"LaunchTemplateConfigs.1.Overrides.1.SubnetId", id}
	w.contains(w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large", in...)...), "<instanceIds>", id)
	w.contains(w.ec2(200, "DescribeSubnets", "SubnetId.1", id), "<availableIpAddressCount>99</")
	if err := w.server.LeaveFree(cluster+"-us-west-2a", 1); err != nil {
		t.Fatal(err)
	}
	w.contains(w.ec2(200, "DescribeSubnets"), "<availableIpAddressCount>1</")
	for _, wrong := range []error{
		w.server.AddSubnet("second", "us-west-2a", 1), w.server.AddSubnet("third", "us-west-2d", 1),
		w.server.AddSubnet("fourth", "us-west-2a", 8188), w.server.LeaveFree("fifth", 1), w.server.LeaveFree("second", 8187),
	} {
		if wrong == nil {
			t.Error("a subnet that cannot be is there")
		}
	}
}

// What the cloud's own checks find, and what is announced of maintenance. Of what is over only the description says so.
func TestStatus(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	w.inject(`
- {name: a, limit: 1, impaired: {after: 3m}}
- {name: b, limit: 1, maintained: {kind: system-reboot, after: 4m}}
- {name: c, at: 5m, limit: 1, maintained: {kind: instance-stop, finished: true}}`)
	w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...)
	w.pass(150 * time.Second)
	w.contains(w.ec2(200, "DescribeInstanceStatus"), "<status>ok</status>", "<eventsSet></eventsSet>")
	w.pass(time.Minute)
	w.contains(w.ec2(200, "DescribeInstanceStatus", "Filter.1.Name", "system-status.status", "Filter.1.Value.1", "impaired"),
		"<systemStatus><status>impaired</status>", "<status>failed</status><impairedSince>2026-11-01T12:03:")
	w.pass(time.Minute)
	w.contains(w.ec2(200, "DescribeInstanceStatus", "Filter.1.Name", "event.code", "Filter.1.Value.1", "system-reboot"),
		"<description>The instance is scheduled for a system reboot</description><notBefore>2026-11-03T12:04:")
	w.pass(time.Minute)
	w.contains(w.ec2(200, "DescribeInstanceStatus"), "<description>[Completed] The instance is running", "<notBefore>2026-10-30T12:05:")
	if unmet := w.cloud.Unmet(); len(unmet) > 0 {
		t.Errorf("faults made no difference: %q", unmet)
	}
}

// Calls are matched by what they ask for, and refused with the status of their code.
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	w.inject(`
- {name: a, match: {operation: CreateFleet, capacity: spot}, refuse: {code: InsufficientInstanceCapacity}}
- {name: b, match: {operation: DescribeSubnets}, limit: 1, rateLimit: {}}
- {name: c, match: {operation: RunInstances, dryRun: "true", type: m6i.large}, refuse: {code: UnauthorizedOperation}}
- {name: d, match: {operation: DescribeImages}, limit: 1, refuse: {status: 502}}
- {name: e, match: {operation: DeleteLaunchTemplate}, limit: 1, refuseReply: {code: InternalError}}`)
	w.contains(w.ec2(503, "DescribeSubnets"), "<Code>RequestLimitExceeded</Code><Message>Request limit exceeded.</Message>")
	if body := w.ec2(502, "DescribeImages"); strings.Contains(body, "<") {
		t.Errorf("not of AWS: %s", body)
	}
	spot := []string{"TargetCapacitySpecification.DefaultTargetCapacityType", "spot"}
	w.contains(w.ec2(500, "CreateFleet", w.fleet("nodes", "m5.large", spot...)...), "<Code>InsufficientInstanceCapacity</Code>")
	w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...)
	run := []string{"DryRun", "true", "MinCount", "1", "MaxCount", "1", "LaunchTemplate.LaunchTemplateName", "nodes", "SubnetId", w.subnet("us-west-2b")}
	w.ec2(412, "RunInstances", append(run, "InstanceType", "m5.large")...)
	const image = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/%s/standard/recommended/image_id"
	w.inject(`- {name: f, match: {operation: GetParameter, name: /*/*/*/*/*/*/arm64/*/*/*}, rateLimit: {}}`)
	w.json(200, "ssm", "AmazonSSM.GetParameter", fmt.Sprintf(`{"Name":"`+image+`"}`, "x86_64"))
	w.json(400, "ssm", "AmazonSSM.GetParameter", fmt.Sprintf(`{"Name":"`+image+`"}`, "arm64"))
	w.contains(w.ec2(500, "DeleteLaunchTemplate", "LaunchTemplateName", "nodes"), "<Code>InternalError</Code>")
	w.contains(w.ec2(400, "DescribeLaunchTemplates", "LaunchTemplateName.1", "nodes"), "InvalidLaunchTemplateName.NotFoundException")
	w.template("nodes")
	w.contains(w.ec2(403, "RunInstances", append(run, "InstanceType", "m6i.large")...), "UnauthorizedOperation")
	if unmet := w.cloud.Unmet(); len(unmet) > 0 {
		t.Errorf("faults made no difference: %q", unmet)
	}
}

// A call that is made again with its token, because its answer was lost, does nothing twice.
func TestAgain(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	fleet := w.fleet("nodes", "m5.large", "ClientToken", "token")
	first := textAfter(w.ec2(200, "CreateFleet", fleet...), "<instanceIds><item>")
	if again := textAfter(w.ec2(200, "CreateFleet", fleet...), "<instanceIds><item>"); again != first || len(w.cloud.Instances()) != 1 {
		t.Errorf("launched %s, and then %s", first, again)
	}
	w.contains(w.ec2(400, "CreateFleet", append(fleet, "TargetCapacitySpecification.TotalTargetCapacity", "2")...), "IdempotentParameterMismatch")
	w.ec2(200, "CreateFleet", append(fleet, "ClientToken", "another")...)
	if n := len(w.cloud.Instances()); n != 2 {
		t.Errorf("there are %d instances, want 2", n)
	}
}

// A call that hangs gets no answer until its client gives up; the next one is carried out.
func TestHang(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	w.inject(`- {name: a, match: {operation: CreateFleet}, limit: 1, hang: {}}`)
	form := w.form("CreateFleet", w.fleet("nodes", "m5.large")...)
	server := httptest.NewServer(w.server)
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "ec2.us-west-2.amazonaws.com"
	wiretest.Sign(r, form, key, secret, "ec2", "us-west-2", w.clock.Now())
	ended := make(chan error)
	go func() {
		reply, err := http.DefaultClient.Do(r)
		if err == nil {
			reply.Body.Close()
		}
		ended <- err
	}()
	for len(w.cloud.Unmet()) > 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("a call that hangs was answered")
	}
	if n := len(w.cloud.Instances()); n != 0 {
		t.Errorf("%d instances are there after a call that hung", n)
	}
	w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...)
}

// An instance that ends by itself is listed as terminated, and one that is to be interrupted is announced in the queue.
func TestEnds(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	w.inject(`
- {name: a, limit: 1, vanishes: {after: 1m}}
- {name: b, at: 2m, interrupted: {after: 1m, notice: 2m}}`)
	gone := textAfter(w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...), "<instanceIds><item>")
	w.pass(90 * time.Second)
	w.contains(w.ec2(200, "DescribeInstances", "InstanceId.1", gone), "<name>terminated</name>")
	id := textAfter(w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large", "TargetCapacitySpecification.DefaultTargetCapacityType", "spot")...),
		"<instanceIds><item>")
	w.pass(3 * time.Minute)
	bodies := fmt.Sprint(w.json(200, "sqs", "AmazonSQS.ReceiveMessage", `{"QueueUrl":"https://sqs/1/q1","MaxNumberOfMessages":10}`))
	w.contains(bodies, `"detail-type":"EC2 Spot Instance Interruption Warning"`, `"instance-id":"`+id, `"instance-action":"terminate"`,
		"EC2 Instance State-change Notification", `"state":"terminated"`)
	last := w.log.events[len(w.log.events)-1]
	if what, _ := last.Detail["messages"].([]string); last.Verb != "ReceiveMessage" || !slices.Contains(what, "interrupted "+id) {
		t.Errorf("the record of the call does not say which message it got: %v", last)
	}
	w.pass(5 * time.Minute)
	w.contains(w.ec2(200, "DescribeInstances", "InstanceId.1", id), "Server.SpotInstanceTermination", "<name>terminated</name>")
}

// Listings that lag, end early or lack what is new.
func TestListings(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	w.inject(`
- {name: a, match: {operation: DescribeInstances}, missing: {for: 30s}}
- {name: b, at: 1m, match: {operation: DescribeInstances}, stale: {}}`)
	id := textAfter(w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...), "<instanceIds><item>")
	w.contains(w.ec2(400, "DescribeInstances", "InstanceId.1", id), "InvalidInstanceID.NotFound")
	w.pass(61 * time.Second)
	w.contains(w.ec2(200, "DescribeInstances"), id)
	w.ec2(200, "TerminateInstances", "InstanceId.1", id)
	w.pass(time.Minute)
	body := w.ec2(200, "DescribeInstances")
	w.contains(body, "<name>running</name>")
	if n := strings.Count(body, "<instanceId>"); n != 1 {
		t.Errorf("it is listed %d times", n)
	}
}

// What the history has: the call with what it asked for and what came of it; nothing of a stranger's; and that a program asked for
// what the cloud does not know, so that nothing is concluded from the run.
func TestHistory(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	w.inject(`- {name: a, unavailable: {type: m5.large, location: us-west-2a}}`)
	w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...)
	e := w.last()
	if e.Verb != "CreateFleet" || e.Code != 200 || e.Detail["type"] != "m5.large" || e.Detail["location"] != "us-west-2b" ||
		e.Detail["capacity"] != "on-demand" || e.Detail["error"] != "InsufficientInstanceCapacity" || e.Detail["group"] != "pool" {
		t.Errorf("got %+v", e)
	}
	n := len(w.log.events)
	w.server.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "https://ec2.us-west-2.amazonaws.com/", strings.NewReader("Action=DescribeSubnets")))
	if e := w.last(); len(w.log.events) != n+1 || e.Verb != history.Uninvited {
		t.Errorf("of a stranger: %+v", w.log.events[n:])
	}
	for _, test := range []struct{ action, parameter, verb string }{
		{"DescribeVpcs", "MaxResults", "unknown"}, {"DescribeSubnets", "Other", "DescribeSubnets"}, {"DescribeSubnets", "Filter.1.Name", "DescribeSubnets"},
	} {
		n := len(w.log.events)
		w.ec2(400, test.action, test.parameter, "5")
		if all := w.log.events[n:]; len(all) != 2 || all[0].Verb != history.Unreadable || all[1].Verb != test.verb {
			t.Errorf("%s %s: %+v", test.action, test.parameter, all)
		}
	}
	for _, e := range w.log.events {
		if text := fmt.Sprint(e); strings.Contains(text, "aGVsbG8") || strings.Contains(text, secret) {
			t.Errorf("user data or a secret is in %s", text)
		}
	}
}

func (w *world) last() history.Event { return w.log.events[len(w.log.events)-1] }

// A program whose clock is off is refused, and the answer's date says what time it is.
func TestSkew(t *testing.T) {
	w := newWorld(t)
	body := w.form("DescribeSubnets")
	r := httptest.NewRequest(http.MethodPost, "https://ec2.us-west-2.amazonaws.com/", strings.NewReader(body))
	wiretest.Sign(r, body, key, secret, "ec2", "us-west-2", begin.Add(-10*time.Minute))
	reply := httptest.NewRecorder()
	w.server.ServeHTTP(reply, r)
	if reply.Code != 400 || !strings.Contains(reply.Body.String(), "RequestExpired") || reply.Header().Get("Date") != begin.Format(http.TimeFormat) {
		t.Errorf("got %d, %s, %v", reply.Code, reply.Body, reply.Header())
	}
	if e := w.last(); e.Verb != "DescribeSubnets" || e.Code != 400 {
		t.Errorf("got %+v", e)
	}
}

// A call that waits for messages waits in the cloud's time, and is answered at once when one comes.
func TestLongPoll(t *testing.T) {
	w := newWorld(t)
	poll := func() chan map[string]any {
		answer := make(chan map[string]any, 1)
		go func() {
			answer <- w.json(200, "sqs", "AmazonSQS.ReceiveMessage", `{"QueueUrl":"https://sqs/1/q1","WaitTimeSeconds":20}`)
		}()
		for !w.clock.HasWaiters() {
			time.Sleep(time.Millisecond)
		}
		return answer
	}
	answer := poll()
	w.clock.Step(19 * time.Second)
	select {
	case is := <-answer:
		t.Fatalf("after 19 s: %v", is)
	default:
	}
	w.clock.Step(2 * time.Second)
	if is := <-answer; is["Messages"] != nil {
		t.Errorf("got %v, want no messages", is)
	}
	answer = poll()
	w.json(200, "sqs", "AmazonSQS.SendMessage", `{"QueueUrl":"https://sqs/1/q1","MessageBody":"hello"}`)
	w.contains(fmt.Sprint(<-answer), "hello")
}

// Names of hosts and calls are complete, and the page about AWS has all calls.
func TestNames(t *testing.T) {
	if hosts := aws.Hosts("us-west-2"); len(hosts) != 9 || hosts[0] != "ec2.us-west-2.amazonaws.com" {
		t.Errorf("hosts: %q", hosts)
	}
	page, err := os.ReadFile("../../docs/howto/aws.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range aws.Calls() {
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/howto/aws.md lacks the call %s", name)
		}
	}
	for _, f := range []string{"CreateFleet", "ReceiveMessage", "GetParameter", "DescribeCluster", "GetProducts", "GetCallerIdentity", "GetManagedResource"} {
		if !seen[f] {
			t.Errorf("%s is no call", f)
		}
	}
}
