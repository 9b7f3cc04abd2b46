package acts

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world"
	"nodestorm/sim/machine/usage"
	"nodestorm/sim/pki"
)

// usageSentences are about what pods use, which the Metrics API of the world has from then on.
var usageSentences = []scene.Sentence{
	{Role: scene.Either, Words: `each pod of "KIND/NAME" uses CPU and MEMORY of memory`, Check: checkObject(nil),
		Act: use(func(words.Args) usage.Load { return usage.Load{} })},
	{Role: scene.Either, Words: `each pod of "KIND/NAME" uses CPU and MEMORY of memory for DURATION after its start`, Check: checkObject(nil),
		Act: use(func(a words.Args) usage.Load { return usage.Load{For: a.Duration(3)} })},
	{Role: scene.Either, Words: `the pods of "KIND/NAME" use CPU and MEMORY of memory together`, Check: checkObject(nil),
		Act: use(func(words.Args) usage.Load { return usage.Load{Shared: true} })},
}

// metricsAPI is the world's, once a scenario has said what pods use.
type metricsAPI struct{ *usage.API }

func use(how func(words.Args) usage.Load) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) error {
		of := how(a)
		cpu, err := resource.ParseQuantity(a.Text(1))
		if err != nil {
			return err
		}
		memory, err := resource.ParseQuantity(a.Text(2))
		if err != nil {
			return err
		}
		c, ref, err := object(s, a.Text(0))
		if err != nil {
			return err
		}
		o, err := c.Get(ctx, ref)
		if err != nil {
			return err
		}
		of.Namespace, of.Use = o.GetNamespace(), corev1.ResourceList{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory}
		if o.GetKind() == "Pod" {
			of.Name = o.GetName()
		} else if of.Selector, err = selectorOf(o); err != nil {
			return err
		}
		api := scene.State[metricsAPI](s)
		if api.API == nil {
			api.API = usage.New(s.World.Client(), s.World.Clock())
			if err := serveMetrics(ctx, s.World, api); err != nil {
				return fmt.Errorf("serving the Metrics API: %w", err)
			}
		}
		api.Set(of)
		return nil
	}
}

// selectorOf is which pods are an object's.
func selectorOf(o *unstructured.Unstructured) (labels.Selector, error) {
	spec, _, _ := unstructured.NestedMap(o.Object, "spec", "selector")
	var selector metav1.LabelSelector
	// That of a Service is labels alone, and would be read as one of all pods.
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(spec, &selector, true)
	if len(spec) == 0 || err != nil {
		return nil, fmt.Errorf("%s/%s selects no pods by their labels: say a Deployment, a StatefulSet, a DaemonSet, a Job or a Pod",
			o.GetKind(), o.GetName())
	}
	return metav1.LabelSelectorAsSelector(&selector)
}

// serveMetrics has kube-apiserver find the API on loopback, by a Service as metrics-server's.
func serveMetrics(ctx context.Context, w *world.World, api http.Handler) error {
	const name = "metrics-server"
	ca, err := pki.NewAuthority(name, time.Now())
	if err != nil {
		return err
	}
	pair, err := ca.Issue(name, nil, name+"."+metav1.NamespaceSystem+".svc")
	if err != nil {
		return err
	}
	cert, err := pair.TLS()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	server := &http.Server{
		Handler: api, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
	}
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(listener, "", "") }()
	forget := w.Reach(port)
	w.OnStop(func() error {
		forget()
		err := server.Close()
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	})
	user, err := client.New(w.Admin(), client.Options{})
	if err != nil {
		return err
	}
	of := v1beta1.SchemeGroupVersion
	for _, o := range []map[string]any{
		// kube-apiserver calls this name. No address of a Service leads anywhere here.
		{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": name, "namespace": metav1.NamespaceSystem},
			"spec": map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"}},
		{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": of.Version + "." + of.Group},
			"spec": map[string]any{
				"group": of.Group, "version": of.Version, "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
				"caBundle": base64.StdEncoding.EncodeToString(ca.Pair.Cert),
				"service":  map[string]any{"name": name, "namespace": metav1.NamespaceSystem, "port": int64(port)},
			}},
	} {
		if err := user.Create(ctx, &unstructured.Unstructured{Object: o}); err != nil {
			return err
		}
	}
	return w.Await(ctx, time.Minute, func(context.Context) error {
		_, err := w.Client().Discovery().ServerResourcesForGroupVersion(of.String())
		return err
	})
}
