package deploy

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/world"
	"nodestorm/sim/pki"
)

// Webhooks are where a release serves its webhooks: on loopback, with a certificate of our own. They stand in for its Service, and for
// what makes and mounts the certificate upstream.
type Webhooks struct {
	Port int
	// Dir has the certificate, tls.crt and tls.key, and that of its authority, ca.crt and ca.key.
	Dir string
	ca  []byte // PEM
}

// NewWebhooks makes the certificate, and lets a cluster's API server reach the port. A world has one folder for each name.
func NewWebhooks(c *world.Cluster, dir, name string) (w Webhooks, err error) {
	if w.Port, err = world.FreePort(); err != nil {
		return w, err
	}
	if w, err = w.certified(filepath.Join(dir, name), name); err != nil {
		return w, fmt.Errorf("making the certificate of %s: %w", name, err)
	}
	_ = c.Reach(w.Port) // for as long as the world is there
	return w, nil
}

func (w Webhooks) certified(dir, name string) (Webhooks, error) {
	ca, err := pki.NewAuthority("nodestorm "+name, time.Now())
	if err != nil {
		return w, err
	}
	w.Dir, w.ca = dir, ca.Cert
	pair, err := ca.Issue(name, nil, "127.0.0.1")
	if err != nil {
		return w, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return w, err
	}
	if _, _, err := ca.Write(dir, "ca"); err != nil {
		return w, err
	}
	_, _, err = pair.Write(dir, "tls")
	return w, err
}

// Redirect has an object's webhooks called here. Objects that have none are left as they are.
func (w Webhooks) Redirect(o *unstructured.Unstructured) error {
	return changeWebhooks(o, func(config map[string]any) {
		path, _, _ := unstructured.NestedString(config, "service", "path")
		delete(config, "service")
		config["url"] = fmt.Sprintf("https://127.0.0.1:%d%s", w.Port, path)
		config["caBundle"] = base64.StdEncoding.EncodeToString(w.ca)
	})
}

// LeadTo has an object's webhooks, and a Service that they name, lead to a port of loopback. What makes their certificate is the
// program's, and the Service has its name.
func LeadTo(o *unstructured.Unstructured, port int) error {
	if o.GetKind() == "Service" {
		// No address of a Service leads anywhere here.
		o.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"}
		return nil
	}
	return changeWebhooks(o, func(config map[string]any) {
		if service, _ := config["service"].(map[string]any); service != nil {
			service["port"] = int64(port)
		}
	})
}

// changeWebhooks changes how the API server calls the webhooks of an object that has some.
func changeWebhooks(o *unstructured.Unstructured, change func(clientConfig map[string]any)) error {
	switch {
	case strings.HasSuffix(o.GetKind(), "WebhookConfiguration"):
		hooks, _, err := unstructured.NestedSlice(o.Object, "webhooks")
		if err != nil {
			return err
		}
		for _, hook := range hooks {
			hook, _ := hook.(map[string]any)
			config, _ := hook["clientConfig"].(map[string]any)
			if config == nil {
				return fmt.Errorf("webhook %v has no clientConfig", hook["name"])
			}
			change(config)
		}
		return unstructured.SetNestedSlice(o.Object, hooks, "webhooks")
	case IsCRD(o):
		at := []string{"spec", "conversion", "webhook", "clientConfig"}
		config, found, err := unstructured.NestedMap(o.Object, at...)
		if err != nil || !found {
			return err
		}
		change(config)
		return unstructured.SetNestedMap(o.Object, config, at...)
	}
	return nil
}
