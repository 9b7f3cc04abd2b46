package program

import "testing"

func TestNamed(t *testing.T) {
	if f := Named("karpenter"); f.BuiltIn != "kwok" || f.PerCloud || f.Drawn == nil {
		t.Errorf("karpenter: %+v", f)
	}
	if f := Named("other"); f.Name != "other" || f.Drawn != nil {
		t.Errorf("another: %+v", f)
	}
	for name, want := range map[string]string{
		"kube-system/cluster-autoscaler-7d9": "cluster-autoscaler", "karpenter-6b": "karpenter", "capi-manager": "", "cluster-api-1": "",
	} {
		if got := Autoscaler(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
