package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
)

// strict is a policy all of whose checks can fail.
func strict() policy {
	return policy{
		names: regexp.MustCompile(`^worker-\d+(\.int\.example\.org)?$`), prefixes: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		maxNames: 1, maxExpiration: 24 * time.Hour,
	}
}

// good is what a kubelet asks for.
func good() (certificatesv1.CertificateSigningRequestSpec, x509.CertificateRequest) {
	return certificatesv1.CertificateSigningRequestSpec{
			SignerName: certificatesv1.KubeletServingSignerName, Username: "system:node:worker-1",
			Groups: []string{"system:nodes", "system:authenticated"},
			Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageServerAuth},
		}, x509.CertificateRequest{
			Subject:  pkix.Name{CommonName: "system:node:worker-1", Organization: []string{"system:nodes"}},
			DNSNames: []string{"worker-1"}, IPAddresses: []net.IP{net.IPv4(10, 0, 0, 7)},
		}
}

func encode(t *testing.T, r x509.CertificateRequest) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &r, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// Each check is seen failing, on a request that is good but for one thing.
func TestCheck(t *testing.T) {
	type spec = certificatesv1.CertificateSigningRequestSpec
	day, more := int32(24*3600), int32(24*3600+1)
	resolves := func(to string) func(*policy) {
		return func(p *policy) {
			p.lookup = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr(to)}, nil }
		}
	}
	tests := []struct {
		name    string
		policy  func(*policy)
		spec    func(*spec)
		request func(*x509.CertificateRequest)
		want    string // empty: approved
	}{
		{name: "a kubelet's"},
		{name: "with key encipherment, of RSA keys", spec: func(s *spec) { s.Usages = append(s.Usages, certificatesv1.UsageKeyEncipherment) }},
		{name: "with the longest life", spec: func(s *spec) { s.ExpirationSeconds = &day }},
		{name: "addresses only", request: func(r *x509.CertificateRequest) { r.DNSNames = nil }},
		{name: "a name only", request: func(r *x509.CertificateRequest) { r.IPAddresses = nil }},
		{name: "the Node's name in a domain", request: func(r *x509.CertificateRequest) { r.DNSNames = []string{"worker-1.int.example.org"} }},
		{name: "that resolves", policy: resolves("10.0.0.7")},

		{name: "of another signer", spec: func(s *spec) { s.SignerName = certificatesv1.KubeAPIServerClientKubeletSignerName }, want: errNotOurs.Error()},
		{name: "of no node", spec: func(s *spec) { s.Username = "system:serviceaccount:default:default" }, want: "want system:node:NAME"},
		{name: "of a user outside the group", spec: func(s *spec) { s.Groups = []string{"system:authenticated"} }, want: "not in the group system:nodes"},
		{name: "that lives too long", spec: func(s *spec) { s.ExpirationSeconds = &more }, want: "want at most 86400"},
		{name: "for a client too", spec: func(s *spec) { s.Usages = append(s.Usages, certificatesv1.UsageClientAuth) }, want: `usage "client auth"`},
		{name: "for no server", spec: func(s *spec) { s.Usages = s.Usages[:1] }, want: `does not ask for the usage "server auth"`},
		{name: "without signatures", spec: func(s *spec) { s.Usages = s.Usages[1:] }, want: `does not ask for the usage "digital signature"`},
		{name: "that is no PEM", spec: func(s *spec) { s.Request = []byte("hello") }, want: "no PEM block"},
		{name: "that is no request", spec: func(s *spec) {
			s.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: []byte{1}})
		}, want: "no certificate request"},
		{name: "with another key's signature", spec: func(s *spec) {
			block, _ := pem.Decode(s.Request)
			block.Bytes[len(block.Bytes)-1] ^= 1
			s.Request = pem.EncodeToMemory(block)
		}, want: "no certificate request"},
		{name: "for another node", request: func(r *x509.CertificateRequest) { r.Subject.CommonName = "system:node:worker-2" }, want: "common name"},
		{name: "in another organization", request: func(r *x509.CertificateRequest) { r.Subject.Organization = []string{"system:masters"} }, want: "organization"},
		{name: "in a second organization", request: func(r *x509.CertificateRequest) {
			r.Subject.Organization = append(r.Subject.Organization, "system:masters")
		}, want: "organization"},
		{name: "with an e-mail address", request: func(r *x509.CertificateRequest) { r.EmailAddresses = []string{"a@example.org"} }, want: "e-mail"},
		{name: "with a URI", request: func(r *x509.CertificateRequest) { r.URIs = []*url.URL{{Scheme: "https", Host: "example.org"}} }, want: "URIs"},
		{name: "of nobody", request: func(r *x509.CertificateRequest) { r.DNSNames, r.IPAddresses = nil, nil }, want: "neither a DNS name nor an IP address"},
		{name: "with two names", request: func(r *x509.CertificateRequest) { r.DNSNames = []string{"worker-1", "worker-1.int.example.org"} }, want: "at most 1"},
		{name: "with a name that is not allowed", request: func(r *x509.CertificateRequest) { r.DNSNames = []string{"worker-1.example.com"} }, want: "does not match"},
		{name: "with another node's name", request: func(r *x509.CertificateRequest) { r.DNSNames = []string{"worker-11"} }, want: `not that of node "worker-1"`},
		{name: "with another node's name, where that is allowed", policy: func(p *policy) { p.anyName = true }, request: func(r *x509.CertificateRequest) { r.DNSNames = []string{"worker-11"} }},
		{name: "with an address that is not allowed", request: func(r *x509.CertificateRequest) {
			r.IPAddresses = append(r.IPAddresses, net.IPv4(192, 0, 2, 1))
		}, want: "192.0.2.1 is in none of"},
		{name: "with an address of the other family", request: func(r *x509.CertificateRequest) { r.IPAddresses = []net.IP{net.ParseIP("fd00::1")} }, want: "fd00::1 is in none of"},
		{name: "that resolves to something else", policy: resolves("10.0.0.8"), want: "10.0.0.7 is not what worker-1 resolves to"},
		{name: "that does not resolve", policy: func(p *policy) {
			p.lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no such host") }
		}, want: "cannot be resolved"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := strict()
			s, r := good()
			if test.policy != nil {
				test.policy(&p)
			}
			if test.request != nil {
				test.request(&r)
			}
			s.Request = encode(t, r)
			if test.spec != nil {
				test.spec(&s)
			}
			err := p.check(t.Context(), s)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestRead(t *testing.T) {
	env := map[string]string{"PROVIDER_REGEX": "^a$", "MAX_EXPIRATION_SEC": "60", "BYPASS_DNS_RESOLUTION": "true"}
	s, err := read([]string{"--provider-regex=^b$", "--provider-ip-prefixes=10.0.0.0/8, fd00::/8"}, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if p := s.policy; p.names.String() != "^b$" || p.maxExpiration != time.Minute || p.lookup != nil || len(p.prefixes) != 2 || p.maxNames != 1 || p.anyName {
		t.Errorf("policy %+v", p)
	}
	for _, bad := range [][]string{
		{"--provider-regex=("}, {"--provider-ip-prefixes=10.0.0.0"}, {"--max-expiration-sec=0"}, {"--allowed-dns-names=-1"}, {"--unknown"}, {"word"},
	} {
		if _, err := read(bad, func(string) string { return "" }); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	if _, err := read(nil, func(name string) string {
		return map[string]string{"ALLOWED_DNS_NAMES": "many"}[name]
	}); err == nil || !strings.Contains(err.Error(), `ALLOWED_DNS_NAMES="many"`) {
		t.Errorf("a bad environment: %v", err)
	}
}
