package builds

import "testing"

func TestParseRef(t *testing.T) {
	for _, good := range []string{"karpenter@v1.7.0", "cluster-autoscaler@1.32.7", "karpenter@v0.0.0-20250716-abc", "x@v1.0.0+incompatible"} {
		if ref, err := ParseRef(good); err != nil || ref.String() != good {
			t.Errorf("ParseRef(%q) = %v, %v", good, ref, err)
		}
	}
	for _, bad := range []string{"", "karpenter", "karpenter@", "@v1", "Karpenter@v1", "a@b@c", "a@../b", "../a@v1", "a@v1/b", "a@.."} {
		if ref, err := ParseRef(bad); err == nil {
			t.Errorf("ParseRef(%q) = %v, want an error", bad, ref)
		}
	}
}

// Karpenter for AWS is Karpenter to the API server, and AWS's controller manager has the name of its account.
func TestProgram(t *testing.T) {
	for name, want := range map[string]string{
		KarpenterAWS: "karpenter", "karpenter": "karpenter", "cluster-autoscaler": "cluster-autoscaler", AWSCCM: "cloud-controller-manager",
	} {
		if got := (Ref{Name: name}).Program(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// A build for a provider stands for one that asks for none, but for that of a cloud of ours.
func TestIs(t *testing.T) {
	of := func(provider string) Ref {
		return Ref{Name: "karpenter", Version: "v1.7.0", Provider: provider}
	}
	for _, test := range []struct {
		is, wanted string
		want       bool
	}{
		{Kwok, "", true}, {Kwok, Kwok, true}, {Kwok, Instances, false}, {"", Instances, true},
		{Instances, "", false}, {Instances, Instances, true}, {Instances, Kwok, false},
	} {
		if got := of(test.is).Is(of(test.wanted)); got != test.want {
			t.Errorf("a build for %q where %q is wanted: %v", test.is, test.wanted, got)
		}
	}
}
