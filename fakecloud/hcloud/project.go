package hcloud

import (
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
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/fakecloud/table"
)

var placementGroups = func() rest.Owned[fakecloud.PlacementGroup] {
	o := rest.NewOwned("placement_groups", "placement_group",
		func(tx *fakecloud.Tx) *table.Table[fakecloud.PlacementGroup] { return tx.PlacementGroups }, placementGroupBody)
	o.Filters = map[string]func(*fakecloud.PlacementGroup, string) bool{
		"type": func(g *fakecloud.PlacementGroup, t string) bool { return g.Type == t },
	}
	o.Free = func(c *rest.Call, g *fakecloud.PlacementGroup) error {
		for _, id := range c.Tx.Members(g.ID) {
			c.Tx.Instances.Update(id, func(i *fakecloud.Instance) { i.PlacementGroup = 0 })
		}
		return nil
	}
	return o
}()

var sshKeys = func() rest.Owned[fakecloud.SSHKey] {
	o := rest.NewOwned("ssh_keys", "ssh_key", func(tx *fakecloud.Tx) *table.Table[fakecloud.SSHKey] { return tx.SSHKeys }, sshKeyBody)
	o.Filters = map[string]func(*fakecloud.SSHKey, string) bool{
		"fingerprint": func(k *fakecloud.SSHKey, fingerprint string) bool { return k.Fingerprint == fingerprint },
	}
	return o
}()

var certificates = func() rest.Owned[fakecloud.Certificate] {
	o := rest.NewOwned("certificates", "certificate",
		func(tx *fakecloud.Tx) *table.Table[fakecloud.Certificate] { return tx.Certificates }, certificateBody)
	o.Filters = map[string]func(*fakecloud.Certificate, string) bool{
		"type": func(t *fakecloud.Certificate, kind string) bool { return t.Type == kind },
	}
	o.Free = func(c *rest.Call, t *fakecloud.Certificate) error {
		if len(usersOf(c, t.ID)) > 0 {
			return fakecloud.Errorf("resource_in_use", "certificate is in use")
		}
		return nil
	}
	return o
}()

// projectOperations are those on everything in a project except machines, disks and addresses.
func projectOperations() []rest.Operation {
	all := []rest.Operation{
		rest.Steady("GET /placement_groups", placementGroups.List),
		rest.NewOperation("POST /placement_groups", createPlacementGroup),
		rest.NewOperation("GET /placement_groups/{id}", placementGroups.Get),
		rest.NewOperation("PUT /placement_groups/{id}", placementGroups.Put),
		rest.NewOperation("DELETE /placement_groups/{id}", placementGroups.Delete),
		rest.Steady("GET /ssh_keys", sshKeys.List),
		rest.NewOperation("POST /ssh_keys", createSSHKey),
		rest.NewOperation("GET /ssh_keys/{id}", sshKeys.Get),
		rest.NewOperation("PUT /ssh_keys/{id}", sshKeys.Put),
		rest.NewOperation("DELETE /ssh_keys/{id}", sshKeys.Delete),
		rest.Steady("GET /certificates", certificates.List),
		rest.NewOperation("POST /certificates", createCertificate),
		rest.NewOperation("GET /certificates/{id}", certificates.Get),
		rest.NewOperation("PUT /certificates/{id}", certificates.Put),
		rest.NewOperation("DELETE /certificates/{id}", certificates.Delete),
		rest.NewOperation("POST /certificates/{id}/actions/retry", retryCertificate),
	}
	return append(all, rest.ResourceActions("certificates", "certificate")...)
}

func createPlacementGroup(c *rest.Call) (int, any, error) {
	var r schema.PlacementGroupCreateRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	if r.Type != "spread" {
		return 0, nil, fakecloud.Invalid("type", "must be spread")
	}
	meta, err := placementGroups.NewMeta(c, r.Name, r.Labels)
	if err != nil {
		return 0, nil, err
	}
	g := fakecloud.PlacementGroup{Meta: meta, Type: r.Type}
	c.Tx.PlacementGroups.Put(g)
	return http.StatusCreated, schema.PlacementGroupCreateResponse{PlacementGroup: placementGroupBody(c, &g).(schema.PlacementGroup)}, nil
}

func placementGroupBody(c *rest.Call, g *fakecloud.PlacementGroup) any {
	return schema.PlacementGroup{ID: g.ID, Name: g.Name, Labels: rest.Labels(g.Labels), Created: g.Created, Type: g.Type,
		Servers: rest.NonNil(c.Tx.Members(g.ID))}
}

func createSSHKey(c *rest.Call) (int, any, error) {
	var r schema.SSHKeyCreateRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	fingerprint, err := sshFingerprint(r.PublicKey)
	if err != nil {
		return 0, nil, err
	}
	if slices.ContainsFunc(c.Tx.SSHKeys.All(), func(k *fakecloud.SSHKey) bool { return k.Fingerprint == fingerprint }) {
		return 0, nil, fakecloud.Errorf("uniqueness_error", "SSH key with the same fingerprint already exists")
	}
	meta, err := sshKeys.NewMeta(c, r.Name, r.Labels)
	if err != nil {
		return 0, nil, err
	}
	k := fakecloud.SSHKey{Meta: meta, PublicKey: r.PublicKey, Fingerprint: fingerprint}
	c.Tx.SSHKeys.Put(k)
	return http.StatusCreated, schema.SSHKeyCreateResponse{SSHKey: sshKeyBody(c, &k).(schema.SSHKey)}, nil
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

func sshKeyBody(c *rest.Call, k *fakecloud.SSHKey) any {
	return schema.SSHKey{ID: k.ID, Name: k.Name, Fingerprint: k.Fingerprint, PublicKey: k.PublicKey, Labels: rest.Labels(k.Labels),
		Created: k.Created}
}

func createCertificate(c *rest.Call) (int, any, error) {
	var r schema.CertificateCreateRequest
	if err := c.Decode(&r); err != nil {
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
		t.DomainNames, t.NotBefore, t.NotAfter = r.DomainNames, c.Tx.Now(), c.Tx.Now().AddDate(0, 3, 0)
	default:
		return 0, nil, fakecloud.Invalid("type", "must be uploaded or managed")
	}
	var err error
	if t.Meta, err = certificates.NewMeta(c, r.Name, r.Labels); err != nil {
		return 0, nil, err
	}
	c.Tx.Certificates.Put(t)
	body := schema.CertificateCreateResponse{Certificate: certificateBody(c, &t).(schema.Certificate)}
	if t.Type == "managed" {
		body.Action = new(c.Action(c.Tx.Start("create_certificate", nil, fakecloud.Ref{Type: "certificate", ID: t.ID})))
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

func retryCertificate(c *rest.Call) (int, any, error) {
	t, err := certificates.Find(c)
	if err != nil {
		return 0, nil, err
	}
	if t.Type != "managed" {
		return 0, nil, fakecloud.Errorf("unsupported_error", "only managed certificates can be issued again")
	}
	return c.Started("issue_certificate", certificates.Ref(c))
}

// usedBy are the load balancers that a certificate serves.
func usersOf(c *rest.Call, id int64) []schema.CertificateUsedByRef {
	all := []schema.CertificateUsedByRef{}
	for _, lb := range c.Tx.LoadBalancers.All() {
		if slices.ContainsFunc(lb.Services, func(s fakecloud.Service) bool { return s.HTTP != nil && slices.Contains(s.HTTP.Certificates, id) }) {
			all = append(all, schema.CertificateUsedByRef{ID: lb.ID, Type: "load_balancer"})
		}
	}
	return all
}

func certificateBody(c *rest.Call, t *fakecloud.Certificate) any {
	s := schema.Certificate{
		ID: t.ID, Name: t.Name, Labels: rest.Labels(t.Labels), Type: t.Type, Certificate: t.PEM, Created: t.Created, NotValidBefore: t.NotBefore,
		NotValidAfter: t.NotAfter, DomainNames: rest.NonNil(t.DomainNames), Fingerprint: t.Fingerprint, UsedBy: usersOf(c, t.ID),
	}
	if t.Type == "managed" {
		s.Status = &schema.CertificateStatusRef{Issuance: "completed", Renewal: "scheduled"}
	}
	return s
}
