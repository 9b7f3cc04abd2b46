package cloudinit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/machine/cloudinit"
)

const settings = `[settings]
[settings.kubernetes]
api-server = 'https://127.0.0.1:6443'
cluster-certificate = 'Y2E='
cluster-name = 'c1'
max-pods = 58

[settings.kubernetes.node-labels]
'karpenter.sh/capacity-type' = 'on-demand'
'karpenter.sh/nodepool' = 'default'

[settings.kubernetes.node-taints]
'example.com/own' = ['a:NoSchedule', 'b:PreferNoSchedule']
'karpenter.sh/unregistered' = [':NoExecute']

[settings.kubernetes.eviction-hard]
'memory.available' = '5%'
`

func TestBottlerocket(t *testing.T) {
	got, err := kubelet(b64(settings), ec2)
	if err != nil {
		t.Fatal(err)
	}
	got.Args = nil
	want := cloudinit.Kubelet{
		NodeName: "ip-10-0-0-7.us-west-2.compute.internal", CloudProvider: "external", ProviderID: "aws:///us-west-2a/i-0123456789abcdef0",
		Labels: map[string]string{"karpenter.sh/capacity-type": "on-demand", "karpenter.sh/nodepool": "default"},
		Taints: []corev1.Taint{
			{Key: "example.com/own", Value: "a", Effect: corev1.TaintEffectNoSchedule},
			{Key: "example.com/own", Value: "b", Effect: corev1.TaintEffectPreferNoSchedule},
			{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute},
		},
		ExtraArgs: map[string]string{
			"cloud-provider": "external", "hostname-override": "ip-10-0-0-7.us-west-2.compute.internal", "node-ip": "10.0.0.7",
			"provider-id": "aws:///us-west-2a/i-0123456789abcdef0", "max-pods": "58",
			"kube-reserved":        "cpu=80m,ephemeral-storage=1Gi,memory=893Mi",
			"eviction-hard":        "memory.available<5%,nodefs.available<10%,nodefs.inodesFree<5%",
			"register-with-taints": "example.com/own=a:NoSchedule,example.com/own=b:PreferNoSchedule,karpenter.sh/unregistered:NoExecute",
			"node-labels":          "karpenter.sh/capacity-type=on-demand,karpenter.sh/nodepool=default",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Settings go over what the host finds by itself.
func TestBottlerocketOverrides(t *testing.T) {
	own := strings.Replace(settings, "max-pods = 58", "hostname-override = 'own'\nprovider-id = 'aws:///z/i-1'\nnode-ip = '10.0.0.9'", 1)
	got, err := kubelet(own, ec2)
	if err != nil || got.NodeName != "own" || got.ProviderID != "aws:///z/i-1" || got.ExtraArgs["node-ip"] != "10.0.0.9" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBottlerocketErrors(t *testing.T) {
	for name, test := range map[string]struct {
		text, says string
		on         cloudinit.Machine
	}{
		"no cluster":    {strings.Replace(settings, "cluster-name = 'c1'\n", "", 1), "settings.kubernetes.cluster-name is missing", ec2},
		"no base64":     {strings.Replace(settings, "Y2E=", "?", 1), "cluster-certificate: want base64", ec2},
		"many pods":     {strings.Replace(settings, "= 58", "= 'many'", 1), "max-pods", ec2},
		"no effect":     {strings.Replace(settings, "':NoExecute'", "'NoExecute'", 1), "want VALUE:EFFECT", ec2},
		"another":       {strings.Replace(settings, ":NoExecute", ":Never", 1), "register-with-taints", ec2},
		"no metadata":   {settings, "Bottlerocket asks the metadata service for /latest/meta-data/", machine},
		"no TOML":       {"[settings\n", "toml: line", ec2},
		"long":          {settings + strings.Repeat("#", 70_000), "want at most 65536", ec2},
		"nested deeply": {"settings.a = " + strings.Repeat("[", 60_000), "user data", ec2},
		"one of many": {
			"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/plain\n\n" + settings + "\n--//--\n",
			"joins no cluster", ec2,
		},
	} {
		if _, err := kubelet(test.text, test.on); err == nil || !strings.Contains(err.Error(), test.says) ||
			strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}
