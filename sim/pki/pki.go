// Package pki makes the certificates of a world: authorities, and what they issue.
//
// Keys and serial numbers are the operating system's randomness, never the seed's: a
// seed is in every report, and who has read one must not get into a world.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Every certificate's validity around the time at which its authority was made: virtual
// time may run for days, and that of one program behind another's.
const (
	validBefore = 24 * time.Hour
	validAfter  = 10 * 365 * 24 * time.Hour
)

// Pair is a certificate and its private key, both PEM.
type Pair struct{ Cert, Key []byte }

// TLS is the pair as crypto/tls has it.
func (p Pair) TLS() (tls.Certificate, error) { return tls.X509KeyPair(p.Cert, p.Key) }

// Write puts it into dir as NAME.crt and NAME.key, readable by us only.
func (p Pair) Write(dir, name string) (cert, key string, err error) {
	cert, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	return cert, key, errors.Join(os.WriteFile(cert, p.Cert, 0o600), os.WriteFile(key, p.Key, 0o600))
}

// Authority is a certificate authority (CA).
type Authority struct {
	Pair
	now  time.Time
	cert *x509.Certificate
	key  crypto.Signer
}

// NewAuthority makes one whose certificates are valid at the time now and for years after it.
func NewAuthority(name string, now time.Time) (*Authority, error) {
	a := &Authority{now: now}
	pair, err := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageCertSign,
		IsCA: true, BasicConstraintsValid: true,
	})
	a.Pair = pair
	return a, err
}

// ReadAuthority reads an authority that another program, such as kubeadm, has created.
func ReadAuthority(pair Pair, now time.Time) (*Authority, error) {
	both, err := pair.TLS()
	if err != nil {
		return nil, fmt.Errorf("reading an authority: %w", err)
	}
	signer, ok := both.PrivateKey.(crypto.Signer)
	if !ok || !both.Leaf.IsCA {
		return nil, errors.New("reading an authority: it cannot sign")
	}
	return &Authority{Pair: pair, now: now, cert: both.Leaf, key: signer}, nil
}

// Issue makes a certificate for a client, which Kubernetes takes for the user of that
// name in those groups, and for the server at hosts (names or addresses), if there are any.
func (a *Authority) Issue(name string, groups []string, hosts ...string) (Pair, error) {
	template := &x509.Certificate{
		Subject:  pkix.Name{CommonName: name, Organization: groups},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	if len(hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	return a.sign(template)
}

// sign makes a key and the certificate of it. The first is the authority's own.
func (a *Authority) sign(template *x509.Certificate) (p Pair, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("making a certificate for %q: %w", template.Subject.CommonName, err)
		}
	}()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return p, err
	}
	if a.cert == nil {
		a.cert, a.key = template, key
	}
	template.NotBefore, template.NotAfter = a.now.Add(-validBefore), a.now.Add(validAfter)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return p, err
	}
	if a.cert == template { // with what creating it has added
		if a.cert, err = x509.ParseCertificate(der); err != nil {
			return p, err
		}
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return p, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}
