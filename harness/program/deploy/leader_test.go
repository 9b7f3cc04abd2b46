package deploy

import "testing"

// Who leads is said in the words of all versions of client-go.
func TestLeaderLogged(t *testing.T) {
	for line, leads := range map[string]bool{
		`I1128 leaderelection.go:260] successfully acquired lease kube-system/cluster-autoscaler`:             true,
		`I1128 leaderelection.go:293] "Successfully acquired lease" lock="kube-system/cluster-autoscaler"`:    true,
		`{"level":"INFO","message":"successfully acquired lease kube-system/cluster-autoscaler"}`:             true,
		`{"level":"INFO","message":"Successfully acquired lease","lock":"kube-system/cluster-autoscaler"}`:    true,
		`E1128 leaderelection.go:436] "Failed to acquire lease" lock="kube-system/cluster-autoscaler"`:        false,
		`I1128 leaderelection.go:250] attempting to acquire leader lease kube-system/cluster-autoscaler...`:   false,
		`I1128 leaderelection.go:293] "Successfully acquired lease" of another kind kube-system/"autoscaler"`: false,
	} {
		l := &Leader{}
		if l.Logged("two", []byte(line)); (l.name == "two") != leads || (l.Lease() == "kube-system/cluster-autoscaler") != leads {
			t.Errorf("%s: %q leads, by lease %q", line, l.name, l.Lease())
		}
	}
}
