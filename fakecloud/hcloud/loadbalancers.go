package hcloud

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/offers"
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/fakecloud/table"
)

var loadBalancers = func() rest.Owned[fakecloud.LoadBalancer] {
	o := rest.NewOwned("load_balancers", "load_balancer",
		func(tx *fakecloud.Tx) *table.Table[fakecloud.LoadBalancer] { return tx.LoadBalancers }, loadBalancerBody)
	o.Free = func(c *rest.Call, lb *fakecloud.LoadBalancer) error {
		c.Tx.ReleaseIPs(lb.PrimaryIPv4ID, lb.PrimaryIPv6ID)
		return nil
	}
	return o
}()

func loadBalancerOperations() []rest.Operation {
	all := []rest.Operation{
		rest.Steady("GET /load_balancers", loadBalancers.List),
		rest.NewOperation("POST /load_balancers", createLoadBalancer),
		rest.NewOperation("GET /load_balancers/{id}", loadBalancers.Get),
		rest.NewOperation("PUT /load_balancers/{id}", loadBalancers.Put),
		rest.NewOperation("DELETE /load_balancers/{id}", deleteLoadBalancer),
		rest.NewOperation("GET /load_balancers/{id}/metrics", loadBalancerMetrics),
		rest.NewOperation("POST /load_balancers/{id}/actions/change_protection", loadBalancers.Protect),
	}
	for command, do := range map[string]func(*rest.Call, *fakecloud.LoadBalancer) error{
		"add_service":              addService,
		"add_target":               addTarget,
		"attach_to_network":        attachLoadBalancer,
		"change_algorithm":         changeAlgorithm,
		"change_dns_ptr":           changeLoadBalancerDNSPtr,
		"change_type":              changeLoadBalancerType,
		"delete_service":           deleteService,
		"detach_from_network":      detachLoadBalancer,
		"disable_public_interface": func(_ *rest.Call, lb *fakecloud.LoadBalancer) error { lb.Public = false; return nil },
		"enable_public_interface":  func(_ *rest.Call, lb *fakecloud.LoadBalancer) error { lb.Public = true; return nil },
		"remove_target":            removeTarget,
		"update_service":           updateService,
	} {
		all = append(all, rest.NewOperation("POST /load_balancers/{id}/actions/"+command, changeLoadBalancer(command, do)))
	}
	slices.SortFunc(all, rest.CompareNames)
	return append(all, rest.ResourceActions("load_balancers", "load_balancer")...)
}

// changeLoadBalancer is the operation of an action that changes a copy of a load balancer.
func changeLoadBalancer(command string, do func(*rest.Call, *fakecloud.LoadBalancer) error) func(*rest.Call) (int, any, error) {
	return func(c *rest.Call) (int, any, error) {
		old, err := loadBalancers.Find(c)
		if err != nil {
			return 0, nil, err
		}
		lb := *old
		lb.Services, lb.Targets, lb.Networks = slices.Clone(lb.Services), slices.Clone(lb.Targets), slices.Clone(lb.Networks)
		if err := do(c, &lb); err != nil {
			return 0, nil, err
		}
		c.Tx.LoadBalancers.Put(lb)
		return c.Started(command, loadBalancers.Ref(c))
	}
}

func createLoadBalancer(c *rest.Call) (int, any, error) {
	var r schema.LoadBalancerCreateRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	lb := fakecloud.LoadBalancer{Algorithm: "round_robin", Public: r.PublicInterface == nil || *r.PublicInterface}
	if err := checkLoadBalancer(c, &lb, r); err != nil {
		return 0, nil, err
	}
	for _, t := range r.Targets {
		if err := appendTarget(c, &lb, schema.LoadBalancerActionAddTargetRequest{
			Type: t.Type, Server: (*schema.LoadBalancerActionAddTargetRequestServer)(t.Server), UsePrivateIP: t.UsePrivateIP,
			LabelSelector: (*schema.LoadBalancerActionAddTargetRequestLabelSelector)(t.LabelSelector),
			IP:            (*schema.LoadBalancerActionAddTargetRequestIP)(t.IP),
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
	if lb.Meta, err = loadBalancers.NewMeta(c, r.Name, r.Labels); err != nil {
		return 0, nil, err
	}
	var own schema.LoadBalancerCreateRequestPublicNet
	if r.PublicNet != nil {
		own = *r.PublicNet
	}
	lb.PrimaryIPv4ID, lb.IPv4 = assignAddress(c, own.IPv4, "ipv4", &lb)
	lb.PrimaryIPv6ID, lb.IPv6 = assignAddress(c, own.IPv6, "ipv6", &lb)
	c.Tx.LoadBalancers.Put(lb)
	a := c.Tx.Start("create_load_balancer", nil, fakecloud.Ref{Type: "load_balancer", ID: lb.ID})
	return http.StatusCreated, map[string]any{"load_balancer": loadBalancerBody(c, &lb), "action": c.Action(a)}, nil
}

// assign gives a load balancer an existing primary IP, or an address of its own.
func assignAddress(c *rest.Call, id int64, kind string, lb *fakecloud.LoadBalancer) (int64, netip.Addr) {
	if id == 0 {
		return 0, c.Tx.PublicIP(kind)
	}
	c.Tx.PrimaryIPs.Update(id, func(p *fakecloud.PrimaryIP) { p.AssigneeID, p.AssigneeType = lb.ID, "load_balancer" })
	return id, c.Tx.PrimaryIPs.Get(id).IP
}

func checkLoadBalancer(c *rest.Call, lb *fakecloud.LoadBalancer, r schema.LoadBalancerCreateRequest) error {
	catalogue := c.Cloud().Catalogue()
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
		if err := checkAddress(c, r.PublicNet.IPv4, "ipv4", l.Name); err != nil {
			return err
		}
		if err := checkAddress(c, r.PublicNet.IPv6, "ipv6", l.Name); err != nil {
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

func deleteLoadBalancer(c *rest.Call) (int, any, error) {
	if err := loadBalancers.Drop(c); err != nil {
		return 0, nil, err
	}
	return c.Started("delete_load_balancer", loadBalancers.Ref(c))
}

func changeAlgorithm(c *rest.Call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionChangeAlgorithmRequest
	if err := c.Decode(&r); err != nil {
		return err
	}
	lb.Algorithm = r.Type
	return checkAlgorithm(r.Type)
}

func changeLoadBalancerType(c *rest.Call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionChangeTypeRequest
	if err := c.Decode(&r); err != nil {
		return err
	}
	t := c.Cloud().Catalogue().LoadBalancerType(idOrName(r.LoadBalancerType))
	if t == nil || len(lb.Services) > t.MaxServices || len(lb.Targets) > t.MaxTargets {
		return fakecloud.Errorf("invalid_load_balancer_type", "load balancer type %q does not fit for the load balancer",
			idOrName(r.LoadBalancerType))
	}
	lb.Type = t.Name
	return nil
}

func changeLoadBalancerDNSPtr(c *rest.Call, lb *fakecloud.LoadBalancer) (err error) {
	lb.DNSPtr, err = dnsPtrOf(c, lb.DNSPtr, lb.IPv4, lb.IPv6)
	return err
}

func attachLoadBalancer(c *rest.Call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionAttachToNetworkRequest
	if err := c.Decode(&r); err != nil {
		return err
	}
	return attach(c, lb, r.Network, r.IP, r.IPRange)
}

func attach(c *rest.Call, lb *fakecloud.LoadBalancer, network int64, ip, subnet *string) error {
	if len(lb.Networks) > 0 {
		return fakecloud.Errorf("load_balancer_already_attached", "load balancer is attached to a network already")
	}
	place, err := placeIn(c, network, lb.Location, ip, subnet)
	place.Attached = true
	lb.Networks = append(lb.Networks, place)
	return err
}

func detachLoadBalancer(c *rest.Call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionDetachFromNetworkRequest
	if err := c.Decode(&r); err != nil {
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

func addTarget(c *rest.Call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionAddTargetRequest
	if err := c.Decode(&r); err != nil {
		return err
	}
	return appendTarget(c, lb, r)
}

// appendTarget checks a target and adds it.
func appendTarget(c *rest.Call, lb *fakecloud.LoadBalancer, r schema.LoadBalancerActionAddTargetRequest) error {
	t, err := targetOf(c, r)
	if err != nil {
		return err
	}
	if limit := c.Cloud().Catalogue().LoadBalancerType(lb.Type).MaxTargets; len(lb.Targets) >= limit {
		return fakecloud.Errorf("resource_limit_exceeded", "load balancer type %s has at most %d targets", lb.Type, limit)
	}
	if slices.ContainsFunc(lb.Targets, t.equals) {
		return fakecloud.Errorf("target_already_defined", "load balancer target is defined already")
	}
	if t.UsePrivateIP && len(lb.Networks) == 0 {
		return fakecloud.Errorf("load_balancer_not_attached_to_network", "load balancer is not attached to a network")
	}
	if i := c.Tx.Instances.Get(t.Server); i != nil {
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

func (t target) equals(other fakecloud.Target) bool {
	return t.Server == other.Server && t.Selector == other.Selector && t.IP == other.IP
}

// target reads a target of a request.
func targetOf(c *rest.Call, r schema.LoadBalancerActionAddTargetRequest) (target, error) {
	t := target{fakecloud.Target{UsePrivateIP: r.UsePrivateIP != nil && *r.UsePrivateIP}}
	switch {
	case r.Type == "server" && r.Server != nil:
		t.Server = r.Server.ID
		if c.Tx.Instances.Get(t.Server) == nil {
			return t, fakecloud.NotFound("server", t.Server)
		}
	case r.Type == "label_selector" && r.LabelSelector != nil:
		t.Selector = r.LabelSelector.Selector
		if s, err := rest.ParseSelector(t.Selector); err != nil || len(s) == 0 {
			return t, fakecloud.Invalid("label_selector", "%q is no label selector", t.Selector)
		}
	case r.Type == "ip" && r.IP != nil:
		t.IP = r.IP.IP
		ip, err := netip.ParseAddr(t.IP)
		if err != nil {
			return t, fakecloud.Invalid("ip", "must be an IP address")
		}
		if slices.ContainsFunc(c.Tx.Instances.All(), func(i *fakecloud.Instance) bool { return i.PublicIPv4 == ip }) {
			return t, fakecloud.Errorf("cloud_resource_ip_not_allowed", "IP %s belongs to a server", ip)
		}
	default:
		return t, fakecloud.Invalid("type", "must be server, label_selector or ip, with the field of that name")
	}
	return t, nil
}

func removeTarget(c *rest.Call, lb *fakecloud.LoadBalancer) error {
	var r schema.LoadBalancerActionAddTargetRequest // that of remove_target has the same fields
	if err := c.Decode(&r); err != nil {
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
	k := slices.IndexFunc(lb.Targets, t.equals)
	if k < 0 {
		return fakecloud.NotFound("load_balancer_target", c.Request.PathValue("id"))
	}
	lb.Targets = slices.Delete(lb.Targets, k, k+1)
	return nil
}

func loadBalancerMetrics(c *rest.Call) (int, any, error) {
	if _, err := loadBalancers.Find(c); err != nil {
		return 0, nil, err
	}
	return metricsOf(c, map[string][]string{
		"open_connections":       {"open_connections"},
		"connections_per_second": {"connections_per_second"},
		"requests_per_second":    {"requests_per_second"},
		"bandwidth":              {"bandwidth.in", "bandwidth.out"},
	})
}

func loadBalancerBody(c *rest.Call, lb *fakecloud.LoadBalancer) any {
	catalogue := c.Cloud().Catalogue()
	s := schema.LoadBalancer{
		ID: lb.ID, Name: lb.Name, Created: lb.Created, Labels: rest.Labels(lb.Labels), Location: offers.Location(catalogue.Location(lb.Location)),
		LoadBalancerType: offers.LoadBalancerType(c, catalogue.LoadBalancerType(lb.Type)),
		Protection:       schema.LoadBalancerProtection{Delete: lb.Protected},
		PublicNet: schema.LoadBalancerPublicNet{
			Enabled: lb.Public,
			IPv4:    schema.LoadBalancerPublicNetIPv4{ID: lb.PrimaryIPv4ID, IP: lb.IPv4.String(), DNSPtr: pointer(lb.DNSPtr, lb.IPv4)},
			IPv6:    schema.LoadBalancerPublicNetIPv6{ID: lb.PrimaryIPv6ID, IP: lb.IPv6.String(), DNSPtr: lb.DNSPtr[lb.IPv6.String()]},
		},
		PrivateNet: []schema.LoadBalancerPrivateNet{}, Services: []schema.LoadBalancerService{}, Targets: []schema.LoadBalancerTarget{},
		Algorithm: schema.LoadBalancerAlgorithm{Type: lb.Algorithm}, IncludedTraffic: offers.Terabytes(20), OutgoingTraffic: new(uint64(0)),
		IngoingTraffic: new(uint64(0)),
	}
	for _, a := range lb.Networks {
		s.PrivateNet = append(s.PrivateNet, schema.LoadBalancerPrivateNet{Network: a.Network, IP: a.IP.String()})
	}
	for _, service := range lb.Services {
		s.Services = append(s.Services, serviceBody(service))
	}
	for _, t := range lb.Targets {
		s.Targets = append(s.Targets, targetBody(c, lb, t))
	}
	return s
}

func targetBody(c *rest.Call, lb *fakecloud.LoadBalancer, t fakecloud.Target) schema.LoadBalancerTarget {
	s := schema.LoadBalancerTarget{UsePrivateIP: t.UsePrivateIP, HealthStatus: []schema.LoadBalancerTargetHealthStatus{}}
	switch {
	case t.Server != 0:
		s.Type, s.Server = "server", &schema.LoadBalancerTargetServer{ID: t.Server}
	case t.IP != "":
		s.Type, s.IP = "ip", &schema.LoadBalancerTargetIP{IP: t.IP}
	default:
		s.Type, s.Targets = "label_selector", []schema.LoadBalancerTarget{}
		s.LabelSelector = &schema.LoadBalancerTargetLabelSelector{Selector: t.Selector}
		for _, i := range c.Tx.Instances.All() {
			if selected([]string{t.Selector}, i.Labels) {
				s.Targets = append(s.Targets, targetBody(c, lb, fakecloud.Target{Server: i.ID, UsePrivateIP: t.UsePrivateIP}))
			}
		}
		return s
	}
	for _, service := range lb.Services {
		s.HealthStatus = append(s.HealthStatus, schema.LoadBalancerTargetHealthStatus{ListenPort: service.ListenPort, Status: healthOf(c, t)})
	}
	return s
}

// health is what a health check finds: servers that run answer, of others nothing is known.
func healthOf(c *rest.Call, t fakecloud.Target) string {
	i := c.Tx.Instances.Get(t.Server)
	switch {
	case i == nil:
		return "unknown"
	case i.State == fakecloud.Running:
		return "healthy"
	}
	return "unhealthy"
}
