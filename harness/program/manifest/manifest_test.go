package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nodestorm/harness/program/manifest"
)

const program = "cluster-autoscaler"

var options = manifest.Options{Program: program, Provided: []string{"HCLOUD_TOKEN", "HCLOUD_ENDPOINT"}}

const kubeHetzner = "testdata/kube-hetzner.yaml"

func TestLoad(t *testing.T) {
	c, err := manifest.Load(kubeHetzner, options)
	if err != nil {
		t.Fatal(err)
	}
	if want := kubeHetzner + ": document 6 (Deployment kube-system/cluster-autoscaler)"; c.Source != want {
		t.Errorf("source %q, want %q", c.Source, want)
	}
	if c.Namespace != "kube-system" || c.ServiceAccount != program || c.Provider() != "hetzner" {
		t.Errorf("%s/%s of %s", c.Namespace, c.ServiceAccount, c.Provider())
	}
	if c.Memory != 300<<20 {
		t.Errorf("a limit of %d bytes", c.Memory)
	}
	want := []manifest.Variable{
		{Name: "HCLOUD_PUBLIC_IPV4", Value: "true"},
		{Name: "HCLOUD_SERVER_CREATION_TIMEOUT", Value: "15"},
		{Name: "expander.yaml", Value: "10: [\".*\"]\n"},
		{Name: "LOCATION", Value: "nbg1"},
		{Name: "POD_NAMESPACE", Value: "kube-system"},
		{Name: "HCLOUD_TOKEN", Value: "token-of-the-user", Secret: true},
		{Name: "HCLOUD_CLOUD_INIT", Value: "I2Nsb3VkLWNvbmZpZwo="},
		{Name: "HCLOUD_CLUSTER_CONFIG", Value: "e30="},
		{Name: "HCLOUD_SSH_KEY", Value: "1"},
		{Name: "HCLOUD_IMAGE", Value: "ubuntu-24.04"},
		{Name: "HCLOUD_NETWORK", Value: "nodestorm", Secret: true},
	}
	if diff := cmp.Diff(want, c.Env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	var kinds []string
	for _, o := range c.RBAC {
		kinds = append(kinds, o.GetKind())
	}
	if diff := cmp.Diff([]string{"ServiceAccount", "ClusterRoleBinding"}, kinds); diff != "" {
		t.Errorf("RBAC (-want +got):\n%s", diff)
	}

	dir := t.TempDir()
	if err := c.Place(dir); err != nil {
		t.Fatal(err)
	}
	command := []string{"./cluster-autoscaler", "--v=5", "--cloud-provider=hetzner", "--nodes=3:5:cax11:fsn1:k3s-autoscaled-egress",
		"--nodes=0:2:cx22:nbg1:k3s-autoscaled-large", "--cloud-config=" + dir + "/mount-0/expander.yaml", "--stderrthreshold", "info"}
	if diff := cmp.Diff(command, c.Command); diff != "" || c.Args != nil {
		t.Errorf("command (-want +got):\n%s\nargs %q", diff, c.Args)
	}
	path := filepath.Join(dir, "mount-0", "expander.yaml")
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "10: [\".*\"]\n" {
		t.Errorf("the mounted file has %q, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mounted file has mode %v, %v", info.Mode(), err)
	}
}

// A manifest without the secret is fine as long as only what the world provides
// comes out of it.
func TestProvidedSecret(t *testing.T) {
	text := read(t)
	_, rest, _ := strings.Cut(text, "---\n")
	if _, err := manifest.Parse([]byte(rest), options); err == nil || !strings.Contains(err.Error(), `env[7] (HCLOUD_NETWORK): secret "hcloud" of namespace "kube-system" is not in the file`) {
		t.Errorf("without the secret: %v", err)
	}
	rest = strings.Replace(rest, "key: network}", "key: network, optional: true}", 1)
	c, err := manifest.Parse([]byte(rest), options)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range c.Env {
		if v.Name == "HCLOUD_TOKEN" || v.Name == "HCLOUD_NETWORK" {
			t.Errorf("%+v, and there is no such secret", v)
		}
	}
}

func read(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(kubeHetzner)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestErrors(t *testing.T) {
	good := read(t)
	with := func(old, replacement string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the manifest", old)
		}
		return strings.Replace(good, old, replacement, 1)
	}
	const deployment = "document 6 (Deployment kube-system/cluster-autoscaler): "
	tests := []struct{ name, text, want string }{
		{"nothing", "# a comment\n---\n", "it has no object: want the YAML of a Deployment"},
		{"no YAML", "a: [", "document 1: "},
		{"no object", "- 1\n", "document 1: "},
		{"no kind", "apiVersion: v1\n", "document 1: field kind is missing"},
		{"no Deployment", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", "it has no Deployment, only ConfigMap: want one that runs cluster-autoscaler"},
		{"other program", strings.ReplaceAll(strings.ReplaceAll(good, "/cluster-autoscaler", "/other"), "name: cluster-autoscaler", "name: other"), "no Deployment runs cluster-autoscaler (there are other): want one whose"},
		{"two", good + "\n---\n" + good[strings.Index(good, "apiVersion: apps/v1"):], "document 6 (Deployment kube-system/cluster-autoscaler) and document 7 (Deployment kube-system/cluster-autoscaler) both run"},
		{"wrong type", with("replicas: 1", "replicas: some"), deployment + "field spec.replicas: found a string, want a int32"},
		{"wrong list", with("command:\n            - ./cluster-autoscaler", "command: ./cluster-autoscaler\n          args:"), deployment + "field spec.template.spec.containers.command: found a string, want a []string"},
		{"missing config map", with("configMapRef: {name: cluster-autoscaler-settings}", "configMapRef: {name: nowhere}"), deployment + `containers[0].envFrom[0]: config map "nowhere" of namespace "kube-system" is not in the file (there is: kube-system/cluster-autoscaler-settings)`},
		{"missing key", with("key: network}", "key: nowhere}"), deployment + `containers[0].env[7] (HCLOUD_NETWORK): key "nowhere" of secret "hcloud" is not in the file (there is: network, token)`},
		{"field", with("metadata.namespace}", "metadata.labels}"), deployment + `containers[0].env[1] (POD_NAMESPACE): fieldRef.fieldPath: unknown field "metadata.labels" (allowed: metadata.name, metadata.namespace`},
		{"bad secret", with("stringData:", "data:"), "document 1 (Secret kube-system/hcloud): field data: a value is not base64"},
		{"unknown volume", with("name: settings, mountPath", "name: nowhere, mountPath"), deployment + `containers[0].volumeMounts[1]: name: there is no volume "nowhere"`},
		{"escape", with("path: expander.yaml}", "path: ../../x}"), deployment + `containers[0].volumeMounts[1]: volume "settings": path "../../x" leads out of it`},
		{"absolute", with("path: expander.yaml}", "path: /etc/x}"), deployment + `containers[0].volumeMounts[1]: volume "settings": path "/etc/x" leads out of it`},
		{"mount path", with("mountPath: /etc/autoscaler", "mountPath: ../etc"), `mountPath: "../etc" is no absolute path`},
		{"sub path", with("mountPath: /etc/autoscaler", "subPath: nowhere, mountPath: /etc/autoscaler"), `subPath: "nowhere" is not in the volume (there is: expander.yaml)`},
		{"volume", with("hostPath: {path: /etc/ssl/certs/ca-certificates.crt}", "nfs: {server: x, path: /}"), `volume "ssl-certs": want one of configMap, emptyDir, hostPath, projected, secret`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := manifest.Parse([]byte(test.text), options)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "token-of-the-user") {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
		})
	}
	if _, err := manifest.Load(filepath.Join(t.TempDir(), "nowhere.yaml"), options); err == nil || !strings.Contains(err.Error(), "no such file or directory; name a manifest") {
		t.Errorf("error %v", err)
	}
}

func TestExpand(t *testing.T) {
	const text = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: x}
spec: {template: {spec: {containers: [{image: "a/cluster-autoscaler-arm64:v1@sha256:0", args: ["--a=$(A)$(B)", "$$(A)", "$(NONE)", "$A $ $(A"],
  env: [{name: A, value: "1"}, {name: B, value: "$(A)2"}, {name: A, value: "3"}]}]}}}
`
	c, err := manifest.Parse([]byte(text), options)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"--a=312", "$(A)", "$(NONE)", "$A $ $(A"}, c.Args); diff != "" {
		t.Errorf("args (-want +got):\n%s", diff)
	}
	if c.Namespace != "default" || c.ServiceAccount != "default" {
		t.Errorf("identity %s/%s", c.Namespace, c.ServiceAccount)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(read(f)))
	f.Add([]byte("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: x}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := manifest.Parse(text, options)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of several lines: %v", err)
			}
			return
		}
		dir := t.TempDir()
		outside := filepath.Dir(dir)
		before, _ := os.ReadDir(outside)
		_ = c.Place(dir) // of odd names; it must not leave dir
		if after, _ := os.ReadDir(outside); len(after) != len(before) {
			t.Errorf("placed outside: %v", after)
		}
	})
}
