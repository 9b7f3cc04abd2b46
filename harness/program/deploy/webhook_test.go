package deploy

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/program/manifest"
)

func TestWebhooks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hooks")
	w, err := Webhooks{Port: 4711}.certified(dir, "hooks")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(w.ca)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: "127.0.0.1", Roots: trusted}); err != nil {
		t.Errorf("the certificate: %v", err)
	}
	if _, err := tls.LoadX509KeyPair(filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key")); err != nil {
		t.Errorf("its authority: %v", err)
	}
	objects := decode(t, `
kind: MutatingWebhookConfiguration
apiVersion: admissionregistration.k8s.io/v1
metadata: {name: hooks}
webhooks: [{name: a, clientConfig: {service: {name: hooks, namespace: default, path: /mutate}}}]
---
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: things.example.com}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hooks, namespace: default, path: /convert}}}}}
---
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: others.example.com}
spec: {conversion: {strategy: None}}
---
kind: ValidatingWebhookConfiguration
apiVersion: admissionregistration.k8s.io/v1
metadata: {name: broken}
webhooks: [{name: b}]
`)
	for i, want := range []string{"https://127.0.0.1:4711/mutate", "https://127.0.0.1:4711/convert", ""} {
		if err := w.Redirect(objects[i]); err != nil {
			t.Error(err)
		}
		text, err := objects[i].MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		hasCA := strings.Contains(string(text), base64.StdEncoding.EncodeToString(w.ca))
		if !strings.Contains(string(text), want) || hasCA != (want != "") || strings.Contains(string(text), "service") {
			t.Errorf("%s: %s, want a webhook at %q and its CA", objects[i].GetName(), text, want)
		}
	}
	if err := w.Redirect(objects[3]); err == nil || !strings.Contains(err.Error(), "webhook b has no clientConfig") {
		t.Errorf("a webhook that says nothing of where it is: %v", err)
	}
	if crds, err := CRDs(objects); err != nil || len(crds) != 2 || crds[0].Name != "things.example.com" {
		t.Errorf("CRDs %v, %v", crds, err)
	}
}

func TestLeadTo(t *testing.T) {
	objects := decode(t, `
kind: Service
apiVersion: v1
metadata: {name: hooks}
spec: {type: ClusterIP, ports: [{port: 443}]}
---
kind: ValidatingWebhookConfiguration
apiVersion: admissionregistration.k8s.io/v1
metadata: {name: hooks}
webhooks: [{name: a, clientConfig: {service: {name: hooks, namespace: default, path: /validate}}}]
---
kind: CustomResourceDefinition
apiVersion: apiextensions.k8s.io/v1
metadata: {name: things.example.com}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hooks, namespace: default, path: /convert}}}}}
`)
	for i, want := range []string{
		`"spec":{"externalName":"127.0.0.1","type":"ExternalName"}`, `{"name":"hooks","namespace":"default","path":"/validate","port":4711}`,
		`{"name":"hooks","namespace":"default","path":"/convert","port":4711}`,
	} {
		if err := LeadTo(objects[i], 4711); err != nil {
			t.Error(err)
		}
		text, err := objects[i].MarshalJSON()
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s, %v: want %s in it", text, err, want)
		}
	}
}

func decode(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifest.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}
