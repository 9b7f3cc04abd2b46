package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"nodestorm/sim/history/vocabulary"
)

// kube-apiserver writes the bodies of calls on what becomes details, and no others.
func TestPolicyHasBodiesOfWhatIsDetailed(t *testing.T) {
	loaded, err := policy.LoadPolicyFromBytes(Policy())
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]bool{}
	for _, rule := range loaded.Rules {
		if rule.Level.Less(audit.LevelRequest) {
			continue
		}
		for _, group := range rule.Resources {
			for _, resource := range group.Resources {
				name, sub, _ := strings.Cut(resource, "/")
				bodies[name] = true
				if !vocabulary.ResourceNamed(name).Detailed && sub != "scale" {
					t.Errorf("the policy has bodies of %s, which the vocabulary's table does not mark as Detailed", resource)
				}
			}
		}
	}
	for _, r := range vocabulary.Resources() {
		want := (r.Detailed || r.Sized) && !r.Cloud
		if want && !bodies[r.Name] {
			t.Errorf("the vocabulary's table marks %s as Detailed or Sized, and the policy has no bodies of them", r.Name)
		}
		if r.Cloud && bodies[r.Name] {
			t.Errorf("the vocabulary's table says that %s are a cloud's, and the policy has bodies of them", r.Name)
		}
	}
}

func TestPolicyLevels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, Policy(), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := policy.LoadPolicyFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rules := policy.NewPolicyRuleEvaluator(loaded)
	tests := []struct {
		user, verb, group, resource, subresource string
		want                                     audit.Level
	}{
		{"karpenter", "create", "karpenter.sh", "nodeclaims", "", audit.LevelRequestResponse},
		{"karpenter", "patch", "karpenter.sh", "nodeclaims", "status", audit.LevelRequestResponse},
		{"karpenter", "list", "karpenter.sh", "nodeclaims", "", audit.LevelNone},
		{"karpenter", "delete", "karpenter.sh", "nodeclaims", "", audit.LevelMetadata},
		{"karpenter", "patch", "karpenter.sh", "nodepools", "status", audit.LevelMetadata},
		{"kubectl", "create", "karpenter.sh", "nodepools", "", audit.LevelRequest},
		{"node-controller", "patch", "", "nodes", "", audit.LevelRequestResponse},
		{"sim-node", "patch", "", "nodes", "status", audit.LevelMetadata},
		{"sim-node", "update", "coordination.k8s.io", "leases", "", audit.LevelNone},
		{"sim-node", "patch", "", "pods", "status", audit.LevelMetadata},
		{"system:kube-scheduler", "patch", "", "pods", "status", audit.LevelRequest},
		{"system:kube-scheduler", "create", "", "pods", "binding", audit.LevelRequest},
		{"replicaset-controller", "create", "", "pods", "", audit.LevelRequestResponse},
		{"kubelet", "create", "certificates.k8s.io", "certificatesigningrequests", "", audit.LevelRequestResponse},
		{"certificate-controller", "update", "certificates.k8s.io", "certificatesigningrequests", "status", audit.LevelRequestResponse},
		{"approver", "update", "certificates.k8s.io", "certificatesigningrequests", "approval", audit.LevelMetadata},
		{"taint-eviction-controller", "delete", "", "pods", "", audit.LevelRequest},
		{"system:apiserver", "create", "rbac.authorization.k8s.io", "clusterroles", "", audit.LevelNone},
		{"cluster-autoscaler", "update", "cluster.x-k8s.io", "machinedeployments", "scale", audit.LevelRequest},
		{"kubectl", "patch", "apps", "deployments", "scale", audit.LevelRequest},
		{"kubectl", "patch", "apps", "deployments", "", audit.LevelMetadata},
		{"x", "create", "", "events", "", audit.LevelNone},
		{"x", "patch", "events.k8s.io", "events", "", audit.LevelNone},
		{"x", "create", "", "secrets", "", audit.LevelMetadata},
		{"x", "update", "", "configmaps", "", audit.LevelMetadata},
		{"x", "create", "", "serviceaccounts", "token", audit.LevelMetadata},
		{"x", "create", "authentication.k8s.io", "tokenreviews", "", audit.LevelNone},
		{"x", "get", "", "secrets", "", audit.LevelNone},
	}
	users := []struct {
		verb, group, resource, subresource string
		want                               audit.Level
	}{
		{"patch", "apps", "deployments", "", audit.LevelRequestResponse},
		{"create", "", "pods", "eviction", audit.LevelRequestResponse},
		{"get", "", "pods", "", audit.LevelNone},
		{"create", "", "secrets", "", audit.LevelMetadata},
		{"create", "", "serviceaccounts", "token", audit.LevelMetadata},
		{"create", "authentication.k8s.io", "tokenreviews", "", audit.LevelNone},
	}
	for _, test := range users {
		got := rules.EvaluatePolicyRule(authorizer.AttributesRecord{
			User: &user.DefaultInfo{Name: "admin", Groups: []string{UserGroup}}, Verb: test.verb, APIGroup: test.group, APIVersion: "v1",
			Resource: test.resource, Subresource: test.subresource, ResourceRequest: true,
		})
		if got.Level != test.want {
			t.Errorf("of a user, %+v: level %s", test, got.Level)
		}
	}
	for _, test := range tests {
		got := rules.EvaluatePolicyRule(authorizer.AttributesRecord{
			User: &user.DefaultInfo{Name: test.user}, Verb: test.verb, APIGroup: test.group, APIVersion: "v1",
			Resource: test.resource, Subresource: test.subresource, ResourceRequest: true,
		})
		if got.Level != test.want {
			t.Errorf("%+v: level %s", test, got.Level)
		}
		if got.Level != audit.LevelNone && (!got.OmitManagedFields || len(got.OmitStages) == 0) {
			t.Errorf("%+v: managed fields or stages are not omitted: %+v", test, got)
		}
	}
	events := authorizer.AttributesRecord{Verb: "create", APIVersion: "v1", Resource: "events", ResourceRequest: true,
		User: &user.DefaultInfo{Name: "system:serviceaccount:kube-system:any", Groups: []string{"system:serviceaccounts", TargetGroup}}}
	if got := rules.EvaluatePolicyRule(events); got.Level != audit.LevelRequestResponse {
		t.Errorf("events of the program under test have level %s", got.Level)
	}
	events.APIGroup, events.Verb = "events.k8s.io", "update"
	if got := rules.EvaluatePolicyRule(events); got.Level != audit.LevelRequestResponse {
		t.Errorf("events of events.k8s.io of the program under test have level %s", got.Level)
	}
	for _, test := range []struct {
		verb, resource string
		want           audit.Level
	}{{"patch", "pods", audit.LevelRequest}, {"patch", "nodes", audit.LevelRequest}, {"get", "pods", audit.LevelNone}} {
		got := rules.EvaluatePolicyRule(authorizer.AttributesRecord{
			User: &user.DefaultInfo{Name: "system:node:a", Groups: []string{"system:nodes"}}, Verb: test.verb, APIVersion: "v1",
			Resource: test.resource, Subresource: "status", ResourceRequest: true,
		})
		if got.Level != test.want {
			t.Errorf("a kubelet's %+v: level %s", test, got.Level)
		}
	}
	health := rules.EvaluatePolicyRule(authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "x"}, Verb: "post", Path: "/healthz"})
	if health.Level != audit.LevelNone {
		t.Errorf("a call that names no resource has level %s", health.Level)
	}
}
