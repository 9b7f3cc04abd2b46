package clusterautoscaler

import (
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"nodestorm/harness/builds"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
)

// Each release has the rights that its own documentation gives it.
func TestRightsOfRelease(t *testing.T) {
	for version, want := range map[string]bool{
		"1.27.8": false, "1.32.5": false, "1.33.0": true, "1.33.0-ours": true, "1.36.1": true, "2.0.0": true, "my-fix": true,
	} {
		a := &Autoscaler{account: deploy.Account{Namespace: "ns", Name: "sa"}}
		a.cfg.Target.Version = version
		objects, err := a.documentedRBAC()
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, o := range objects {
			text, err := o.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		if has := strings.Contains(all.String(), "volumeattachments"); has != want {
			t.Errorf("%s may list volume attachments: %t", version, has)
		}
		if strings.Contains(all.String(), "since") || !strings.Contains(all.String(), "csinodes") {
			t.Errorf("%s: %s", version, all.String())
		}
	}
}

// The one that comes does not hold the lease of the one that has ended.
func TestLeaveLease(t *testing.T) {
	here, other := "this-machine", "another"
	lease := func(name string, holder *string) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: holder},
		}
	}
	empty := ""
	for what, c := range map[string]struct {
		line  flags
		there *coordinationv1.Lease
		want  string
	}{
		"held":           {nil, lease(Name, &here), "cluster-autoscaler-1.32.5"},
		"of a name":      {flags{{"leader-elect-resource-name", "mine"}}, lease("mine", &here), "cluster-autoscaler-1.32.5"},
		"another's":      {nil, lease("mine", &other), other},
		"given up":       {nil, lease(Name, &empty), ""},
		"without holder": {nil, lease(Name, nil), ""},
	} {
		a := &Autoscaler{line: c.line, account: deploy.Account{Namespace: "ns", Name: "sa"}}
		a.cfg.Target.Ref = builds.Ref{Name: Name, Version: "1.32.5"}
		a.client = fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(c.there).Build()
		if err := a.leaveLease(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		var got coordinationv1.Lease
		if err := a.client.Get(t.Context(), client.ObjectKeyFromObject(c.there), &got); err != nil {
			t.Fatal(err)
		}
		holder := ""
		if got.Spec.HolderIdentity != nil {
			holder = *got.Spec.HolderIdentity
		}
		if holder != c.want {
			t.Errorf("%s: %q holds it, want %q", what, holder, c.want)
		}
	}
}

// There are no CRDs that an upgrade could leave.
func TestCheckUpgrade(t *testing.T) {
	to := builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: Name, Version: "1.36.1"}}}
	for left, want := range map[scene.LeftBehind]string{
		{}: "", {Roles: true}: "", {CRDs: true}: "brings no CRDs", {Refused: true}: "cluster-autoscaler@1.36.1 brings no CRDs",
		{Lease: true}: "only Karpenter does",
	} {
		err := deploy.WithoutCRDs(builds.Target{}, to, left)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", left, err, want)
		}
	}
}
