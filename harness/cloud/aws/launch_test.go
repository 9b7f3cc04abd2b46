package aws

import (
	"testing"

	"nodestorm/sim/machine/cloudinit"
)

// A kubelet that kubeadm sets up has the name that the controller manager looks for, and no provider ID.
func TestKubeadm(t *testing.T) {
	config, err := cloudinit.Parse(kubeadm)
	if err != nil {
		t.Fatal(err)
	}
	system, err := config.Boot(cloudinit.Machine{Name: "i-1", Metadata: map[string]string{metadata + "local-hostname": "ip-10-0-0-7.internal"}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := system.Kubelet()
	if err != nil || k.NodeName != "ip-10-0-0-7.internal" || k.CloudProvider != "external" || k.ProviderID != "" {
		t.Errorf("%+v, %v", k, err)
	}
}
