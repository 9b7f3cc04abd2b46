package kubelet_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/world"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/time/clock"
)

// requests are those that a machine's kubelet made to a signer, the oldest first; its
// first for a client certificate is its bootstrap token's.
func (r rig) requests(ctx context.Context, machine, signer string) (found []certificatesv1.CertificateSigningRequest, err error) {
	list, err := r.Client().CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, csr := range list.Items {
		if csr.Spec.SignerName == signer && csr.Spec.Username == "system:node:"+machine {
			found = append(found, csr)
		}
	}
	return found, nil
}

// Until the kubelet's serving certificate is approved, kube-apiserver gets no
// logs from it; the Node is Ready all the while, and the kubelet asks again every
// quarter of an hour (client-go, util/certificate, certificateWaitTimeout).
func TestServingCertificate(t *testing.T) {
	r := newRig(t, clock.Auto)
	r.boot(t, kubelet.Machine{Name: "a", ServerTLSBootstrap: true})
	ready := condition(r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)).LastTransitionTime
	r.pod(t, "p", "a", nil)
	r.podIs(t, "p", "Running", time.Minute, running)
	kubeconfig, err := r.Kubeconfig("user", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	logs := func(ctx context.Context) error {
		out, err := exec.CommandContext(ctx, filepath.Join(r.programs, "kubectl"), "--kubeconfig="+kubeconfig, "logs", "p").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	}
	if err := logs(t.Context()); err == nil || !strings.Contains(err.Error(), "remote error: tls: internal error") {
		t.Errorf("logs without a certificate: %v", err)
	}
	var pending []certificatesv1.CertificateSigningRequest
	r.within(t, 20*time.Minute, "a second request", func(ctx context.Context) (err error) {
		if pending, err = r.requests(ctx, "a", certificatesv1.KubeletServingSignerName); err == nil && len(pending) < 2 {
			err = fmt.Errorf("%d requests", len(pending))
		}
		return err
	})
	apart := pending[1].CreationTimestamp.Sub(pending[0].CreationTimestamp.Time).Abs()
	if apart < 15*time.Minute || apart > 16*time.Minute {
		t.Errorf("requests are %s apart, want 15m", apart)
	}
	for _, csr := range pending {
		if len(csr.Status.Conditions) > 0 || len(csr.Status.Certificate) > 0 {
			t.Errorf("request %s is not pending: %+v", csr.Name, csr.Status)
		}
	}
	if c := condition(r.is(t, "a", corev1.ConditionTrue, time.Second)); !c.LastTransitionTime.Equal(&ready) {
		t.Errorf("Ready since %s, and first since %s", c.LastTransitionTime, ready)
	}
	if err := logs(t.Context()); err == nil {
		t.Error("logs without a certificate, after a quarter of an hour")
	}
	for _, csr := range pending {
		csr.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test",
		}}
		if _, err := r.Client().CertificatesV1().CertificateSigningRequests().UpdateApproval(t.Context(), csr.Name, &csr, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	r.within(t, time.Minute, "logs", logs)
}

// A kubelet's certificates are renewed before they expire: the client's as
// kube-controller-manager approves it, the server's as the approver in a pod does.
func TestCertificatesRotate(t *testing.T) {
	const life = 20 * time.Minute
	r := newRigWith(t, world.Config{Clock: clock.Auto, ClusterOptions: world.ClusterOptions{ControllerManager: []string{"--cluster-signing-duration=" + life.String()}}})
	approver := buildstest.Get(t, builds.CSRApprover)
	r.Map("registry.example/approver", kubelet.Program{
		Path: approver.Binary(), Args: []string{"--kubeconfig=$(KUBECONFIG)", "--health-probe-bind-address=0", "--bypass-dns-resolution"},
	})
	_, err := r.Client().RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "approver"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "default"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.boot(t, kubelet.Machine{Name: "a", ServerTLSBootstrap: true})
	node := r.is(t, "a", corev1.ConditionTrue, 2*time.Minute)
	r.pod(t, "approver", "a", nil)
	signers := map[string]struct {
		name string
		now  func() (*x509.Certificate, error)
	}{
		"serving": {certificatesv1.KubeletServingSignerName, func() (*x509.Certificate, error) {
			return servedAt(fmt.Sprintf("127.0.0.1:%d", node.Status.DaemonEndpoints.KubeletEndpoint.Port))
		}},
		"client": {certificatesv1.KubeAPIServerClientKubeletSignerName, func() (*x509.Certificate, error) {
			return certificateIn(filepath.Join(r.Machines.Dir("a"), "var/lib/kubelet/pki/kubelet-client-current.pem"))
		}},
	}
	first := map[string]*x509.Certificate{}
	for what, signer := range signers {
		r.within(t, 2*time.Minute, what+" certificate", func(context.Context) (err error) {
			first[what], err = signer.now()
			return err
		})
		if left := first[what].NotAfter.Sub(r.Clock().Now()); left > life {
			t.Errorf("%s certificate: %s left, want at most %s", what, left, life)
		}
	}
	for what, signer := range signers {
		before := first[what]
		r.within(t, life, what+" certificate renewed", func(context.Context) error {
			after, err := signer.now()
			if err == nil && after.SerialNumber.Cmp(before.SerialNumber) == 0 {
				err = errors.New("it is the first")
			}
			return err
		})
		if left := before.NotAfter.Sub(r.Clock().Now()); what == "serving" && left <= 0 {
			t.Errorf("renewed %s after it has expired", -left)
		}
	}
	// Each rests upon a request made in time, by the Node itself.
	for what, signer := range signers {
		list, err := r.requests(t.Context(), "a", signer.name)
		if err != nil {
			t.Fatal(err)
		}
		renewals := 0
		for _, csr := range list {
			if len(csr.Status.Certificate) == 0 {
				t.Errorf("%s: request %s has no certificate: %+v", what, csr.Name, csr.Status.Conditions)
			}
			lived := csr.CreationTimestamp.Sub(first[what].NotBefore)
			if all := first[what].NotAfter.Sub(first[what].NotBefore); lived > all*6/10 && lived < all {
				renewals++
			}
		}
		if renewals != 1 {
			t.Errorf("%s: %d requests in the last part of the first certificate's life, want 1, of %d", what, renewals, len(list))
		}
	}
	// Both have expired by then, and everything works.
	for _, before := range first {
		if wait := before.NotAfter.Add(time.Minute).Sub(r.Clock().Now()); wait > 0 {
			<-r.Clock().After(wait)
		}
	}
	r.pod(t, "late", "a", nil)
	r.podIs(t, "late", "Running", time.Minute, running)
	if _, err := r.Client().CoreV1().Pods("default").GetLogs("late", &corev1.PodLogOptions{}).DoRaw(t.Context()); err != nil {
		t.Error(err)
	}
	r.is(t, "a", corev1.ConditionTrue, time.Second)
}

// servedAt is the certificate of what serves there.
func servedAt(address string) (*x509.Certificate, error) {
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) // it is looked at, not trusted
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0], nil
}

// certificateIn is the first one of a file.
func certificateIn(file string) (*x509.Certificate, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
	return nil, fmt.Errorf("%s holds no certificate", file)
}
