package cloudinit_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"nodestorm/sim/machine/cloudinit"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func gz(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var machine = cloudinit.Machine{Name: "pool-a-1f", Metadata: map[string]string{"/hetzner/v1/metadata/instance-id": "42"}}

func kubelet(userData string, on cloudinit.Machine) (cloudinit.Kubelet, error) {
	c, err := cloudinit.Parse(userData)
	if err != nil {
		return cloudinit.Kubelet{}, err
	}
	s, err := c.Boot(on)
	if err != nil {
		return cloudinit.Kubelet{}, err
	}
	return s.Kubelet()
}

const agentConfig = `"flannel-iface": "eth1"
"kubelet-arg":
- "cloud-provider=external"
- "volume-plugin-dir=/var/lib/kubelet/volumeplugins"
"node-label":
- "k3s_upgrade=true"
- "example.org/pool=egress"
"node-taint":
- "example.org/egress=true:NoExecute"
"server": "https://10.255.0.101:6443"
"token": "not-for-your-eyes"
`

// installAgent is in the manner of kube-hetzner's script: the configuration is moved
// into place, there are questions to which no answer is known here, then the installer.
const installAgent = `set -ex
/etc/cloud/rename_interface.sh
mkdir -p /etc/rancher/k3s
[ -f /tmp/config.yaml ] && mv /tmp/config.yaml /etc/rancher/k3s/config.yaml
chmod 0600 /etc/rancher/k3s/config.yaml
[ -e /etc/rancher/k3s/k3s.yaml ] && exit 0
cat >> /etc/environment <<EOF
A="b"
EOF
set -a; source /etc/environment; set +a;
if ! timeout 60 bash -c 'until systemctl is-active --quiet NetworkManager; do sleep 2; done'; then
  echo "not active" >&2
  exit 0
fi
IFACE=$(ip route show default 2>/dev/null | awk '/^default/ {print $5; exit}')
if [ -n "$IFACE" ]; then
  CONNECTION=$(nmcli -g GENERAL.CONNECTION device show "$IFACE" | head -1)
  if [ -n "$CONNECTION" ]; then nmcli con mod "$CONNECTION" ipv4.dns 1.1.1.1; fi
fi
if ip link show eth1 &>/dev/null; then ip route add default via 10.0.0.1 dev eth1 metric 20101 2>/dev/null; fi
timeout 180s /bin/sh -c 'while ! ping -c 1 1.1.1.1 >/dev/null 2>&1; do echo waiting; sleep 5; done; echo Connected'
curl -sfL https://get.k3s.io | INSTALL_K3S_SKIP_START=true INSTALL_K3S_CHANNEL=v1.33 INSTALL_K3S_EXEC='agent --node-ip 10.0.0.7' sh -
/sbin/semodule -v -i /usr/share/selinux/packages/k3s.pp
systemctl start k3s-agent 2> /dev/null
for i in {1..30}; do systemctl is-active k3s-agent && break; sleep 5; done
`

func cloudConfig() string {
	return `#cloud-config
debug: True
write_files:
- content: |
    Port 22
  path: /etc/ssh/sshd_config.d/a.conf
- content: !!binary |
    j/98+QEAAAABAAAAEAAAAI0=
  path: /etc/selinux/sshd_t.pp
- content: ` + b64(agentConfig) + `
  encoding: base64
  path: /tmp/config.yaml
- content: ` + b64(installAgent) + `
  encoding: base64
  path: /var/pre_install/install-k3s-agent.sh
ssh_authorized_keys:
  - ssh-ed25519 AAAA
growpart:
    devices: ["/var"]
hostname: autoscaler
preserve_hostname: true
runcmd:
- [sed, '-i', 's/A="yes"/A="no"/g', /etc/sysconfig/network/dhcp]
- [systemctl, 'restart', 'sshd']
- [ip, route, add, default, via, '172.31.1.1', dev, 'eth0']
- ['/bin/bash', '/var/pre_install/install-k3s-agent.sh']
`
}

func mime(parts ...string) string {
	text := "Content-Type: multipart/mixed; boundary=\"BB\"\nMIME-Version: 1.0\n\n"
	for _, p := range parts {
		text += "--BB\n" + p + "\n"
	}
	return text + "--BB--\n"
}

func k3sTests(t *testing.T) map[string]string {
	return map[string]string{
		"plain":          cloudConfig(),
		"base64":         b64(cloudConfig()),
		"gzip":           gz(t, cloudConfig()),
		"base64 of gzip": b64(gz(t, cloudConfig())),
		"MIME": mime("Content-Type: text/cloud-config; charset=\"utf-8\"\n" +
			"Content-Disposition: attachment; filename=\"init.cfg\"\n\n" + cloudConfig()),
		"MIME, base64 inside": b64(gz(t, mime("Content-Transfer-Encoding: base64\nContent-Type: text/cloud-config\n"+
			"\n"+b64(cloudConfig())))),
		"MIME, by first line": mime("Content-Type: text/plain\n\n" + cloudConfig()),
		"a script that writes the configuration": "#!/bin/bash\nmkdir -p /etc/rancher/k3s\n" +
			"cat > /etc/rancher/k3s/config.yaml <<'EOF'\n" + agentConfig + "EOF\ncurl -sfL https://get.k3s.io | sh -s - agent\n",
		"tee": "#!/usr/bin/env bash\n" +
			"tee /etc/rancher/k3s/config.yaml > /dev/null << EOF\n" + agentConfig + "EOF\n" +
			"curl -fsSL https://get.k3s.io -o /tmp/i.sh && chmod +x /tmp/i.sh && INSTALL_K3S_EXEC=agent /tmp/i.sh\n",
		"flags": `#!/bin/sh
export K3S_URL=https://10.0.0.1:6443 K3S_TOKEN=secret
ARGS=(--node-label k3s_upgrade=true --node-label "example.org/pool=egress" --node-taint example.org/egress=true:NoExecute)
curl -sfL https://get.k3s.io | INSTALL_K3S_EXEC="agent --kubelet-arg=cloud-provider=external" sh -s - "${ARGS[@]}"
`,
		"drop-in": `#cloud-config
write_files:
- path: /etc/rancher/k3s/config.yaml
  content: "node-label: [a=b]\nkubelet-arg: cloud-provider=external\nnode-taint: example.org/egress=true:NoExecute\n"
- {path: /etc/rancher/k3s/config.yaml.d/10-labels.yaml, content: "node-label: [k3s_upgrade=true]\n"}
- {path: /etc/rancher/k3s/config.yaml.d/20-labels.yaml, content: "node-label+: [example.org/pool=egress]\n"}
`,
	}
}

func TestK3s(t *testing.T) {
	want := cloudinit.Kubelet{
		NodeName:      "pool-a-1f",
		Labels:        map[string]string{"k3s_upgrade": "true", "example.org/pool": "egress"},
		Taints:        []corev1.Taint{{Key: "example.org/egress", Value: "true", Effect: corev1.TaintEffectNoExecute}},
		CloudProvider: "external",
	}
	for name, userData := range k3sTests(t) {
		t.Run(name, func(t *testing.T) {
			got, err := kubelet(userData, machine)
			if err != nil {
				t.Fatal(err)
			}
			if name == "plain" {
				if got.ExtraArgs["volume-plugin-dir"] != "/var/lib/kubelet/volumeplugins" {
					t.Errorf("arguments %v", got.ExtraArgs)
				}
				for _, a := range got.Args {
					if a.Name == "node-ip" {
						if want := "/var/pre_install/install-k3s-agent.sh line 22 --node-ip"; a.Value != "10.0.0.7" || a.From != want {
							t.Errorf("node-ip is %q from %q, want %q", a.Value, a.From, want)
						}
						continue
					}
					if !strings.Contains(a.From, "/etc/rancher/k3s/config.yaml (") {
						t.Errorf("%s=%s is from %q", a.Name, a.Value, a.From)
					}
				}
			}
			got.ExtraArgs, got.Args = nil, nil
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

var errorTests = []struct{ name, userData, want string }{
	{"empty", "", "joins no cluster"},
	{"other programs", "#!/bin/bash\nansible-pull -U https://example.org/x\n", "it calls ansible-pull, which are not followed"},
	{"a script that stops", "#!/bin/bash\nset -e\nchmod 600 /etc/rancher/k3s/token\nkubeadm join x",
		"user data line 3 stops, as “chmod 600 /etc/rancher/k3s/token” fails"},
	{"a script that is none", "#cloud-config\nwrite_files:\n- {path: /a.sh, content: 'if'}\nruncmd: [[sh, /a.sh]]",
		"/a.sh line 1 is no shell"},
	{"no header", "instance-id: a\n\n#cloud-config\nruncmd: [kubeadm join x]", "joins no cluster"},
	{"jinja", "## template: jinja\n#cloud-config\n", `line 1: "## template: jinja" asks for a template`},
	{"include", "#include\nhttps://example.org\n", "#include is not read here: want #cloud-config"},
	{"YAML", "#cloud-config\nwrite_files:\n- path: [\n", "user data: line 3"},
	{"YAML type", "#cloud-config\nwrite_files: 7\n", "user data: line 2: cannot unmarshal"},
	{"path", "#cloud-config\nwrite_files:\n- content: a\n  path: etc/x\n",
		`user data write_files[0] line 3: path is "etc/x": want an absolute path`},
	{"encoding", "#cloud-config\nwrite_files:\n- path: /a\n  encoding: zip\n", `line 3: content has encoding "zip": want text/plain, b64`},
	{"base64", "#cloud-config\nwrite_files:\n- {path: /a, encoding: b64, content: '***'}\n", "content is not the base64"},
	{"gzip", "#cloud-config\nwrite_files:\n- {path: /a, encoding: gz+b64, content: 'aGFsbG8='}\n", "content is not the gzip"},
	{"permissions", "#cloud-config\nwrite_files:\n- {path: /a, permissions: 'rwx'}\n", `permissions is "rwx": want an octal mode`},
	{"runcmd", "#cloud-config\nruncmd:\n- {a: b}\n", "user data runcmd[0] line 3: want a line of shell or a list of words"},
	{"shell", "#!/bin/bash\necho 'unfinished\n", "user data line 2 is no shell"},
	{"merge", "#cloud-config\nmerge_how: 'list(append)'\n", "merge_how"},
	{"MIME type", mime("Content-Type: text/jinja2\n\nx"), `content type "text/jinja2": want text/cloud-config`},
	{"label", k3sWith("node-label: [node-role.kubernetes.io/worker=true]"), "with it a kubelet does not start"},
	{"label form", k3sWith("node-label: [a b]"), "want key=value"},
	{"taint", k3sWith("node-taint: ['a=b:Never']"), `taint "a=b:Never": want key[=value]:effect with effect NoSchedule`},
	{"cloud provider", k3sWith("kubelet-arg: [cloud-provider=hetzner]"), `--cloud-provider: "hetzner": want external`},
	{"k3s YAML", k3sWith("node-label: {a: b}"), "/etc/rancher/k3s/config.yaml (user data write_files[0]) line 1: node-label: want a text " +
		"or a list"},
	{"v1beta2", strings.ReplaceAll(configured("v1beta4", "  name: a\n"), "v1beta4", "v1beta2"),
		"apiVersion is \"kubeadm.k8s.io/v1beta2\": want kubeadm.k8s.io/v1beta3"},
	{"list in v1beta3", configured("v1beta3", "  kubeletExtraArgs:\n  - {name: a, value: b}\n"), "want a map of strings in v1beta3"},
	{"kind", strings.ReplaceAll(configured("v1beta4", "  name: a\n"), "JoinConfiguration", "InitConfiguration"),
		"no document of kind JoinConfiguration"},
	{"no configuration", "#!/bin/bash\nkubeadm join --config /etc/j.yaml", "user data does not write that file"},
	{"node name", "#!/bin/bash\nkubeadm join x --node-name a_b", `node name "a_b"`},
	{"node name not known", "#!/bin/bash\nkubeadm join x --node-name $(curl -s https://example.org/name)",
		"--hostname-override: its value depends on what “https://example.org/name” serves, which is not known"},
	{"file from elsewhere", "#!/bin/bash\ncurl -so /etc/default/kubelet https://example.org/k\nkubeadm join x",
		"depends on what “https://example.org/k” serves"},
	{"edited by others", "#!/bin/bash\nsed -i '/x/{n;d}' /etc/default/kubelet\nkubeadm join x", "makes of it, which is not known"},
	{"question", "#!/bin/bash\nif systemctl is-active foo; then echo KUBELET_EXTRA_ARGS=--cloud-provider=external > /etc/default/kubelet; " +
		"fi\nkubeadm join x", "user data line 2: whether “systemctl is-active foo” succeeds"},
	{"joins perhaps", "#!/bin/bash\nif systemctl is-active foo; then kubeadm join x; fi",
		"whether kubeadm joins depends on user data line 2"},
	{"k3s server of its own", "#!/bin/bash\ncurl -sfL https://get.k3s.io | sh -", "starts a cluster of its own"},
	{"environment file", "#cloud-config\nwrite_files:\n- path: /etc/systemd/system/kubelet.service.d/20-a.conf\n" +
		"  content: \"[Service]\\nEnvironmentFile=/etc/none\\n\"\nruncmd: [kubeadm join x]", "EnvironmentFile=/etc/none is not there"},
	{"two ExecStart", "#cloud-config\nwrite_files:\n- path: /etc/systemd/system/kubelet.service.d/20-a.conf\n" +
		"  content: \"[Service]\\nExecStart=/usr/bin/kubelet\\n\"\nruncmd: [kubeadm join x]", "has 2 ExecStart=: want one"},
	{"register-node", "#!/bin/bash\necho KUBELET_EXTRA_ARGS=--register-node=false > /etc/default/kubelet\nkubeadm join x",
		"--register-node=false"},
}

// What users get wrong is named in one line with its place and what is wanted.
func TestErrors(t *testing.T) {
	for _, test := range errorTests {
		t.Run(test.name, func(t *testing.T) {
			_, err := kubelet(test.userData, machine)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant one line with %q", err, test.want)
			}
		})
	}
	if _, err := kubelet("", machine); !errors.As(err, new(*cloudinit.NoJoinError)) {
		t.Errorf("empty user data: %v", err)
	}
}

func k3sWith(config string) string {
	return "#cloud-config\nwrite_files:\n- path: /etc/rancher/k3s/config.yaml\n  content: \"" + config + "\"\n"
}

// Secrets stay where they are.
func TestErrorsHideSecrets(t *testing.T) {
	for _, userData := range []string{
		"#!/bin/bash\nif ! curl -H token=hush https://example.org; then echo x > /etc/default/kubelet; fi\nkubeadm join x --token hush",
		"#!/bin/bash\nX=$(vault read --token hush)\nkubeadm join x --node-name $X --token hush",
		"#cloud-config\nwrite_files: hush\n",
		k3sWith("token: hush\\nnode-label: {a: b}"),
	} {
		_, err := kubelet(userData, machine)
		if err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", userData, err)
		}
	}
}
