package karpenter

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The chart of v1.0 runs webhooks unless set otherwise, that of v1.14 names gates without a value.
func TestCharts(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, fstest.MapFS{
		"Chart.yaml":  {Data: []byte("apiVersion: v2\nname: karpenter\nversion: 1.0.6\n")},
		"values.yaml": {Data: []byte("webhook: {enabled: true, port: 8443}\n")},
		"templates/deployment.yaml": {Data: []byte(`
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
`)},
		"templates/secret.yaml": {Data: []byte(`
{{- if .Values.webhook.enabled }}
apiVersion: v1
kind: Secret
metadata: {name: karpenter-cert}
{{- end }}
`)},
		"templates/service.yaml": {Data: []byte(`
apiVersion: v1
kind: Service
metadata: {name: karpenter}
spec:
  type: ClusterIP
  ports:
    - {name: http-metrics, port: 8080}
{{- if .Values.webhook.enabled }}
    - {name: https-webhook, port: {{ .Values.webhook.port }}}
{{- end }}
`)},
	}); err != nil {
		t.Fatal(err)
	}
	for _, webhooks := range []bool{true, false} {
		objects, err := render(dir, nil, webhooks)
		if err != nil {
			t.Fatal(err)
		}
		var has []string
		for _, o := range webhooksOf(objects) {
			kind, _, _ := unstructured.NestedString(o.Object, "spec", "type")
			has = append(has, o.GetKind()+" "+kind)
		}
		if want := map[bool][]string{true: {"Secret ", "Service ExternalName"}}[webhooks]; !slices.Equal(has, want) {
			t.Errorf("with webhooks %v there are %q, want %q", webhooks, has, want)
		}
		env, err := containerEnv(objects[0])
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{fmt.Sprint("DISABLE_WEBHOOK=", !webhooks), "FEATURE_GATES=NodeRepair=false"}; !slices.Equal(env, want) {
			t.Errorf("with webhooks %v the container has %v, want %v", webhooks, env, want)
		}
	}
}

// The API server asks the Service of the release, which is in its namespace, wherever the files of the CRDs have it.
func TestRedirect(t *testing.T) {
	port := int32(8443)
	converted := &apiextensionsv1.CustomResourceDefinition{}
	converted.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ClientConfig: &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "kube-system", Name: "karpenter", Port: &port}},
	}}
	redirect([]*apiextensionsv1.CustomResourceDefinition{{}, converted}, 4711)
	if of := serviceOf(converted).Service; of.Namespace != Name || of.Name != "karpenter" || *of.Port != 4711 {
		t.Errorf("the API server asks %s/%s at %d", of.Namespace, of.Name, *of.Port)
	}
}
