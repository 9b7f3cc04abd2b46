package kueue

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"nodestorm/harness/program/deploy"
)

// A chart in the shape of the released one.
var files = fstest.MapFS{
	"Chart.yaml": {Data: []byte("apiVersion: v2\nname: kueue\nversion: 1.0.0\n")},
	"templates/manager.yaml": {Data: []byte(`
kind: Deployment
apiVersion: apps/v1
metadata: {name: kueue-controller-manager, namespace: "{{ .Release.Namespace }}"}
spec:
  template:
    spec:
      serviceAccountName: manager
      containers:
        - name: manager
          args:
            - --config=/controller_manager_config.yaml
            - --zap-log-level=2
            {{- range .Values.controllerManager.featureGates }}
            - --feature-gates={{ .name }}={{ .enabled }}
            {{- end }}
`)},
	"templates/config.yaml": {Data: []byte(`
kind: ConfigMap
apiVersion: v1
metadata: {name: kueue-manager-config, namespace: "{{ .Release.Namespace }}"}
data:
  controller_manager_config.yaml: |
    kind: Configuration
    metrics: {bindAddress: ":8443"}
    leaderElection: {leaderElect: true, resourceName: lease}
    clientConnection: {qps: 50}
`)},
	"templates/rest.yaml": {Data: []byte(`
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: workloads.kueue.x-k8s.io}
---
kind: ServiceAccount
apiVersion: v1
metadata: {name: manager, namespace: "{{ .Release.Namespace }}"}
---
kind: ValidatingWebhookConfiguration
apiVersion: admissionregistration.k8s.io/v1
metadata: {name: kueue-validating-webhook-configuration}
---
kind: Secret
apiVersion: v1
metadata: {name: kueue-webhook-server-cert}
`)},
}

func chart(t *testing.T, files fstest.MapFS) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRender(t *testing.T) {
	of, err := render(chart(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"--zap-log-level=2", "--feature-gates=VisibilityOnDemand=false"}; !slices.Equal(of.args, want) {
		t.Errorf("arguments %q, want %q", of.args, want)
	}
	if of.account != (deploy.Account{Namespace: "kueue-system", Name: "manager"}) {
		t.Errorf("it runs as %+v", of.account)
	}
	var kinds []string
	for _, o := range of.objects {
		kinds = append(kinds, o.GetKind())
	}
	slices.Sort(kinds)
	if want := []string{"CustomResourceDefinition", "Secret", "ServiceAccount", "ValidatingWebhookConfiguration"}; !slices.Equal(kinds, want) {
		t.Errorf("it installs %q, want %q", kinds, want)
	}
	for missing, want := range map[string]string{
		"templates/manager.yaml": "no Deployment", "templates/config.yaml": "no controller_manager_config.yaml", "templates/rest.yaml": "no CRDs",
	} {
		less := maps.Clone(files)
		delete(less, missing)
		if _, err := render(chart(t, less)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}

// What the chart says stays, and nothing listens beyond loopback.
func TestConfigure(t *testing.T) {
	of, err := render(chart(t, files))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), config)
	if err := of.configure(file, place{webhooks: 4, health: 5, dir: "/certs"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(`
kind: Configuration
namespace: kueue-system
clientConnection: {qps: 50}
leaderElection: {leaderElect: true, resourceName: lease, resourceNamespace: kueue-system}
health: {healthProbeBindAddress: "127.0.0.1:5"}
metrics: {bindAddress: "0"}
webhook: {host: 127.0.0.1, port: 4, certDir: /certs}
`), &want); err != nil {
		t.Fatal(err)
	}
	if g, w := mustYAML(t, got), mustYAML(t, want); g != w {
		t.Errorf("configuration:\n%s\nwant:\n%s", g, w)
	}
}

func mustYAML(t *testing.T, v any) string {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Objects of its CRDs are for a world that has it.
func TestItsObjects(t *testing.T) {
	queue := schema.GroupVersionKind{Group: group, Version: "v1beta2", Kind: "ClusterQueue"}
	if its, err := itsObjects(queue, true); !its || err != nil {
		t.Errorf("with it: %t, %v", its, err)
	}
	if its, err := itsObjects(queue, false); !its || err == nil || !strings.Contains(err.Error(), "Kueue v0.17.1") {
		t.Errorf("without it: %t, %v", its, err)
	}
	if its, err := itsObjects(schema.GroupVersionKind{Group: "batch", Kind: "Job"}, false); its || err != nil {
		t.Errorf("another's: %t, %v", its, err)
	}
}
