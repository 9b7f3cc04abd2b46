package clusterapi

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// cluster says that the cluster's infrastructure is there: it needs none.
func (p *Provider) cluster(ctx context.Context, u *unstructured.Unstructured) error {
	host, port, err := p.apiServer()
	if err != nil {
		return err
	}
	endpoint := map[string]any{"spec": map[string]any{"controlPlaneEndpoint": map[string]any{"host": host, "port": port}}}
	if err := p.patch(ctx, clusters, u, "", endpoint); err != nil {
		return err
	}
	return p.patch(ctx, clusters, u, "status", map[string]any{"ready": true, "initialization": map[string]any{"provisioned": true}})
}

func (p *Provider) apiServer() (host string, port int64, err error) {
	at, err := url.Parse(p.cfg.Workload)
	if err != nil {
		return "", 0, err
	}
	host, text, err := net.SplitHostPort(at.Host)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.ParseInt(text, 10, 32)
	return host, port, err
}

// controlPlane hands out the way to the workload cluster, and says that others look
// after its control plane.
func (p *Provider) controlPlane(ctx context.Context, u *unstructured.Unstructured) error {
	name := u.GetLabels()[clusterLabel]
	if name == "" {
		return nil // Cluster API has not adopted it yet
	}
	err := p.createSecret(ctx, u, name+"-kubeconfig", name, p.cfg.Kubeconfig)
	if err != nil {
		return err
	}
	return p.patch(ctx, controlPlanes, u, "status", map[string]any{
		"ready": true, "initialized": true, "externalManagedControlPlane": true,
		"initialization": map[string]any{"controlPlaneInitialized": true},
		"version":        text(u, "spec", "version"),
	})
}

// clusterLabel says which cluster an object belongs to.
const clusterLabel = core + "/cluster-name"

// createSecret makes a secret of Cluster API's type, owned by u. One that is there
// is left as it is.
func (p *Provider) createSecret(ctx context.Context, u *unstructured.Unstructured, name, cluster string, value []byte) error {
	secret := &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: u.GetNamespace(), Labels: map[string]string{clusterLabel: cluster},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Name: u.GetName(), UID: u.GetUID()}},
		},
		Type: core + "/secret",
		Data: map[string][]byte{"value": value},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(secret)
	if err != nil {
		return err
	}
	_, err = p.client.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(u.GetNamespace()).
		Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// userData joins by kubeadm, with the provider ID from the cloud's metadata, as
// there is no cloud controller manager in this cloud.
const userData = `#!/bin/bash
ID=$(curl -s http://169.254.169.254/hetzner/v1/metadata/instance-id)
cat <<EOF > /etc/default/kubelet
KUBELET_EXTRA_ARGS="--provider-id=%s${ID}%s"
EOF
kubeadm join %s --token nodest.0123456789abcdef --discovery-token-unsafe-skip-ca-verification
`

// config hands out user data.
func (p *Provider) config(ctx context.Context, u *unstructured.Unstructured) error {
	m := p.owner(u)
	if m == nil || text(u, "status", "dataSecretName") != "" {
		return nil // Cluster API has not adopted it yet, or it is done
	}
	host, port, err := p.apiServer()
	if err != nil {
		return err
	}
	var args string
	if labels := text(u, "spec", "nodeLabels"); labels != "" {
		args += " --node-labels=" + labels
	}
	if taints := text(u, "spec", "taints"); taints != "" {
		args += " --register-with-taints=" + taints
	}
	data := fmt.Sprintf(userData, ProviderIDPrefix, args, net.JoinHostPort(host, strconv.FormatInt(port, 10)))
	if by, struck := strikingEffect[atBootstrap](p, m); struck {
		data = by.userData(data)
	}
	if err := p.createSecret(ctx, u, u.GetName(), u.GetLabels()[clusterLabel], []byte(data)); err != nil {
		return err
	}
	return p.patch(ctx, configs, u, "status", map[string]any{
		"ready": true, "dataSecretName": u.GetName(), "initialization": map[string]any{"dataSecretCreated": true},
	})
}

// template says what a machine of the template has, which is how autoscalers know
// it before there is one.
func (p *Provider) template(ctx context.Context, u *unstructured.Unstructured) error {
	name := text(u, "spec", "template", "spec", "instanceType")
	t := p.cfg.Cloud.Catalogue().ServerType(name)
	if t == nil {
		return fmt.Errorf("the cloud has no instance type %q", name)
	}
	return p.patch(ctx, templates, u, "status", map[string]any{"capacity": map[string]any{
		"cpu": strconv.Itoa(t.Cores), "memory": strconv.FormatFloat(float64(t.MemoryGB), 'f', -1, 32) + "Gi", "pods": "110",
	}})
}
