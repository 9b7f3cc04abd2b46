package clusterapi

import (
	"encoding/base64"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/world"
	"nodestorm/sim/pki"
)

// endpoint is where the release's webhooks listen: on loopback, with a certificate
// of our own. It stands in for the Service and for cert-manager.
type endpoint struct {
	port int
	dir  string // with tls.crt and tls.key
	ca   []byte // PEM
}

func newEndpoint(dir string) (e endpoint, err error) {
	if e.port, err = world.FreePort(); err != nil {
		return e, err
	}
	ca, err := pki.NewAuthority("nodestorm webhooks", time.Now())
	if err != nil {
		return e, err
	}
	e.dir, e.ca = dir, ca.Cert
	pair, err := ca.Issue("webhooks", nil, "127.0.0.1")
	if err != nil {
		return e, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return e, err
	}
	_, _, err = pair.Write(dir, "tls")
	return e, err
}

// redirect has an object's webhooks called at the endpoint. Objects that have none
// are left as they are.
func (e endpoint) redirect(o *unstructured.Unstructured) error {
	switch o.GetKind() {
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
		if err != nil {
			return err
		}
		for _, hook := range hooks {
			hook, _ := hook.(map[string]any)
			config, found, err := unstructured.NestedMap(hook, "clientConfig")
			if err != nil || !found {
				return fmt.Errorf("webhook %v has no clientConfig: %w", hook["name"], err)
			}
			hook["clientConfig"] = e.clientConfig(config)
		}
		return unstructured.SetNestedSlice(o.Object, hooks, "webhooks")
	case "CustomResourceDefinition":
		at := []string{"spec", "conversion", "webhook", "clientConfig"}
		config, found, err := unstructured.NestedMap(o.Object, at...)
		if err != nil || !found {
			return err
		}
		return unstructured.SetNestedMap(o.Object, e.clientConfig(config), at...)
	}
	return nil
}

// clientConfig names the endpoint in place of a Service, at the same path.
func (e endpoint) clientConfig(config map[string]any) map[string]any {
	path, _, _ := unstructured.NestedString(config, "service", "path")
	return map[string]any{
		"url":      fmt.Sprintf("https://127.0.0.1:%d%s", e.port, path),
		"caBundle": base64.StdEncoding.EncodeToString(e.ca),
	}
}
