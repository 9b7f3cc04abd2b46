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

var firewalls = func() rest.Owned[fakecloud.Firewall] {
	o := rest.NewOwned("firewalls", "firewall", func(tx *fakecloud.Tx) *table.Table[fakecloud.Firewall] { return tx.Firewalls },
		firewallBody)
	o.Free = func(_ *rest.Call, f *fakecloud.Firewall) error {
		if len(f.Servers)+len(f.Selectors) > 0 {
			return fakecloud.Errorf("resource_in_use", "firewall is in use")
		}
		return nil
	}
	return o
}()

func firewallOperations() []rest.Operation {
	return append([]rest.Operation{
		rest.Steady("GET /firewalls", firewalls.List),
		rest.NewOperation("POST /firewalls", createFirewall),
		rest.NewOperation("GET /firewalls/{id}", firewalls.Get),
		rest.NewOperation("PUT /firewalls/{id}", firewalls.Put),
		rest.NewOperation("DELETE /firewalls/{id}", firewalls.Delete),
		rest.NewOperation("POST /firewalls/{id}/actions/set_rules", changeFirewall("set_firewall_rules", setRules)),
		rest.NewOperation("POST /firewalls/{id}/actions/apply_to_resources", changeFirewall("apply_firewall", applyFirewall)),
		rest.NewOperation("POST /firewalls/{id}/actions/remove_from_resources", changeFirewall("remove_firewall", removeFirewall)),
	}, rest.ResourceActions("firewalls", "firewall")...)
}

func createFirewall(c *rest.Call) (int, any, error) {
	var r schema.FirewallCreateRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	var f fakecloud.Firewall
	if err := fillRules(&f, r.Rules); err != nil {
		return 0, nil, err
	}
	servers, err := applyTo(c, &f, r.ApplyTo)
	if err != nil {
		return 0, nil, err
	}
	if f.Meta, err = firewalls.NewMeta(c, r.Name, r.Labels); err != nil {
		return 0, nil, err
	}
	c.Tx.Firewalls.Put(f)
	actions := []schema.Action{}
	if len(r.Rules) > 0 {
		actions = append(actions, c.Action(c.Tx.Start("set_firewall_rules", nil, fakecloud.Ref{Type: "firewall", ID: f.ID})))
	}
	actions = append(actions, onServers(c, "apply_firewall", f.ID, servers)...)
	return http.StatusCreated, schema.FirewallCreateResponse{Firewall: firewallBody(c, &f).(schema.Firewall), Actions: actions}, nil
}

// changeFirewall is the operation of an action that changes a copy of a firewall; do returns the servers
// that it is about.
func changeFirewall(command string, do func(*rest.Call, *fakecloud.Firewall) ([]int64, error)) func(*rest.Call) (int, any, error) {
	return func(c *rest.Call) (int, any, error) {
		old, err := firewalls.Find(c)
		if err != nil {
			return 0, nil, err
		}
		f := *old
		f.Servers, f.Selectors = slices.Clone(f.Servers), slices.Clone(f.Selectors)
		servers, err := do(c, &f)
		if err != nil {
			return 0, nil, err
		}
		c.Tx.Firewalls.Put(f)
		actions := onServers(c, command, f.ID, servers)
		if len(actions) == 0 {
			actions = append(actions, c.Action(c.Tx.Start(command, nil, firewalls.Ref(c))))
		}
		return http.StatusCreated, map[string]any{"actions": actions}, nil
	}
}

func onServers(c *rest.Call, command string, firewall int64, servers []int64) []schema.Action {
	actions := []schema.Action{}
	for _, id := range servers {
		a := c.Tx.Start(command, nil, fakecloud.Ref{Type: "firewall", ID: firewall}, fakecloud.Ref{Type: "server", ID: id})
		actions = append(actions, c.Action(a))
	}
	return actions
}

func setRules(c *rest.Call, f *fakecloud.Firewall) ([]int64, error) {
	var r schema.FirewallActionSetRulesRequest
	if err := c.Decode(&r); err != nil {
		return nil, err
	}
	return nil, fillRules(f, r.Rules)
}

// maxRules is how many rules a firewall may have (docs.hetzner.cloud, Firewalls).
const maxRules = 50

func fillRules(f *fakecloud.Firewall, rules []schema.FirewallRuleRequest) error {
	if len(rules) > maxRules {
		return fakecloud.Invalid("rules", "must be at most %d", maxRules)
	}
	f.Rules = nil
	for _, r := range rules {
		switch {
		case r.Direction != "in" && r.Direction != "out":
			return fakecloud.Invalid("rules.direction", "must be in or out")
		case !slices.Contains([]string{"tcp", "udp", "icmp", "esp", "gre"}, r.Protocol):
			return fakecloud.Invalid("rules.protocol", "must be tcp, udp, icmp, esp or gre")
		case (r.Protocol == "tcp" || r.Protocol == "udp") && r.Port == nil:
			return fakecloud.Invalid("rules.port", "must be there for tcp and udp")
		}
		for _, ip := range slices.Concat(r.SourceIPs, r.DestinationIPs) {
			if p, err := netip.ParsePrefix(ip); err != nil || p != p.Masked() {
				return fakecloud.Invalid("rules", "%q is no range such as 10.0.0.0/16", ip)
			}
		}
		f.Rules = append(f.Rules, fakecloud.FirewallRule{
			Direction: r.Direction, Protocol: r.Protocol, SourceIPs: r.SourceIPs, DestinationIPs: r.DestinationIPs, Port: r.Port,
			Description: r.Description,
		})
	}
	return nil
}

func applyFirewall(c *rest.Call, f *fakecloud.Firewall) ([]int64, error) {
	var r schema.FirewallActionApplyToResourcesRequest
	if err := c.Decode(&r); err != nil {
		return nil, err
	}
	return applyTo(c, f, r.ApplyTo)
}

// apply adds resources to a firewall and returns the servers among them.
func applyTo(c *rest.Call, f *fakecloud.Firewall, to []schema.FirewallResource) ([]int64, error) {
	var servers []int64
	for _, r := range to {
		switch {
		case r.Type == "server" && r.Server != nil:
			if c.Tx.Instances.Get(r.Server.ID) == nil {
				return nil, fakecloud.Errorf("firewall_resource_not_found", "server %d not found", r.Server.ID)
			}
			if slices.Contains(f.Servers, r.Server.ID) {
				return nil, fakecloud.Errorf("firewall_already_applied", "firewall is applied to server %d already", r.Server.ID)
			}
			f.Servers = append(f.Servers, r.Server.ID)
			servers = append(servers, r.Server.ID)
		case r.Type == "label_selector" && r.LabelSelector != nil:
			if s, err := rest.ParseSelector(r.LabelSelector.Selector); err != nil || len(s) == 0 {
				return nil, fakecloud.Invalid("label_selector", "%q is no label selector", r.LabelSelector.Selector)
			}
			if slices.Contains(f.Selectors, r.LabelSelector.Selector) {
				return nil, fakecloud.Errorf("firewall_already_applied", "firewall is applied to %q already", r.LabelSelector.Selector)
			}
			f.Selectors = append(f.Selectors, r.LabelSelector.Selector)
		default:
			return nil, fakecloud.Invalid("type", "must be server or label_selector, with the field of that name")
		}
	}
	return servers, nil
}

func removeFirewall(c *rest.Call, f *fakecloud.Firewall) ([]int64, error) {
	var r schema.FirewallActionRemoveFromResourcesRequest
	if err := c.Decode(&r); err != nil {
		return nil, err
	}
	var servers []int64
	for _, from := range r.RemoveFrom {
		switch {
		case from.Server != nil && slices.Contains(f.Servers, from.Server.ID):
			f.Servers = slices.DeleteFunc(f.Servers, func(id int64) bool { return id == from.Server.ID })
			servers = append(servers, from.Server.ID)
		case from.LabelSelector != nil && slices.Contains(f.Selectors, from.LabelSelector.Selector):
			f.Selectors = slices.DeleteFunc(f.Selectors, func(s string) bool { return s == from.LabelSelector.Selector })
		default:
			return nil, fakecloud.Errorf("firewall_resource_not_found", "firewall is not applied to that resource")
		}
	}
	return servers, nil
}

func firewallBody(c *rest.Call, f *fakecloud.Firewall) any {
	s := schema.Firewall{ID: f.ID, Name: f.Name, Labels: rest.Labels(f.Labels), Created: f.Created, Rules: []schema.FirewallRule{},
		AppliedTo: []schema.FirewallResource{}}
	for _, r := range f.Rules {
		s.Rules = append(s.Rules, schema.FirewallRule{
			Direction: r.Direction, Protocol: r.Protocol, SourceIPs: rest.NonNil(r.SourceIPs), DestinationIPs: rest.NonNil(r.DestinationIPs),
			Port: r.Port, Description: r.Description,
		})
	}
	server := func(id int64) schema.FirewallResource {
		return schema.FirewallResource{Type: "server", Server: &schema.FirewallResourceServer{ID: id}}
	}
	for _, id := range f.Servers {
		s.AppliedTo = append(s.AppliedTo, server(id))
	}
	for _, text := range f.Selectors {
		r := schema.FirewallResource{Type: "label_selector", LabelSelector: &schema.FirewallResourceLabelSelector{Selector: text}}
		for _, i := range c.Tx.Instances.All() {
			if selected([]string{text}, i.Labels) {
				r.AppliedToResources = append(r.AppliedToResources, server(i.ID))
			}
		}
		s.AppliedTo = append(s.AppliedTo, r)
	}
	return s
}
