package hcloud

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/fakecloud/table"
)

var networks = func() rest.Owned[fakecloud.Network] {
	o := rest.NewOwned("networks", "network", func(tx *fakecloud.Tx) *table.Table[fakecloud.Network] { return tx.Networks }, networkBody)
	o.Update = func(c *rest.Call, n *fakecloud.Network) error {
		var change schema.NetworkUpdateRequest
		if err := c.Decode(&change); err != nil {
			return err
		}
		if change.ExposeRoutesToVSwitch != nil {
			n.ExposeRoutesToVSwitch = *change.ExposeRoutesToVSwitch
		}
		return nil
	}
	o.Free = func(c *rest.Call, n *fakecloud.Network) error {
		c.Tx.Empty(n.ID)
		return nil
	}
	return o
}()

func networkOperations() []rest.Operation {
	return append([]rest.Operation{
		rest.Steady("GET /networks", networks.List),
		rest.NewOperation("POST /networks", createNetwork),
		rest.NewOperation("GET /networks/{id}", networks.Get),
		rest.NewOperation("PUT /networks/{id}", networks.Put),
		rest.NewOperation("DELETE /networks/{id}", networks.Delete),
		rest.NewOperation("GET /networks/{id}/members", networkMembers),
		rest.NewOperation("POST /networks/{id}/actions/add_route", changeNetwork("add_route", addRoute)),
		rest.NewOperation("POST /networks/{id}/actions/delete_route", changeNetwork("delete_route", deleteRoute)),
		rest.NewOperation("POST /networks/{id}/actions/add_subnet", changeNetwork("add_subnet", addSubnet)),
		rest.NewOperation("POST /networks/{id}/actions/delete_subnet", changeNetwork("delete_subnet", deleteSubnet)),
		rest.NewOperation("POST /networks/{id}/actions/change_ip_range", changeNetwork("change_ip_range", changeRange)),
		rest.NewOperation("POST /networks/{id}/actions/change_protection", networks.Protect),
	}, rest.ResourceActions("networks", "network")...)
}

func createNetwork(c *rest.Call) (int, any, error) {
	var r schema.NetworkCreateRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	n := fakecloud.Network{ExposeRoutesToVSwitch: r.ExposeRoutesToVSwitch}
	var err error
	if n.Range, err = ipRange(r.IPRange); err != nil {
		return 0, nil, err
	}
	for _, s := range r.Subnets {
		subnet := schema.NetworkActionAddSubnetRequest{Type: s.Type, IPRange: s.IPRange, NetworkZone: s.NetworkZone, VSwitchID: s.VSwitchID}
		if err := appendSubnet(c, &n, subnet); err != nil {
			return 0, nil, err
		}
	}
	for _, route := range r.Routes {
		if err := appendRoute(&n, route); err != nil {
			return 0, nil, err
		}
	}
	if n.Meta, err = networks.NewMeta(c, r.Name, r.Labels); err != nil {
		return 0, nil, err
	}
	c.Tx.Networks.Put(n)
	return http.StatusCreated, map[string]any{"network": networkBody(c, &n)}, nil
}

// changeNetwork is the operation of an action that changes a copy of a network.
func changeNetwork(command string, do func(c *rest.Call, n *fakecloud.Network) error) func(*rest.Call) (int, any, error) {
	return func(c *rest.Call) (int, any, error) {
		old, err := networks.Find(c)
		if err != nil {
			return 0, nil, err
		}
		n := *old
		n.Subnets, n.Routes = slices.Clone(n.Subnets), slices.Clone(n.Routes)
		if err := do(c, &n); err != nil {
			return 0, nil, err
		}
		c.Tx.Networks.Put(n)
		return c.Started(command, networks.Ref(c))
	}
}

func addRoute(c *rest.Call, n *fakecloud.Network) error {
	var r schema.NetworkRoute
	if err := c.Decode(&r); err != nil {
		return err
	}
	return appendRoute(n, r)
}

func appendRoute(n *fakecloud.Network, r schema.NetworkRoute) error {
	route, err := parseRoute(r)
	if err != nil {
		return err
	}
	switch {
	case !n.Range.Contains(route.Gateway):
		return fakecloud.Invalid("gateway", "must be an address of the network %s", n.Range)
	case slices.ContainsFunc(n.Routes, func(old fakecloud.Route) bool { return old.Destination == route.Destination }):
		return fakecloud.Invalid("destination", "there is a route for %s already", route.Destination)
	case len(n.Routes) >= maxRoutes:
		return fakecloud.Errorf("resource_limit_exceeded", "a network has at most %d routes", maxRoutes)
	}
	n.Routes = append(n.Routes, route)
	return nil
}

// Limits of networks (docs.hetzner.com, Cloud, Networks, FAQ).
const (
	maxRoutes  = 100
	maxSubnets = 50
)

func parseRoute(r schema.NetworkRoute) (fakecloud.Route, error) {
	destination, err := netip.ParsePrefix(r.Destination)
	if err != nil || !destination.Addr().Is4() {
		return fakecloud.Route{}, fakecloud.Invalid("destination", "must be an IPv4 range such as 10.100.1.0/24")
	}
	gateway, err := netip.ParseAddr(r.Gateway)
	if err != nil {
		return fakecloud.Route{}, fakecloud.Invalid("gateway", "must be an IPv4 address")
	}
	return fakecloud.Route{Destination: destination, Gateway: gateway}, nil
}

func deleteRoute(c *rest.Call, n *fakecloud.Network) error {
	var r schema.NetworkRoute
	if err := c.Decode(&r); err != nil {
		return err
	}
	route, err := parseRoute(r)
	if err != nil {
		return err
	}
	k := slices.Index(n.Routes, route)
	if k < 0 {
		return fakecloud.Invalid("destination", "there is no such route")
	}
	n.Routes = slices.Delete(n.Routes, k, k+1)
	return nil
}

func addSubnet(c *rest.Call, n *fakecloud.Network) error {
	var r schema.NetworkActionAddSubnetRequest
	if err := c.Decode(&r); err != nil {
		return err
	}
	return appendSubnet(c, n, r)
}

func appendSubnet(c *rest.Call, n *fakecloud.Network, r schema.NetworkActionAddSubnetRequest) error {
	if !slices.Contains([]string{"cloud", "server", "vswitch"}, r.Type) {
		return fakecloud.Invalid("type", "must be cloud, server or vswitch")
	}
	if !slices.ContainsFunc(c.Cloud().Catalogue().Locations, func(l fakecloud.Location) bool { return l.NetworkZone == r.NetworkZone }) {
		return fakecloud.Invalid("network_zone", "network zone %q not found", r.NetworkZone)
	}
	overlaps := func(p netip.Prefix) bool {
		return slices.ContainsFunc(n.Subnets, func(s fakecloud.Subnet) bool { return s.Range.Overlaps(p) })
	}
	var subnet netip.Prefix
	if r.IPRange == "" {
		subnet = freeRange(n.Range, overlaps)
	} else {
		var err error
		if subnet, err = ipRange(r.IPRange); err != nil {
			return err
		}
	}
	switch {
	case !subnet.IsValid():
		return fakecloud.Errorf("no_subnet_available", "no free range for a subnet in %s", n.Range)
	case !n.Range.Overlaps(subnet) || subnet.Bits() < n.Range.Bits():
		return fakecloud.Invalid("ip_range", "must be within the network %s", n.Range)
	case overlaps(subnet):
		return fakecloud.Invalid("ip_range", "must not overlap another subnet")
	case len(n.Subnets) >= maxSubnets:
		return fakecloud.Errorf("resource_limit_exceeded", "a network has at most %d subnets", maxSubnets)
	}
	n.Subnets = append(n.Subnets, fakecloud.Subnet{Type: r.Type, Range: subnet, Zone: r.NetworkZone, VSwitchID: r.VSwitchID})
	return nil
}

// freeRange is the first /24 of a network, or the network itself where it is smaller, that does not
// overlap.
func freeRange(network netip.Prefix, overlaps func(netip.Prefix) bool) netip.Prefix {
	at := netip.PrefixFrom(network.Addr(), max(24, network.Bits()))
	for range 1 << min(16, max(0, 24-network.Bits())) {
		if !overlaps(at) {
			return at
		}
		b := at.Addr().As4()
		if b[2]++; b[2] == 0 {
			b[1]++
		}
		at = netip.PrefixFrom(netip.AddrFrom4(b), at.Bits())
	}
	return netip.Prefix{}
}

func deleteSubnet(c *rest.Call, n *fakecloud.Network) error {
	var r schema.NetworkActionDeleteSubnetRequest
	if err := c.Decode(&r); err != nil {
		return err
	}
	k := slices.IndexFunc(n.Subnets, func(s fakecloud.Subnet) bool { return s.Range.String() == r.IPRange })
	if k < 0 {
		return fakecloud.Invalid("ip_range", "there is no subnet %q", r.IPRange)
	}
	for _, a := range c.Tx.AttachedTo(n.ID) {
		if n.Subnets[k].Range.Contains(a.IP) {
			return fakecloud.Errorf("conflict", "the subnet is in use")
		}
	}
	n.Subnets = slices.Delete(n.Subnets, k, k+1)
	return nil
}

func changeRange(c *rest.Call, n *fakecloud.Network) error {
	var r schema.NetworkActionChangeIPRangeRequest
	if err := c.Decode(&r); err != nil {
		return err
	}
	wider, err := ipRange(r.IPRange)
	if err != nil {
		return err
	}
	if wider.Bits() > n.Range.Bits() || !wider.Contains(n.Range.Addr()) {
		return fakecloud.Invalid("ip_range", "must include the present range %s", n.Range)
	}
	n.Range = wider
	return nil
}

// ipRange reads a range for a private network.
func ipRange(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil || !p.Addr().Is4() || p != p.Masked():
		return p, fakecloud.Invalid("ip_range", "must be an IPv4 range such as 10.0.0.0/16")
	case !p.Addr().IsPrivate():
		return p, fakecloud.Invalid("ip_range", "must be within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16")
	case p.Bits() > 30 || p.Bits() < 8:
		return p, fakecloud.Invalid("ip_range", "must be a /8 to a /30")
	}
	return p, nil
}

// place finds a place in a network for something in a location: a given address, one in a given subnet,
// or any.
func placeIn(c *rest.Call, network int64, location string, ip, subnet *string) (fakecloud.Attachment, error) {
	n := c.Tx.Networks.Get(network)
	if n == nil {
		return fakecloud.Attachment{}, fakecloud.NotFound("network", network)
	}
	if ip != nil && *ip != "" {
		at, err := freeAddress(c, network, *ip, "ip")
		return c.Tx.NewAttachment(network, at, nil), err
	}
	var in netip.Prefix
	if subnet != nil && *subnet != "" {
		var err error
		if in, err = ipRange(*subnet); err != nil {
			return fakecloud.Attachment{}, err
		}
	}
	at, ok := c.Tx.FreeIP(n, c.Cloud().Catalogue().Location(location).NetworkZone, in)
	if !ok {
		return fakecloud.Attachment{}, fakecloud.Errorf("no_subnet_available", "no subnet or IP available in network %d", network)
	}
	return c.Tx.NewAttachment(network, at, nil), nil
}

// freeAddress reads a free address of a network.
func freeAddress(c *rest.Call, network int64, text, field string) (netip.Addr, error) {
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return ip, fakecloud.Invalid(field, "must be an IPv4 address")
	}
	n := c.Tx.Networks.Get(network)
	if n == nil {
		return ip, fakecloud.NotFound("network", network)
	}
	if !c.Tx.HasFree(n, ip) {
		return ip, fakecloud.Errorf("ip_not_available", "IP %s is not available in network %d", ip, network)
	}
	return ip, nil
}

// inNetwork is the error of something that is not in a network.
func inNetwork(all []fakecloud.Attachment, network int64) error {
	if slices.ContainsFunc(all, func(a fakecloud.Attachment) bool { return a.Network == network }) {
		return nil
	}
	return fakecloud.NotFound("network", network)
}

func networkBody(c *rest.Call, n *fakecloud.Network) any {
	s := schema.Network{
		ID: n.ID, Name: n.Name, Created: n.Created, IPRange: n.Range.String(), Subnets: []schema.NetworkSubnet{}, Routes: []schema.NetworkRoute{},
		Servers: []int64{}, LoadBalancers: []int64{}, Protection: schema.NetworkProtection{Delete: n.Protected}, Labels: rest.Labels(n.Labels),
		ExposeRoutesToVSwitch: n.ExposeRoutesToVSwitch,
	}
	for _, sub := range n.Subnets {
		s.Subnets = append(s.Subnets, schema.NetworkSubnet{
			Type: sub.Type, IPRange: sub.Range.String(), NetworkZone: sub.Zone, Gateway: n.Gateway().String(), VSwitchID: sub.VSwitchID,
		})
	}
	for _, r := range n.Routes {
		s.Routes = append(s.Routes, schema.NetworkRoute{Destination: r.Destination.String(), Gateway: r.Gateway.String()})
	}
	for _, m := range membersOf(c, n) {
		if m.Type == "server" {
			s.Servers = append(s.Servers, m.ID)
		} else {
			s.LoadBalancers = append(s.LoadBalancers, m.ID)
		}
	}
	return s
}

// members are the servers and load balancers that are attached to a network.
func membersOf(c *rest.Call, n *fakecloud.Network) []*schema.NetworkMember {
	var all []*schema.NetworkMember
	note := func(kind string, id int64, attachments []fakecloud.Attachment) {
		for _, a := range attachments {
			if a.Network != n.ID || !a.Attached {
				continue
			}
			m := &schema.NetworkMember{Type: kind, ID: id, IP: a.IP.String(), Status: "attached", AliasIPs: addresses(a.AliasIPs)}
			for _, s := range n.Subnets {
				if s.Range.Contains(a.IP) {
					m.Subnet = s.Range.String()
				}
			}
			all = append(all, m)
		}
	}
	for _, i := range c.Tx.Instances.All() {
		note("server", i.ID, i.Networks)
	}
	for _, lb := range c.Tx.LoadBalancers.All() {
		note("load_balancer", lb.ID, lb.Networks)
	}
	return all
}

func networkMembers(c *rest.Call) (int, any, error) {
	n, err := networks.Find(c)
	if err != nil {
		return 0, nil, err
	}
	k := rest.Kind[schema.NetworkMember]{
		Plural: "members",
		Meta:   func(m *schema.NetworkMember) table.Meta { return table.Meta{ID: m.ID} },
		Encode: func(_ *rest.Call, m *schema.NetworkMember) any { return m },
		Filters: map[string]func(*schema.NetworkMember, string) bool{
			"type":   func(m *schema.NetworkMember, t string) bool { return m.Type == t },
			"status": func(m *schema.NetworkMember, status string) bool { return m.Status == status },
			"subnet": func(m *schema.NetworkMember, subnet string) bool { return m.Subnet == subnet },
		},
	}
	some, err := k.Selected(c, membersOf(c, n))
	if err != nil {
		return 0, nil, err
	}
	return k.Page(c, some)
}
