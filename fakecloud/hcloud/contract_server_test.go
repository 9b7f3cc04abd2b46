package hcloud

import (
	"context"
	"net"
	"strings"
	"time"

	api "github.com/hetznercloud/hcloud-go/v2/hcloud"

	"nodestorm/fakecloud"
)

type contextType = context.Context

func serversContract(e *env) {
	c := &e.client.Server
	made := call2[api.ServerCreateResult](e, "Server.Create")(c.Create(e.ctx, api.ServerCreateOpts{
		Name: "a", ServerType: &api.ServerType{Name: "cx22"}, Image: &api.Image{Name: "debian-12"}, Location: &api.Location{Name: "nbg1"},
		Labels: map[string]string{"hcloud/node-group": "pool1"}, UserData: "#cloud-config\n",
	}))
	e.check("status", made.Server.Status, api.ServerStatusInitializing)
	e.check("locked", made.Server.Locked, true)
	if made.RootPassword == "" {
		e.Error("no password without a key")
	}
	e.check("next actions", made.NextActions[0].Command, "start_server")
	_, _, err := c.Poweroff(e.ctx, made.Server)
	e.code(err, "locked")
	e.ok(e.client.Action.WaitFor(e.ctx, append(made.NextActions, made.Action)...))
	s := e.serverNow(made.Server)
	e.check("status", s.Status, api.ServerStatusRunning)
	e.check("location", s.Location.Name, "nbg1")
	e.check("image", s.Image.Name, "debian-12")
	finds(e, "Server", c, s.ID, "a", func(s *api.Server) int64 { return s.ID },
		api.ServerListOpts{ListOpts: api.ListOpts{LabelSelector: "hcloud/node-group=pool1"},
			Status: []api.ServerStatus{api.ServerStatusRunning}, Sort: []string{"created:desc"}},
		api.ServerListOpts{ListOpts: api.ListOpts{LabelSelector: "hcloud/node-group!=pool1"}})
	_, _, err = c.Create(e.ctx, api.ServerCreateOpts{Name: "a", ServerType: &api.ServerType{Name: "cx22"},
		Image: &api.Image{Name: "debian-12"}})
	e.code(err, "uniqueness_error")
	s = call2[*api.Server](e, "Server.Update")(c.Update(e.ctx, s, api.ServerUpdateOpts{Name: "b", Labels: map[string]string{"x": "y"}}))
	e.check("name and labels", []string{s.Name, s.Labels["x"]}, []string{"b", "y"})

	e.act("Server.ChangeProtection")(c.ChangeProtection(e.ctx, s, api.ServerChangeProtectionOpts{Delete: new(true), Rebuild: new(true)}))
	_, _, err = c.DeleteWithResult(e.ctx, s)
	e.code(err, "protected")
	_, _, err = c.RebuildWithResult(e.ctx, s, api.ServerRebuildOpts{Image: s.Image})
	e.code(err, "protected")
	e.act("Server.ChangeProtection")(c.ChangeProtection(e.ctx, s, api.ServerChangeProtectionOpts{Delete: new(false), Rebuild: new(false)}))

	e.act("Server.Rebuild")(c.Rebuild(e.ctx, s, api.ServerRebuildOpts{Image: &api.Image{Name: "ubuntu-24.04"}}))
	e.check("image after rebuilding", e.serverNow(s).Image.Name, "ubuntu-24.04")
	rebuilt := call2[api.ServerRebuildResult](e, "Server.RebuildWithResult")(c.RebuildWithResult(e.ctx, s,
		api.ServerRebuildOpts{Image: &api.Image{Name: "debian-12"}, UserData: new("x")}))
	e.ok(e.client.Action.WaitFor(e.ctx, rebuilt.Action))
	e.check("status after rebuilding", e.serverNow(s).Status, api.ServerStatusRunning)

	e.act("Server.AttachISO")(c.AttachISO(e.ctx, s, &api.ISO{ID: 8637}))
	e.check("ISO", e.serverNow(s).ISO.ID, int64(8637))
	e.act("Server.DetachISO")(c.DetachISO(e.ctx, s))
	e.act("Server.EnableBackup")(c.EnableBackup(e.ctx, s, ""))
	e.check("backup", e.serverNow(s).BackupWindow, "22-02")
	e.act("Server.DisableBackup")(c.DisableBackup(e.ctx, s))
	call2[api.ServerEnableRescueResult](e, "Server.EnableRescue")(c.EnableRescue(e.ctx, s,
		api.ServerEnableRescueOpts{Type: api.ServerRescueTypeLinux64}))
	e.check("rescue", e.serverNow(s).RescueEnabled, true)
	e.act("Server.DisableRescue")(c.DisableRescue(e.ctx, s))
	if call2[api.ServerResetPasswordResult](e, "Server.ResetPassword")(c.ResetPassword(e.ctx, s)).RootPassword == "" {
		e.Error("no password after resetting it")
	}
	if call2[api.ServerRequestConsoleResult](e, "Server.RequestConsole")(c.RequestConsole(e.ctx, s)).WSSURL == "" {
		e.Error("no URL of the console")
	}
	e.act("Server.ChangeDNSPtr")(c.ChangeDNSPtr(e.ctx, s, s.PublicNet.IPv4.IP.String(), new("a.example")))
	e.check("reverse DNS", e.serverNow(s).PublicNet.IPv4.DNSPtr, "a.example")
	e.act("RDNS.ChangeDNSPtr")(e.client.RDNS.ChangeDNSPtr(e.ctx, s, s.PublicNet.IPv4.IP, nil))
	metrics := call2[*api.ServerMetrics](e, "Server.GetMetrics")(c.GetMetrics(e.ctx, s, api.ServerGetMetricsOpts{
		Types: []api.ServerMetricType{api.ServerMetricCPU}, Start: time.Now().Add(-time.Hour), End: time.Now(),
	}))
	e.check("series", len(metrics.TimeSeries["cpu"]), 2)

	deleted := call2[*api.ServerDeleteResult](e, "Server.DeleteWithResult")(c.DeleteWithResult(e.ctx, s))
	e.ok(e.client.Action.WaitFor(e.ctx, deleted.Action))
	if now := e.serverNow(s); now != nil {
		e.Errorf("the deleted server is still there: %v", now.Status)
	}
	e.done("Server.Delete")(c.Delete(e.ctx, e.server("c")))
	for _, wrong := range []api.ServerCreateOpts{
		{Name: "_", ServerType: &api.ServerType{Name: "cx22"}, Image: &api.Image{Name: "debian-12"}},
		{Name: "d", ServerType: &api.ServerType{Name: "cx22"}, Image: &api.Image{ID: 114690389}},
		{Name: "d", ServerType: &api.ServerType{Name: "cx22"}, Image: &api.Image{Name: "none"}},
		{Name: "d", ServerType: &api.ServerType{Name: "none"}, Image: &api.Image{Name: "debian-12"}},
		{Name: "d", ServerType: &api.ServerType{Name: "cx22"}, Image: &api.Image{Name: "debian-12"}, Location: &api.Location{Name: "ash"}},
		{Name: "d", ServerType: &api.ServerType{Name: "cx22"}, Image: &api.Image{Name: "debian-12"}, UserData: strings.Repeat("x", 32<<10+1)},
		{Name: "d", ServerType: &api.ServerType{Name: "cx22"}, Image: &api.Image{Name: "debian-12"}, Labels: map[string]string{"a b": ""}},
	} {
		_, _, err := c.Create(e.ctx, wrong)
		e.code(err, "invalid_input")
	}
}

func powerContract(e *env) {
	c := &e.client.Server
	s := e.server("a")
	status := func(want api.ServerStatus) {
		e.Helper()
		e.check("status", e.serverNow(s).Status, want)
	}
	e.act("Server.Poweroff")(c.Poweroff(e.ctx, s))
	status(api.ServerStatusOff)
	e.act("Server.ChangeType")(c.ChangeType(e.ctx, s, api.ServerChangeTypeOpts{ServerType: &api.ServerType{Name: "cx32"}, UpgradeDisk: true}))
	e.check("type", e.serverNow(s).ServerType.Name, "cx32")
	e.act("Server.Poweron")(c.Poweron(e.ctx, s))
	status(api.ServerStatusRunning)
	_, _, err := c.ChangeType(e.ctx, s, api.ServerChangeTypeOpts{ServerType: &api.ServerType{Name: "cx42"}})
	e.code(err, "server_not_stopped")
	e.act("Server.Shutdown")(c.Shutdown(e.ctx, s))
	status(api.ServerStatusOff)
	e.act("Server.Poweron")(c.Poweron(e.ctx, s))
	e.act("Server.Reboot")(c.Reboot(e.ctx, s))
	e.act("Server.Reset")(c.Reset(e.ctx, s))
	status(api.ServerStatusRunning)
}

func cidr(text string) *net.IPNet {
	_, n, err := net.ParseCIDR(text)
	if err != nil {
		panic(err) // a constant
	}
	return n
}

func networksContract(e *env) {
	c := &e.client.Network
	n := call2[*api.Network](e, "Network.Create")(c.Create(e.ctx, api.NetworkCreateOpts{
		Name: "n", IPRange: cidr("10.0.0.0/16"), Subnets: []api.NetworkSubnet{{Type: api.NetworkSubnetTypeCloud,
			NetworkZone: api.NetworkZoneEUCentral, IPRange: cidr("10.0.0.0/24")}},
	}))
	finds(e, "Network", c, n.ID, "n", func(n *api.Network) int64 { return n.ID }, api.NetworkListOpts{Name: "n"},
		api.NetworkListOpts{Name: "x"})
	e.check("name", call2[*api.Network](e, "Network.Update")(c.Update(e.ctx, n, api.NetworkUpdateOpts{Name: "m",
		ExposeRoutesToVSwitch: new(true)})).Name, "m")
	e.act("Network.AddSubnet")(c.AddSubnet(e.ctx, n, api.NetworkAddSubnetOpts{Subnet: api.NetworkSubnet{Type: api.NetworkSubnetTypeCloud,
		NetworkZone: api.NetworkZoneEUCentral, IPRange: cidr("10.0.1.0/24")}}))
	e.act("Network.DeleteSubnet")(c.DeleteSubnet(e.ctx, n,
		api.NetworkDeleteSubnetOpts{Subnet: api.NetworkSubnet{IPRange: cidr("10.0.1.0/24")}}))
	route := api.NetworkRoute{Destination: cidr("10.244.1.0/24"), Gateway: net.ParseIP("10.0.0.2")}
	e.act("Network.AddRoute")(c.AddRoute(e.ctx, n, api.NetworkAddRouteOpts{Route: route}))
	now, _, err := c.GetByID(e.ctx, n.ID)
	e.ok(err)
	e.check("routes", now.Routes[0].Destination.String(), "10.244.1.0/24")
	e.act("Network.DeleteRoute")(c.DeleteRoute(e.ctx, n, api.NetworkDeleteRouteOpts{Route: route}))
	e.act("Network.ChangeIPRange")(c.ChangeIPRange(e.ctx, n, api.NetworkChangeIPRangeOpts{IPRange: cidr("10.0.0.0/8")}))
	e.act("Network.ChangeProtection")(c.ChangeProtection(e.ctx, n, api.NetworkChangeProtectionOpts{Delete: new(true)}))
	_, err = c.Delete(e.ctx, n)
	e.code(err, "protected")
	e.act("Network.ChangeProtection")(c.ChangeProtection(e.ctx, n, api.NetworkChangeProtectionOpts{Delete: new(false)}))

	// A server of a node group: attached when it is created, private only.
	s := e.serverWith(api.ServerCreateOpts{Name: "a", Networks: []*api.Network{n}, PublicNet: &api.ServerCreatePublicNet{}})
	e.check("private IP", s.PrivateNet[0].IP.String(), "10.0.0.2")
	e.check("public IP", s.PublicNet.IPv4.IsUnspecified(), true)
	e.check("members", len(call2[[]*api.NetworkMember](e, "Network.ListMembers")(c.ListMembers(e.ctx, n,
		api.NetworkMemberListOpts{Type: []api.NetworkMemberType{"server"}}))), 1)
	e.check("members", len(plain[[]*api.NetworkMember](e, "Network.AllMembers")(c.AllMembers(e.ctx, n))), 1)
	e.check("members", len(plain[[]*api.NetworkMember](e, "Network.AllMembersWithOpts")(c.AllMembersWithOpts(e.ctx, n,
		api.NetworkMemberListOpts{Type: []api.NetworkMemberType{"load_balancer"}}))), 0)
	e.act("Server.ChangeAliasIPs")(e.client.Server.ChangeAliasIPs(e.ctx, s, api.ServerChangeAliasIPsOpts{Network: n,
		AliasIPs: []net.IP{net.ParseIP("10.0.0.50")}}))
	e.check("alias", e.serverNow(s).PrivateNet[0].Aliases[0].String(), "10.0.0.50")
	e.act("Server.DetachFromNetwork")(e.client.Server.DetachFromNetwork(e.ctx, s, api.ServerDetachFromNetworkOpts{Network: n}))
	e.check("networks", len(e.serverNow(s).PrivateNet), 0)
	e.act("Server.AttachToNetwork")(e.client.Server.AttachToNetwork(e.ctx, s, api.ServerAttachToNetworkOpts{Network: n,
		IP: net.ParseIP("10.0.0.9")}))
	e.check("private IP", e.serverNow(s).PrivateNet[0].IP.String(), "10.0.0.9")
	_, _, err = e.client.Server.AttachToNetwork(e.ctx, s, api.ServerAttachToNetworkOpts{Network: n})
	e.code(err, "server_already_attached")
	// What is in a network is detached when it is deleted.
	lb, _, err := e.client.LoadBalancer.Create(e.ctx, api.LoadBalancerCreateOpts{
		Name: "lb", LoadBalancerType: &api.LoadBalancerType{Name: "lb11"}, Location: &api.Location{Name: "fsn1"}, Network: n,
	})
	e.ok(err)
	e.done("Network.Delete")(c.Delete(e.ctx, n))
	e.check("networks", len(e.serverNow(s).PrivateNet), 0)
	balancer, _, err := e.client.LoadBalancer.GetByID(e.ctx, lb.LoadBalancer.ID)
	e.ok(err)
	e.check("networks", len(balancer.PrivateNet), 0)
	saved, err := e.cloud.Save()
	e.ok(err)
	again, err := fakecloud.New(fakecloud.Config{Clock: realClock, State: saved})
	e.ok(err)
	again.Close()
}

func volumesContract(e *env) {
	c := &e.client.Volume
	v := call2[api.VolumeCreateResult](e, "Volume.Create")(c.Create(e.ctx, api.VolumeCreateOpts{Name: "v", Size: 10,
		Location: &api.Location{Name: "fsn1"}, Format: new("ext4")})).Volume
	finds(e, "Volume", c, v.ID, "v", func(v *api.Volume) int64 { return v.ID },
		api.VolumeListOpts{Status: []api.VolumeStatus{api.VolumeStatusAvailable}},
		api.VolumeListOpts{Status: []api.VolumeStatus{api.VolumeStatusCreating}})
	e.check("name", call2[*api.Volume](e, "Volume.Update")(c.Update(e.ctx, v, api.VolumeUpdateOpts{Name: "w"})).Name, "w")
	s := e.server("a")
	e.act("Volume.Attach")(c.Attach(e.ctx, v, s))
	e.check("volumes of the server", len(e.serverNow(s).Volumes), 1)
	_, err := c.Delete(e.ctx, v)
	e.code(err, "resource_in_use")
	e.act("Volume.Detach")(c.Detach(e.ctx, v))
	e.act("Volume.AttachWithOpts")(c.AttachWithOpts(e.ctx, v, api.VolumeAttachOpts{Server: s, Automount: new(false)}))
	e.act("Volume.Resize")(c.Resize(e.ctx, v, 20))
	now, _, err := c.GetByID(e.ctx, v.ID)
	e.ok(err)
	e.check("size", now.Size, 20)
	e.done("Server.Delete")(e.client.Server.Delete(e.ctx, s))
	time.Sleep(time.Minute)
	e.act("Volume.ChangeProtection")(c.ChangeProtection(e.ctx, v, api.VolumeChangeProtectionOpts{Delete: new(false)}))
	made := call2[api.ServerCreateResult](e, "Server.Create")(e.client.Server.Create(e.ctx, api.ServerCreateOpts{
		Name: "b", ServerType: &api.ServerType{Name: "cx22"}, Image: &api.Image{Name: "debian-12"}, Volumes: []*api.Volume{v},
		Automount: new(true),
	}))
	e.check("volumes of a new server", len(made.Server.Volumes), 1)
	e.act("Volume.Detach")(c.Detach(e.ctx, v))
	e.done("Volume.Delete")(c.Delete(e.ctx, v))

	with := call2[api.VolumeCreateResult](e, "Volume.Create")(c.Create(e.ctx, api.VolumeCreateOpts{Name: "with", Size: 10,
		Server: made.Server}))
	e.ok(e.client.Action.WaitFor(e.ctx, append(with.NextActions, with.Action)...))
	e.check("next actions", with.NextActions[0].Command, "attach_volume")
	e.check("resources of create_volume", with.Action.Resources[0], &api.ActionResource{ID: made.Server.ID,
		Type: api.ActionResourceTypeServer})
	e.check("volumes of the server", len(e.serverNow(made.Server).Volumes), 1)
}

func primaryIPsContract(e *env) {
	c := &e.client.PrimaryIP
	p := call2[*api.PrimaryIPCreateResult](e, "PrimaryIP.Create")(c.Create(e.ctx, api.PrimaryIPCreateOpts{Name: "p",
		Type: api.PrimaryIPTypeIPv4, Location: "fsn1"})).PrimaryIP
	finds(e, "PrimaryIP", c, p.ID, "p", func(p *api.PrimaryIP) int64 { return p.ID }, api.PrimaryIPListOpts{IP: p.IP.String()},
		api.PrimaryIPListOpts{IP: "1.1.1.1"})
	e.check("by IP", call2[*api.PrimaryIP](e, "PrimaryIP.GetByIP")(c.GetByIP(e.ctx, p.IP.String())).ID, p.ID)
	e.check("name", call2[*api.PrimaryIP](e, "PrimaryIP.Update")(c.Update(e.ctx, p, api.PrimaryIPUpdateOpts{Name: "q",
		AutoDelete: new(false)})).Name, "q")
	e.act("PrimaryIP.ChangeDNSPtr")(c.ChangeDNSPtr(e.ctx, api.PrimaryIPChangeDNSPtrOpts{ID: p.ID, IP: p.IP.String(), DNSPtr: "a.example"}))
	e.act("PrimaryIP.ChangeProtection")(c.ChangeProtection(e.ctx, api.PrimaryIPChangeProtectionOpts{ID: p.ID, Delete: true}))
	_, err := c.Delete(e.ctx, p)
	e.code(err, "protected")
	e.act("PrimaryIP.ChangeProtection")(c.ChangeProtection(e.ctx, api.PrimaryIPChangeProtectionOpts{ID: p.ID, Delete: false}))
	s := e.serverWith(api.ServerCreateOpts{Name: "a", Location: &api.Location{Name: "fsn1"}, StartAfterCreate: new(false),
		PublicNet: &api.ServerCreatePublicNet{}})
	e.act("PrimaryIP.Assign")(c.Assign(e.ctx, api.PrimaryIPAssignOpts{ID: p.ID, AssigneeID: s.ID, AssigneeType: "server"}))
	e.check("IP of the server", e.serverNow(s).PublicNet.IPv4.IP.String(), p.IP.String())
	e.act("PrimaryIP.Unassign")(c.Unassign(e.ctx, p.ID))
	e.check("IP of the server", e.serverNow(s).PublicNet.IPv4.IsUnspecified(), true)
	with := e.serverWith(api.ServerCreateOpts{Name: "b", Location: &api.Location{Name: "fsn1"},
		PublicNet: &api.ServerCreatePublicNet{EnableIPv4: true, IPv4: p, EnableIPv6: true}})
	e.check("IP of the server", with.PublicNet.IPv4.IP.String(), p.IP.String())
	e.done("Server.Delete")(e.client.Server.Delete(e.ctx, with))
	time.Sleep(time.Minute)
	left, err := c.All(e.ctx)
	e.ok(err)
	e.check("primary IPs left", len(left), 1)
	e.done("PrimaryIP.Delete")(c.Delete(e.ctx, p))
}

func floatingIPsContract(e *env) {
	c := &e.client.FloatingIP
	f := call2[api.FloatingIPCreateResult](e, "FloatingIP.Create")(c.Create(e.ctx, api.FloatingIPCreateOpts{Name: new("f"),
		Type: api.FloatingIPTypeIPv4, HomeLocation: &api.Location{Name: "fsn1"}})).FloatingIP
	finds(e, "FloatingIP", c, f.ID, "f", func(f *api.FloatingIP) int64 { return f.ID }, api.FloatingIPListOpts{Name: "f"},
		api.FloatingIPListOpts{Name: "x"})
	e.check("description", call2[*api.FloatingIP](e, "FloatingIP.Update")(c.Update(e.ctx, f,
		api.FloatingIPUpdateOpts{Description: "d"})).Description, "d")
	s := e.server("a")
	e.act("FloatingIP.Assign")(c.Assign(e.ctx, f, s))
	e.check("floating IPs of the server", len(e.serverNow(s).PublicNet.FloatingIPs), 1)
	e.act("FloatingIP.Unassign")(c.Unassign(e.ctx, f))
	e.act("FloatingIP.ChangeDNSPtr")(c.ChangeDNSPtr(e.ctx, f, f.IP.String(), new("a.example")))
	e.act("FloatingIP.ChangeProtection")(c.ChangeProtection(e.ctx, f, api.FloatingIPChangeProtectionOpts{Delete: new(false)}))
	e.done("FloatingIP.Delete")(c.Delete(e.ctx, f))
}

func loadBalancersContract(e *env) {
	c := &e.client.LoadBalancer
	n, _, err := e.client.Network.Create(e.ctx, api.NetworkCreateOpts{
		Name: "n", IPRange: cidr("10.0.0.0/16"), Subnets: []api.NetworkSubnet{{Type: api.NetworkSubnetTypeCloud,
			NetworkZone: api.NetworkZoneEUCentral, IPRange: cidr("10.0.0.0/24")}},
	})
	e.ok(err)
	lb := call2[api.LoadBalancerCreateResult](e, "LoadBalancer.Create")(c.Create(e.ctx, api.LoadBalancerCreateOpts{
		Name: "lb", LoadBalancerType: &api.LoadBalancerType{Name: "lb11"}, Location: &api.Location{Name: "fsn1"},
		Algorithm: &api.LoadBalancerAlgorithm{Type: api.LoadBalancerAlgorithmTypeLeastConnections},
		Services: []api.LoadBalancerCreateOptsService{{Protocol: api.LoadBalancerServiceProtocolTCP, ListenPort: new(6443),
			DestinationPort: new(6443)}},
	})).LoadBalancer
	finds(e, "LoadBalancer", c, lb.ID, "lb", func(lb *api.LoadBalancer) int64 { return lb.ID }, api.LoadBalancerListOpts{Name: "lb"},
		api.LoadBalancerListOpts{Name: "x"})
	e.check("name", call2[*api.LoadBalancer](e, "LoadBalancer.Update")(c.Update(e.ctx, lb, api.LoadBalancerUpdateOpts{Name: "l"})).Name, "l")
	now := func() *api.LoadBalancer {
		e.Helper()
		now, _, err := c.GetByID(e.ctx, lb.ID)
		e.ok(err)
		return now
	}
	e.act("LoadBalancer.ChangeAlgorithm")(c.ChangeAlgorithm(e.ctx, lb,
		api.LoadBalancerChangeAlgorithmOpts{Type: api.LoadBalancerAlgorithmTypeRoundRobin}))
	e.check("algorithm", now().Algorithm.Type, api.LoadBalancerAlgorithmTypeRoundRobin)
	e.act("LoadBalancer.ChangeType")(c.ChangeType(e.ctx, lb,
		api.LoadBalancerChangeTypeOpts{LoadBalancerType: &api.LoadBalancerType{Name: "lb21"}}))
	e.check("type", now().LoadBalancerType.Name, "lb21")
	e.act("LoadBalancer.AttachToNetwork")(c.AttachToNetwork(e.ctx, lb, api.LoadBalancerAttachToNetworkOpts{Network: n}))
	e.check("networks", len(now().PrivateNet), 1)

	s := e.serverWith(api.ServerCreateOpts{Name: "a", Networks: []*api.Network{n}, Labels: map[string]string{"role": "node"}})
	e.act("LoadBalancer.AddServerTarget")(c.AddServerTarget(e.ctx, lb, api.LoadBalancerAddServerTargetOpts{Server: s,
		UsePrivateIP: new(true)}))
	e.check("load balancers of the server", len(e.serverNow(s).LoadBalancers), 1)
	e.check("health", now().Targets[0].HealthStatus[0].Status, api.LoadBalancerTargetHealthStatusStatusHealthy)
	e.act("LoadBalancer.AddLabelSelectorTarget")(c.AddLabelSelectorTarget(e.ctx, lb,
		api.LoadBalancerAddLabelSelectorTargetOpts{Selector: "role=node"}))
	e.check("targets of the selector", len(now().Targets[1].Targets), 1)
	e.act("LoadBalancer.AddIPTarget")(c.AddIPTarget(e.ctx, lb, api.LoadBalancerAddIPTargetOpts{IP: net.ParseIP("192.0.2.1")}))
	_, _, err = c.AddIPTarget(e.ctx, lb, api.LoadBalancerAddIPTargetOpts{IP: net.ParseIP("192.0.2.1")})
	e.code(err, "target_already_defined")
	e.act("LoadBalancer.RemoveServerTarget")(c.RemoveServerTarget(e.ctx, lb, s))
	e.act("LoadBalancer.RemoveLabelSelectorTarget")(c.RemoveLabelSelectorTarget(e.ctx, lb, "role=node"))
	e.act("LoadBalancer.RemoveIPTarget")(c.RemoveIPTarget(e.ctx, lb, net.ParseIP("192.0.2.1")))
	e.check("targets", len(now().Targets), 0)

	e.act("LoadBalancer.AddService")(c.AddService(e.ctx, lb, api.LoadBalancerAddServiceOpts{Protocol: api.LoadBalancerServiceProtocolHTTP,
		HealthCheck: &api.LoadBalancerAddServiceOptsHealthCheck{
			Protocol: api.LoadBalancerServiceProtocolHTTP, Port: new(80),
			HTTP: &api.LoadBalancerAddServiceOptsHealthCheckHTTP{Path: new("/healthz")},
		}}))
	e.check("port", now().Services[1].ListenPort, 80)
	e.act("LoadBalancer.UpdateService")(c.UpdateService(e.ctx, lb, 80, api.LoadBalancerUpdateServiceOpts{DestinationPort: new(8080)}))
	e.check("port", now().Services[1].DestinationPort, 8080)
	e.act("LoadBalancer.DeleteService")(c.DeleteService(e.ctx, lb, 80))
	e.check("services", len(now().Services), 1)

	e.act("LoadBalancer.DetachFromNetwork")(c.DetachFromNetwork(e.ctx, lb, api.LoadBalancerDetachFromNetworkOpts{Network: n}))
	e.act("LoadBalancer.DisablePublicInterface")(c.DisablePublicInterface(e.ctx, lb))
	e.check("public", now().PublicNet.Enabled, false)
	e.act("LoadBalancer.EnablePublicInterface")(c.EnablePublicInterface(e.ctx, lb))
	e.act("LoadBalancer.ChangeDNSPtr")(c.ChangeDNSPtr(e.ctx, lb, lb.PublicNet.IPv4.IP.String(), new("lb.example")))
	metrics := call2[*api.LoadBalancerMetrics](e, "LoadBalancer.GetMetrics")(c.GetMetrics(e.ctx, lb, api.LoadBalancerGetMetricsOpts{
		Types: []api.LoadBalancerMetricType{api.LoadBalancerMetricBandwidth}, Start: time.Now().Add(-time.Hour), End: time.Now(),
	}))
	e.check("series", len(metrics.TimeSeries), 2)
	e.act("LoadBalancer.ChangeProtection")(c.ChangeProtection(e.ctx, lb, api.LoadBalancerChangeProtectionOpts{Delete: new(true)}))
	_, err = c.Delete(e.ctx, lb)
	e.code(err, "protected")
	e.act("LoadBalancer.ChangeProtection")(c.ChangeProtection(e.ctx, lb, api.LoadBalancerChangeProtectionOpts{Delete: new(false)}))
	e.done("LoadBalancer.Delete")(c.Delete(e.ctx, lb))

	ip, _, err := e.client.PrimaryIP.Create(e.ctx, api.PrimaryIPCreateOpts{Name: "p", Type: api.PrimaryIPTypeIPv4, Location: "fsn1"})
	e.ok(err)
	own, _, err := c.Create(e.ctx, api.LoadBalancerCreateOpts{
		Name: "own", LoadBalancerType: &api.LoadBalancerType{Name: "lb11"}, Location: &api.Location{Name: "fsn1"},
		PublicNet: &api.LoadBalancerCreateOptsPublicNet{IPv4: ip.PrimaryIP},
	})
	e.ok(err)
	e.check("own IP", own.LoadBalancer.PublicNet.IPv4.IP.String(), ip.PrimaryIP.IP.String())
	deleted := call2[api.LoadBalancerDeleteResult](e, "LoadBalancer.DeleteWithResult")(c.DeleteWithResult(e.ctx, own.LoadBalancer))
	e.ok(e.client.Action.WaitFor(e.ctx, deleted.Action))
}
