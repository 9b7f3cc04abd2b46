package words

import (
	"strings"
	"testing"
)

func TestNewer(t *testing.T) {
	for _, test := range []struct{ was, cloud, now string }{
		{`no more than 1 NodeClaim is created within 5m`, "", `5m from now, exactly 1 NodeClaim has been created since the start`},
		{`no more than 2 NodeClaims are created within 5m`, "", `5m from now, between 1 and 2 NodeClaims have been created since the start`},
		{`1 server of the group "a b" is created within 5m`, "hetzner", `at least 1 server of the group "a b" is created within 5m`},
		{`2 servers of the group "a" are created within 5m`, "externalgrpc", `at least 2 instances of the group "a" are created within 5m`},
		{`the node "$name" becomes NotReady 1 time within 2m`, "", `the Node "$name" becomes NotReady at least 1 time within 2m`},
		{`the node "<node>" is Ready within <span>`, "", `the Node "<node>" is Ready within <span>`},
		{`the <kind> kubelet of the machine "a" falls silent`, "", `the <kind> kubelet of the machine "a" stops sending heartbeats`},
		{`the first server goes off 5m after it runs, once {source: cloud, verb: running}, for 1m`, "hetzner",
			`the first server turns off 5m after it is running, once {source: cloud, verb: running}, for 1m`},
		{`every server of the group "a" vanishes 5s after it runs`, "instances",
			`every instance of the group "a" vanishes 5s after it is running`},
		{`every server vanishes 5s after it is running`, "", `every server vanishes 5s after it is running`},
		{`each of the first 2 further simulated nodes is not heard of, from 2m on once somebody has ever sent "create" of "pods" 3 times`, "",
			`each of the first 2 new simulated nodes stops sending heartbeats, from 2m on once a client has ever sent "create" of "pods" 3 times`},
		{`somebody has sent "delete" of "nodes" "a" at no time within 1m`, "", `a client never sends "delete" of "nodes" "a" within 1m`},
		{`"karpenter" has ever been refused "create" of "nodeclaims" at no time within 1m`, "",
			`"karpenter" has never been refused "create" of "nodeclaims" within 1m`},
		{`somebody has sent "a" of "b" before somebody has sent "c" of "d" within 5m`, "",
			`a client has sent "a" of "b" before a client has sent "c" of "d" within 5m`},
		{`the server type "c-4x" cannot be had as spot capacity in "a", for 5m`, "instances",
			`the instance type "c-4x" is out of stock as spot capacity in "a", for 5m`},
		{`the fault "the server type "cx22" cannot be had" is cleared`, "hetzner", `the fault "the server type "cx22" is out of stock" is cleared`},
		{`every call "create servers" to the cloud for servers of the group "a" gets no answer`, "clusterapi",
			`every call "create servers" to the cloud for instances of the group "a" is not answered`},
		{`a Deployment "web" of 1 pod that requests 1 CPU is created`, "hetzner", `a Deployment "web" of 1 pod that requests 1 CPU is created`},
	} {
		now, is := Newer(test.was, test.cloud)
		if now != test.now || is != (test.was != test.now) {
			t.Errorf("%s:\ngot  %s\nwant %s", test.was, now, test.now)
		}
		if again, is := Newer(now, test.cloud); is {
			t.Errorf("%s: what it is called now is old as well: %s", test.was, again)
		}
	}
}

// What is called otherwise now is not rewritten again, and each row has a place for all that it says.
func TestWordings(t *testing.T) {
	for _, w := range wordings().Steps {
		example := w.step.Example
		now, is := Newer(example, "")
		if !is {
			t.Errorf("%s: its example %q is not found", w.Was, example)
		}
		if again, is := Newer(now, ""); is {
			t.Errorf("%s: becomes %q, and that %q", w.Was, now, again)
		}
		if strings.ContainsAny(now, "$[]") || strings.Contains(now, "  ") {
			t.Errorf("%s: becomes %q", w.Was, now)
		}
	}
}
