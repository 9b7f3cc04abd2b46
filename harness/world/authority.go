package world

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// authority is a CA: that which the cluster trusts its clients' certificates of, or
// etcd's. envtest has one too, but keeps the key to itself, and kube-controller-manager
// needs it.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
}

var _ envtest.Authn = (*authority)(nil)

// newAuthority makes one that keeps its files in dir, readable by us only.
func newAuthority(dir, name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of the CA %q: %w", name, err)
	}
	cert, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: name}, key)
	if err != nil {
		return nil, fmt.Errorf("making the CA %q: %w", name, err)
	}
	a := &authority{dir: dir, cert: cert, key: key}
	if err := os.WriteFile(a.certFile(), pemOf(cert.Raw), 0o600); err != nil {
		return nil, err
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, err
	}
	return a, os.WriteFile(a.keyFile(), keyPEM, 0o600)
}

func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: der})
}

func (a *authority) certFile() string { return filepath.Join(a.dir, "ca.crt") }
func (a *authority) keyFile() string  { return filepath.Join(a.dir, "ca.key") }

// issue signs a client's certificate for a week of virtual time, as envtest does. With
// addresses, it is a server's there too.
func (a *authority) issue(user envtest.User, addresses ...net.IP) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		return nil, nil, err
	}
	usages := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(addresses) > 0 {
		usages = append(usages, x509.ExtKeyUsageServerAuth)
	}
	now := time.Now()
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: user.Name, Organization: user.Groups},
		NotBefore:    now.Add(-time.Minute), NotAfter: now.Add(7 * 24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: usages, IPAddresses: addresses,
	}, a.cert, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = keyutil.MarshalPrivateKeyToPEM(private)
	return pemOf(raw), key, err
}

// issueFiles writes a certificate and its key as NAME.crt and NAME.key.
func (a *authority) issueFiles(name string, user envtest.User, addresses ...net.IP) (cert, key string, err error) {
	certPEM, keyPEM, err := a.issue(user, addresses...)
	if err != nil {
		return "", "", fmt.Errorf("making a certificate for %q: %w", user.Name, err)
	}
	cert, key = filepath.Join(a.dir, name+".crt"), filepath.Join(a.dir, name+".key")
	return cert, key, errors.Join(os.WriteFile(cert, certPEM, 0o600), os.WriteFile(key, keyPEM, 0o600))
}

// Configure makes kube-apiserver trust it.
func (a *authority) Configure(_ string, args *envtest.Arguments) error {
	args.Set("client-ca-file", a.certFile())
	return nil
}

// Start has nothing to start.
func (a *authority) Start() error { return nil }

// Stop has nothing to stop.
func (a *authority) Stop() error { return nil }

// AddUser makes a client of base's that is user.
func (a *authority) AddUser(user envtest.User, base *rest.Config) (*rest.Config, error) {
	cert, key, err := a.issue(user)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(base)
	config.CertData, config.KeyData = cert, key
	return config, nil
}
