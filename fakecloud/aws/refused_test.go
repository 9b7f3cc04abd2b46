package aws_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/fakecloud/aws/wire/wiretest"
	"nodestorm/sim/history"
)

// What EC2 refuses, with the codes that its documentation has.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	id := textAfter(w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...), "<instanceIds><item>")
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
		if got := textAfter(w.ec2(400, test.action, test.parameters...), "<Code>"); got != test.code {
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
		{"too many parameters", numbered(30_000), "MalformedQueryString"},
		{"a million parameters", numbered(1_000_000), "RequestEntityTooLarge"},
		{"nested too deep", "Action=DescribeInstances&Version=2016-11-15&" + strings.Repeat("a.", 100) + "a=1", "MalformedQueryString"},
	} {
		status, body := w.send(host, "ec2", "us-west-2", test.body)
		if status < 400 || textAfter(body, "<Code>") != test.want {
			t.Errorf("%s: %d %.300s, want %s", test.name, status, body, test.want)
		}
	}
	for _, test := range []struct{ name, service, target, body, want string }{
		{"an unknown operation", "ssm", "AmazonSSM.Fly", "{}", "UnknownOperationException"},
		{"not UTF-8", "ssm", "AmazonSSM.GetParameter", "{\"Name\":\"\xff\"}", "SerializationException"},
		{"too long", "ssm", "AmazonSSM.GetParameter", `{"Name":"` + strings.Repeat("a", 3<<20) + `"}`, "RequestEntityTooLarge"},
		{"a name that is too long", "ssm", "AmazonSSM.GetParameter", `{"Name":"` + strings.Repeat("a", 2049) + `"}`, "InvalidParameterValue"},
		{"no target", "ssm", "", "{}", "UnknownOperationException"},
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

// numbered is a form with so many parameters.
func numbered(n int) string {
	form := strings.Builder{}
	form.WriteString("Action=DescribeInstances&Version=2016-11-15")
	for k := range n {
		fmt.Fprintf(&form, "&InstanceId.%d=i", k+1)
	}
	return form.String()
}

// Who comes without a good signature is refused in the words of the service, and only counted; one whose clock is off is recorded.
func TestStrangersAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		service, wrong string
		status         int
		code           string
	}{
		{"ec2", "unsigned", 401, "AuthFailure"}, {"ec2", "key", 401, "AuthFailure"}, {"ec2", "secret", 403, "SignatureDoesNotMatch"},
		{"ec2", "body", 403, "SignatureDoesNotMatch"}, {"ec2", "late", 400, "RequestExpired"}, {"ec2", "early", 400, "RequestExpired"},
		{"iam", "unsigned", 403, "MissingAuthenticationToken"}, {"iam", "key", 403, "InvalidClientTokenId"},
		{"iam", "secret", 403, "SignatureDoesNotMatch"}, {"iam", "late", 403, "SignatureDoesNotMatch"},
		{"ssm", "unsigned", 400, "MissingAuthenticationTokenException"}, {"ssm", "key", 400, "UnrecognizedClientException"},
		{"ssm", "secret", 400, "InvalidSignatureException"}, {"ssm", "late", 400, "InvalidSignatureException"},
		{"eks", "unsigned", 403, "MissingAuthenticationTokenException"}, {"eks", "secret", 403, "InvalidSignatureException"},
	} {
		before := len(w.log.events)
		hosts := map[string]string{"iam": "iam.amazonaws.com"}
		host := cmp.Or(hosts[test.service], test.service+".us-west-2.amazonaws.com")
		r := httptest.NewRequest(http.MethodPost, "https://"+host+"/", strings.NewReader("Action=DescribeSubnets&Version=2016-11-15"))
		body, id, by, region, now := "Action=DescribeSubnets&Version=2016-11-15", key, secret, "us-west-2", begin
		if test.service == "iam" {
			region = "us-east-1"
		}
		switch test.wrong {
		case "key":
			id = "AKIAOTHER"
		case "secret":
			by = "other"
		case "body":
			body = "Action=DescribeSubnets"
		case "late":
			now = begin.Add(-6 * time.Minute)
		case "early":
			now = begin.Add(6 * time.Minute)
		}
		if test.wrong != "unsigned" {
			wiretest.Sign(r, body, id, by, test.service, region, now)
		}
		reply := httptest.NewRecorder()
		w.server.ServeHTTP(reply, r)
		if reply.Code != test.status || !strings.Contains(reply.Body.String()+reply.Header().Get("X-Amzn-Errortype"), test.code) {
			t.Errorf("%s, %s: %d %s, want %d %s", test.service, test.wrong, reply.Code, reply.Body, test.status, test.code)
		}
		recorded := slices.ContainsFunc(w.log.events[before:], func(e history.Event) bool { return e.Source == history.Cloud })
		if off := test.wrong == "late" || test.wrong == "early"; recorded != off {
			t.Errorf("%s, %s: recorded is %t", test.service, test.wrong, recorded)
		}
	}
}

// What selects nothing is an empty list, and what is named and is not there an error with the code of its kind.
func TestNothingIsThere(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	tagged := []string{"Filter.1.Name", "tag:karpenter.sh/discovery", "Filter.1.Value.1", "another"}
	for action, empty := range map[string]string{
		"DescribeSubnets": "<subnetSet></subnetSet>", "DescribeSecurityGroups": "<securityGroupInfo></securityGroupInfo>",
		"DescribeImages": "<imagesSet></imagesSet>", "DescribeInstances": "<reservationSet></reservationSet>",
	} {
		w.contains(w.ec2(200, action, tagged...), empty)
	}
	for _, test := range []struct {
		action, code string
		parameters   []string
	}{
		{"DescribeSubnets", "InvalidSubnetID.NotFound", []string{"SubnetId.1", "subnet-0123456789abcdef0"}},
		{"DescribeSecurityGroups", "InvalidGroup.NotFound", []string{"GroupId.1", "sg-0123456789abcdef0"}},
		{"DescribeImages", "InvalidAMIID.NotFound", []string{"ImageId.1", "ami-0123456789abcdef0"}},
		{"DescribeImages", "InvalidAMIID.Malformed", []string{"ImageId.1", "image"}},
		{"DescribeInstanceTypes", "InvalidInstanceType", []string{"InstanceType.1", "m5.huge"}},
		{"RunInstances", "InvalidParameterValue", []string{
			"MinCount", "1", "MaxCount", "1", "LaunchTemplate.LaunchTemplateName", "nodes", "InstanceType", "m5.huge",
		}},
	} {
		if got := textAfter(w.ec2(400, test.action, test.parameters...), "<Code>"); got != test.code {
			t.Errorf("%s %q: got %s, want %s", test.action, test.parameters, got, test.code)
		}
	}
	body := w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.huge")...)
	w.contains(body, "<errorCode>InvalidParameterValue</errorCode>", "<fleetInstanceSet></fleetInstanceSet>")
}

// Keys and user data are in no history.
func TestSecrets(t *testing.T) {
	w := newWorld(t)
	w.template("nodes")
	w.ec2(200, "CreateFleet", w.fleet("nodes", "m5.large")...)
	w.ec2(400, "CreateLaunchTemplate", "LaunchTemplateName", "a b", "LaunchTemplateData.UserData", "aGVsbG8=")
	w.ec2(400, "CreateLaunchTemplate", "LaunchTemplateName", "other", "LaunchTemplateData.UserDatum", "aGVsbG8=")
	text, err := json.Marshal(w.log.events)
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{key, secret, "aGVsbG8=", "hello"} {
		if strings.Contains(string(text), private) {
			t.Errorf("%q is in the history", private)
		}
	}
	w.contains(string(text), "CreateLaunchTemplate", "CreateFleet")
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
