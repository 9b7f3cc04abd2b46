package hcloud

import (
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/rest"
)

// action carries out a server's action. The body may hold more than the action.
type action func(c *rest.Call, i *fakecloud.Instance) (a *fakecloud.Action, more map[string]any, err error)

// serverActions are the actions of a server by their path.
var serverActions = map[string]action{
	"poweron":  power("start_server"),
	"poweroff": power("stop_server"),
	"shutdown": power("shutdown_server"),
	"reboot":   power("reboot_server"),
	"reset":    power("reset_server"),

	"add_to_placement_group":      addToPlacementGroup,
	"attach_iso":                  attachISO,
	"attach_to_network":           attachToNetwork,
	"change_alias_ips":            changeAliasIPs,
	"change_dns_ptr":              changeServerDNSPtr,
	"change_protection":           changeServerProtection,
	"change_type":                 changeServerType,
	"create_image":                createImage,
	"detach_from_network":         detachFromNetwork,
	"detach_iso":                  change("detach_iso", func(i *fakecloud.Instance) { i.ISO = 0 }),
	"disable_backup":              change("disable_backup", func(i *fakecloud.Instance) { i.BackupWindow = "" }),
	"disable_rescue":              change("disable_rescue", func(i *fakecloud.Instance) { i.Rescue = false }),
	"enable_backup":               change("enable_backup", func(i *fakecloud.Instance) { i.BackupWindow = "22-02" }),
	"enable_rescue":               password("enable_rescue", func(i *fakecloud.Instance) { i.Rescue = true }),
	"rebuild":                     rebuild,
	"remove_from_placement_group": change("remove_from_placement_group", func(i *fakecloud.Instance) { i.PlacementGroup = 0 }),
	"request_console":             requestConsole,
	"reset_password":              password("reset_password", func(*fakecloud.Instance) {}),
}

// commands are the names that actions have, where faults match them.
var commands = []string{
	"create_server", "start_server", "stop_server", "shutdown_server", "reboot_server", "reset_server", "delete_server", "rebuild_server",
	"attach_to_network", "detach_from_network", "change_alias_ips", "attach_volume", "detach_volume", "change_type", "change_protection",
	"add_to_placement_group", "remove_from_placement_group", "attach_iso", "detach_iso", "enable_backup", "disable_backup", "enable_rescue",
	"disable_rescue", "change_dns_ptr", "create_image", "request_console", "reset_password",
	"add_route", "delete_route", "add_subnet", "delete_subnet", "change_ip_range",
	"create_volume", "resize_volume",
	"create_load_balancer", "delete_load_balancer", "add_service", "update_service", "delete_service", "add_target", "remove_target",
	"change_algorithm", "enable_public_interface", "disable_public_interface",
	"assign_primary_ip", "unassign_primary_ip", "assign_floating_ip", "unassign_floating_ip",
	"set_firewall_rules", "apply_firewall", "remove_firewall",
	"create_certificate", "issue_certificate",
}

func sortedActions[T any](all map[string]T) []string { return slices.Sorted(maps.Keys(all)) }

// serverAction is the operation of an action.
func serverAction(do action) func(*rest.Call) (int, any, error) {
	return func(c *rest.Call) (int, any, error) {
		i, err := servers.Find(c)
		if err != nil {
			return 0, nil, err
		}
		if i.Locked() {
			return 0, nil, fakecloud.Errorf("locked", "server is locked")
		}
		a, more, err := do(c, i)
		if err != nil {
			return 0, nil, err
		}
		body := map[string]any{"action": c.Action(a)}
		maps.Copy(body, more)
		return http.StatusCreated, body, nil
	}
}

func serverRef(i *fakecloud.Instance) fakecloud.Ref { return fakecloud.Ref{Type: "server", ID: i.ID} }

func power(command string) action {
	return func(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
		return c.Tx.Power(i.ID, command), nil, nil
	}
}

// change is an action that changes nothing but the server.
func change(command string, do func(*fakecloud.Instance)) action {
	return func(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
		c.Tx.Instances.Update(i.ID, do)
		return c.Tx.Start(command, nil, serverRef(i)), nil, nil
	}
}

// password is a change that gives a new root password.
func password(command string, do func(*fakecloud.Instance)) action {
	return func(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
		a, _, err := change(command, do)(c, i)
		return a, map[string]any{"root_password": c.Tx.Password()}, err
	}
}

func changeServerProtection(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	var r schema.ServerActionChangeProtectionRequest
	if err := c.Decode(&r); err != nil {
		return nil, nil, err
	}
	return change("change_protection", func(i *fakecloud.Instance) {
		if r.Delete != nil {
			i.Protected = *r.Delete
		}
		if r.Rebuild != nil {
			i.RebuildProtected = *r.Rebuild
		}
	})(c, i)
}

func changeServerType(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	var r schema.ServerActionChangeTypeRequest
	if err := c.Decode(&r); err != nil {
		return nil, nil, err
	}
	old, t := c.Cloud().Catalogue().ServerType(i.Type), c.Cloud().Catalogue().ServerType(idOrName(r.ServerType))
	if t == nil {
		return nil, nil, fakecloud.Invalid("server_type", "server type %q not found", idOrName(r.ServerType))
	}
	if _, ok := t.PriceIn(i.Location); !ok || t.Architecture != old.Architecture || t.DiskGB < old.DiskGB {
		return nil, nil, fakecloud.Errorf("invalid_server_type", "server type %s does not fit for the server", t.Name)
	}
	if i.State != fakecloud.Off {
		return nil, nil, fakecloud.Errorf("server_not_stopped", "server must be stopped")
	}
	return change("change_type", func(i *fakecloud.Instance) { i.Type = t.Name })(c, i)
}

func createImage(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	var r schema.ServerActionCreateImageRequest
	if err := c.Decode(&r); err != nil {
		return nil, nil, err
	}
	t := c.Cloud().Catalogue().ServerType(i.Type)
	image := fakecloud.Image{
		Type: "snapshot", OSFlavor: "unknown", Architecture: t.Architecture, DiskGB: float32(t.DiskGB), CreatedFrom: i.ID, FromName: i.Name,
	}
	if old := c.Tx.Images.Get(i.Image); old != nil {
		image.OSFlavor, image.OSVersion = old.OSFlavor, old.OSVersion
	}
	if r.Description != nil {
		image.Description = *r.Description
	}
	if r.Type != nil {
		image.Type = *r.Type
	}
	switch image.Type {
	case "snapshot":
	case "backup":
		image.BoundTo = i.ID
	default:
		return nil, nil, fakecloud.Invalid("type", "must be snapshot or backup")
	}
	var set map[string]string
	if r.Labels != nil {
		set = *r.Labels
	}
	if err := rest.CheckLabels(set); err != nil {
		return nil, nil, fakecloud.Invalid("labels", "%v", err)
	}
	image.Meta = c.Tx.NewMeta("", set)
	c.Tx.Images.Put(image)
	a := c.Tx.Start("create_image", nil, serverRef(i), fakecloud.Ref{Type: "image", ID: image.ID})
	return a, map[string]any{"image": imageBody(c, c.Tx.Images.Get(image.ID))}, nil
}

func rebuild(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	var r schema.ServerActionRebuildRequest
	if err := c.Decode(&r); err != nil {
		return nil, nil, err
	}
	image := findImage(c, r.Image, c.Cloud().Catalogue().ServerType(i.Type).Architecture)
	if image == nil {
		return nil, nil, fakecloud.Invalid("image", "image %q not found", idOrName(r.Image))
	}
	if i.RebuildProtected {
		return nil, nil, fakecloud.Errorf("protected", "server rebuild is protected")
	}
	if r.UserData != nil && len(*r.UserData) > maxUserData {
		return nil, nil, fakecloud.Invalid("user_data", "must be at most %d bytes", maxUserData)
	}
	a := c.Tx.Rebuild(i.ID, image.ID, r.UserData)
	if len(i.SSHKeys) > 0 {
		return a, map[string]any{"root_password": nil}, nil
	}
	return a, map[string]any{"root_password": c.Tx.Password()}, nil
}

func attachISO(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	var r schema.ServerActionAttachISORequest
	if err := c.Decode(&r); err != nil {
		return nil, nil, err
	}
	iso := c.Cloud().Catalogue().ISO(idOrName(r.ISO))
	if iso == nil {
		return nil, nil, fakecloud.NotFound("iso", idOrName(r.ISO))
	}
	return change("attach_iso", func(i *fakecloud.Instance) { i.ISO = iso.ID })(c, i)
}

func requestConsole(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	a := c.Tx.Start("request_console", nil, serverRef(i))
	// Nothing listens there: consoles are not part of the fake.
	return a, map[string]any{"wss_url": "wss://console.invalid/?server_id=" + c.Request.PathValue("id"), "password": c.Tx.Password()}, nil
}

func addToPlacementGroup(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	var r schema.ServerActionAddToPlacementGroupRequest
	if err := c.Decode(&r); err != nil {
		return nil, nil, err
	}
	switch {
	case c.Tx.PlacementGroups.Get(r.PlacementGroup) == nil:
		return nil, nil, fakecloud.NotFound("placement_group", r.PlacementGroup)
	case i.State != fakecloud.Off:
		return nil, nil, fakecloud.Errorf("server_not_stopped", "server must be stopped")
	case len(c.Tx.Members(r.PlacementGroup)) >= fakecloud.MaxSpread:
		return nil, nil, fakecloud.Errorf("placement_error", "placement group %d is full", r.PlacementGroup)
	}
	return change("add_to_placement_group", func(i *fakecloud.Instance) { i.PlacementGroup = r.PlacementGroup })(c, i)
}

func attachToNetwork(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	var r schema.ServerActionAttachToNetworkRequest
	if err := c.Decode(&r); err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(i.Networks, func(a fakecloud.Attachment) bool { return a.Network == r.Network }) {
		return nil, nil, fakecloud.Errorf("server_already_attached", "server is attached to the network already")
	}
	place, err := placeIn(c, r.Network, i.Location, r.IP, r.IPRange)
	if err != nil {
		return nil, nil, err
	}
	var aliases []string
	for _, text := range r.AliasIPs {
		if text == nil {
			return nil, nil, fakecloud.Invalid("alias_ips", "must not be null")
		}
		aliases = append(aliases, *text)
	}
	if place.AliasIPs, err = aliasesOf(c, place, aliases); err != nil {
		return nil, nil, err
	}
	c.Tx.Instances.Update(i.ID, func(i *fakecloud.Instance) { i.Networks = append(slices.Clone(i.Networks), place) })
	return c.Tx.Start("attach_to_network", nil, serverRef(i), fakecloud.Ref{Type: "network", ID: r.Network}), nil, nil
}

func detachFromNetwork(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	var r schema.ServerActionDetachFromNetworkRequest
	if err := c.Decode(&r); err != nil {
		return nil, nil, err
	}
	if err := inNetwork(i.Networks, r.Network); err != nil {
		return nil, nil, err
	}
	return c.Tx.Start("detach_from_network", nil, serverRef(i), fakecloud.Ref{Type: "network", ID: r.Network}), nil, nil
}

func changeAliasIPs(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	var r schema.ServerActionChangeAliasIPsRequest
	if err := c.Decode(&r); err != nil {
		return nil, nil, err
	}
	if err := inNetwork(i.Networks, r.Network); err != nil {
		return nil, nil, err
	}
	networks := slices.Clone(i.Networks)
	own := find(networks, func(a fakecloud.Attachment) bool { return a.Network == r.Network })
	var err error
	if own.AliasIPs, err = aliasesOf(c, *own, r.AliasIPs); err != nil {
		return nil, nil, err
	}
	return change("change_alias_ips", func(i *fakecloud.Instance) { i.Networks = networks })(c, i)
}

// aliases reads the alias IPs that a place in a network is to have.
func aliasesOf(c *rest.Call, place fakecloud.Attachment, texts []string) ([]netip.Addr, error) {
	var all []netip.Addr
	for _, text := range texts {
		ip, err := netip.ParseAddr(text)
		if err != nil || !slices.Contains(place.AliasIPs, ip) { // those that it has already are not free
			if ip, err = freeAddress(c, place.Network, text, "alias_ips"); err != nil {
				return nil, err
			}
		}
		if ip == place.IP || slices.Contains(all, ip) {
			return nil, fakecloud.Invalid("alias_ips", "must be different addresses")
		}
		all = append(all, ip)
	}
	return all, nil
}

func changeServerDNSPtr(c *rest.Call, i *fakecloud.Instance) (*fakecloud.Action, map[string]any, error) {
	set, err := dnsPtrOf(c, i.DNSPtr, i.PublicIPv4, i.PublicIPv6)
	if err != nil {
		return nil, nil, err
	}
	return change("change_dns_ptr", func(i *fakecloud.Instance) { i.DNSPtr = set })(c, i)
}

// dnsPtr reads a change of reverse DNS for one of some addresses, IPv6 ones with their /64, and
// returns what is set then.
func dnsPtrOf(c *rest.Call, set map[string]string, own ...netip.Addr) (map[string]string, error) {
	var r struct {
		IP     string  `json:"ip"`
		DNSPtr *string `json:"dns_ptr"`
	}
	if err := c.Decode(&r); err != nil {
		return nil, err
	}
	ip, err := netip.ParseAddr(r.IP)
	if err != nil || !slices.ContainsFunc(own, func(o netip.Addr) bool {
		return o.IsValid() && (o == ip || o.Is6() && netip.PrefixFrom(o, 64).Contains(ip))
	}) {
		return nil, fakecloud.Invalid("ip", "must be an address of the resource")
	}
	set = maps.Clone(set)
	if set == nil {
		set = map[string]string{}
	}
	delete(set, ip.String())
	if r.DNSPtr != nil {
		if !hostname.MatchString(*r.DNSPtr) {
			return nil, fakecloud.Invalid("dns_ptr", "must be a valid hostname")
		}
		set[ip.String()] = *r.DNSPtr
	}
	return set, nil
}

// serverMetrics are flat lines: nothing runs on these servers.
func serverMetrics(c *rest.Call) (int, any, error) {
	if _, err := servers.Find(c); err != nil {
		return 0, nil, err
	}
	return metricsOf(c, map[string][]string{
		"cpu":     {"cpu"},
		"disk":    {"disk.0.iops.read", "disk.0.iops.write", "disk.0.bandwidth.read", "disk.0.bandwidth.write"},
		"network": {"network.0.pps.in", "network.0.pps.out", "network.0.bandwidth.in", "network.0.bandwidth.out"},
	})
}

// metrics are flat lines of the asked types, each of which has some series.
func metricsOf(c *rest.Call, types map[string][]string) (int, any, error) {
	query := c.Request.URL.Query()
	start, err := time.Parse(time.RFC3339, query.Get("start"))
	if err != nil {
		return 0, nil, fakecloud.Invalid("start", "must be a time such as 2026-10-01T00:00:00Z")
	}
	end, err := time.Parse(time.RFC3339, query.Get("end"))
	if err != nil || end.Before(start) {
		return 0, nil, fakecloud.Invalid("end", "must be a time after start")
	}
	series := map[string]any{}
	for _, t := range query["type"] {
		if types[t] == nil {
			return 0, nil, fakecloud.Invalid("type", "must be some of %v", sortedActions(types))
		}
		for _, name := range types[t] {
			series[name] = map[string]any{"values": [][]any{{start.Unix(), "0"}, {end.Unix(), "0"}}}
		}
	}
	if len(series) == 0 {
		return 0, nil, fakecloud.Invalid("type", "must be some of %v", sortedActions(types))
	}
	metrics := map[string]any{"start": start, "end": end, "step": end.Sub(start).Seconds(), "time_series": series}
	return http.StatusOK, map[string]any{"metrics": metrics}, nil
}
