package world

import (
	"time"

	"nodestorm/sim/pki"
)

// authority is the CA that the cluster trusts its clients' certificates of.
type authority struct {
	*pki.Authority
	dir               string
	certFile, keyFile string
}

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

// issueFiles writes a user's certificate and its key as NAME.crt and NAME.key.
func (a *authority) issueFiles(name, user string, groups []string, hosts ...string) (cert, key string, err error) {
	pair, err := a.Issue(user, groups, hosts...)
	if err != nil {
		return "", "", err
	}
	return pair.Write(a.dir, name)
}
