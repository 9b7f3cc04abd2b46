package cloudinit_test

import (
	"fmt"
	"strings"
	"testing"

	"nodestorm/sim/machine/cloudinit"
)

func cloudProvider(k cloudinit.Kubelet) string { return k.CloudProvider }
func nodeName(k cloudinit.Kubelet) string      { return k.NodeName }
func labels(k cloudinit.Kubelet) string        { return fmt.Sprint(k.Labels) }
func taints(k cloudinit.Kubelet) string        { return fmt.Sprint(k.Taints) }
func providerID(k cloudinit.Kubelet) string    { return k.ProviderID }

const (
	join   = "\nkubeadm join 10.0.0.1:6443 --token abcdef.0123456789abcdef --discovery-token-ca-cert-hash sha256:12"
	runcmd = "runcmd: [kubeadm join 10.0.0.1:6443]"
)

// dropIn is user data that writes one of the kubelet's drop-ins.
func dropIn(name, content string) string {
	return "#cloud-config\nwrite_files:\n- path: /etc/systemd/system/kubelet.service.d/" + name + "\n  content: |\n" +
		"    " + indented(content) + "\n"
}

func indented(lines string) string { return strings.ReplaceAll(lines, "\n", "\n    ") }

var kubeadmTests = []struct {
	name, userData string
	what           func(cloudinit.Kubelet) string
	want           string
}{
	{"nothing but a join", "#!/bin/bash" + join, cloudProvider, ""},
	{"the host's name", "#!/bin/bash" + join, nodeName, "pool-a-1f"},
	{"write_files", "#cloud-config\nwrite_files:\n- path: /etc/default/kubelet\n  content: KUBELET_EXTRA_ARGS=--cloud-provider=external\n" +
		"runcmd:\n- kubeadm join 10.0.0.1:6443 --token x", cloudProvider, "external"},
	{"echo", "#!/bin/bash\necho 'KUBELET_EXTRA_ARGS=\"--cloud-provider=external --node-labels=a=b,c=d\"' > /etc/default/kubelet" + join,
		labels, "map[a:b c:d]"},
	{"tee behind sudo", "#!/bin/bash\necho \"KUBELET_EXTRA_ARGS=--cloud-provider=external\" | sudo tee /etc/default/kubelet" + join,
		cloudProvider, "external"},
	{"sed on the package's file", "#!/bin/bash\nsed -i 's/^KUBELET_EXTRA_ARGS=.*/KUBELET_EXTRA_ARGS=--cloud-provider=external/' " +
		"/etc/default/kubelet" + join, cloudProvider, "external"},
	{"sed with groups", "#!/bin/bash\nsed -i -E 's|^(KUBELET_EXTRA_ARGS=)(.*)$|\\1\\2 --cloud-provider=external|' " +
		"/etc/default/kubelet" + join, cloudProvider, "external"},
	{"append", "#!/bin/bash\ngrep -q cloud-provider /etc/default/kubelet || echo 'KUBELET_EXTRA_ARGS=--cloud-provider=external' >> " +
		"/etc/default/kubelet" + join, cloudProvider, "external"},
	// S1: the drop-in's variable is gone, because the package has an environment file with it.
	{"a drop-in's Environment", dropIn("20-hcloud.conf", "[Service]\n"+
		"Environment=\"KUBELET_EXTRA_ARGS=--cloud-provider=external\"") + runcmd, cloudProvider, ""},
	{"a drop-in's Environment of another name", dropIn("20-hcloud.conf",
		"[Service]\nEnvironment=\"KUBELET_CLOUD=--cloud-provider=external\"\nExecStart=\n"+
			"ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CLOUD $KUBELET_EXTRA_ARGS") + runcmd, cloudProvider, "external"},
	{"a drop-in's Environment, without the package's file", dropIn("20-hcloud.conf",
		"[Service]\nEnvironment=\"KUBELET_EXTRA_ARGS=--cloud-provider=external\"") + "runcmd: [rm -f /etc/default/kubelet, kubeadm join " +
		"10.0.0.1:6443]", cloudProvider, "external"},
	{"variables within words", dropIn("20-hcloud.conf", "[Service]\nEnvironment=A=ext B=${A}al NONE=\nExecStart=\n"+
		"ExecStart=/usr/bin/kubelet --provider-id=${A}${NONE}://${B} $KUBELET_KUBECONFIG_ARGS") + runcmd, providerID, "ext://${A}al"},
	{"a path that is not clean", "#cloud-config\nwrite_files:\n- {path: /etc//default/./kubelet, content: " +
		"KUBELET_EXTRA_ARGS=--cloud-provider=external}\nruncmd: [kubeadm join 10.0.0.1:6443]", cloudProvider, "external"},
	{"a drop-in that sorts before the package's", dropIn("00-mine.conf",
		"[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --cloud-provider=external") + runcmd, cloudProvider, ""},
	{"a drop-in in place of the package's", dropIn("10-kubeadm.conf",
		"[Service]\nExecStart=\nExecStart=/usr/bin/kubelet --cloud-provider=external") + runcmd, cloudProvider, "external"},
	{"the wrong distribution's file", "#!/bin/bash\necho KUBELET_EXTRA_ARGS=--cloud-provider=external > /etc/sysconfig/kubelet" + join,
		cloudProvider, ""},
	{"--node-name", "#!/bin/bash" + join + " --node-name worker-7", nodeName, "worker-7"},
	{"--node-name by hostname", "#!/bin/bash" + join + " --node-name \"$(hostname -s)\"", nodeName, "pool-a-1f"},
	{"hostnamectl", "#!/bin/bash\nhostnamectl set-hostname Other" + join, nodeName, "other"},
	{"hostname of cloud-config", "#cloud-config\nhostname: other\nruncmd:\n- kubeadm join 10.0.0.1:6443", nodeName, "other"},
	{"fqdn of cloud-config", "#cloud-config\nfqdn: other.example.org\nruncmd:\n- kubeadm join 10.0.0.1:6443", nodeName, "other"},
	{"v1beta3", configured("v1beta3", "  kubeletExtraArgs:\n    cloud-provider: external\n"), cloudProvider, "external"},
	{"v1beta4", configured("v1beta4", "  kubeletExtraArgs:\n  - name: cloud-provider\n    value: external\n"), cloudProvider, "external"},
	{"name of the configuration", configured("v1beta4", "  name: worker-8\n"), nodeName, "worker-8"},
	{"taints of the configuration", configured("v1beta4", "  taints:\n  - {key: a, value: b, effect: NoSchedule}\n"), taints,
		"[{a b NoSchedule <nil>}]"},
	{"/etc/default/kubelet goes over kubeadm", configured("v1beta4",
		"  taints:\n  - {key: a, effect: NoSchedule}\n") + "- 'echo KUBELET_EXTRA_ARGS=--register-with-taints=c=d:NoExecute > " +
		"/etc/default/kubelet'\n", taints, "[{c d NoExecute <nil>}]"},
	{"provider ID from metadata", "#!/bin/bash\nID=$(curl -s http://169.254.169.254/hetzner/v1/metadata/instance-id)\n" +
		"cat <<EOF > /etc/default/kubelet\nKUBELET_EXTRA_ARGS=\"--provider-id=hcloud://${ID}\"\nEOF" + join, providerID, "hcloud://42"},
	{"an argument that is not known, of no interest", "#!/bin/bash\n" +
		"echo \"KUBELET_EXTRA_ARGS=--cloud-provider=external --node-ip=$(ip -4 addr show eth1 | grep -oP 'x')\" > " +
		"/etc/default/kubelet" + join, cloudProvider, "external"},
	{"unanswered questions that lead to the same", "#!/bin/bash\nif systemctl is-active foo; then A=external; else A=external; fi\n" +
		"echo KUBELET_EXTRA_ARGS=--cloud-provider=$A > /etc/default/kubelet" + join, cloudProvider, "external"},
	{"functions, loops and cases", "#!/bin/bash\nf() { local p=$1; case $p in ext*) echo \"--cloud-provider=${p%-x}\";; *) echo no;; esac; " +
		"}\nfor p in external-x; do ARGS=\"$(f $p)\"; done\nprintf 'KUBELET_EXTRA_ARGS=%s\\n' \"$ARGS\" > /etc/default/kubelet" + join,
		cloudProvider, "external"},
}

func TestKubeadm(t *testing.T) {
	for _, test := range kubeadmTests {
		t.Run(test.name, func(t *testing.T) {
			k, err := kubelet(test.userData, machine)
			if err != nil {
				t.Fatal(err)
			}
			if got := test.what(k); got != test.want {
				t.Errorf("%q, want %q; arguments %+v", got, test.want, k.Args)
			}
		})
	}
	t.Run("an RPM's file", func(t *testing.T) {
		k, err := kubelet("#!/bin/bash\necho KUBELET_EXTRA_ARGS=--cloud-provider=external > /etc/sysconfig/kubelet"+join,
			cloudinit.Machine{Name: "a", RPM: true})
		if err != nil || k.CloudProvider != "external" {
			t.Errorf("%+v, %v", k, err)
		}
	})
}

// Where kubeadm join goes, and with which token, whichever way user data says so.
func TestKubeadmJoin(t *testing.T) {
	const discovery = "#cloud-config\nwrite_files:\n- path: /run/join.yaml\n  content: |\n    apiVersion: kubeadm.k8s.io/v1beta4\n" +
		"    kind: JoinConfiguration\n" +
		"    discovery: {bootstrapToken: {token: abcdef.0123456789abcdef, apiServerEndpoint: \"10.0.0.3:6443\"}}\nruncmd:\n" +
		"- kubeadm join --config /run/join.yaml"
	for userData, want := range map[string]string{
		"#!/bin/sh\nkubeadm join 10.0.0.1:6443 --token abcdef.0123456789abcdef":    "10.0.0.1:6443 abcdef.0123456789abcdef",
		"#!/bin/sh\nkubeadm --v=5 join 10.0.0.1:6443 --discovery-token=a.b":        "10.0.0.1:6443 a.b",
		"#!/bin/sh\nkubeadm join --token a.b --discovery-file /etc/discovery.conf": " a.b",
		"#!/bin/sh\nkubeadm join 10.0.0.1:6443 --token $(curl -s http://vault)":    "10.0.0.1:6443 ",
		discovery:                  "10.0.0.3:6443 abcdef.0123456789abcdef",
		discovery + " --token a.b": "10.0.0.3:6443 a.b",
		"#!/bin/sh\necho kubeadm":  " ",
	} {
		config, err := cloudinit.Parse(userData)
		if err != nil {
			t.Fatal(err)
		}
		system, err := config.Boot(machine)
		if err != nil {
			t.Fatal(err)
		}
		if endpoint, token := system.KubeadmJoin(); endpoint+" "+token != want {
			t.Errorf("%q: %q, want %q", userData, endpoint+" "+token, want)
		}
	}
}

func configured(version, registration string) string {
	return "#cloud-config\nwrite_files:\n- path: /run/kubeadm/join.yaml\n  permissions: '0640'\n  content: |\n" +
		"    apiVersion: kubeadm.k8s.io/" + version +
		"\n    kind: JoinConfiguration\n    nodeRegistration:\n    " + indented(strings.TrimSuffix(registration, "\n")) +
		"\nruncmd:\n- kubeadm join --config /run/kubeadm/join.yaml\n"
}
