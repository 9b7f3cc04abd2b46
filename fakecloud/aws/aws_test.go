package aws_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
	"nodestorm/fakecloud/aws/wire/wiretest"
	"nodestorm/sim/history"
)

const (
	key, secret = "AKIATEST", "secret"
	cluster     = "c1"
)

var begin = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// world is an account of AWS, in a time of its own.
type world struct {
	testing.TB
	cloud  *fakecloud.Cloud
	clock  *testclock.FakeClock
	server *aws.Server
	log    *memory
}

// memory keeps events.
type memory struct {
	mu     sync.Mutex
	events []history.Event
}

func (m *memory) Record(e history.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, clock: testclock.NewFakeClock(begin), log: &memory{}}
	cfg := aws.Settings()
	cfg.Clock, cfg.Seed, cfg.Recorder = w.clock, 7, w.log
	var err error
	if w.cloud, err = fakecloud.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.cloud.Close)
	w.server, err = aws.New(aws.Config{
		Cloud: w.cloud, Account: "123456789012", Keys: map[string]string{key: secret}, Queue: "q1",
		Cluster: aws.Cluster{Name: cluster, Endpoint: "https://c1", ServiceCIDR: "10.100.0.0/16", Version: "1.34"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// send sends a signed request, and returns status and body.
func (w *world) send(host, service, region, body string, headers ...string) (int, string) {
	w.Helper()
	r := httptest.NewRequest(http.MethodPost, "https://"+host+"/", strings.NewReader(body))
	for k := 0; k < len(headers); k += 2 {
		r.Header.Set(headers[k], headers[k+1])
	}
	wiretest.Sign(r, body, key, secret, service, region, w.clock.Now())
	reply := httptest.NewRecorder()
	w.server.ServeHTTP(reply, r)
	return reply.Code, reply.Body.String()
}

// form is a request of EC2 with parameters in pairs.
func (w *world) form(action string, parameters ...string) string {
	form := url.Values{"Action": {action}, "Version": {"2016-11-15"}}
	for k := 0; k < len(parameters); k += 2 {
		form.Set(parameters[k], parameters[k+1])
	}
	return form.Encode()
}

// ec2 makes a call of EC2 with parameters in pairs, and returns the answer's body; another status than want fails the test.
func (w *world) ec2(want int, action string, parameters ...string) string {
	w.Helper()
	status, body := w.send("ec2.us-west-2.amazonaws.com", "ec2", "us-west-2", w.form(action, parameters...))
	if status != want {
		w.Fatalf("%s: %d, want %d: %.600s", action, status, want, body)
	}
	return body
}

// textAfter is the text between a tag and the next one, or empty.
func textAfter(body, tag string) string {
	_, rest, _ := strings.Cut(body, tag)
	found, _, is := strings.Cut(rest, "<")
	if !is {
		return ""
	}
	return found
}

func (w *world) contains(body string, wants ...string) {
	w.Helper()
	for _, want := range wants {
		if !strings.Contains(body, want) {
			w.Errorf("%q is missing in %.2000s", want, body)
		}
	}
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.Helper()
	w.clock.Step(d)
	w.cloud.Generation()
}

// template makes a launch template, with the user data "hello".
func (w *world) template(name string, more ...string) {
	w.Helper()
	image := textAfter(w.ec2(200, "DescribeImages", "Filter.1.Name", "name", "Filter.1.Value.1", "*x86_64*20260915"), "<imageId>")
	group := textAfter(w.ec2(200, "DescribeSecurityGroups", "Filter.1.Name", "tag:karpenter.sh/discovery", "Filter.1.Value.1", cluster), "<groupId>")
	w.ec2(200, "CreateLaunchTemplate", append(more, "LaunchTemplateName", name, "LaunchTemplateData.UserData", "aGVsbG8=", "LaunchTemplateData.ImageId", image,
		"LaunchTemplateData.NetworkInterface.1.DeviceIndex", "0", "LaunchTemplateData.NetworkInterface.1.SecurityGroupId.1", group,
		"LaunchTemplateData.MetadataOptions.HttpTokens", "required")...)
}

// subnet is that of a zone.
func (w *world) subnet(zone string) string {
	w.Helper()
	return textAfter(w.ec2(200, "DescribeSubnets", "Filter.1.Name", "availability-zone", "Filter.1.Value.1", zone), "<subnetId>")
}

// fleet are the parameters of a fleet of one on-demand instance of a type in the three zones.
func (w *world) fleet(name, typeName string, more ...string) []string {
	w.Helper()
	all := []string{
		"Type", "instant", "TargetCapacitySpecification.TotalTargetCapacity", "1", "TargetCapacitySpecification.DefaultTargetCapacityType", "on-demand",
		"LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplateName", name,
		"LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version", "$Latest",
		"TagSpecification.1.ResourceType", "instance", "TagSpecification.1.Tag.1.Key", "karpenter.sh/nodepool", "TagSpecification.1.Tag.1.Value", "pool",
	}
	for k, zone := range []string{"us-west-2a", "us-west-2b", "us-west-2c"} {
		at := "LaunchTemplateConfigs.1.Overrides." + string(rune('1'+k)) + "."
		all = append(all, at+"InstanceType", typeName, at+"SubnetId", w.subnet(zone), at+"AvailabilityZone", zone)
	}
	return append(all, more...)
}

// A machine's life: found out what there is, launched, running, terminated, and listed for a while after that.
func TestLife(t *testing.T) {
	w := newWorld(t)
	w.contains(w.ec2(412, "DescribeInstanceTypes", "DryRun", "true"), "<Code>DryRunOperation</Code>")
	w.template("nodes")
	body := w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...)
	id := textAfter(body, "<instanceIds><item>")
	w.contains(body, "<instanceType>m5.large</instanceType>", "<lifecycle>on-demand</lifecycle>", "<availabilityZone>us-west-2a</availabilityZone>",
		"<launchTemplateName>nodes</launchTemplateName>", "<subnetId>subnet-")
	w.contains(w.ec2(200, "DescribeInstances", "InstanceId.1", id), "<name>pending</name>", "<launchTime>2026-11-01T12:00:00.000Z</launchTime>",
		"<privateIpAddress>10.0.0.4</privateIpAddress>", "<privateDnsName>ip-10-0-0-4.us-west-2.compute.internal</privateDnsName>")
	w.pass(10 * time.Second)
	w.contains(w.ec2(200, "DescribeInstances", "Filter.1.Name", "tag-key", "Filter.1.Value.1", "karpenter.sh/nodepool", "MaxResults", "1000"),
		"<name>running</name>", id)
	i := w.cloud.Instances()[0]
	if i.Name != id || i.UserData != "hello" || len(i.PrivateIPs()) != 1 || len(id) != len("i-")+17 {
		t.Errorf("the cloud has %+v", i)
	}
	w.ec2(200, "CreateTags", "ResourceId.1", id, "Tag.1.Key", "Name", "Tag.1.Value", "node <1>")
	w.contains(w.ec2(200, "TerminateInstances", "InstanceId.1", id), "<name>shutting-down</name>", "<name>running</name>")
	w.pass(time.Minute)
	w.contains(w.ec2(200, "DescribeInstances", "InstanceId.1", id), "<name>terminated</name>", "node &lt;1&gt;")
	w.pass(2 * time.Hour)
	w.contains(w.ec2(400, "DescribeInstances", "InstanceId.1", id), "InvalidInstanceID.NotFound")
}

// json makes a call of a JSON service.
func (w *world) json(want int, service, target, body string) map[string]any {
	w.Helper()
	region, host := "us-west-2", service+".us-west-2.amazonaws.com"
	if service == "pricing" {
		region, host = "us-east-1", "api.pricing.us-east-1.amazonaws.com"
	}
	status, reply := w.send(host, service, region, body, "X-Amz-Target", target)
	if status != want {
		w.Fatalf("%s: %d, want %d: %.600s", target, status, want, reply)
	}
	is := map[string]any{}
	if err := json.Unmarshal([]byte(reply), &is); err != nil {
		w.Fatal(err)
	}
	return is
}
