package kubelet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"nodestorm/harness/world"
)

// bootstrappers is the group of who has the bootstrap token, as kubeadm names it.
const bootstrappers = "system:bootstrappers:kubeadm:default-node-token"

// bindings are kubeadm's (cmd/kubeadm/app/phases/bootstraptoken/node/tlsbootstrap.go,
// v1.36.3): who may ask for a certificate, and whose requests
// kube-controller-manager's csrapproving controller approves.
var bindings = map[string]struct{ role, group string }{
	"kubeadm:kubelet-bootstrap":                     {"system:node-bootstrapper", bootstrappers},
	"kubeadm:node-autoapprove-bootstrap":            {"system:certificates.k8s.io:certificatesigningrequests:nodeclient", bootstrappers},
	"kubeadm:node-autoapprove-certificate-rotation": {"system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", "system:nodes"},
}

// prepare makes the bindings and a token, and returns the token.
func prepare(ctx context.Context, w *world.World) (token string, err error) {
	for name, b := range bindings {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: b.role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: b.group}},
		}
		if _, err := w.Client().RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil &&
			!apierrors.IsAlreadyExists(err) {
			return "", fmt.Errorf("creating cluster role binding %s: %w", name, err)
		}
	}
	random := make([]byte, 11)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	text := hex.EncodeToString(random)
	id, secret := text[:6], text[6:]
	object := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + id},
		Type:       corev1.SecretTypeBootstrapToken,
		StringData: map[string]string{
			"token-id": id, "token-secret": secret,
			"usage-bootstrap-authentication": "true", "auth-extra-groups": bootstrappers,
		},
	}
	if _, err := w.Client().CoreV1().Secrets(object.Namespace).Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("creating the bootstrap token: %w", err)
	}
	return id + "." + secret, nil
}

// bootstrapKubeconfig is /etc/kubernetes/bootstrap-kubelet.conf.
func (m *Machines) bootstrapKubeconfig() ([]byte, error) {
	const user, cluster, both = "tls-bootstrap-token-user", "kubernetes", "tls-bootstrap-token-user@kubernetes"
	admin := m.world.Admin()
	config := clientcmdapi.NewConfig()
	config.Clusters[cluster] = &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: m.token}
	config.Contexts[both] = &clientcmdapi.Context{Cluster: cluster, AuthInfo: user}
	config.CurrentContext = both
	return clientcmd.Write(*config)
}
