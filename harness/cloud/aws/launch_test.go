package aws

import (
	"testing"

	"k8s.io/client-go/rest"

	"nodestorm/sim/machine/cloudinit"
)

// A kubelet that nodeadm sets up registers with the labels and taints of its group.
func TestNodeConfig(t *testing.T) {
	text, err := nodeConfig(&rest.Config{Host: "https://10.0.0.2", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")}}, "pool=a,of=b",
		[]string{"only=web:NoSchedule"})
	if err != nil {
		t.Fatal(err)
	}
	config, err := cloudinit.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	system, err := config.Boot(cloudinit.Machine{Name: "i-1", Metadata: map[string]string{
		metadata + "local-hostname": "ip-10-0-0-7.internal", metadata + "instance-id": "i-1", metadata + "local-ipv4": "10.0.0.7",
		metadata + "placement/availability-zone": "us-west-2a",
	}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := system.Kubelet()
	if err != nil || k.NodeName != "ip-10-0-0-7.internal" || k.ProviderID != "aws:///us-west-2a/i-1" || k.Labels["pool"] != "a" || k.Labels["of"] != "b" ||
		len(k.Taints) != 1 || k.Taints[0].ToString() != "only=web:NoSchedule" {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := nodeConfig(&rest.Config{}, "", []string{"only"}); err == nil {
		t.Error("a taint without an effect is one")
	}
}

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
