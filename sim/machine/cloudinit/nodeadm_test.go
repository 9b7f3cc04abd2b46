package cloudinit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/machine/cloudinit"
)

var ec2 = cloudinit.Machine{Name: "i-0123456789abcdef0", Cores: 4, MaxPods: 58, Metadata: map[string]string{
	"/latest/meta-data/local-hostname": "ip-10-0-0-7.us-west-2.compute.internal", "/latest/meta-data/instance-id": "i-0123456789abcdef0",
	"/latest/meta-data/local-ipv4": "10.0.0.7", "/latest/meta-data/placement/availability-zone": "us-west-2a",
}}

const generated = `# Karpenter Generated NodeConfig
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
metadata:
  creationTimestamp: null
spec:
  cluster:
    apiServerEndpoint: https://127.0.0.1:6443
    certificateAuthority: Y2E=
    cidr: 10.96.0.0/16
    name: c1
  containerd: {}
  instance:
    localStorage: {}
  kubelet:
    config:
      maxPods: 58
      registerWithTaints:
      - effect: NoExecute
        key: karpenter.sh/unregistered
    flags:
    - --node-labels="karpenter.sh/capacity-type=on-demand,karpenter.sh/nodepool=default"
`

// archive is user data as Karpenter writes it, with parts of nodeadm's.
func archive(parts ...string) string {
	text := "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n"
	for _, part := range parts {
		text += "--//\nContent-Type: application/node.eks.aws\n\n" + part
	}
	return b64(text + "\n--//--\n")
}

func TestNodeConfig(t *testing.T) {
	got, err := kubelet(archive(generated), ec2)
	if err != nil {
		t.Fatal(err)
	}
	got.Args = nil
	want := cloudinit.Kubelet{
		NodeName: "ip-10-0-0-7.us-west-2.compute.internal", CloudProvider: "external", ProviderID: "aws:///us-west-2a/i-0123456789abcdef0",
		Labels: map[string]string{"karpenter.sh/capacity-type": "on-demand", "karpenter.sh/nodepool": "default"},
		Taints: []corev1.Taint{{Key: "karpenter.sh/unregistered", Effect: corev1.TaintEffectNoExecute}},
		ExtraArgs: map[string]string{
			"cloud-provider": "external", "hostname-override": "ip-10-0-0-7.us-west-2.compute.internal", "node-ip": "10.0.0.7",
			"provider-id": "aws:///us-west-2a/i-0123456789abcdef0", "max-pods": "58",
			"kube-reserved":        "cpu=80m,ephemeral-storage=1Gi,memory=893Mi",
			"eviction-hard":        "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%",
			"register-with-taints": "karpenter.sh/unregistered:NoExecute",
			"node-labels":          "karpenter.sh/capacity-type=on-demand,karpenter.sh/nodepool=default",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A user's own part comes before Karpenter's, whose settings go over it, and whose flags are added.
func TestNodeConfigs(t *testing.T) {
	const own = `apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config: {maxPods: 8, evictionHard: {memory.available: 5%}, kubeReserved: {memory: 1Gi}, systemReserved: {cpu: 100m}}
    flags: [--node-labels=example.org/own=true]
`
	got, err := kubelet(archive(own, generated), ec2)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"max-pods": "58", "kube-reserved": "cpu=80m,ephemeral-storage=1Gi,memory=1Gi", "system-reserved": "cpu=100m",
		"eviction-hard": "memory.available<5%,nodefs.available<10%,nodefs.inodesFree<5%",
	} {
		if got.ExtraArgs[name] != want {
			t.Errorf("--%s is %q, want %q", name, got.ExtraArgs[name], want)
		}
	}
	if got.Labels["example.org/own"] != "true" || got.Labels["karpenter.sh/nodepool"] != "default" {
		t.Errorf("labels: %v", got.Labels)
	}
}

func TestNodeConfigErrors(t *testing.T) {
	for name, test := range map[string]struct {
		part, says string
		on         cloudinit.Machine
	}{
		"another kind":  {strings.Replace(generated, "kind: NodeConfig", "kind: Pod", 1), `it is "Pod"`, ec2},
		"no cluster":    {strings.Replace(generated, "    cidr: 10.96.0.0/16\n", "", 1), "spec.cluster.cidr is missing", ec2},
		"no base64":     {strings.Replace(generated, "Y2E=", "'?'", 1), "certificateAuthority: want base64", ec2},
		"many pods":     {strings.Replace(generated, "maxPods: 58", "maxPods: many", 1), "spec.kubelet.config: maxPods is string", ec2},
		"no flag":       {strings.Replace(generated, "- --node-labels", "- node-labels", 1), "want --name=value", ec2},
		"bad label":     {strings.Replace(generated, "karpenter.sh/nodepool", "karpenter.sh/", 1), "name part must be non-empty", ec2},
		"no metadata":   {generated, "/latest/meta-data/", machine},
		"no YAML":       {"a: [", "line 1", ec2},
		"nested deeply": {"a: " + strings.Repeat("[", 100_000), "part 1", ec2},
		"anchors": {"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n", "part 1", ec2},
	} {
		if _, err := kubelet(archive(test.part), test.on); err == nil || !strings.Contains(err.Error(), test.says) ||
			strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}
