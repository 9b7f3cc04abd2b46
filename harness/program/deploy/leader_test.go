package deploy

import "testing"

// Who leads is said in the words of all versions of client-go.
func TestLeaderLogged(t *testing.T) {
	for message, leads := range map[string]bool{
		"successfully acquired lease kube-system/cluster-autoscaler":           true,
		`"Successfully acquired lease" lock="kube-system/cluster-autoscaler"`:  true,
		"Successfully acquired lease":                                          true,
		`"Failed to acquire lease" lock="kube-system/cluster-autoscaler"`:      false,
		"attempting to acquire leader lease kube-system/cluster-autoscaler...": false,
	} {
		l := &Leader{}
		if l.Logged("two", message); (l.name == "two") != leads {
			t.Errorf("%s: %q leads", message, l.name)
		}
	}
}
