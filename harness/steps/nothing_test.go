package steps

import (
	"testing"

	"nodestorm/fakecloud"
)

// A Then about what somebody has done fails where nobody has done it.
func TestThenOfNothing(t *testing.T) {
	s := &scenario{}
	for then, err := range map[string]error{
		"the installation has succeeded":                           s.installed(),
		"every Node is initialized within 1m":                      s.nodesInitialized(t.Context(), "1m"),
		"every kubelet has its serving certificate within 1m":      s.servingCertificates(t.Context(), "1m"),
		"somebody asks for the logs of the DaemonSet \"x\" for 1m": s.askKubelets(t.Context(), "x", "1m"),
		"logs and metrics were served":                             s.kubeletsServed(),
		"all instances are of the type \"cpx31\"":                  ofType(nil, "cpx31"),
	} {
		if err == nil {
			t.Errorf("%q holds without anything to hold of", then)
		}
	}
	if err := ofType([]fakecloud.Instance{{Type: "cpx31"}}, "cpx31"); err != nil {
		t.Error(err)
	}
	if ofType([]fakecloud.Instance{{Type: "cpx31"}, {Type: "cpx41"}}, "cpx31") == nil {
		t.Error("another type is not seen")
	}
}
