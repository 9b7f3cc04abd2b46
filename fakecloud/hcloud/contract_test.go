package hcloud

import (
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/hetznercloud/hcloud-go/v2/hcloud"

	"nodestorm/fakecloud"
	"nodestorm/sim/pki"
)

// clients are the parts of the client that the fake serves, by the names of their fields.
var clients = map[string]reflect.Type{
	"Action": reflect.TypeFor[*api.ActionClient](), "Certificate": reflect.TypeFor[*api.CertificateClient](),
	"Datacenter": reflect.TypeFor[*api.DatacenterClient](), "Firewall": reflect.TypeFor[*api.FirewallClient](),
	"FloatingIP": reflect.TypeFor[*api.FloatingIPClient](), "Image": reflect.TypeFor[*api.ImageClient](),
	"ISO": reflect.TypeFor[*api.ISOClient](), "LoadBalancer": reflect.TypeFor[*api.LoadBalancerClient](),
	"LoadBalancerType": reflect.TypeFor[*api.LoadBalancerTypeClient](), "Location": reflect.TypeFor[*api.LocationClient](),
	"Network": reflect.TypeFor[*api.NetworkClient](), "PlacementGroup": reflect.TypeFor[*api.PlacementGroupClient](),
	"Pricing": reflect.TypeFor[*api.PricingClient](), "PrimaryIP": reflect.TypeFor[*api.PrimaryIPClient](),
	"RDNS": reflect.TypeFor[*api.RDNSClient](), "Server": reflect.TypeFor[*api.ServerClient](),
	"ServerType": reflect.TypeFor[*api.ServerTypeClient](), "SSHKey": reflect.TypeFor[*api.SSHKeyClient](),
	"Volume":         reflect.TypeFor[*api.VolumeClient](),
	"ResourceAction": reflect.TypeFor[*api.ResourceActionClient[*api.Server]](),
}

// notServed are the parts of the client that the fake does not serve, and why.
var notServed = map[string]string{
	"Zone":           "DNS: no autoscaler and no cloud controller manager uses it",
	"StorageBox":     "another product, on another host",
	"StorageBoxType": "another product, on another host",
}

// Every method that the client has for the resources we serve is called, and its effect is looked
// at. A new release of the client with a method that no test calls fails here.
func TestContract(t *testing.T) {
	covered, started := map[string]bool{}, map[string]bool{}
	for name, test := range map[string]func(*env){
		"offers": offersContract, "servers": serversContract, "power": powerContract, "images": imagesContract, "networks": networksContract,
		"load balancers": loadBalancersContract, "volumes": volumesContract, "primary IPs": primaryIPsContract,
		"floating IPs": floatingIPsContract,
		"firewalls":    firewallsContract, "placement groups": placementGroupsContract, "SSH keys": sshKeysContract,
		"certificates": certificatesContract,
		"actions":      actionsContract,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				e.covered = covered
				test(e)
				e.cloud.View(func(tx *fakecloud.Tx) {
					for _, a := range tx.Actions.All() {
						started[a.Command] = true
					}
				})
			})
		})
	}
	if all := slices.Sorted(maps.Keys(started)); !slices.Equal(all, slices.Sorted(slices.Values(commands))) {
		t.Errorf("actions that have been started: %q, want those that faults may name: %q", all, slices.Sorted(slices.Values(commands)))
	}
	for field := range reflect.TypeFor[api.Client]().Fields() {
		if field.IsExported() && clients[field.Name] == nil && notServed[field.Name] == "" {
			t.Errorf("the client has a part %s: serve it, or say why not", field.Name)
		}
	}
	count := 0
	for name, client := range clients {
		for method := range client.Methods() {
			if !covered[name+"."+method.Name] {
				t.Errorf("no test calls %s.%s", name, method.Name)
				continue
			}
			count++
		}
	}
	t.Logf("%d client methods are covered", count)
}

// call is a method that returns a value and a response.
func call2[T any](e *env, name string) func(T, *api.Response, error) T {
	return func(value T, r *api.Response, err error) T {
		e.Helper()
		e.covered[name] = true
		if err != nil {
			e.Fatalf("%s: %v", name, err)
		}
		if r.Header.Get("RateLimit-Limit") != "3600" || r.Meta.Ratelimit.Remaining == 0 {
			e.Errorf("%s: headers %v lack the rate limit", name, r.Header)
		}
		return value
	}
}

func plain[T any](e *env, name string) func(T, error) T {
	return func(value T, err error) T {
		e.Helper()
		e.covered[name] = true
		if err != nil {
			e.Fatalf("%s: %v", name, err)
		}
		return value
	}
}

func (e *env) done(name string) func(*api.Response, error) {
	return func(_ *api.Response, err error) {
		e.Helper()
		e.covered[name] = true
		if err != nil {
			e.Fatalf("%s: %v", name, err)
		}
	}
}

// act is a method that returns an action, and waits for it.
func (e *env) act(name string) func(*api.Action, *api.Response, error) {
	return func(a *api.Action, r *api.Response, err error) {
		e.Helper()
		e.ok(e.client.Action.WaitFor(e.ctx, call2[*api.Action](e, name)(a, r, err)))
	}
}

func (e *env) acts(name string) func([]*api.Action, *api.Response, error) {
	return func(a []*api.Action, r *api.Response, err error) {
		e.Helper()
		e.ok(e.client.Action.WaitFor(e.ctx, call2[[]*api.Action](e, name)(a, r, err)...))
	}
}

// finder is what each part of the client has for finding resources.
type finder[R, O any] interface {
	getter[R]
	List(ctx contextType, opts O) ([]*R, *api.Response, error)
	All(ctx contextType) ([]*R, error)
	AllWithOpts(ctx contextType, opts O) ([]*R, error)
}

type getter[R any] interface {
	GetByID(ctx contextType, id int64) (*R, *api.Response, error)
	GetByName(ctx contextType, name string) (*R, *api.Response, error)
	Get(ctx contextType, idOrName string) (*R, *api.Response, error)
}

// finds looks for a resource that is there in every way, and for one that is not. By are options
// that fit the resource, none options that do not.
func finds[R, O any](e *env, part string, c finder[R, O], id int64, name string, idOf func(*R) int64, by, none O) {
	e.Helper()
	e.check(part+".GetByID", idOf(call2[*R](e, part+".GetByID")(c.GetByID(e.ctx, id))), id)
	e.check(part+".GetByName", idOf(call2[*R](e, part+".GetByName")(c.GetByName(e.ctx, name))), id)
	e.check(part+".Get", idOf(call2[*R](e, part+".Get")(c.Get(e.ctx, name))), id)
	has := func(all []*R) bool { return slices.ContainsFunc(all, func(r *R) bool { return idOf(r) == id }) }
	e.check(part+".List", has(call2[[]*R](e, part+".List")(c.List(e.ctx, by))), true)
	e.check(part+".List of none", has(call2[[]*R](e, part+".List")(c.List(e.ctx, none))), false)
	e.check(part+".All", has(plain[[]*R](e, part+".All")(c.All(e.ctx))), true)
	e.check(part+".AllWithOpts", has(plain[[]*R](e, part+".AllWithOpts")(c.AllWithOpts(e.ctx, by))), true)
	if r, _, err := c.GetByID(e.ctx, 999_999_999); r != nil || err != nil {
		e.Errorf("%s.GetByID of an unknown ID: got %v, %v, want nil, nil", part, r, err)
	}
	if r, _, err := c.GetByName(e.ctx, "unknown"); r != nil || err != nil {
		e.Errorf("%s.GetByName of an unknown name: got %v, %v, want nil, nil", part, r, err)
	}
}

func offersContract(e *env) {
	finds(e, "ServerType", &e.client.ServerType, 104, "cx22", func(t *api.ServerType) int64 { return t.ID },
		api.ServerTypeListOpts{Name: "cx22", Sort: []string{"name:desc"}}, api.ServerTypeListOpts{Name: "x"})
	t, _, err := e.client.ServerType.GetByName(e.ctx, "ccx33")
	e.ok(err)
	e.check("cores of ccx33", t.Cores, 8)
	e.check("CPU of ccx33", t.CPUType, api.CPUTypeDedicated)
	if len(t.Pricings) == 0 || t.Pricings[0].Monthly.Net == "" || !t.Locations[0].Available {
		e.Errorf("ccx33 lacks prices or locations: %+v", t)
	}
	finds(e, "Location", &e.client.Location, 1, "fsn1", func(l *api.Location) int64 { return l.ID }, api.LocationListOpts{Name: "fsn1"},
		api.LocationListOpts{Name: "x"})
	finds(e, "Datacenter", &e.client.Datacenter, 4, "fsn1-dc14", func(d *api.Datacenter) int64 { return d.ID },
		api.DatacenterListOpts{Name: "fsn1-dc14"}, api.DatacenterListOpts{Name: "x"})
	finds(e, "LoadBalancerType", &e.client.LoadBalancerType, 1, "lb11", func(t *api.LoadBalancerType) int64 { return t.ID },
		api.LoadBalancerTypeListOpts{Name: "lb11"}, api.LoadBalancerTypeListOpts{Name: "x"})
	finds(e, "ISO", &e.client.ISO, 8637, "debian-12.0.0-amd64-netinst.iso", func(i *api.ISO) int64 { return i.ID },
		api.ISOListOpts{Architecture: []api.Architecture{api.ArchitectureX86}}, api.ISOListOpts{Architecture: []api.Architecture{api.ArchitectureARM}})
	p := call2[api.Pricing](e, "Pricing.Get")(e.client.Pricing.Get(e.ctx))
	if len(p.ServerTypes) < 20 || len(p.PrimaryIPs) != 2 || p.Currency != "EUR" {
		e.Errorf("pricing lacks something: %+v", p)
	}
}

func imagesContract(e *env) {
	finds(e, "Image", &e.client.Image, 114690387, "debian-12", func(i *api.Image) int64 { return i.ID },
		api.ImageListOpts{Name: "debian-12", Architecture: []api.Architecture{api.ArchitectureX86}, Type: []api.ImageType{api.ImageTypeSystem}},
		api.ImageListOpts{Architecture: []api.Architecture{api.ArchitectureARM}})
	c := &e.client.Image
	e.check("for arm", call2[*api.Image](e, "Image.GetByNameAndArchitecture")(c.GetByNameAndArchitecture(e.ctx, "debian-12",
		api.ArchitectureARM)).ID, int64(114690389))
	e.check("for arm", call2[*api.Image](e, "Image.GetForArchitecture")(c.GetForArchitecture(e.ctx, "debian-12", api.ArchitectureARM)).ID,
		int64(114690389))
	s := e.server("a")
	made := call2[api.ServerCreateImageResult](e, "Server.CreateImage")(e.client.Server.CreateImage(e.ctx, s, &api.ServerCreateImageOpts{
		Type: api.ImageTypeSnapshot, Description: new("mine"), Labels: map[string]string{"role": "node"},
	}))
	e.ok(e.client.Action.WaitFor(e.ctx, made.Action))
	byLabel := plain[[]*api.Image](e, "Image.AllWithOpts")(c.AllWithOpts(e.ctx,
		api.ImageListOpts{ListOpts: api.ListOpts{LabelSelector: "role=node"}}))
	e.check("images with the label", len(byLabel), 1)
	i := call2[*api.Image](e, "Image.Update")(c.Update(e.ctx, made.Image, api.ImageUpdateOpts{Description: new("yours")}))
	e.check("description", i.Description, "yours")
	e.act("Image.ChangeProtection")(c.ChangeProtection(e.ctx, i, api.ImageChangeProtectionOpts{Delete: new(true)}))
	_, err := c.Delete(e.ctx, i)
	e.code(err, "protected")
	e.act("Image.ChangeProtection")(c.ChangeProtection(e.ctx, i, api.ImageChangeProtectionOpts{Delete: new(false)}))
	e.server2(i)
	e.done("Image.Delete")(c.Delete(e.ctx, i))
	_, err = c.Delete(e.ctx, &api.Image{ID: 114690387})
	e.code(err, "forbidden")
}

// server2 boots from a snapshot, as Cluster Autoscaler does, by ID.
func (e *env) server2(i *api.Image) {
	e.Helper()
	s := e.serverWith(api.ServerCreateOpts{Name: "from-snapshot", Image: &api.Image{ID: i.ID}})
	e.check("image", s.Image.ID, i.ID)
}

func placementGroupsContract(e *env) {
	c := &e.client.PlacementGroup
	g := call2[api.PlacementGroupCreateResult](e, "PlacementGroup.Create")(c.Create(e.ctx, api.PlacementGroupCreateOpts{Name: "g",
		Type: api.PlacementGroupTypeSpread, Labels: map[string]string{"a": "b"}})).PlacementGroup
	finds(e, "PlacementGroup", c, g.ID, "g", func(g *api.PlacementGroup) int64 { return g.ID },
		api.PlacementGroupListOpts{Type: api.PlacementGroupTypeSpread,
			ListOpts: api.ListOpts{LabelSelector: "a"}}, api.PlacementGroupListOpts{ListOpts: api.ListOpts{LabelSelector: "!a"}})
	g = call2[*api.PlacementGroup](e, "PlacementGroup.Update")(c.Update(e.ctx, g, api.PlacementGroupUpdateOpts{Name: "h"}))
	e.check("name", g.Name, "h")
	s := e.off("a")
	e.act("Server.AddToPlacementGroup")(e.client.Server.AddToPlacementGroup(e.ctx, s, g))
	e.check("group of the server", e.serverNow(s).PlacementGroup.ID, g.ID)
	e.act("Server.RemoveFromPlacementGroup")(e.client.Server.RemoveFromPlacementGroup(e.ctx, s))
	if group := e.serverNow(s).PlacementGroup; group != nil {
		e.Errorf("the server is still in group %v", group)
	}
	for n := range 10 {
		e.serverWith(api.ServerCreateOpts{Name: "m" + string(rune('a'+n)), PlacementGroup: g})
	}
	_, _, err := e.client.Server.Create(e.ctx, api.ServerCreateOpts{Name: "one-too-many", ServerType: &api.ServerType{Name: "cx22"},
		Image: &api.Image{Name: "debian-12"}, PlacementGroup: g})
	e.code(err, "placement_error")
	e.done("PlacementGroup.Delete")(c.Delete(e.ctx, g))
}

func sshKeysContract(e *env) {
	c := &e.client.SSHKey
	const public = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBR2aQ0H8bgZ4OJdB6oA8zWQqjQ9VxQZZN1yq0pR7Kjg user"
	k := call2[*api.SSHKey](e, "SSHKey.Create")(c.Create(e.ctx, api.SSHKeyCreateOpts{Name: "k", PublicKey: public}))
	finds(e, "SSHKey", c, k.ID, "k", func(k *api.SSHKey) int64 { return k.ID }, api.SSHKeyListOpts{Fingerprint: k.Fingerprint},
		api.SSHKeyListOpts{Fingerprint: "00"})
	e.check("by fingerprint", call2[*api.SSHKey](e, "SSHKey.GetByFingerprint")(c.GetByFingerprint(e.ctx, k.Fingerprint)).ID, k.ID)
	_, _, err := c.Create(e.ctx, api.SSHKeyCreateOpts{Name: "again", PublicKey: public})
	e.code(err, "uniqueness_error")
	e.check("name", call2[*api.SSHKey](e, "SSHKey.Update")(c.Update(e.ctx, k, api.SSHKeyUpdateOpts{Name: "l"})).Name, "l")
	made, _, err := e.client.Server.Create(e.ctx, api.ServerCreateOpts{Name: "a", ServerType: &api.ServerType{Name: "cx22"},
		Image: &api.Image{Name: "debian-12"}, SSHKeys: []*api.SSHKey{k}})
	e.ok(err)
	e.check("password with a key", made.RootPassword, "")
	e.done("SSHKey.Delete")(c.Delete(e.ctx, k))
}

func certificatesContract(e *env) {
	c := &e.client.Certificate
	ca, err := pki.NewAuthority("a", time.Now())
	e.ok(err)
	pair, err := ca.Issue("a.example", nil, "a.example")
	e.ok(err)
	up := call2[*api.Certificate](e, "Certificate.Create")(c.Create(e.ctx, api.CertificateCreateOpts{Name: "up",
		Certificate: string(pair.Cert), PrivateKey: string(pair.Key)}))
	e.check("domains", up.DomainNames, []string{"a.example"})
	finds(e, "Certificate", c, up.ID, "up", func(t *api.Certificate) int64 { return t.ID }, api.CertificateListOpts{Name: "up"},
		api.CertificateListOpts{Name: "x"})
	managed := call2[api.CertificateCreateResult](e, "Certificate.CreateCertificate")(c.CreateCertificate(e.ctx, api.CertificateCreateOpts{
		Name: "managed", Type: api.CertificateTypeManaged, DomainNames: []string{"b.example"},
	}))
	e.ok(e.client.Action.WaitFor(e.ctx, managed.Action))
	e.act("Certificate.RetryIssuance")(c.RetryIssuance(e.ctx, managed.Certificate))
	e.check("name", call2[*api.Certificate](e, "Certificate.Update")(c.Update(e.ctx, up, api.CertificateUpdateOpts{Name: "down"})).Name,
		"down")
	e.done("Certificate.Delete")(c.Delete(e.ctx, up))
}

func firewallsContract(e *env) {
	c := &e.client.Firewall
	everywhere := []net.IPNet{{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}}
	rule := api.FirewallRule{Direction: api.FirewallRuleDirectionIn, Protocol: api.FirewallRuleProtocolTCP, Port: new("22"),
		SourceIPs: everywhere}
	f := call2[api.FirewallCreateResult](e, "Firewall.Create")(c.Create(e.ctx, api.FirewallCreateOpts{Name: "f",
		Rules: []api.FirewallRule{rule}})).Firewall
	finds(e, "Firewall", c, f.ID, "f", func(f *api.Firewall) int64 { return f.ID }, api.FirewallListOpts{Name: "f"},
		api.FirewallListOpts{Name: "x"})
	e.check("name", call2[*api.Firewall](e, "Firewall.Update")(c.Update(e.ctx, f, api.FirewallUpdateOpts{Name: "g"})).Name, "g")
	e.acts("Firewall.SetRules")(c.SetRules(e.ctx, f, api.FirewallSetRulesOpts{Rules: []api.FirewallRule{rule, rule}}))
	s := e.serverWith(api.ServerCreateOpts{Name: "a", Firewalls: []*api.ServerCreateFirewall{{Firewall: *f}}})
	e.check("firewalls of the server", len(s.PublicNet.Firewalls), 1)
	other := e.serverWith(api.ServerCreateOpts{Name: "b", Labels: map[string]string{"role": "node"}})
	resources := []api.FirewallResource{
		{Type: api.FirewallResourceTypeServer, Server: &api.FirewallResourceServer{ID: other.ID}},
		{Type: api.FirewallResourceTypeLabelSelector, LabelSelector: &api.FirewallResourceLabelSelector{Selector: "role=node"}},
	}
	e.acts("Firewall.ApplyResources")(c.ApplyResources(e.ctx, f, resources))
	f, _, err := c.GetByID(e.ctx, f.ID)
	e.ok(err)
	e.check("rules", len(f.Rules), 2)
	e.check("applied to", len(f.AppliedTo), 3)
	_, err = c.Delete(e.ctx, f)
	e.code(err, "resource_in_use")
	e.acts("Firewall.RemoveResources")(c.RemoveResources(e.ctx, f,
		append(resources, api.FirewallResource{Type: api.FirewallResourceTypeServer, Server: &api.FirewallResourceServer{ID: s.ID}})))
	e.done("Firewall.Delete")(c.Delete(e.ctx, f))
}

func actionsContract(e *env) {
	c := &e.client.Action
	made, _, err := e.client.Server.Create(e.ctx, api.ServerCreateOpts{Name: "a", ServerType: &api.ServerType{Name: "cx22"},
		Image: &api.Image{Name: "debian-12"}})
	e.ok(err)
	actions := append(made.NextActions, made.Action)
	e.check("create", made.Action.Command, "create_server")
	e.check("progress", made.Action.Progress, 0)
	e.check("by ID", call2[*api.Action](e, "Action.GetByID")(c.GetByID(e.ctx, made.Action.ID)).Status, api.ActionStatusRunning)
	opts := api.ActionListOpts{ID: []int64{made.Action.ID}, Status: []api.ActionStatus{api.ActionStatusRunning}, Sort: []string{"status",
		"id:desc"}}
	e.check("listed", len(call2[[]*api.Action](e, "Action.List")(c.List(e.ctx, opts))), 1)
	e.check("listed", len(plain[[]*api.Action](e, "Action.AllWithOpts")(c.AllWithOpts(e.ctx, opts))), 1)
	e.covered["Action.All"] = true
	_, err = c.All(e.ctx)
	e.code(err, "deprecated_api_endpoint")

	progress, errs := c.WatchOverallProgress(e.ctx, actions)
	e.covered["Action.WatchOverallProgress"] = true
	e.check("watched to the end", last(e, progress, errs), 100)
	reboot, _, err := e.client.Server.Reboot(e.ctx, made.Server)
	e.ok(err)
	progress, errs = c.WatchProgress(e.ctx, reboot)
	e.covered["Action.WatchProgress"] = true
	e.check("watched to the end", last(e, progress, errs), 100)
	reset, _, err := e.client.Server.Reset(e.ctx, made.Server)
	e.ok(err)
	e.covered["Action.WaitFor"], e.covered["Action.WaitForFunc"] = true, true
	updates := 0
	e.ok(c.WaitForFunc(e.ctx, func(*api.Action) error { updates++; return nil }, reset))
	if updates < 2 {
		e.Errorf("%d updates came, want several", updates)
	}
	e.ok(c.WaitFor(e.ctx, reset))

	r := e.client.Server.Action
	e.check("by ID", call2[*api.Action](e, "ResourceAction.GetByID")(r.GetByID(e.ctx, reset.ID)).Command, "reset_server")
	e.check("of servers", len(call2[[]*api.Action](e, "ResourceAction.List")(r.List(e.ctx, api.ActionListOpts{}))), 4)
	e.check("of servers", len(plain[[]*api.Action](e, "ResourceAction.All")(r.All(e.ctx, api.ActionListOpts{}))), 4)
	e.check("of the server", len(call2[[]*api.Action](e, "ResourceAction.ListFor")(r.ListFor(e.ctx, made.Server,
		api.ActionListOpts{Status: []api.ActionStatus{api.ActionStatusSuccess}}))), 4)
	e.check("of the server", len(plain[[]*api.Action](e, "ResourceAction.AllFor")(r.AllFor(e.ctx, made.Server, api.ActionListOpts{}))), 4)
	if a, _, err := e.client.Volume.Action.GetByID(e.ctx, reset.ID); a != nil || err != nil {
		e.Errorf("a server's action among those of volumes: got %v, %v, want nil, nil", a, err)
	}
	if status, body := e.raw("GET", "/v1/servers/1/actions/1", ""); status != 404 || !strings.Contains(body, "not_found") {
		e.Errorf("an action that no server has: got %d %s", status, body)
	}
}

// last is the last progress that comes.
func last(e *env, progress <-chan int, errs <-chan error) int {
	e.Helper()
	latest := -1
	for {
		select {
		case p := <-progress:
			latest = max(latest, p)
		case err := <-errs:
			e.ok(err)
			return latest
		}
	}
}
