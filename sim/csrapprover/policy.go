package main

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
)

const (
	userPrefix = "system:node:"
	nodesGroup = "system:nodes"
)

// policy is what a request for a kubelet's serving certificate must comply with,
// besides what kube-controller-manager's signer demands of any.
type policy struct {
	// names is what DNS names must match.
	names *regexp.Regexp
	// prefixes are what IP addresses must be in one of.
	prefixes []netip.Prefix
	// maxNames is how many DNS names a request may have.
	maxNames int
	// maxExpiration is the longest life that a request may ask for.
	maxExpiration time.Duration
	// anyName lets a DNS name be one that does not begin with the Node's.
	anyName bool
	// lookup resolves a DNS name; a request's addresses must be among its own. Nil
	// leaves that out.
	lookup func(ctx context.Context, name string) ([]netip.Addr, error)
}

// errNotOurs is of requests that somebody else decides on.
var errNotOurs = errors.New("not for this approver")

// check is nil for a request to approve, errNotOurs for one to leave alone, and
// otherwise why to deny it.
func (p policy) check(ctx context.Context, spec certificatesv1.CertificateSigningRequestSpec) error {
	if spec.SignerName != certificatesv1.KubeletServingSignerName {
		return errNotOurs
	}
	if !strings.HasPrefix(spec.Username, userPrefix) {
		return fmt.Errorf("the requestor is %q: want %sNAME", spec.Username, userPrefix)
	}
	if !slices.Contains(spec.Groups, nodesGroup) {
		return fmt.Errorf("the requestor is not in the group %s", nodesGroup)
	}
	if asked := spec.ExpirationSeconds; asked != nil && time.Duration(*asked)*time.Second > p.maxExpiration {
		return fmt.Errorf("it asks for %d seconds: want at most %.0f", *asked, p.maxExpiration.Seconds())
	}
	if err := checkUsages(spec.Usages); err != nil {
		return err
	}
	request, err := parse(spec.Request)
	if err != nil {
		return err
	}
	return p.checkRequest(ctx, strings.TrimPrefix(spec.Username, userPrefix), request)
}

// checkUsages holds a request to those of a server. Keys other than RSA leave key
// encipherment out.
func checkUsages(usages []certificatesv1.KeyUsage) error {
	for _, u := range usages {
		switch u {
		case certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageServerAuth:
		default:
			return fmt.Errorf("it asks for the usage %q: want those of a server only", u)
		}
	}
	for _, u := range []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageServerAuth} {
		if !slices.Contains(usages, u) {
			return fmt.Errorf("it does not ask for the usage %q", u)
		}
	}
	return nil
}

// parse reads a PEM block and checks that who asks has the key.
func parse(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("it holds no PEM block CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = request.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("it is no certificate request: %w", err)
	}
	return request, nil
}

// checkRequest looks at what the certificate would say.
func (p policy) checkRequest(ctx context.Context, node string, r *x509.CertificateRequest) error {
	if want := userPrefix + node; r.Subject.CommonName != want {
		return fmt.Errorf("the common name is %q: want %q", r.Subject.CommonName, want)
	}
	if !slices.Equal(r.Subject.Organization, []string{nodesGroup}) {
		return fmt.Errorf("the organization is %q: want %s only", r.Subject.Organization, nodesGroup)
	}
	if len(r.EmailAddresses) > 0 || len(r.URIs) > 0 {
		return errors.New("it names e-mail addresses or URIs: want DNS names and IP addresses only")
	}
	if len(r.DNSNames)+len(r.IPAddresses) == 0 {
		return errors.New("it names neither a DNS name nor an IP address")
	}
	if len(r.DNSNames) > p.maxNames {
		return fmt.Errorf("it has %d DNS names: want at most %d", len(r.DNSNames), p.maxNames)
	}
	for _, name := range r.DNSNames {
		if !p.names.MatchString(name) {
			return fmt.Errorf("the DNS name %q does not match %s", name, p.names)
		}
		if !p.anyName && name != node && !strings.HasPrefix(name, node+".") {
			return fmt.Errorf("the DNS name %q is not that of node %q", name, node)
		}
	}
	addresses := make([]netip.Addr, 0, len(r.IPAddresses))
	for _, ip := range r.IPAddresses {
		a, _ := netip.AddrFromSlice(ip) // x509 lets no other lengths pass
		a = a.Unmap()
		if !slices.ContainsFunc(p.prefixes, func(prefix netip.Prefix) bool { return prefix.Contains(a) }) {
			return fmt.Errorf("the IP address %s is in none of %v", a, p.prefixes)
		}
		addresses = append(addresses, a)
	}
	return p.checkResolution(ctx, r.DNSNames, addresses)
}

// checkResolution makes sure that the names lead to where the addresses are.
func (p policy) checkResolution(ctx context.Context, names []string, addresses []netip.Addr) error {
	if p.lookup == nil || len(names) == 0 {
		return nil
	}
	var resolved []netip.Addr
	for _, name := range names {
		found, err := p.lookup(ctx, name)
		if err != nil {
			return fmt.Errorf("the DNS name %q cannot be resolved: %w", name, err)
		}
		resolved = append(resolved, found...)
	}
	for _, a := range addresses {
		if !slices.ContainsFunc(resolved, func(r netip.Addr) bool { return r.Unmap() == a }) {
			return fmt.Errorf("the IP address %s is not what %s resolves to", a, strings.Join(names, ", "))
		}
	}
	return nil
}
