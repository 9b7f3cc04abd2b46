package hcloud

import (
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
)

func byName(a, b operation) int { return cmp.Compare(a.name, b.name) }

var placementGroups = func() owned[fakecloud.PlacementGroup] {
	o := newOwned("placement_groups", "placement_group", func(tx *fakecloud.Tx) *fakecloud.Table[fakecloud.PlacementGroup] { return tx.PlacementGroups }, (*call).placementGroup)
	o.filters = map[string]func(*fakecloud.PlacementGroup, string) bool{
		"type": func(g *fakecloud.PlacementGroup, t string) bool { return g.Type == t },
	}
	o.free = func(c *call, g *fakecloud.PlacementGroup) error {
		for _, id := range c.tx.Members(g.ID) {
			c.tx.Instances.Update(id, func(i *fakecloud.Instance) { i.PlacementGroup = 0 })
		}
		return nil
	}
	return o
}()

var sshKeys = func() owned[fakecloud.SSHKey] {
	o := newOwned("ssh_keys", "ssh_key", func(tx *fakecloud.Tx) *fakecloud.Table[fakecloud.SSHKey] { return tx.SSHKeys }, (*call).sshKey)
	o.filters = map[string]func(*fakecloud.SSHKey, string) bool{
		"fingerprint": func(k *fakecloud.SSHKey, fingerprint string) bool { return k.Fingerprint == fingerprint },
	}
	return o
}()

var certificates = func() owned[fakecloud.Certificate] {
	o := newOwned("certificates", "certificate", func(tx *fakecloud.Tx) *fakecloud.Table[fakecloud.Certificate] { return tx.Certificates }, (*call).certificate)
	o.filters = map[string]func(*fakecloud.Certificate, string) bool{
		"type": func(t *fakecloud.Certificate, kind string) bool { return t.Type == kind },
	}
	o.free = func(c *call, t *fakecloud.Certificate) error {
		if len(c.usedBy(t.ID)) > 0 {
			return fakecloud.Errorf("resource_in_use", "certificate is in use")
		}
		return nil
	}
	return o
}()

// projectOperations are those on what a project has besides machines, disks and addresses.
func projectOperations() []operation {
	all := []operation{
		{"GET /placement_groups", placementGroups.list, true},
		{"POST /placement_groups", createPlacementGroup, false},
		{"GET /placement_groups/{id}", placementGroups.get, false},
		{"PUT /placement_groups/{id}", placementGroups.put, false},
		{"DELETE /placement_groups/{id}", placementGroups.delete, false},
		{"GET /ssh_keys", sshKeys.list, true},
		{"POST /ssh_keys", createSSHKey, false},
		{"GET /ssh_keys/{id}", sshKeys.get, false},
		{"PUT /ssh_keys/{id}", sshKeys.put, false},
		{"DELETE /ssh_keys/{id}", sshKeys.delete, false},
		{"GET /certificates", certificates.list, true},
		{"POST /certificates", createCertificate, false},
		{"GET /certificates/{id}", certificates.get, false},
		{"PUT /certificates/{id}", certificates.put, false},
		{"DELETE /certificates/{id}", certificates.delete, false},
		{"POST /certificates/{id}/actions/retry", retryCertificate, false},
	}
	return append(all, resourceActions("certificates", "certificate")...)
}

func createPlacementGroup(c *call) (int, any, error) {
	var r schema.PlacementGroupCreateRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	if r.Type != "spread" {
		return 0, nil, fakecloud.Invalid("type", "must be spread")
	}
	meta, err := placementGroups.newMeta(c, r.Name, r.Labels)
	if err != nil {
		return 0, nil, err
	}
	g := fakecloud.PlacementGroup{Meta: meta, Type: r.Type}
	c.tx.PlacementGroups.Put(g)
	return http.StatusCreated, schema.PlacementGroupCreateResponse{PlacementGroup: c.placementGroup(&g).(schema.PlacementGroup)}, nil
}

func (c *call) placementGroup(g *fakecloud.PlacementGroup) any {
	return schema.PlacementGroup{ID: g.ID, Name: g.Name, Labels: labels(g.Labels), Created: g.Created, Type: g.Type, Servers: nonNil(c.tx.Members(g.ID))}
}

func createSSHKey(c *call) (int, any, error) {
	var r schema.SSHKeyCreateRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	fingerprint, err := sshFingerprint(r.PublicKey)
	if err != nil {
		return 0, nil, err
	}
	if slices.ContainsFunc(c.tx.SSHKeys.All(), func(k *fakecloud.SSHKey) bool { return k.Fingerprint == fingerprint }) {
		return 0, nil, fakecloud.Errorf("uniqueness_error", "SSH key with the same fingerprint already exists")
	}
	meta, err := sshKeys.newMeta(c, r.Name, r.Labels)
	if err != nil {
		return 0, nil, err
	}
	k := fakecloud.SSHKey{Meta: meta, PublicKey: r.PublicKey, Fingerprint: fingerprint}
	c.tx.SSHKeys.Put(k)
	return http.StatusCreated, schema.SSHKeyCreateResponse{SSHKey: c.sshKey(&k).(schema.SSHKey)}, nil
}

// sshFingerprint is the MD5 fingerprint of a public key in the form of authorized_keys.
func sshFingerprint(key string) (string, error) {
	fields := strings.Fields(key)
	if len(fields) < 2 {
		return "", fakecloud.Invalid("public_key", "must be an SSH public key")
	}
	blob, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil || len(blob) == 0 {
		return "", fakecloud.Invalid("public_key", "must be an SSH public key")
	}
	sum := md5.Sum(blob)
	return colons(sum[:]), nil
}

// colons is a fingerprint as OpenSSH and OpenSSL write it.
func colons(sum []byte) string {
	var parts []string
	for _, b := range sum {
		parts = append(parts, fmt.Sprintf("%02x", b))
	}
	return strings.Join(parts, ":")
}

func (c *call) sshKey(k *fakecloud.SSHKey) any {
	return schema.SSHKey{ID: k.ID, Name: k.Name, Fingerprint: k.Fingerprint, PublicKey: k.PublicKey, Labels: labels(k.Labels), Created: k.Created}
}

func createCertificate(c *call) (int, any, error) {
	var r schema.CertificateCreateRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	t := fakecloud.Certificate{Type: r.Type}
	switch r.Type {
	case "", "uploaded":
		t.Type = "uploaded"
		if err := upload(&t, r); err != nil {
			return 0, nil, err
		}
	case "managed":
		if len(r.DomainNames) == 0 {
			return 0, nil, fakecloud.Invalid("domain_names", "must not be empty")
		}
		// Three months, as its authority gives them.
		t.DomainNames, t.NotBefore, t.NotAfter = r.DomainNames, c.tx.Now(), c.tx.Now().AddDate(0, 3, 0)
	default:
		return 0, nil, fakecloud.Invalid("type", "must be uploaded or managed")
	}
	var err error
	if t.Meta, err = certificates.newMeta(c, r.Name, r.Labels); err != nil {
		return 0, nil, err
	}
	c.tx.Certificates.Put(t)
	body := schema.CertificateCreateResponse{Certificate: c.certificate(&t).(schema.Certificate)}
	if t.Type == "managed" {
		body.Action = new(c.action(c.tx.Start("create_certificate", nil, fakecloud.Ref{Type: "certificate", ID: t.ID})))
	}
	return http.StatusCreated, body, nil
}

// upload takes over a certificate that its key fits.
func upload(t *fakecloud.Certificate, r schema.CertificateCreateRequest) error {
	pair, err := tls.X509KeyPair([]byte(r.Certificate), []byte(r.PrivateKey))
	if err != nil {
		return fakecloud.Invalid("certificate", "must be a PEM certificate that private_key fits")
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return fakecloud.Invalid("certificate", "must be a PEM certificate")
	}
	sum := sha256.Sum256(leaf.Raw)
	t.PEM, t.Fingerprint, t.NotBefore, t.NotAfter, t.DomainNames = r.Certificate, colons(sum[:]), leaf.NotBefore, leaf.NotAfter, leaf.DNSNames
	return nil
}

func retryCertificate(c *call) (int, any, error) {
	t, err := certificates.find(c)
	if err != nil {
		return 0, nil, err
	}
	if t.Type != "managed" {
		return 0, nil, fakecloud.Errorf("unsupported_error", "only managed certificates can be issued again")
	}
	return c.started("issue_certificate", certificates.ref(c))
}

// usedBy are the load balancers that a certificate serves.
func (c *call) usedBy(id int64) []schema.CertificateUsedByRef {
	all := []schema.CertificateUsedByRef{}
	for _, lb := range c.tx.LoadBalancers.All() {
		if slices.ContainsFunc(lb.Services, func(s fakecloud.Service) bool { return s.HTTP != nil && slices.Contains(s.HTTP.Certificates, id) }) {
			all = append(all, schema.CertificateUsedByRef{ID: lb.ID, Type: "load_balancer"})
		}
	}
	return all
}

func (c *call) certificate(t *fakecloud.Certificate) any {
	s := schema.Certificate{
		ID: t.ID, Name: t.Name, Labels: labels(t.Labels), Type: t.Type, Certificate: t.PEM, Created: t.Created, NotValidBefore: t.NotBefore,
		NotValidAfter: t.NotAfter, DomainNames: nonNil(t.DomainNames), Fingerprint: t.Fingerprint, UsedBy: c.usedBy(t.ID),
	}
	if t.Type == "managed" {
		s.Status = &schema.CertificateStatusRef{Issuance: "completed", Renewal: "scheduled"}
	}
	return s
}
