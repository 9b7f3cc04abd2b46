package karpenter

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The chart of v1.0 runs webhooks unless set otherwise, that of v1.14 names gates without a value.
func TestCharts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: karpenter\nversion: 1.0.6\n",
		"values.yaml": "webhook: {enabled: true, port: 8443}\n",
		"templates/deployment.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter}
spec:
  template:
    spec:
      containers:
        - name: controller
          env:
            - {name: DISABLE_WEBHOOK, value: "{{ not .Values.webhook.enabled }}"}
            - {name: FEATURE_GATES, value: "StaticCapacity={{ .Values.missing }},NodeRepair=false,CapacityBuffer={{ .Values.missing }}"}
`,
		"templates/secret.yaml": `
{{- if .Values.webhook.enabled }}
apiVersion: v1
kind: Secret
metadata: {name: karpenter-cert}
{{- end }}
`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := render(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 1 {
		t.Fatalf("%d objects, want the Deployment alone", len(objects))
	}
	env, err := containerEnv(objects[0])
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(env, []string{"DISABLE_WEBHOOK=true", "FEATURE_GATES=NodeRepair=false"}) {
		t.Errorf("the container has %v", env)
	}
}
