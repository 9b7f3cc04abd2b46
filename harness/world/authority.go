package world

import (
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"nodestorm/sim/pki"
)

// authority is a CA: that which the cluster trusts its clients' certificates of, or
// etcd's. envtest has one too, but keeps the key to itself, and kube-controller-manager
// needs it.
type authority struct {
	*pki.Authority
	dir               string
	certFile, keyFile string
}

var _ envtest.Authn = (*authority)(nil)

// newAuthority makes one that keeps its files in dir.
func newAuthority(dir, name string) (*authority, error) {
	ca, err := pki.NewAuthority(name, time.Now())
	if err != nil {
		return nil, err
	}
	a := &authority{Authority: ca, dir: dir}
	a.certFile, a.keyFile, err = ca.Write(dir, "ca")
	return a, err
}

// issueFiles writes a certificate and its key as NAME.crt and NAME.key.
func (a *authority) issueFiles(name string, user envtest.User, hosts ...string) (cert, key string, err error) {
	pair, err := a.Issue(user.Name, user.Groups, hosts...)
	if err != nil {
		return "", "", err
	}
	return pair.Write(a.dir, name)
}

// Configure makes kube-apiserver trust it.
func (a *authority) Configure(_ string, args *envtest.Arguments) error {
	args.Set("client-ca-file", a.certFile)
	return nil
}

// Start has nothing to start.
func (a *authority) Start() error { return nil }

// Stop has nothing to stop.
func (a *authority) Stop() error { return nil }

// AddUser makes a client of base's that is user.
func (a *authority) AddUser(user envtest.User, base *rest.Config) (*rest.Config, error) {
	pair, err := a.Issue(user.Name, user.Groups)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(base)
	config.CertData, config.KeyData = pair.Cert, pair.Key
	return config, nil
}
