package aws_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"nodestorm/fakecloud/aws/wire/wiretest"
)

// What EC2 refuses, with the codes that its documentation has.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	id := between(w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...), "<instanceIds><item>", "<")
	twice := []string{
		"LaunchTemplateConfigs.1.Overrides.2.SubnetId", w.subnet("us-west-2a"), "LaunchTemplateConfigs.1.Overrides.2.AvailabilityZone", "us-west-2a",
	}
	for _, test := range []struct {
		action, code string
		parameters   []string
	}{
		{"DescribeInstances", "InvalidParameterCombination", []string{"InstanceId.1", id, "MaxResults", "5"}},
		{"DescribeInstances", "InvalidParameterValue", []string{"MaxResults", "4"}},
		{"DescribeInstances", "InvalidParameterValue", []string{"Filter.1.Name", "no-such-filter", "Filter.1.Value.1", "a"}},
		{"DescribeInstances", "InvalidNextToken", []string{"NextToken", "bm9uZQ"}},
		{"DescribeInstances", "InvalidInstanceID.Malformed", []string{"InstanceId.1", "instance"}},
		{"CreateFleet", "InvalidFleetConfig", w.fleet("nodes", "m5.large", twice...)},
		{"CreateFleet", "InvalidLaunchTemplateName.NotFoundException", w.fleet("none", "m5.large")},
		{"CreateFleet", "UnsupportedOperation", w.fleet("nodes", "m5.large", "Type", "maintain")},
		{"CreateFleet", "InvalidParameterValue", w.fleet("nodes", "m5.large", "SpotOptions.AllocationStrategy", "cheapest")},
		{"CreateFleet", "InvalidParameterValue", w.fleet("nodes", "m5.large", "TagSpecification.1.Tag.2.Key", "aws:a")},
		{"CreateFleet", "UnknownParameter", w.fleet("nodes", "m5.large", "LaunchTemplateConfigs.1.Overrides.1.Other", "a")},
		{"CreateFleet", "MissingParameter", []string{"Type", "instant"}},
		{"CreateLaunchTemplate", "InvalidLaunchTemplateName.MalformedException", []string{"LaunchTemplateName", "a b", "LaunchTemplateData.ImageId", "ami-1"}},
		{"CreateLaunchTemplate", "InvalidUserData.Malformed", []string{"LaunchTemplateName", "name", "LaunchTemplateData.UserData", "%"}},
		{"CreateLaunchTemplate", "InvalidUserData.Malformed", []string{
			"LaunchTemplateName", "name", "LaunchTemplateData.UserData", strings.Repeat("AAAA", 16<<10),
		}},
		{"RunInstances", "InvalidParameterValue", []string{
			"MinCount", "1", "MaxCount", "1", "LaunchTemplate.LaunchTemplateName", "nodes", "InstanceType", "m5.large", "IamInstanceProfile.Name", "none",
		}},
		{"RunInstances", "InvalidParameterValue", []string{ // an image for x86
			"MinCount", "1", "MaxCount", "1", "LaunchTemplate.LaunchTemplateName", "nodes", "InstanceType", "m7g.large",
		}},
		{"CreateTags", "InvalidInstanceID.NotFound", []string{"ResourceId.1", "i-0123456789abcdef0", "Tag.1.Key", "a", "Tag.1.Value", "b"}},
		{"TerminateInstances", "InvalidInstanceID.NotFound", []string{"InstanceId.1", id, "InstanceId.2", "i-0123456789abcdef0"}},
	} {
		if got := between(w.ec2(400, test.action, test.parameters...), "<Code>", "<"); got != test.code {
			t.Errorf("%s %q: got %s, want %s", test.action, test.parameters, got, test.code)
		}
	}
	w.contains(w.ec2(200, "DescribeInstances", "InstanceId.1", id), "<name>pending</name>")
}

// Requests that no SDK makes.
func TestBadInput(t *testing.T) {
	w := newWorld(t)
	const host = "ec2.us-west-2.amazonaws.com"
	many := strings.Builder{}
	many.WriteString("Action=DescribeInstances&Version=2016-11-15")
	for range 100_000 {
		many.WriteString("&InstanceId.1=x")
	}
	for _, test := range []struct{ name, body, want string }{
		{"no action", "", "MissingAction"},
		{"an unknown action", "Action=Fly&Version=2016-11-15", "InvalidAction"},
		{"an unknown version", "Action=DescribeSubnets&Version=2001-01-01", "InvalidAction"},
		{"too long", strings.Repeat("a", 3<<20), "RequestEntityTooLarge"},
		{"not UTF-8", "Action=DescribeSubnets&Version=2016-11-15&Filter.1.Name=%ff", "MalformedQueryString"},
		{"many parameters", many.String(), "InvalidParameterValue"},
		{"a list that begins late", "Action=DescribeInstances&Version=2016-11-15&InstanceId.2000000000=i-1", "InvalidParameterValue"},
		{"nested too deep", "Action=DescribeInstances&Version=2016-11-15&" + strings.Repeat("a.", 100) + "a=1", "MalformedQueryString"},
	} {
		status, body := w.send(host, "ec2", "us-west-2", test.body)
		if status < 400 || between(body, "<Code>", "<") != test.want {
			t.Errorf("%s: %d %.300s, want %s", test.name, status, body, test.want)
		}
	}
	for _, test := range []struct{ name, service, target, body, want string }{
		{"an unknown operation", "ssm", "AmazonSSM.Fly", "{}", "UnknownOperationException"},
		{"nested too deep", "ssm", "AmazonSSM.GetParameter", strings.Repeat(`{"Name":`, 20_000), "SerializationException"},
		{"an unknown parameter", "sqs", "AmazonSQS.GetQueueUrl", `{"QueueName":"q1","Other":1}`, "UnknownParameter"},
	} {
		status, body := w.send(test.service+".us-west-2.amazonaws.com", test.service, "us-west-2", test.body, "X-Amz-Target", test.target)
		if status < 400 || !strings.Contains(body, test.want) {
			t.Errorf("%s: %d %s, want %s", test.name, status, body, test.want)
		}
	}
	// Signed for another service, or region, than the one that it is sent to.
	for _, scope := range [][2]string{{"iam", "us-west-2"}, {"ec2", "eu-west-1"}} {
		if status, body := w.send(host, scope[0], scope[1], "Action=DescribeSubnets&Version=2016-11-15"); status != 403 {
			t.Errorf("signed for %q: %d %s", scope, status, body)
		}
	}
}

// FuzzCall gives the server whatever comes, signed.
func FuzzCall(f *testing.F) {
	f.Add("ec2", "Action=CreateFleet&Version=2016-11-15&Type=instant&TargetCapacitySpecification.TotalTargetCapacity=1", "")
	f.Add("iam", "Action=GetInstanceProfile&Version=2010-05-08&InstanceProfileName=a", "")
	f.Add("sqs", `{"QueueUrl":"q1"}`, "AmazonSQS.ReceiveMessage")
	f.Fuzz(func(t *testing.T, service, body, target string) {
		w := newWorld(t)
		r := httptest.NewRequest(http.MethodPost, "https://host/", strings.NewReader(body))
		r.Header.Set("X-Amz-Target", target)
		region := "us-west-2"
		if service == "iam" || service == "pricing" {
			region = "us-east-1"
		}
		if strings.Contains(body, "WaitTimeSeconds") {
			t.Skip("a long poll waits on a clock that nothing moves here")
		}
		wiretest.Sign(r, body, key, secret, service, region, begin)
		reply := httptest.NewRecorder()
		w.server.ServeHTTP(reply, r)
		if reply.Code < 200 || reply.Code > 599 || reply.Code == 500 {
			t.Errorf("%s %q: %d %s", service, body, reply.Code, reply.Body)
		}
	})
}
