package hcloud

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
)

var loadBalancers = func() owned[fakecloud.LoadBalancer] {
	o := newOwned("load_balancers", "load_balancer", func(tx *fakecloud.Tx) *fakecloud.Table[fakecloud.LoadBalancer] { return tx.LoadBalancers }, (*call).loadBalancer)
	o.free = func(c *call, lb *fakecloud.LoadBalancer) error {
		c.tx.ReleaseIPs(lb.PrimaryIPv4ID, lb.PrimaryIPv6ID)
		return nil
	}
	return o
}()

func loadBalancerOperations() []operation {
	all := []operation{
		{"GET /load_balancers", loadBalancers.list, true},
		{"POST /load_balancers", createLoadBalancer, false},
		{"GET /load_balancers/{id}", loadBalancers.get, false},
		{"PUT /load_balancers/{id}", loadBalancers.put, false},
		{"DELETE /load_balancers/{id}", deleteLoadBalancer, false},
		{"GET /load_balancers/{id}/metrics", loadBalancerMetrics, false},
		{"POST /load_balancers/{id}/actions/change_protection", loadBalancers.protect, false},
	}
	for command, do := range map[string]func(*call, *fakecloud.LoadBalancer) error{
		"add_service":              addService,
		"add_target":               addTarget,
		"attach_to_network":        attachLoadBalancer,
		"change_algorithm":         changeAlgorithm,
		"change_dns_ptr":           changeLoadBalancerDNSPtr,
		"change_type":              changeLoadBalancerType,
		"delete_service":           deleteService,
		"detach_from_network":      detachLoadBalancer,
		"disable_public_interface": func(_ *call, lb *fakecloud.LoadBalancer) error { lb.Public = false; return nil },
		"enable_public_interface":  func(_ *call, lb *fakecloud.LoadBalancer) error { lb.Public = true; return nil },
		"remove_target":            removeTarget,
		"update_service":           updateService,
	} {
		all = append(all, operation{"POST /load_balancers/{id}/actions/" + command, changeLoadBalancer(command, do), false})
	}
	slices.SortFunc(all, byName)
	return append(all, resourceActions("load_balancers", "load_balancer")...)
}

// changeLoadBalancer is the operation of an action that changes a copy of a load balancer.
func changeLoadBalancer(command string, do func(*call, *fakecloud.LoadBalancer) error) func(*call) (int, any, error) {
	return func(c *call) (int, any, error) {
		old, err := loadBalancers.find(c)
		if err != nil {
			return 0, nil, err
		}
		lb := *old
		lb.Services, lb.Targets, lb.Networks = slices.Clone(lb.Services), slices.Clone(lb.Targets), slices.Clone(lb.Networks)
		if err := do(c, &lb); err != nil {
			return 0, nil, err
		}
		c.tx.LoadBalancers.Put(lb)
		return c.started(command, loadBalancers.ref(c))
	}
}

func createLoadBalancer(c *call) (int, any, error) {
	var r schema.LoadBalancerCreateRequest
	if err := c.decode(&r); err != nil {
		return 0, nil, err
	}
	lb := fakecloud.LoadBalancer{Algorithm: "round_robin", Public: r.PublicInterface == nil || *r.PublicInterface}
	if err := c.checkLoadBalancer(&lb, r); err != nil {
		return 0, nil, err
	}
	for _, t := range r.Targets {
		if err := appendTarget(c, &lb, schema.LoadBalancerActionAddTargetRequest{
			Type: t.Type, Server: (*schema.LoadBalancerActionAddTargetRequestServer)(t.Server), UsePrivateIP: t.UsePrivateIP,
			LabelSelector: (*schema.LoadBalancerActionAddTargetRequestLabelSelector)(t.LabelSelector), IP: (*schema.LoadBalancerActionAddTargetRequestIP)(t.IP),
		}); err != nil {
			return 0, nil, err
		}
	}
	for _, s := range r.Services {
		if err := appendService(c, &lb, serviceOf(s)); err != nil {
			return 0, nil, err
		}
	}
	var err error
	if lb.Meta, err = loadBalancers.newMeta(c, r.Name, r.Labels); err != nil {
		return 0, nil, err
	}
	var own schema.LoadBalancerCreateRequestPublicNet
	if r.PublicNet != nil {
		own = *r.PublicNet
	}
	lb.PrimaryIPv4ID, lb.IPv4 = c.assign(own.IPv4, "ipv4", &lb)
	lb.PrimaryIPv6ID, lb.IPv6 = c.assign(own.IPv6, "ipv6", &lb)
	c.tx.LoadBalancers.Put(lb)
	a := c.tx.Start("create_load_balancer", nil, fakecloud.Ref{Type: "load_balancer", ID: lb.ID})
	return http.StatusCreated, map[string]any{"load_balancer": c.loadBalancer(&lb), "action": c.action(a)}, nil
}

// assign gives a load balancer an existing primary IP, or an address of its own.
func (c *call) assign(id int64, kind string, lb *fakecloud.LoadBalancer) (int64, netip.Addr) {
	if id == 0 {
		return 0, c.tx.PublicIP(kind)
	}
	c.tx.PrimaryIPs.Update(id, func(p *fakecloud.PrimaryIP) { p.AssigneeID, p.AssigneeType = lb.ID, "load_balancer" })
	return id, c.tx.PrimaryIPs.Get(id).IP
}

func (c *call) checkLoadBalancer(lb *fakecloud.LoadBalancer, r schema.LoadBalancerCreateRequest) error {
	catalogue := c.h.cloud.Catalogue()
	t := catalogue.LoadBalancerType(idOrName(r.LoadBalancerType))
	if t == nil {
		return fakecloud.Invalid("load_balancer_type", "load balancer type %q not found", idOrName(r.LoadBalancerType))
	}
	lb.Type = t.Name
	if r.Algorithm != nil {
		lb.Algorithm = r.Algorithm.Type
	}
	if err := checkAlgorithm(lb.Algorithm); err != nil {
		return err
	}
	var l *fakecloud.Location
	switch {
	case r.Location != nil:
		l = catalogue.Location(*r.Location)
	case r.NetworkZone != nil:
		l = find(catalogue.Locations, func(l fakecloud.Location) bool { return l.NetworkZone == *r.NetworkZone })
	}
	if l == nil {
		return fakecloud.Invalid("location", "location or network zone not found")
	}
	lb.Location = l.Name
	if r.PublicNet != nil {
		if err := c.checkAddress(r.PublicNet.IPv4, "ipv4", l.Name); err != nil {
			return err
		}
		if err := c.checkAddress(r.PublicNet.IPv6, "ipv6", l.Name); err != nil {
			return err
		}
	}
	if r.Network == nil {
		return nil
	}
	return attach(c, lb, *r.Network, nil, nil)
}

func checkAlgorithm(algorithm string) error {
	if algorithm != "round_robin" && algorithm != "least_connections" {
		return fakecloud.Invalid("algorithm", "must be round_robin or least_connections")
	}
	return nil
}

func deleteLoadBalancer(c *call) (int, any, error) {
	if err := loadBalancers.drop(c); err != nil {
		return 0, nil, err
	}
	return c.started("delete_load_balancer", loadBalancers.ref(c))
}

func changeAlgorithm(c *call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionChangeAlgorithmRequest
	if err := c.decode(&r); err != nil {
		return err
	}
	lb.Algorithm = r.Type
	return checkAlgorithm(r.Type)
}

func changeLoadBalancerType(c *call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionChangeTypeRequest
	if err := c.decode(&r); err != nil {
		return err
	}
	t := c.h.cloud.Catalogue().LoadBalancerType(idOrName(r.LoadBalancerType))
	if t == nil || len(lb.Services) > t.MaxServices || len(lb.Targets) > t.MaxTargets {
		return fakecloud.Errorf("invalid_load_balancer_type", "load balancer type %q does not fit for the load balancer", idOrName(r.LoadBalancerType))
	}
	lb.Type = t.Name
	return nil
}

func changeLoadBalancerDNSPtr(c *call, lb *fakecloud.LoadBalancer) (err error) {
	lb.DNSPtr, err = c.dnsPtr(lb.DNSPtr, lb.IPv4, lb.IPv6)
	return err
}

func attachLoadBalancer(c *call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionAttachToNetworkRequest
	if err := c.decode(&r); err != nil {
		return err
	}
	return attach(c, lb, r.Network, r.IP, r.IPRange)
}

func attach(c *call, lb *fakecloud.LoadBalancer, network int64, ip, subnet *string) error {
	if len(lb.Networks) > 0 {
		return fakecloud.Errorf("load_balancer_already_attached", "load balancer is attached to a network already")
	}
	place, err := c.place(network, lb.Location, ip, subnet)
	place.Attached = true
	lb.Networks = append(lb.Networks, place)
	return err
}

func detachLoadBalancer(c *call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionDetachFromNetworkRequest
	if err := c.decode(&r); err != nil {
		return err
	}
	if err := inNetwork(lb.Networks, r.Network); err != nil {
		return err
	}
	if slices.ContainsFunc(lb.Targets, func(t fakecloud.Target) bool { return t.UsePrivateIP }) {
		return fakecloud.Errorf("conflict", "targets use private IPs")
	}
	lb.Networks = nil
	return nil
}

func addTarget(c *call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionAddTargetRequest
	if err := c.decode(&r); err != nil {
		return err
	}
	return appendTarget(c, lb, r)
}

// appendTarget checks a target and adds it.
func appendTarget(c *call, lb *fakecloud.LoadBalancer, r schema.LoadBalancerActionAddTargetRequest) error {
	t, err := c.target(r)
	if err != nil {
		return err
	}
	if limit := c.h.cloud.Catalogue().LoadBalancerType(lb.Type).MaxTargets; len(lb.Targets) >= limit {
		return fakecloud.Errorf("resource_limit_exceeded", "load balancer type %s has at most %d targets", lb.Type, limit)
	}
	if slices.ContainsFunc(lb.Targets, t.same) {
		return fakecloud.Errorf("target_already_defined", "load balancer target is defined already")
	}
	if t.UsePrivateIP && len(lb.Networks) == 0 {
		return fakecloud.Errorf("load_balancer_not_attached_to_network", "load balancer is not attached to a network")
	}
	if i := c.tx.Instances.Get(t.Server); i != nil {
		switch {
		case t.UsePrivateIP && inNetwork(i.Networks, lb.Networks[0].Network) != nil:
			return fakecloud.Errorf("server_not_attached_to_network", "server is not attached to the network of the load balancer")
		case !t.UsePrivateIP && !i.PublicIPv4.IsValid():
			return fakecloud.Errorf("missing_ipv4", "server has no public IPv4")
		}
	}
	lb.Targets = append(lb.Targets, t.Target)
	return nil
}

// target is a fakecloud.Target that can be compared.
type target struct{ fakecloud.Target }

func (t target) same(other fakecloud.Target) bool {
	return t.Server == other.Server && t.Selector == other.Selector && t.IP == other.IP
}

// target reads a target of a request.
func (c *call) target(r schema.LoadBalancerActionAddTargetRequest) (target, error) {
	t := target{fakecloud.Target{UsePrivateIP: r.UsePrivateIP != nil && *r.UsePrivateIP}}
	switch {
	case r.Type == "server" && r.Server != nil:
		t.Server = r.Server.ID
		if c.tx.Instances.Get(t.Server) == nil {
			return t, fakecloud.NotFound("server", t.Server)
		}
	case r.Type == "label_selector" && r.LabelSelector != nil:
		t.Selector = r.LabelSelector.Selector
		if s, err := parseSelector(t.Selector); err != nil || len(s) == 0 {
			return t, fakecloud.Invalid("label_selector", "%q is no label selector", t.Selector)
		}
	case r.Type == "ip" && r.IP != nil:
		t.IP = r.IP.IP
		ip, err := netip.ParseAddr(t.IP)
		if err != nil {
			return t, fakecloud.Invalid("ip", "must be an IP address")
		}
		if slices.ContainsFunc(c.tx.Instances.All(), func(i *fakecloud.Instance) bool { return i.PublicIPv4 == ip }) {
			return t, fakecloud.Errorf("cloud_resource_ip_not_allowed", "IP %s belongs to a server", ip)
		}
	default:
		return t, fakecloud.Invalid("type", "must be server, label_selector or ip, with the field of that name")
	}
	return t, nil
}

func removeTarget(c *call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionAddTargetRequest // that of remove_target has the same fields
	if err := c.decode(&r); err != nil {
		return err
	}
	var t target
	switch {
	case r.Server != nil:
		t.Server = r.Server.ID
	case r.LabelSelector != nil:
		t.Selector = r.LabelSelector.Selector
	case r.IP != nil:
		t.IP = r.IP.IP
	}
	k := slices.IndexFunc(lb.Targets, t.same)
	if k < 0 {
		return fakecloud.NotFound("load_balancer_target", c.r.PathValue("id"))
	}
	lb.Targets = slices.Delete(lb.Targets, k, k+1)
	return nil
}

func loadBalancerMetrics(c *call) (int, any, error) {
	if _, err := loadBalancers.find(c); err != nil {
		return 0, nil, err
	}
	return c.metrics(map[string][]string{
		"open_connections":       {"open_connections"},
		"connections_per_second": {"connections_per_second"},
		"requests_per_second":    {"requests_per_second"},
		"bandwidth":              {"bandwidth.in", "bandwidth.out"},
	})
}

func (c *call) loadBalancer(lb *fakecloud.LoadBalancer) any {
	catalogue := c.h.cloud.Catalogue()
	s := schema.LoadBalancer{
		ID: lb.ID, Name: lb.Name, Created: lb.Created, Labels: labels(lb.Labels), Location: location(catalogue.Location(lb.Location)),
		LoadBalancerType: c.loadBalancerType(catalogue.LoadBalancerType(lb.Type)), Protection: schema.LoadBalancerProtection{Delete: lb.Protected},
		PublicNet: schema.LoadBalancerPublicNet{
			Enabled: lb.Public,
			IPv4:    schema.LoadBalancerPublicNetIPv4{ID: lb.PrimaryIPv4ID, IP: lb.IPv4.String(), DNSPtr: pointer(lb.DNSPtr, lb.IPv4)},
			IPv6:    schema.LoadBalancerPublicNetIPv6{ID: lb.PrimaryIPv6ID, IP: lb.IPv6.String(), DNSPtr: lb.DNSPtr[lb.IPv6.String()]},
		},
		PrivateNet: []schema.LoadBalancerPrivateNet{}, Services: []schema.LoadBalancerService{}, Targets: []schema.LoadBalancerTarget{},
		Algorithm: schema.LoadBalancerAlgorithm{Type: lb.Algorithm}, IncludedTraffic: terabytes(20), OutgoingTraffic: new(uint64(0)), IngoingTraffic: new(uint64(0)),
	}
	for _, a := range lb.Networks {
		s.PrivateNet = append(s.PrivateNet, schema.LoadBalancerPrivateNet{Network: a.Network, IP: a.IP.String()})
	}
	for _, service := range lb.Services {
		s.Services = append(s.Services, serviceBody(service))
	}
	for _, t := range lb.Targets {
		s.Targets = append(s.Targets, c.targetBody(lb, t))
	}
	return s
}

func (c *call) targetBody(lb *fakecloud.LoadBalancer, t fakecloud.Target) schema.LoadBalancerTarget {
	s := schema.LoadBalancerTarget{UsePrivateIP: t.UsePrivateIP, HealthStatus: []schema.LoadBalancerTargetHealthStatus{}}
	switch {
	case t.Server != 0:
		s.Type, s.Server = "server", &schema.LoadBalancerTargetServer{ID: t.Server}
	case t.IP != "":
		s.Type, s.IP = "ip", &schema.LoadBalancerTargetIP{IP: t.IP}
	default:
		s.Type, s.LabelSelector, s.Targets = "label_selector", &schema.LoadBalancerTargetLabelSelector{Selector: t.Selector}, []schema.LoadBalancerTarget{}
		for _, i := range c.tx.Instances.All() {
			if selected([]string{t.Selector}, i.Labels) {
				s.Targets = append(s.Targets, c.targetBody(lb, fakecloud.Target{Server: i.ID, UsePrivateIP: t.UsePrivateIP}))
			}
		}
		return s
	}
	for _, service := range lb.Services {
		s.HealthStatus = append(s.HealthStatus, schema.LoadBalancerTargetHealthStatus{ListenPort: service.ListenPort, Status: c.health(t)})
	}
	return s
}

// health is what a health check finds: servers that run answer, of others nothing is known.
func (c *call) health(t fakecloud.Target) string {
	i := c.tx.Instances.Get(t.Server)
	switch {
	case i == nil:
		return "unknown"
	case i.State == fakecloud.Running:
		return "healthy"
	}
	return "unhealthy"
}
