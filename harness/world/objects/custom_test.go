package objects

import (
	"strings"
	"testing"
)

// What a custom object is called is compared with what Karpenter and Cluster API have; what else there may be is left alone.
func TestCustomObjects(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {template: {spec: {nodeClassRef: {group: karpenter.kwok.sh}, requirements: [{operator: In}]}}}", ""},
		{"apiVersion: karpenter.sh/v1\nkind: NodaPool", "unknown kind NodaPool of karpenter.sh/v1, did you mean NodePool?"},
		{"apiVersion: karpenter.hs/v1\nkind: NodePool", `unknown API group "karpenter.hs", did you mean "karpenter.sh"?`},
		{"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {template: {spec: {requirements: [{opeerator: In}]}}}", `unknown field "opeerator", did you mean "operator"?`},
		{"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {template: {metadata: {labels: {opeerator: x}}}}", ""},
		{"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec: {subnetSelectorTerms: [{tags: {Name: x}}]}", ""},
		{"apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: RebootRemediation", ""},
		{"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {template: {spec: {requirements: [{operator: n}]}}}", `operator: YAML reads it as false`},
		{"apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nspec: {ubnetSelectorTerms: [{id: a}]}", `unknown field "ubnetSelectorTerms"`},
		{"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {template: {spec: {requirements: [{operator: nI}]}}}", `operator: "nI" is no value of it (allowed: In, NotIn`},
		{"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {disruption: {consolidateAfter: fm}}", `consolidateAfter: "fm" is no duration`},
		{"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {disruption: {consolidateAfter: Never}}", ""},
		{"apiVersion: example.org/v1\nkind: NodaPool\nspec: {opeerator: x}", ""},
	} {
		all, err := Read([]byte(test.text + "\nmetadata: {name: a}\n"))
		if err != nil {
			t.Fatal(err)
		}
		err = all[0].Check()
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.text, err, test.want)
		}
	}
}
