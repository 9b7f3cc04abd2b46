package account_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws"
	"nodestorm/fakecloud/aws/account"
	"nodestorm/fakecloud/aws/wire/wiretest"
)

// What people write that cannot be, and the line that says so.
func TestWrong(t *testing.T) {
	many := strings.Repeat("{name: a, zone: us-west-2a, range: 10.0.0.0/28},", 1001)
	for text, want := range map[string]string{
		``:                                      "the document is empty",
		`[]`:                                    "not a mapping",
		`zone: [a]`:                             `did you mean "zones"?`,
		`account: 12`:                           `field "account"`,
		`account: "12"`:                         "want a text of 12 digits",
		`region: mars`:                          `region "mars"`,
		`region: cn-north-1`:                    `region "cn-north-1"`,
		`zones: []`:                             "want one at least",
		`zones: [us-east-1a]`:                   `zone "us-east-1a": want the region and a letter`,
		`zones: [us-west-2a, us-west-2a]`:       "is there twice",
		`zones: [us-west-2A]`:                   `zone "us-west-2A"`,
		`types: []`:                             "types: want one at least",
		`types: [m5.lagre]`:                     `type "m5.lagre" does not exist among the`,
		`types: ["m5.["]`:                       `type "m5.["`,
		`cluster: {name: "a b"}`:                `cluster.name "a b"`,
		`cluster: {version: v1.34.1}`:           `cluster.version "v1.34.1"`,
		`cluster: {endpoint: localhost}`:        `cluster.endpoint "localhost"`,
		`cluster: {certificateAuthority: "%"}`:  "cluster.certificateAuthority is not in base64",
		`cluster: {serviceCIDR: 10.100.0.1/16}`: `cluster.serviceCIDR "10.100.0.1/16"`,
		`queue: a/b`:                            `queue "a/b"`,
		`vpc: {range: 10.0.0.0/8}`:              `vpc.range "10.0.0.0/8"`,
		`vpc: {range: "fd00::/64"}`:             `vpc.range "fd00::/64"`,
		`vpc: {range: 10.0.0.0/28}`:             "has no room for a subnet in each zone",
		`vpc: {id: vpc-x}`:                      `id "vpc-x"`,
		`subnets: [{name: a, zone: us-west-2d, range: 10.0.0.0/24}]`:                                                    `subnet 1 ("a"): there is no zone "us-west-2d"`,
		`subnets: [{name: a, range: 10.0.0.0/24}]`:                                                                      `there is no zone ""`,
		`subnets: [{name: a, zone: us-west-2a}]`:                                                                        `range ""`,
		`subnets: [{name: a, zone: us-west-2a, range: 10.0.0.0/30}]`:                                                    `range "10.0.0.0/30"`,
		`subnets: [{name: a, zone: us-west-2a, range: 10.1.0.0/24}]`:                                                    "is not in the VPC's, 10.0.0.0/16",
		`subnets: [{zone: us-west-2a, range: 10.0.0.0/24}]`:                                                             "want a name",
		`subnets: [{id: s, name: a, zone: us-west-2a, range: 10.0.0.0/24}]`:                                             `id "s": want subnet-`,
		`subnets: [{name: a, zone: us-west-2a, range: 10.0.0.0/24}, {name: a, zone: us-west-2a, range: 10.0.1.0/24}]`:   `subnet 2 ("a"): its name or ID is there twice`,
		`subnets: [{name: a, zone: us-west-2a, range: 10.0.0.0/24}, {name: b, zone: us-west-2b, range: 10.0.0.128/28}]`: `has addresses of the subnet "a"`,
		`subnets: [{name: a, zone: us-west-2a, range: 10.0.0.0/24, tags: {"": x}}]`:                                     `tag ""`,
		`subnets: [` + many + `]`:                                     "there are 1001",
		`securityGroups: [{tags: {a: b}}]`:                            `security group 1 (""): want a name`,
		`securityGroups: [{name: a}, {name: a}]`:                      "is there twice",
		`images: [{name: a}]`:                                         `image 1 ("a"): want a name of 3`,
		`images: [{name: abc, architecture: amd64}]`:                  `architecture "amd64": want x86_64 or arm64`,
		`images: [{name: "abc%s", architecture: arm64}]`:              "want a name of 3",
		`images: [{name: abc, architecture: arm64, created: "now"}]`:  "now",
		`parameters: [{name: "a b", value: c}]`:                       `parameter 1 ("a b"): want a name`,
		`parameters: [{name: /a}]`:                                    "want a value or the name of an image",
		`parameters: [{name: /a, image: none}]`:                       `there is no image "none"`,
		`parameters: [{name: /a, value: b}, {name: /a, value: c}]`:    "is there twice",
		`roles: ["a b"]`:                                              `role "a b"`,
		`roles: [a, a]`:                                               `role "a" is there twice`,
		`instanceProfiles: [{name: a, role: none}]`:                   `there is no role "none": there are ["KarpenterNodeRole-nodestorm"]`,
		`instanceProfiles: [{name: a, path: b}]`:                      `path "b"`,
		`instanceProfiles: [{name: ""}]`:                              `instance profile 1 (""): want a name`,
		"account: \"123456789012\"\n---\naccount: \"123456789012\"\n": "more than one YAML document",
	} {
		_, err := account.Read([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.120q: got %v, want a line with %q", text, err, want)
		}
	}
}

// served is an account, and a function that calls a service of it and returns the answer.
func served(t *testing.T, a *account.Account) func(service, body, target string) string {
	t.Helper()
	clock := testclock.NewFakeClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	cfg := a.Settings()
	cfg.Clock, cfg.Seed = clock, 1
	c, err := fakecloud.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Update(a.Begin); err != nil {
		t.Fatal(err)
	}
	of := a.Config(c, map[string]string{"KEY": "secret"})
	of.Latency = 0
	server, err := aws.New(of)
	if err != nil {
		t.Fatal(err)
	}
	return func(service, body, target string) string {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", strings.NewReader(body))
		if target != "" {
			r.Header.Set("X-Amz-Target", target)
		}
		if service == "eks" {
			r = httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+body, nil)
			body = ""
		}
		wiretest.Sign(r, body, "KEY", "secret", service, a.Region, clock.Now())
		reply := httptest.NewRecorder()
		server.ServeHTTP(reply, r)
		if reply.Code != http.StatusOK {
			t.Errorf("%s %s: %d", service, body, reply.Code)
		}
		return reply.Body.String()
	}
}

func form(action, version string, parameters ...string) string {
	f := url.Values{"Action": {action}, "Version": {version}}
	for k := 0; k < len(parameters); k += 2 {
		f.Set(parameters[k], parameters[k+1])
	}
	return f.Encode()
}

// What the example has is what the services say.
func TestExample(t *testing.T) {
	text, err := os.ReadFile("../../../features/examples/account.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, err := account.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	call := served(t, a)
	ec2 := func(action string, parameters ...string) string {
		return call("ec2", form(action, "2016-11-15", parameters...), "")
	}
	images := ec2("DescribeImages", "Owner.1", "self")
	_, id, _ := strings.Cut(images, "<imageId>")
	id, _, _ = strings.Cut(id, "<")
	for answer, wants := range map[string][]string{
		ec2("DescribeSubnets", "Filter.1.Name", "tag:karpenter.sh/discovery", "Filter.1.Value.1", "shop"): {
			"<availabilityZone>eu-central-1b</availabilityZone>", "<availabilityZoneId>euc1-az2</availabilityZoneId>", "<vpcId>vpc-0123456789abcdef0</vpcId>",
			"<availableIpAddressCount>11</availableIpAddressCount>", "<availableIpAddressCount>4091</availableIpAddressCount>", "<value>shop-a</value>",
		},
		ec2("DescribeSubnets", "SubnetId.1", "subnet-0123456789abcdef0"): {"<cidrBlock>10.0.32.0/24</cidrBlock>"},
		ec2("DescribeSecurityGroups"):                                    {"<groupName>shop-nodes</groupName>"},
		ec2("DescribeInstanceTypes", "InstanceType.1", "c7g.large"):      {"<instanceType>c7g.large</instanceType>"},
		ec2("DescribeInstanceTypeOfferings", "LocationType", "availability-zone", "Filter.1.Name", "instance-type", "Filter.1.Value.1", "t3.*"): {
			"<instanceType>t3.medium</instanceType>", "eu-central-1a", "eu-central-1b",
		},
		images: {"<name>shop-node-20261101</name>", "<imageOwnerId>123456789012</imageOwnerId>", "<creationDate>2026-11-01T00:00:00.000Z", "platform"},
		call("ssm", `{"Name":"/shop/node/image"}`, "AmazonSSM.GetParameter"):                       {`"Value":"` + id + `"`, "arn:aws:ssm:eu-central-1:123456789012:parameter/shop/node/image"},
		call("ssm", `{"Name":"/shop/motd"}`, "AmazonSSM.GetParameter"):                             {`"hello"`},
		call("sqs", `{"QueueName":"shop-interruptions"}`, "AmazonSQS.GetQueueUrl"):                 {"eu-central-1.amazonaws.com/123456789012/shop-interruptions"},
		call("iam", form("GetInstanceProfile", "2010-05-08", "InstanceProfileName", "legacy"), ""): {"<Path>/nodes/</Path>", "role/legacy-nodes"},
		call("eks", "/clusters/shop", ""):                                                          {`"version":"1.34"`, `"data":"Y2VydGlmaWNhdGU="`, "10.100.0.0/16"},
	} {
		for _, want := range wants {
			if !strings.Contains(answer, want) {
				t.Errorf("%q is missing in %.1500s", want, answer)
			}
		}
	}
	if answer := ec2("DescribeInstanceTypeOfferings", "LocationType", "availability-zone"); strings.Contains(answer, "m5.large") || strings.Contains(answer, "eu-central-1c") {
		t.Errorf("what is not in the file is offered: %.500s", answer)
	}
}

// Without a file, and with a region alone, there is a subnet in each zone, each with addresses of its own.
func TestDefault(t *testing.T) {
	a, err := account.Read([]byte("zones: [us-west-2a, us-west-2b, us-west-2d]\nvpc: {range: 10.5.0.0/25}"))
	if err != nil {
		t.Fatal(err)
	}
	answer := served(t, a)("ec2", form("DescribeSubnets", "2016-11-15"), "")
	for _, want := range []string{"10.5.0.0/28", "10.5.0.16/28", "10.5.0.32/28", "usw2-az4", "<value>nodestorm-us-west-2d</value>"} {
		if !strings.Contains(answer, want) {
			t.Errorf("%q is missing in %s", want, answer)
		}
	}
	answer = served(t, account.Default())("ec2", form("DescribeSecurityGroups", "2016-11-15", "Filter.1.Name", "tag:karpenter.sh/discovery", "Filter.1.Value.1", "nodestorm"), "")
	if !strings.Contains(answer, "<groupName>nodestorm-nodes</groupName>") {
		t.Errorf("got %s", answer)
	}
}

func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("../../../features/examples/account.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("subnets: [{name: a, zone: us-west-2a, range: 10.0.0.0/24}]")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := account.Read([]byte(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("not one line: %q", err)
			}
			return
		}
		cfg := a.Settings()
		cfg.Clock = testclock.NewFakeClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
		c, err := fakecloud.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Update(a.Begin); err != nil {
			t.Fatal(err)
		}
		if _, err := aws.New(a.Config(c, map[string]string{"KEY": "secret"})); err != nil {
			t.Fatal(fmt.Errorf("%q is taken: %w", text, err))
		}
	})
}
