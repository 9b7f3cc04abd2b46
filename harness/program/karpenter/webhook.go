package karpenter

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/program/manifest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/tunnel"
)

// webhooks are those by which releases before v1.1 have objects of v1beta1 be read as v1. The CRDs of their chart name them
// by a Service, and the program itself makes their certificate and has the CRDs trust it.
type webhooks struct {
	// objects are what the chart has for them: the Service, and the Secret that the program keeps the certificate in. Empty:
	// the release has none.
	objects []*unstructured.Unstructured
	service *tunnel.Service // where the Service leads; nil before the first release that has some
}

// webhooksOff reports whether the scenario wants none, as with webhook.enabled=false for the chart.
func (k *Karpenter) webhooksOff() bool {
	return slices.ContainsFunc(k.flags, isOff.MatchString) || slices.ContainsFunc(k.set, func(v manifest.Variable) bool {
		return v.Name == "DISABLE_WEBHOOK" && v.Value == "true"
	})
}

// isOff is the flag for it.
var isOff = regexp.MustCompile(`^--?disable-webhook(=(1|t|T|true|TRUE|True))?$`)

func (k *Karpenter) hasWebhooks() bool { return len(k.hooks.objects) > 0 }

// serveWebhooks has those of the release be those of its chart's objects, and their Service lead to its processes.
func (k *Karpenter) serveWebhooks(chart []*unstructured.Unstructured) (err error) {
	if k.hooks.objects = webhooksOf(chart); !k.hasWebhooks() || k.hooks.service != nil {
		return nil
	}
	if k.hooks.service, err = tunnel.Serve(k.webhookPorts); err != nil {
		return fmt.Errorf("listening for the webhooks of %s: %w", k.target.Ref, err)
	}
	forget := k.world.Reach(k.hooks.service.Port())
	k.world.OnStop(func() error {
		forget()
		return k.hooks.service.Close()
	})
	return nil
}

// webhooksOf are the objects of a chart that its webhooks need, if it has some.
func webhooksOf(chart []*unstructured.Unstructured) (all []*unstructured.Unstructured) {
	if !slices.ContainsFunc(chart, servesWebhooks) {
		return nil
	}
	for _, o := range chart {
		switch o.GetKind() {
		case "Service":
			// kube-apiserver calls this name, at the port that a CRD has. No address of a Service leads anywhere here.
			o.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"}
			all = append(all, o)
		case "Secret":
			all = append(all, o)
		}
	}
	return all
}

// servesWebhooks reports whether an object is a Service with a port for them.
func servesWebhooks(o *unstructured.Unstructured) bool {
	ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports") // of none, none
	return o.GetKind() == "Service" && slices.ContainsFunc(ports, func(p any) bool {
		port, _ := p.(map[string]any)
		return port["name"] == "https-webhook"
	})
}

// crdPaths are the release's. Those of the chart name its webhooks, and those beside the types do not.
func (k *Karpenter) crdPaths() []string {
	paths := slices.Clone(k.edition().crds)
	if k.hasWebhooks() {
		paths[0] = path.Join(k.edition().chart, "crds")
	}
	return paths
}

// redirect has CRDs name the Service as it is here: in the namespace of the release, where the files of a chart's folder crds
// cannot say what that is, and at its port.
func redirect(crds []*apiextensionsv1.CustomResourceDefinition, port int) {
	for _, crd := range crds {
		// mutant: the API server asks the Service where it is upstream
		if of := serviceOf(crd); of != nil {
			of.Service.Namespace, of.Service.Port = Name, new(int32(port))
		}
	}
}

// serviceOf is how the API server reaches what converts the objects of a CRD; nil unless it does so by a Service.
func serviceOf(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.WebhookClientConfig {
	by := crd.Spec.Conversion
	if by == nil || by.Webhook == nil || by.Webhook.ClientConfig == nil || by.Webhook.ClientConfig.Service == nil {
		return nil
	}
	return by.Webhook.ClientConfig
}

// webhookEnv is where a process has its webhooks and what measures them, if the release has some.
func (k *Karpenter) webhookEnv(at *ports) (env []string, err error) {
	if !k.hasWebhooks() {
		return nil, nil
	}
	if at.webhook, err = world.FreePort(); err != nil {
		return nil, err
	}
	measures, err := world.FreePort()
	return []string{fmt.Sprintf("WEBHOOK_PORT=%d", at.webhook), fmt.Sprintf("WEBHOOK_METRICS_PORT=%d", measures)}, err
}

// webhookPorts are those of the processes that there are.
func (k *Karpenter) webhookPorts() (all []int) {
	names := k.world.Replicas(Name)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range names {
		if port := k.ports[name].webhook; port > 0 {
			all = append(all, port)
		}
	}
	return all
}

// awaitWebhooks waits until the program has had its CRDs trust its certificate: before that no object of v1beta1 can be written.
func (k *Karpenter) awaitWebhooks(ctx context.Context) error {
	if !k.hasWebhooks() {
		return nil
	}
	return k.world.Await(ctx, time.Minute, func(ctx context.Context) error {
		var crds apiextensionsv1.CustomResourceDefinitionList
		if err := k.client.List(ctx, &crds); err != nil {
			return err
		}
		for _, crd := range crds.Items {
			if of := serviceOf(&crd); of != nil && len(of.CABundle) == 0 {
				return errors.New("the CRD " + crd.Name + " has no certificate of Karpenter's webhooks yet")
			}
		}
		return nil
	})
}
