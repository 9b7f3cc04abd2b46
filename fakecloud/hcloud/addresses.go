package hcloud

import (
	"net/http"
	"net/netip"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
)

var primaryIPs = func() owned[fakecloud.PrimaryIP] {
	o := newOwned("primary_ips", "primary_ip", func(tx *fakecloud.Tx) *fakecloud.Table[fakecloud.PrimaryIP] { return tx.PrimaryIPs }, (*call).primaryIP)
	o.filters = map[string]func(*fakecloud.PrimaryIP, string) bool{
		"ip": func(p *fakecloud.PrimaryIP, ip string) bool {
			return p.IP.String() == ip || addressText(p.Type, p.IP) == ip
		},
	}
	o.update = func(c *call, p *fakecloud.PrimaryIP) error {
		var change schema.PrimaryIPUpdateRequest
		if err := c.decode(&change); err != nil {
			return err
		}
		put(&p.AutoDelete, change.AutoDelete)
		return nil
	}
	o.free = func(_ *call, p *fakecloud.PrimaryIP) error {
		if p.AssigneeID != 0 {
			return fakecloud.Errorf("primary_ip_assigned", "primary IP is assigned to %s %d", p.AssigneeType, p.AssigneeID)
		}
		return nil
	}
	return o
}()

func primaryIPOperations() []operation {
	return append([]operation{
		{"GET /primary_ips", primaryIPs.list, true},
		{"POST /primary_ips", createPrimaryIP, false},
		{"GET /primary_ips/{id}", primaryIPs.get, false},
		{"PUT /primary_ips/{id}", primaryIPs.put, false},
		{"DELETE /primary_ips/{id}", primaryIPs.delete, false},
		{"POST /primary_ips/{id}/actions/assign", assignPrimaryIP, false},
		{"POST /primary_ips/{id}/actions/unassign", unassignPrimaryIP, false},
		{"POST /primary_ips/{id}/actions/change_dns_ptr", changePrimaryIPDNSPtr, false},
		{"POST /primary_ips/{id}/actions/change_protection", primaryIPs.protect, false},
	}, resourceActions("primary_ips", "primary_ip")...)
}

func createPrimaryIP(c *call) (int, any, error) {
	var r struct {
		schema.PrimaryIPCreateRequest
		Datacenter string `json:"datacenter"` // until July 2026
	}
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	if r.Type != "ipv4" && r.Type != "ipv6" {
		return 0, nil, fakecloud.Invalid("type", "must be ipv4 or ipv6")
	}
	l := c.h.cloud.Catalogue().Location(r.Location)
	if r.Datacenter != "" {
		l = c.h.cloud.Catalogue().Datacenter(r.Datacenter)
	}
	var i *fakecloud.Instance
	if r.AssigneeID != nil {
		var err error
		if i, err = c.assignee(*r.AssigneeID, r.Type); err != nil {
			return 0, nil, err
		}
		l = c.h.cloud.Catalogue().Location(i.Location)
	}
	if l == nil {
		return 0, nil, fakecloud.Invalid("location", "location or assignee not found")
	}
	meta, err := primaryIPs.newMeta(c, r.Name, r.Labels)
	if err != nil {
		return 0, nil, err
	}
	p := fakecloud.PrimaryIP{Meta: meta, Type: r.Type, IP: c.tx.PublicIP(r.Type), Location: l.Name, AssigneeType: "unassigned"}
	put(&p.AutoDelete, r.AutoDelete)
	c.tx.PrimaryIPs.Put(p)
	var assign *schema.Action
	if i != nil {
		c.give(i.ID, p.ID)
		assign = new(c.action(c.tx.Start("assign_primary_ip", nil, fakecloud.Ref{Type: "primary_ip", ID: p.ID}, serverRef(i))))
	}
	return http.StatusCreated, map[string]any{"primary_ip": c.primaryIP(c.tx.PrimaryIPs.Get(p.ID)), "action": assign}, nil
}

// assignee is a server that can get a primary IP of that kind.
func (c *call) assignee(id int64, kind string) (*fakecloud.Instance, error) {
	i := c.tx.Instances.Get(id)
	switch {
	case i == nil:
		return nil, fakecloud.NotFound("server", id)
	case i.State != fakecloud.Off:
		return nil, fakecloud.Errorf("server_not_stopped", "server must be stopped")
	case kind == "ipv4" && i.PrimaryIPv4ID != 0:
		return nil, fakecloud.Errorf("server_has_ipv4", "server has an IPv4 already")
	case kind == "ipv6" && i.PrimaryIPv6ID != 0:
		return nil, fakecloud.Errorf("server_has_ipv6", "server has an IPv6 already")
	}
	return i, nil
}

// give gives a server a primary IP.
func (c *call) give(server, id int64) {
	c.tx.PrimaryIPs.Update(id, func(p *fakecloud.PrimaryIP) { p.AssigneeID, p.AssigneeType = server, "server" })
	p := c.tx.PrimaryIPs.Get(id)
	c.tx.Instances.Update(server, func(i *fakecloud.Instance) {
		if p.Type == "ipv4" {
			i.PrimaryIPv4ID, i.PublicIPv4 = p.ID, p.IP
		} else {
			i.PrimaryIPv6ID, i.PublicIPv6 = p.ID, p.IP
		}
	})
}

func assignPrimaryIP(c *call) (int, any, error) {
	p, err := primaryIPs.find(c)
	if err != nil {
		return 0, nil, err
	}
	var r schema.PrimaryIPActionAssignRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	if p.AssigneeID != 0 {
		return 0, nil, fakecloud.Errorf("primary_ip_already_assigned", "primary IP is assigned already")
	}
	if r.AssigneeType != "server" {
		return 0, nil, fakecloud.Invalid("assignee_type", "must be server")
	}
	i, err := c.assignee(r.AssigneeID, p.Type)
	if err != nil {
		return 0, nil, err
	}
	c.give(i.ID, p.ID)
	return c.started("assign_primary_ip", primaryIPs.ref(c), serverRef(i))
}

func unassignPrimaryIP(c *call) (int, any, error) {
	p, err := primaryIPs.find(c)
	if err != nil {
		return 0, nil, err
	}
	if i := c.tx.Instances.Get(p.AssigneeID); i != nil && i.State != fakecloud.Off {
		return 0, nil, fakecloud.Errorf("server_not_stopped", "server must be stopped")
	}
	c.tx.Instances.Update(p.AssigneeID, func(i *fakecloud.Instance) {
		if p.Type == "ipv4" {
			i.PrimaryIPv4ID, i.PublicIPv4 = 0, netip.Addr{}
		} else {
			i.PrimaryIPv6ID, i.PublicIPv6 = 0, netip.Addr{}
		}
	})
	c.tx.PrimaryIPs.Update(p.ID, func(p *fakecloud.PrimaryIP) { p.AssigneeID, p.AssigneeType = 0, "unassigned" })
	return c.started("unassign_primary_ip", primaryIPs.ref(c))
}

func changePrimaryIPDNSPtr(c *call) (int, any, error) {
	p, err := primaryIPs.find(c)
	if err != nil {
		return 0, nil, err
	}
	set, err := c.dnsPtr(p.DNSPtr, p.IP)
	if err != nil {
		return 0, nil, err
	}
	c.tx.PrimaryIPs.Update(p.ID, func(p *fakecloud.PrimaryIP) { p.DNSPtr = set })
	return c.started("change_dns_ptr", primaryIPs.ref(c))
}

// addressText is an address as the API shows it: IPv6 ones as their /64.
func addressText(kind string, ip netip.Addr) string {
	if kind == "ipv6" {
		return prefix64(ip)
	}
	return ip.String()
}

// primaryIP is schema.PrimaryIP with the data centre, which the API has had until July 2026.
type primaryIP struct {
	schema.PrimaryIP
	Datacenter schema.Datacenter `json:"datacenter"`
}

func (c *call) primaryIP(p *fakecloud.PrimaryIP) any {
	l := c.h.cloud.Catalogue().Location(p.Location)
	s := primaryIP{schema.PrimaryIP{
		ID: p.ID, Name: p.Name, IP: addressText(p.Type, p.IP), Labels: labels(p.Labels), Type: p.Type, Created: p.Created,
		Protection: schema.PrimaryIPProtection{Delete: p.Protected}, DNSPtr: []schema.PrimaryIPDNSPTR{}, AssigneeType: p.AssigneeType,
		AutoDelete: p.AutoDelete, Location: location(l),
	}, datacenter(l)}
	if p.AssigneeID != 0 {
		s.AssigneeID = new(p.AssigneeID)
	}
	for ip, name := range pointers(p.DNSPtr, p.IP) {
		s.DNSPtr = append(s.DNSPtr, schema.PrimaryIPDNSPTR{IP: ip, DNSPtr: name})
	}
	return s
}

var floatingIPs = func() owned[fakecloud.FloatingIP] {
	o := newOwned("floating_ips", "floating_ip", func(tx *fakecloud.Tx) *fakecloud.Table[fakecloud.FloatingIP] { return tx.FloatingIPs }, (*call).floatingIP)
	o.update = func(c *call, f *fakecloud.FloatingIP) error {
		var change struct {
			Description *string `json:"description"`
		}
		if err := c.decode(&change); err != nil {
			return err
		}
		put(&f.Description, change.Description)
		return nil
	}
	return o
}()

func floatingIPOperations() []operation {
	return append([]operation{
		{"GET /floating_ips", floatingIPs.list, true},
		{"POST /floating_ips", createFloatingIP, false},
		{"GET /floating_ips/{id}", floatingIPs.get, false},
		{"PUT /floating_ips/{id}", floatingIPs.put, false},
		{"DELETE /floating_ips/{id}", floatingIPs.delete, false},
		{"POST /floating_ips/{id}/actions/assign", assignFloatingIP, false},
		{"POST /floating_ips/{id}/actions/unassign", unassignFloatingIP, false},
		{"POST /floating_ips/{id}/actions/change_dns_ptr", changeFloatingIPDNSPtr, false},
		{"POST /floating_ips/{id}/actions/change_protection", floatingIPs.protect, false},
	}, resourceActions("floating_ips", "floating_ip")...)
}

func createFloatingIP(c *call) (int, any, error) {
	var r schema.FloatingIPCreateRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	f := fakecloud.FloatingIP{Type: r.Type}
	put(&f.Description, r.Description)
	if r.Type != "ipv4" && r.Type != "ipv6" {
		return 0, nil, fakecloud.Invalid("type", "must be ipv4 or ipv6")
	}
	switch {
	case r.Server != nil:
		i := c.tx.Instances.Get(*r.Server)
		if i == nil {
			return 0, nil, fakecloud.NotFound("server", *r.Server)
		}
		f.Server, f.HomeLocation = i.ID, i.Location
	case r.HomeLocation != nil && c.h.cloud.Catalogue().Location(*r.HomeLocation) != nil:
		f.HomeLocation = c.h.cloud.Catalogue().Location(*r.HomeLocation).Name
	default:
		return 0, nil, fakecloud.Invalid("home_location", "home location or server not found")
	}
	f.IP = c.tx.PublicIP(r.Type)
	name := "floating-ip-" + f.IP.String()
	put(&name, r.Name)
	var err error
	if f.Meta, err = floatingIPs.newMeta(c, name, r.Labels); err != nil {
		return 0, nil, err
	}
	c.tx.FloatingIPs.Put(f)
	body := schema.FloatingIPCreateResponse{FloatingIP: c.floatingIP(&f).(schema.FloatingIP)}
	if f.Server != 0 {
		body.Action = new(c.action(c.tx.Start("assign_floating_ip", nil, fakecloud.Ref{Type: "server", ID: f.Server}, fakecloud.Ref{Type: "floating_ip", ID: f.ID})))
	}
	return http.StatusCreated, body, nil
}

func assignFloatingIP(c *call) (int, any, error) {
	f, err := floatingIPs.find(c)
	if err != nil {
		return 0, nil, err
	}
	var r schema.FloatingIPActionAssignRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	i := c.tx.Instances.Get(r.Server)
	if i == nil {
		return 0, nil, fakecloud.NotFound("server", r.Server)
	}
	c.tx.FloatingIPs.Update(f.ID, func(f *fakecloud.FloatingIP) { f.Server = i.ID })
	return c.started("assign_floating_ip", serverRef(i), floatingIPs.ref(c))
}

func unassignFloatingIP(c *call) (int, any, error) {
	f, err := floatingIPs.find(c)
	if err != nil {
		return 0, nil, err
	}
	c.tx.FloatingIPs.Update(f.ID, func(f *fakecloud.FloatingIP) { f.Server = 0 })
	return c.started("unassign_floating_ip", floatingIPs.ref(c))
}

func changeFloatingIPDNSPtr(c *call) (int, any, error) {
	f, err := floatingIPs.find(c)
	if err != nil {
		return 0, nil, err
	}
	set, err := c.dnsPtr(f.DNSPtr, f.IP)
	if err != nil {
		return 0, nil, err
	}
	c.tx.FloatingIPs.Update(f.ID, func(f *fakecloud.FloatingIP) { f.DNSPtr = set })
	return c.started("change_dns_ptr", floatingIPs.ref(c))
}

func (c *call) floatingIP(f *fakecloud.FloatingIP) any {
	s := schema.FloatingIP{
		ID: f.ID, Name: f.Name, Description: new(f.Description), Created: f.Created, IP: addressText(f.Type, f.IP), Type: f.Type,
		HomeLocation: location(c.h.cloud.Catalogue().Location(f.HomeLocation)), Protection: schema.FloatingIPProtection{Delete: f.Protected},
		Labels: labels(f.Labels), DNSPtr: []schema.FloatingIPDNSPtr{},
	}
	if f.Server != 0 {
		s.Server = new(f.Server)
	}
	for ip, name := range pointers(f.DNSPtr, f.IP) {
		s.DNSPtr = append(s.DNSPtr, schema.FloatingIPDNSPtr{IP: ip, DNSPtr: name})
	}
	return s
}
