package hetzner

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// The autoscaler receives what the kubelets of a group's servers register with.
func TestClusterConfig(t *testing.T) {
	config, err := ConfigOf("pool=a,b=", []string{"x=y:NoSchedule", "z:NoExecute"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := ClusterConfig(map[string]NodeConfig{"a": config})
	if err != nil || v.Name != "HCLOUD_CLUSTER_CONFIG" {
		t.Fatalf("%s, %v", v.Name, err)
	}
	text, err := base64.StdEncoding.DecodeString(v.Value)
	if err != nil {
		t.Fatal(err)
	}
	// The words of Cluster Autoscaler's documentation for Hetzner.
	var read struct {
		ImagesForArch map[string]string
		NodeConfigs   map[string]struct {
			CloudInit string
			Labels    map[string]string
			Taints    []struct{ Key, Value, Effect string }
		}
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	a := read.NodeConfigs["a"]
	if read.ImagesForArch["amd64"] != Image || a.Labels["pool"] != "a" || len(a.Labels) != 2 || len(a.Taints) != 2 ||
		a.Taints[0].Value != "y" || a.Taints[1].Effect != "NoExecute" {
		t.Errorf("%s", text)
	}
	if want := " --node-labels=pool=a,b= --register-with-taints=x=y:NoSchedule,z:NoExecute\""; !strings.Contains(a.CloudInit, want) {
		t.Errorf("the kubelet's flags are not %s: %s", want, a.CloudInit)
	}
	if _, err := ConfigOf("", []string{"x=y:Never"}); err == nil {
		t.Error("a taint with an unknown effect, and no error")
	}
}
