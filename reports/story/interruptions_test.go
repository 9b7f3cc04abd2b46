package story_test

import (
	"slices"
	"strings"
	"testing"

	"nodestorm/reports/story"
)

// spotPod are a machine of a cloud with its Node, and a pod there beside one of a DaemonSet.
var spotPod = line(1, 1, "cloud", "created", "instances", "i-1", "fakecloud", 0,
	`{"type":"c6i.xlarge","location":"us-west-2a","capacity":"spot","hourly":0.0595,"currency":"USD"}`) +
	line(2, 1, "api", "patch", "nodeclaims", "default-a", "karpenter", 200, `{"providerID":"aws:///us-west-2a/i-1"}`) +
	line(3, 5, "cloud", "running", "instances", "i-1", "fakecloud", 0, `{}`) +
	line(4, 9, "api", "create", "nodes", "n", "sim-node", 201, `{"providerID":"aws:///us-west-2a/i-1","ready":"True"}`) +
	line(5, 10, "api", "create", "pods", "web", "kubectl", 201, `{"owner":"ReplicaSet/web"}`) +
	line(6, 11, "api", "create", "pods", "agent", "daemon-set-controller", 201, `{"owner":"DaemonSet/agent"}`) +
	pod(7, 12, "web", "create", `{"subresource":"binding","node":"n"}`) + pod(8, 12, "agent", "create", `{"subresource":"binding","node":"n"}`)

func pod(seq int, at float64, name, verb, detail string) string {
	return line(seq, at, "api", verb, "pods", name, "kube-scheduler", 201, detail)
}

// An interruption is followed from the cloud's word to the drained Node, and to an instance that is gone before.
func TestInterruptions(t *testing.T) {
	word := line(20, 20, "cloud", "interrupted", "instances", "i-1", "fakecloud", 0, `{}`)
	message := func(seq int, at float64, what string) string {
		return line(seq, at, "cloud", "ReceiveMessage", "instances", "i-1", "karpenter", 200, `{"messages":["`+what+` i-1"]}`)
	}
	deleted := line(40, 40, "cloud", "deleted", "instances", "i-1", "fakecloud", 0, `{}`)
	left := line(30, 30, "node", "terminated", "pods", "web", "sim-node", 0, `{}`)
	for name, test := range map[string]struct{ records, want string }{
		"none": {deleted, ""},
		"drained": {word + message(21, 21, "running") + message(22, 22, "interrupted") +
			line(23, 23, "api", "delete", "nodeclaims", "default-a", "karpenter", 200, `{}`) + left + deleted,
			"i-1: 20–22 interrupted 22–23 message received 23–30 draining 30–40 drained"},
		"cordoned": {word +
			line(24, 24, "api", "patch", "nodes", "n", "karpenter", 200, `{"added":["karpenter.sh/disrupted:NoSchedule"]}`) + left,
			"i-1: 20–24 interrupted 24–30 draining 30–30 drained"},
		"cordoned by another": {word + line(24, 24, "api", "patch", "nodes", "n", "node-controller", 200, `{"added":["x:NoSchedule"]}`) + left,
			"i-1: 20–30 interrupted"},
		"gone before": {word + line(23, 23, "api", "delete", "nodeclaims", "default-a", "karpenter", 200, `{}`) + deleted +
			line(50, 50, "node", "deleted", "nodes", "n", "sim-node", 0, `{}`),
			"i-1: 20–23 interrupted 23–40 draining 40–50 gone, not drained"},
		"in vain": {line(20, 20, "cloud", "impaired", "instances", "i-1", "fakecloud", 0, `{}`) + left + deleted,
			"i-1: 20–40 impaired"},
	} {
		s := readStory(t, story.Run{Autoscaler: "karpenter"}, spotPod+test.records)
		same(t, name, lives(s, story.Interruptions), test.want)
	}
}

// What the cloud launched says what it is, where, and what it costs; and it is linked to its claim and its Node by its name.
func TestInstanceOfAType(t *testing.T) {
	s := readStory(t, story.Run{Autoscaler: "karpenter"}, spotPod+line(40, 40, "cloud", "deleted", "instances", "i-1", "fakecloud", 0, `{}`))
	same(t, "instances", lives(s, "Instances"), "i-1: 1–5 creating 5–40 running: c6i.xlarge, us-west-2a, spot")
	same(t, "rate", curve(s, story.Rate), "1:0.0595 40:0")
	same(t, "sentence", s.Sentence(0), "instance i-1 is created: c6i.xlarge, us-west-2a, spot, 0.0595 USD an hour")
	var chain []string
	for _, l := range s.Links {
		chain = append(chain, s.Objects[l.From].Resource+" "+s.Objects[l.To].Resource)
	}
	same(t, "links", strings.Join(chain, "; "), "nodeclaims instances; nodeclaims nodes; instances nodes; nodes pods; nodes pods")
}

// What a call to a cloud came to: less than it asked for, an error beside its instances, a trial, and no answer at all.
func TestCloudCalls(t *testing.T) {
	const fleet = `"type":"c6i.xlarge","capacity":"spot"`
	for _, test := range []struct {
		verb, resource, name string
		code                 int
		detail, want         string
		flags                story.Flags
	}{
		{"CreateFleet", "", "", 200, `{"asked":2,"instances":["i-1"],"error":"InsufficientInstanceCapacity",` + fleet + `}`,
			"karpenter calls CreateFleet for c6i.xlarge, spot — gets 1 of 2 instances: i-1 — with the error InsufficientInstanceCapacity",
			story.Bad},
		{"CreateFleet", "", "", 200, `{"asked":1,` + fleet + `}`,
			"karpenter calls CreateFleet for c6i.xlarge, spot — gets 0 of 1 instance", story.Bad},
		{"CreateFleet", "", "", 200, `{"asked":1,"instances":["i-1"]}`, "karpenter calls CreateFleet — gets 1 of 1 instance: i-1", 0},
		{"CreateFleet", "", "", 412, `{"dryRun":true,"error":"DryRunOperation"}`,
			"karpenter calls CreateFleet — only to see whether it may: yes", story.Noise},
		{"CreateFleet", "", "", 0, `{` + fleet + `}`, "karpenter calls CreateFleet for c6i.xlarge, spot — and is never answered", 0},
		{"DescribeInstances", "instances", "i-1", 0, `{}`, "karpenter calls DescribeInstances for i-1 — and is never answered", 0},
		{"DescribeInstances", "instances", "i-1", 200, `{}`, "karpenter calls DescribeInstances for i-1", story.Noise},
		{"DescribeInstances", "instances", "i-1", 503, `{"error":"RequestLimitExceeded"}`,
			"karpenter calls DescribeInstances for i-1 — refused with 503 RequestLimitExceeded", story.Bad},
		{"ReceiveMessage", "", "", 200, `{}`, "karpenter calls ReceiveMessage", story.Noise},
		{"ReceiveMessage", "instances", "i-1", 200, `{"messages":["interrupted i-1"]}`,
			"karpenter calls ReceiveMessage for i-1 — of messages: interrupted i-1", 0},
	} {
		s := readStory(t, story.Run{}, line(1, 1, "cloud", test.verb, test.resource, test.name, "karpenter", test.code, test.detail))
		same(t, "sentence", s.Sentence(0), test.want)
		if f := s.Events[0].Flags; f != test.flags {
			t.Errorf("%s: flags %b, want %b", test.want, f, test.flags)
		}
		if lives(s, "Instances") != "" {
			t.Errorf("%s is a state: %s", test.want, lives(s, "Instances"))
		}
	}
	s := readStory(t, story.Run{}, spotPod+line(30, 30, "cloud", "CreateFleet", "", "", "karpenter", 200, `{"asked":1,"instances":["i-1"]}`))
	if !slices.ContainsFunc(s.Mentions, func(m story.Mention) bool { return s.Objects[m.Object].Name == "i-1" }) {
		t.Error("the fleet does not mention its instance")
	}
}
