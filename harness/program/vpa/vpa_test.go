package vpa

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"nodestorm/harness/builds"
)

// A chart in the shape of the released one: of two Deployments, each with its account.
var files = fstest.MapFS{
	"Chart.yaml": {Data: []byte("apiVersion: v2\nname: vertical-pod-autoscaler\nversion: 1.0.0\n")},
	"templates/updater.yaml": {Data: []byte(`
kind: Deployment
apiVersion: apps/v1
metadata: {name: "{{ .Release.Name }}-updater"}
spec:
  template:
    spec:
      serviceAccountName: updater
      containers: [{name: updater, args: [--v=4 {{- range .Values.updater.extraArgs }}, "{{ . }}" {{- end }}]}]
`)},
	"templates/admission.yaml": {Data: []byte(`
kind: Deployment
apiVersion: apps/v1
metadata: {name: "{{ .Release.Name }}-admission-controller"}
spec:
  template:
    spec:
      serviceAccountName: admission
      containers: [{name: admission, args: [--reload-cert=true {{- range .Values.admissionController.extraArgs }}, "{{ . }}" {{- end }}]}]
---
kind: MutatingWebhookConfiguration
apiVersion: admissionregistration.k8s.io/v1
metadata: {name: vpa}
webhooks: [{name: vpa.k8s.io, clientConfig: {service: {name: vpa-webhook, namespace: kube-system, port: 443}}}]
`)},
	"templates/rest.yaml": {Data: []byte(`
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: verticalpodautoscalers.autoscaling.k8s.io}
---
kind: ServiceAccount
apiVersion: v1
metadata: {name: updater, namespace: "{{ .Release.Namespace }}"}
{{- if .Values.recommender.enabled }}
---
kind: ServiceAccount
apiVersion: v1
metadata: {name: recommender, namespace: "{{ .Release.Namespace }}"}
{{- end }}
`)},
}

// partsOf are the two programs of a release with these files in its chart.
func partsOf(t *testing.T, files fstest.MapFS) (updater, admission *part) {
	t.Helper()
	build := builds.Target{Manifest: builds.Manifest{Ref: builds.Ref{Name: builds.VPAUpdater, Version: "v1.8.1"}}, Dir: t.TempDir()}
	if err := os.CopyFS(build.Asset(builds.ChartedPrograms[builds.VPAUpdater].Chart), files); err != nil {
		t.Fatal(err)
	}
	other := build
	other.Name = builds.VPAAdmission
	return &part{build: build}, &part{build: other}
}

func TestRender(t *testing.T) {
	updater, admission := partsOf(t, files)
	of, err := render("CPUStartupBoost=true", updater, admission)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"--v=4", "--feature-gates=CPUStartupBoost=true"}; !slices.Equal(updater.Args, want) || updater.account.Name != "updater" {
		t.Errorf("the updater: %q by %+v, want %q", updater.Args, updater.account, want)
	}
	want := []string{"--reload-cert=true", "--feature-gates=CPUStartupBoost=true"}
	if !slices.Equal(admission.Args, want) || admission.account.Namespace != "kube-system" {
		t.Errorf("the admission controller: %q by %+v, want %q", admission.Args, admission.account, want)
	}
	if len(of.crds) != 1 || len(of.rights) != 1 || of.webhook.GetName() != "vpa" {
		t.Errorf("%d CRDs, %d rights, the webhook %v", len(of.crds), len(of.rights), of.webhook)
	}
	if _, err := render("", updater, admission); err != nil || !slices.Equal(updater.Args, []string{"--v=4"}) {
		t.Errorf("without gates: %q, %v", updater.Args, err)
	}
	for _, missing := range []string{"templates/updater.yaml", "templates/admission.yaml", "templates/rest.yaml"} {
		less := maps.Clone(files)
		delete(less, missing)
		updater, admission := partsOf(t, less)
		if _, err := render("", updater, admission); err == nil || !strings.Contains(err.Error(), "it lacks a Deployment") {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}

// Objects of its CRDs are for a world that has it.
func TestItsObjects(t *testing.T) {
	vpa := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "VerticalPodAutoscaler"}
	if its, err := itsObjects(vpa, true); !its || err != nil {
		t.Errorf("with it: %t, %v", its, err)
	}
	if its, err := itsObjects(vpa, false); !its || err == nil || !strings.Contains(err.Error(), "the Vertical Pod Autoscaler v1.8.1") {
		t.Errorf("without it: %t, %v", its, err)
	}
	if its, err := itsObjects(schema.GroupVersionKind{Group: "apps", Kind: "Deployment"}, false); its || err != nil {
		t.Errorf("another's: %t, %v", its, err)
	}
}
