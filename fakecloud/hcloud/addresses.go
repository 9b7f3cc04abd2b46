package hcloud

import (
	"net/http"
	"net/netip"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/offers"
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/fakecloud/table"
)

var primaryIPs = func() rest.Owned[fakecloud.PrimaryIP] {
	o := rest.NewOwned("primary_ips", "primary_ip", func(tx *fakecloud.Tx) *table.Table[fakecloud.PrimaryIP] { return tx.PrimaryIPs },
		primaryIPBody)
	o.Filters = map[string]func(*fakecloud.PrimaryIP, string) bool{
		"ip": func(p *fakecloud.PrimaryIP, ip string) bool {
			return p.IP.String() == ip || addressText(p.Type, p.IP) == ip
		},
	}
	o.Update = func(c *rest.Call, p *fakecloud.PrimaryIP) error {
		var change schema.PrimaryIPUpdateRequest
		if err := c.Decode(&change); err != nil {
			return err
		}
		setIfGiven(&p.AutoDelete, change.AutoDelete)
		return nil
	}
	o.Free = func(_ *rest.Call, p *fakecloud.PrimaryIP) error {
		if p.AssigneeID != 0 {
			return fakecloud.Errorf("primary_ip_assigned", "primary IP is assigned to %s %d", p.AssigneeType, p.AssigneeID)
		}
		return nil
	}
	return o
}()

func primaryIPOperations() []rest.Operation {
	return append([]rest.Operation{
		rest.Steady("GET /primary_ips", primaryIPs.List),
		rest.NewOperation("POST /primary_ips", createPrimaryIP),
		rest.NewOperation("GET /primary_ips/{id}", primaryIPs.Get),
		rest.NewOperation("PUT /primary_ips/{id}", primaryIPs.Put),
		rest.NewOperation("DELETE /primary_ips/{id}", primaryIPs.Delete),
		rest.NewOperation("POST /primary_ips/{id}/actions/assign", assignPrimaryIP),
		rest.NewOperation("POST /primary_ips/{id}/actions/unassign", unassignPrimaryIP),
		rest.NewOperation("POST /primary_ips/{id}/actions/change_dns_ptr", changePrimaryIPDNSPtr),
		rest.NewOperation("POST /primary_ips/{id}/actions/change_protection", primaryIPs.Protect),
	}, rest.ResourceActions("primary_ips", "primary_ip")...)
}

func createPrimaryIP(c *rest.Call) (int, any, error) {
	var r struct {
		schema.PrimaryIPCreateRequest
		Datacenter string `json:"datacenter"` // until July 2026
	}
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	if r.Type != "ipv4" && r.Type != "ipv6" {
		return 0, nil, fakecloud.Invalid("type", "must be ipv4 or ipv6")
	}
	l := c.Cloud().Catalogue().Location(r.Location)
	if r.Datacenter != "" {
		l = c.Cloud().Catalogue().Datacenter(r.Datacenter)
	}
	var i *fakecloud.Instance
	if r.AssigneeID != nil {
		var err error
		if i, err = assigneeOf(c, *r.AssigneeID, r.Type); err != nil {
			return 0, nil, err
		}
		l = c.Cloud().Catalogue().Location(i.Location)
	}
	if l == nil {
		return 0, nil, fakecloud.Invalid("location", "location or assignee not found")
	}
	meta, err := primaryIPs.NewMeta(c, r.Name, r.Labels)
	if err != nil {
		return 0, nil, err
	}
	p := fakecloud.PrimaryIP{Meta: meta, Type: r.Type, IP: c.Tx.PublicIP(r.Type), Location: l.Name, AssigneeType: "unassigned"}
	setIfGiven(&p.AutoDelete, r.AutoDelete)
	c.Tx.PrimaryIPs.Put(p)
	var assign *schema.Action
	if i != nil {
		giveTo(c, i.ID, p.ID)
		assign = new(c.Action(c.Tx.Start("assign_primary_ip", nil, fakecloud.Ref{Type: "primary_ip", ID: p.ID}, serverRef(i))))
	}
	return http.StatusCreated, map[string]any{"primary_ip": primaryIPBody(c, c.Tx.PrimaryIPs.Get(p.ID)), "action": assign}, nil
}

// assignee is a server that can get a primary IP of that kind.
func assigneeOf(c *rest.Call, id int64, kind string) (*fakecloud.Instance, error) {
	i := c.Tx.Instances.Get(id)
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
func giveTo(c *rest.Call, server, id int64) {
	c.Tx.PrimaryIPs.Update(id, func(p *fakecloud.PrimaryIP) { p.AssigneeID, p.AssigneeType = server, "server" })
	p := c.Tx.PrimaryIPs.Get(id)
	c.Tx.Instances.Update(server, func(i *fakecloud.Instance) {
		if p.Type == "ipv4" {
			i.PrimaryIPv4ID, i.PublicIPv4 = p.ID, p.IP
		} else {
			i.PrimaryIPv6ID, i.PublicIPv6 = p.ID, p.IP
		}
	})
}

func assignPrimaryIP(c *rest.Call) (int, any, error) {
	p, err := primaryIPs.Find(c)
	if err != nil {
		return 0, nil, err
	}
	var r schema.PrimaryIPActionAssignRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	if p.AssigneeID != 0 {
		return 0, nil, fakecloud.Errorf("primary_ip_already_assigned", "primary IP is assigned already")
	}
	if r.AssigneeType != "server" {
		return 0, nil, fakecloud.Invalid("assignee_type", "must be server")
	}
	i, err := assigneeOf(c, r.AssigneeID, p.Type)
	if err != nil {
		return 0, nil, err
	}
	giveTo(c, i.ID, p.ID)
	return c.Started("assign_primary_ip", primaryIPs.Ref(c), serverRef(i))
}

func unassignPrimaryIP(c *rest.Call) (int, any, error) {
	p, err := primaryIPs.Find(c)
	if err != nil {
		return 0, nil, err
	}
	if i := c.Tx.Instances.Get(p.AssigneeID); i != nil && i.State != fakecloud.Off {
		return 0, nil, fakecloud.Errorf("server_not_stopped", "server must be stopped")
	}
	c.Tx.Instances.Update(p.AssigneeID, func(i *fakecloud.Instance) {
		if p.Type == "ipv4" {
			i.PrimaryIPv4ID, i.PublicIPv4 = 0, netip.Addr{}
		} else {
			i.PrimaryIPv6ID, i.PublicIPv6 = 0, netip.Addr{}
		}
	})
	c.Tx.PrimaryIPs.Update(p.ID, func(p *fakecloud.PrimaryIP) { p.AssigneeID, p.AssigneeType = 0, "unassigned" })
	return c.Started("unassign_primary_ip", primaryIPs.Ref(c))
}

func changePrimaryIPDNSPtr(c *rest.Call) (int, any, error) {
	p, err := primaryIPs.Find(c)
	if err != nil {
		return 0, nil, err
	}
	set, err := dnsPtrOf(c, p.DNSPtr, p.IP)
	if err != nil {
		return 0, nil, err
	}
	c.Tx.PrimaryIPs.Update(p.ID, func(p *fakecloud.PrimaryIP) { p.DNSPtr = set })
	return c.Started("change_dns_ptr", primaryIPs.Ref(c))
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

func primaryIPBody(c *rest.Call, p *fakecloud.PrimaryIP) any {
	l := c.Cloud().Catalogue().Location(p.Location)
	s := primaryIP{schema.PrimaryIP{
		ID: p.ID, Name: p.Name, IP: addressText(p.Type, p.IP), Labels: rest.Labels(p.Labels), Type: p.Type, Created: p.Created,
		Protection: schema.PrimaryIPProtection{Delete: p.Protected}, DNSPtr: []schema.PrimaryIPDNSPTR{}, AssigneeType: p.AssigneeType,
		AutoDelete: p.AutoDelete, Location: offers.Location(l),
	}, offers.Datacenter(l)}
	if p.AssigneeID != 0 {
		s.AssigneeID = new(p.AssigneeID)
	}
	for ip, name := range pointers(p.DNSPtr, p.IP) {
		s.DNSPtr = append(s.DNSPtr, schema.PrimaryIPDNSPTR{IP: ip, DNSPtr: name})
	}
	return s
}

var floatingIPs = func() rest.Owned[fakecloud.FloatingIP] {
	o := rest.NewOwned("floating_ips", "floating_ip",
		func(tx *fakecloud.Tx) *table.Table[fakecloud.FloatingIP] { return tx.FloatingIPs }, floatingIPBody)
	o.Update = func(c *rest.Call, f *fakecloud.FloatingIP) error {
		var change struct {
			Description *string `json:"description"`
		}
		if err := c.Decode(&change); err != nil {
			return err
		}
		setIfGiven(&f.Description, change.Description)
		return nil
	}
	return o
}()

func floatingIPOperations() []rest.Operation {
	return append([]rest.Operation{
		rest.Steady("GET /floating_ips", floatingIPs.List),
		rest.NewOperation("POST /floating_ips", createFloatingIP),
		rest.NewOperation("GET /floating_ips/{id}", floatingIPs.Get),
		rest.NewOperation("PUT /floating_ips/{id}", floatingIPs.Put),
		rest.NewOperation("DELETE /floating_ips/{id}", floatingIPs.Delete),
		rest.NewOperation("POST /floating_ips/{id}/actions/assign", assignFloatingIP),
		rest.NewOperation("POST /floating_ips/{id}/actions/unassign", unassignFloatingIP),
		rest.NewOperation("POST /floating_ips/{id}/actions/change_dns_ptr", changeFloatingIPDNSPtr),
		rest.NewOperation("POST /floating_ips/{id}/actions/change_protection", floatingIPs.Protect),
	}, rest.ResourceActions("floating_ips", "floating_ip")...)
}

func createFloatingIP(c *rest.Call) (int, any, error) {
	var r schema.FloatingIPCreateRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	f := fakecloud.FloatingIP{Type: r.Type}
	setIfGiven(&f.Description, r.Description)
	if r.Type != "ipv4" && r.Type != "ipv6" {
		return 0, nil, fakecloud.Invalid("type", "must be ipv4 or ipv6")
	}
	switch {
	case r.Server != nil:
		i := c.Tx.Instances.Get(*r.Server)
		if i == nil {
			return 0, nil, fakecloud.NotFound("server", *r.Server)
		}
		f.Server, f.HomeLocation = i.ID, i.Location
	case r.HomeLocation != nil && c.Cloud().Catalogue().Location(*r.HomeLocation) != nil:
		f.HomeLocation = c.Cloud().Catalogue().Location(*r.HomeLocation).Name
	default:
		return 0, nil, fakecloud.Invalid("home_location", "home location or server not found")
	}
	f.IP = c.Tx.PublicIP(r.Type)
	name := "floating-ip-" + f.IP.String()
	setIfGiven(&name, r.Name)
	var err error
	if f.Meta, err = floatingIPs.NewMeta(c, name, r.Labels); err != nil {
		return 0, nil, err
	}
	c.Tx.FloatingIPs.Put(f)
	body := schema.FloatingIPCreateResponse{FloatingIP: floatingIPBody(c, &f).(schema.FloatingIP)}
	if f.Server != 0 {
		body.Action = new(c.Action(c.Tx.Start("assign_floating_ip", nil, fakecloud.Ref{Type: "server", ID: f.Server},
			fakecloud.Ref{Type: "floating_ip", ID: f.ID})))
	}
	return http.StatusCreated, body, nil
}

func assignFloatingIP(c *rest.Call) (int, any, error) {
	f, err := floatingIPs.Find(c)
	if err != nil {
		return 0, nil, err
	}
	var r schema.FloatingIPActionAssignRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	i := c.Tx.Instances.Get(r.Server)
	if i == nil {
		return 0, nil, fakecloud.NotFound("server", r.Server)
	}
	c.Tx.FloatingIPs.Update(f.ID, func(f *fakecloud.FloatingIP) { f.Server = i.ID })
	return c.Started("assign_floating_ip", serverRef(i), floatingIPs.Ref(c))
}

func unassignFloatingIP(c *rest.Call) (int, any, error) {
	f, err := floatingIPs.Find(c)
	if err != nil {
		return 0, nil, err
	}
	c.Tx.FloatingIPs.Update(f.ID, func(f *fakecloud.FloatingIP) { f.Server = 0 })
	return c.Started("unassign_floating_ip", floatingIPs.Ref(c))
}

func changeFloatingIPDNSPtr(c *rest.Call) (int, any, error) {
	f, err := floatingIPs.Find(c)
	if err != nil {
		return 0, nil, err
	}
	set, err := dnsPtrOf(c, f.DNSPtr, f.IP)
	if err != nil {
		return 0, nil, err
	}
	c.Tx.FloatingIPs.Update(f.ID, func(f *fakecloud.FloatingIP) { f.DNSPtr = set })
	return c.Started("change_dns_ptr", floatingIPs.Ref(c))
}

func floatingIPBody(c *rest.Call, f *fakecloud.FloatingIP) any {
	s := schema.FloatingIP{
		ID: f.ID, Name: f.Name, Description: new(f.Description), Created: f.Created, IP: addressText(f.Type, f.IP), Type: f.Type,
		HomeLocation: offers.Location(c.Cloud().Catalogue().Location(f.HomeLocation)), Protection: schema.FloatingIPProtection{Delete: f.Protected},
		Labels: rest.Labels(f.Labels), DNSPtr: []schema.FloatingIPDNSPtr{},
	}
	if f.Server != 0 {
		s.Server = new(f.Server)
	}
	for ip, name := range pointers(f.DNSPtr, f.IP) {
		s.DNSPtr = append(s.DNSPtr, schema.FloatingIPDNSPtr{IP: ip, DNSPtr: name})
	}
	return s
}
