package descheduler

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

const lifetime = `
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
  - name: default
    pluginConfig: [{name: PodLifeTime, args: {maxPodLifeTimeSeconds: 600}}]
    plugins: {deschedule: {enabled: [PodLifeTime]}}
`

// What the descheduler would leave out without a word is found before a world starts.
func TestReadPolicy(t *testing.T) {
	if _, err := readPolicy(lifetime); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		strings.Replace(lifetime, "v1alpha2", "v1alpha1", 1):                                                      "apiVersion descheduler/v1alpha2",
		strings.Replace(lifetime, "DeschedulerPolicy", "Policy", 1):                                               "kind DeschedulerPolicy",
		lifetime + "maxNoOfPodsToEvictPerNod: 1\n":                                                                `did you mean "maxNoOfPodsToEvictPerNode"?`,
		strings.Replace(lifetime, "enabled:", "enable:", 1):                                                       `did you mean "enabled"?`,
		strings.Replace(lifetime, "deschedule: {enabled: [PodLifeTime]}", "", 1):                                  "PodLifeTime, which it does not enable",
		strings.Replace(lifetime, "enabled: [PodLifeTime]", "enabled: [PodLiveTime]", 1):                          `did you mean "PodLiveTime"?`,
		strings.Replace(lifetime, "pluginConfig: [{name: PodLifeTime", "pluginConfig: [{name: DefaultEvictor", 1): "",
		strings.Replace(lifetime, "  - name: default\n    pluginConfig: [{name: PodLifeTime, args: {maxPodLifeTimeSeconds: 600}}]\n"+
			"    plugins: {deschedule: {enabled: [PodLifeTime]}}\n", "  - name: default\n", 1): "nothing is ever evicted",
	} {
		if _, err := readPolicy(text); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
}

// The flags, the policy and the rights are those that the release's chart makes of an interval and a policy.
func TestRender(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, fstest.MapFS{
		"Chart.yaml": {Data: []byte("apiVersion: v2\nname: descheduler\nversion: 0.36.0\n")},
		"templates/all.yaml": {Data: []byte(`
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data:
  policy.yaml: |
    apiVersion: {{ .Values.deschedulerPolicyAPIVersion }}
{{ toYaml .Values.deschedulerPolicy | indent 4 }}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
{{- if eq .Values.kind "Deployment" }}
---
apiVersion: apps/v1
kind: Deployment
spec:
  template:
    spec:
      containers:
        - {name: main, args: [--policy-config-file=/policy-dir/policy.yaml, --descheduling-interval={{ .Values.deschedulingInterval }}, --v=3]}
{{- end }}
`)},
	}); err != nil {
		t.Fatal(err)
	}
	p, err := readPolicy(lifetime)
	if err != nil {
		t.Fatal(err)
	}
	got, err := render(dir, 90*time.Second, p)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"--descheduling-interval=1m30s", "--v=3"}; !slices.Equal(got.args, want) {
		t.Errorf("the flags %q, want %q: the file of the policy is the world's", got.args, want)
	}
	if !strings.Contains(got.policy, "apiVersion: descheduler/v1alpha2") || !strings.Contains(got.policy, "maxPodLifeTimeSeconds: 600\n") {
		t.Errorf("the policy: %s", got.policy)
	}
	if len(got.rights) != 1 || got.rights[0].GetNamespace() != "kube-system" {
		t.Errorf("the rights: %v", got.rights)
	}
}
