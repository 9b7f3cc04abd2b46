package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"nodestorm/scenarios"
	"nodestorm/sim/history/invariants"
)

func TestFacts(t *testing.T) {
	for _, test := range []struct {
		program, provider, version string
		fact                       invariants.Fact
		want                       bool
	}{
		{"cluster-autoscaler", "hetzner", "1.33.0", invariants.CountsServers, true},
		{"cluster-autoscaler", "clusterapi", "1.33.0", invariants.CountsServers, false},
		{"cluster-autoscaler", "externalgrpc", "1.33.0", invariants.LimitsDeclared, false},
		{"cluster-autoscaler", "clusterapi", "1.35.9", invariants.LeavesPaused, false},
		{"cluster-autoscaler", "clusterapi", "1.36.0", invariants.LeavesPaused, true},
		{"cluster-autoscaler", "clusterapi", "mine", invariants.LeavesPaused, true},
		{"karpenter", "", "v1.7.0", invariants.MakesClaims, true},
		{"karpenter", "", "v1.7.0", invariants.LaunchesForGroups, false},
		{"kubespray", "", "v2.28.0", invariants.Runs, true},
		{"another", "", "v1.0.0", invariants.Runs, false},
	} {
		if got := slices.Contains(scenarios.FactsOf(test.program, test.provider, test.version), test.fact); got != test.want {
			t.Errorf("%s@%s/%s %q: %t, want %t", test.program, test.version, test.provider, test.fact, got, test.want)
		}
	}
	for _, i := range invariants.All() {
		got := strings.Join(scenarios.SubjectsOf(i), " ")
		if i.Name == "bounds" && got != "cluster-autoscaler/hetzner cluster-autoscaler/clusterapi" || got == "" {
			t.Errorf("%s is of %q", i.Name, got)
		}
	}
}
