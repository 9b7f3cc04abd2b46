package hcloud

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud/schema"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud/rest"
	"nodestorm/fakecloud/table"
)

var servers = func() rest.Owned[fakecloud.Instance] {
	o := rest.NewOwned("servers", "server", func(tx *fakecloud.Tx) *table.Table[fakecloud.Instance] { return tx.Instances }, serverBody)
	o.Filters = map[string]func(*fakecloud.Instance, string) bool{
		"status": func(i *fakecloud.Instance, status string) bool { return statusName(i.State) == status },
	}
	return o
}()

func serverOperations() []rest.Operation {
	all := []rest.Operation{
		rest.Steady("GET /servers", listServers),
		rest.NewOperation("POST /servers", createServer),
		rest.NewOperation("GET /servers/{id}", servers.Get),
		rest.NewOperation("PUT /servers/{id}", updateServer),
		rest.NewOperation("DELETE /servers/{id}", deleteServer),
		rest.NewOperation("GET /servers/{id}/metrics", serverMetrics),
	}
	for _, command := range sortedActions(serverActions) {
		all = append(all, rest.NewOperation("POST /servers/{id}/actions/"+command, serverAction(serverActions[command])))
	}
	return append(all, rest.ResourceActions("servers", "server")...)
}

// listServers is where faults in the listing act.
func listServers(c *rest.Call) (int, any, error) {
	some, err := servers.Selected(c, c.Tx.ListInstances(c.Calls[0]))
	if err != nil {
		return 0, nil, err
	}
	return servers.Page(c, fakecloud.CutShort(c.Tx, some, c.Calls...))
}

// hostname is what a server may be called (RFC 1123).
var hostname = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)

// maxUserData is the documented limit of user_data, in bytes.
const maxUserData = 32 << 10

// createRequest is schema.ServerCreateRequest with what older clients say otherwise: a data centre
// in place of a location, and SSH keys by name; and fields that are left out differ from false.
type createRequest struct {
	schema.ServerCreateRequest
	SSHKeys    []schema.IDOrName `json:"ssh_keys"`
	Datacenter string            `json:"datacenter"`
	PublicNet  struct {
		EnableIPv4 *bool `json:"enable_ipv4"` // nil: true
		EnableIPv6 *bool `json:"enable_ipv6"` // nil: true
		IPv4       int64 `json:"ipv4"`
		IPv6       int64 `json:"ipv6"`
	} `json:"public_net"`
}

func createServer(c *rest.Call) (int, any, error) {
	var r createRequest
	if err := c.Decode(&r); err != nil {
		return 0, nil, err
	}
	spec, err := specOf(c, r)
	if err != nil {
		return 0, nil, err
	}
	i, create, next, err := c.Tx.Create(spec)
	if err != nil {
		return 0, nil, err
	}
	body := map[string]any{"server": serverBody(c, i), "action": c.Action(create), "next_actions": c.Actions(next), "root_password": nil}
	if i.RootPassword != "" {
		body["root_password"] = i.RootPassword
	}
	return http.StatusCreated, body, nil
}

// spec checks everything that a request says about a new server.
func specOf(c *rest.Call, r createRequest) (fakecloud.Spec, error) {
	s := fakecloud.Spec{
		Name: r.Name, UserData: r.UserData, Start: r.StartAfterCreate == nil || *r.StartAfterCreate, IPv4: true, IPv6: true,
		IPv4ID: r.PublicNet.IPv4, IPv6ID: r.PublicNet.IPv6, Networks: r.Networks, Volumes: r.Volumes, PlacementGroup: r.PlacementGroup,
	}
	setIfGiven(&s.IPv4, r.PublicNet.EnableIPv4)
	setIfGiven(&s.IPv6, r.PublicNet.EnableIPv6)
	if r.Labels != nil {
		s.Labels = *r.Labels
	}
	for _, f := range r.Firewalls {
		s.Firewalls = append(s.Firewalls, f.Firewall)
	}
	if err := checkServer(c, &s, r); err != nil {
		return s, err
	}
	return s, checkParts(c, &s, r)
}

func checkServer(c *rest.Call, s *fakecloud.Spec, r createRequest) error {
	if !hostname.MatchString(s.Name) {
		return fakecloud.Invalid("name", "must be a valid hostname")
	}
	if c.Tx.Instances.Named(s.Name) != nil {
		return fakecloud.Errorf("uniqueness_error", "server name is already used")
	}
	if err := rest.CheckLabels(s.Labels); err != nil {
		return fakecloud.Invalid("labels", "%v", err)
	}
	if len(s.UserData) > maxUserData {
		return fakecloud.Invalid("user_data", "must be at most %d bytes", maxUserData)
	}
	if s.Type = c.Cloud().Catalogue().ServerType(idOrName(r.ServerType)); s.Type == nil {
		return fakecloud.Invalid("server_type", "server type %q not found", idOrName(r.ServerType))
	}
	if s.Image = findImage(c, r.Image, s.Type.Architecture); s.Image == nil {
		return fakecloud.Invalid("image", "image %q not found", idOrName(r.Image))
	}
	if s.Image.Architecture != s.Type.Architecture {
		return fakecloud.Invalid("image", "image is for architecture %s, server type for %s", s.Image.Architecture, s.Type.Architecture)
	}
	l := c.Cloud().Catalogue().Location(s.Type.Prices[0].Location)
	switch {
	case r.Location != "":
		l = c.Cloud().Catalogue().Location(r.Location)
	case r.Datacenter != "":
		l = c.Cloud().Catalogue().Datacenter(r.Datacenter)
	}
	if l == nil {
		return fakecloud.Invalid("location", "location %q not found", r.Location+r.Datacenter)
	}
	s.Location = l.Name
	return nil
}

// checkParts checks what else a new server is to have.
func checkParts(c *rest.Call, s *fakecloud.Spec, r createRequest) error {
	for _, part := range []struct {
		field string
		ids   []int64
	}{{"networks", s.Networks}, {"firewalls", s.Firewalls}, {"volumes", s.Volumes}} {
		if len(slices.Compact(slices.Sorted(slices.Values(part.ids)))) < len(part.ids) {
			return fakecloud.Invalid(part.field, "must not name one twice")
		}
	}
	zone := c.Cloud().Catalogue().Location(s.Location).NetworkZone
	for _, id := range s.Networks {
		n := c.Tx.Networks.Get(id)
		if n == nil {
			return fakecloud.NotFound("network", id)
		}
		if !slices.ContainsFunc(n.Subnets, func(s fakecloud.Subnet) bool { return s.Zone == zone }) {
			return fakecloud.Errorf("no_subnet_available", "network %d has no subnet in network zone %s", id, zone)
		}
	}
	for _, id := range s.Firewalls {
		if c.Tx.Firewalls.Get(id) == nil {
			return fakecloud.NotFound("firewall", id)
		}
	}
	for _, id := range s.Volumes {
		v := c.Tx.Volumes.Get(id)
		switch {
		case v == nil:
			return fakecloud.NotFound("volume", id)
		case v.Server != 0:
			return fakecloud.Errorf("volume_already_attached", "volume %d is attached to a server already", id)
		case v.Location != s.Location:
			return fakecloud.Invalid("volumes", "volume %d is in location %s", id, v.Location)
		}
	}
	if id := s.PlacementGroup; id != 0 && c.Tx.PlacementGroups.Get(id) == nil {
		return fakecloud.NotFound("placement_group", id)
	}
	for _, key := range r.SSHKeys {
		k := c.Tx.SSHKeys.Get(key.ID)
		if key.Name != "" {
			k = c.Tx.SSHKeys.Named(key.Name)
		}
		if k == nil {
			return fakecloud.NotFound("ssh_key", idOrName(key))
		}
		s.SSHKeys = append(s.SSHKeys, k.ID)
	}
	if err := checkAddress(c, s.IPv4ID, "ipv4", s.Location); err != nil {
		return err
	}
	if err := checkAddress(c, s.IPv6ID, "ipv6", s.Location); err != nil {
		return err
	}
	if !s.IPv4 && !s.IPv6 && len(s.Networks) == 0 && s.Start {
		return fakecloud.Invalid("public_net", "a server without public and private network cannot be started")
	}
	return nil
}

// checkAddress checks an existing primary IP that a server is to get. Zero is none.
func checkAddress(c *rest.Call, id int64, kind, location string) error {
	if id == 0 {
		return nil
	}
	switch p := c.Tx.PrimaryIPs.Get(id); {
	case p == nil:
		return fakecloud.NotFound("primary_ip", id)
	case p.Type != kind:
		return fakecloud.Errorf("primary_ip_version_mismatch", "primary IP %d is no %s", id, kind)
	case p.AssigneeID != 0:
		return fakecloud.Errorf("primary_ip_assigned", "primary IP %d is assigned already", id)
	case p.Location != location:
		return fakecloud.Errorf("primary_ip_datacenter_mismatch", "primary IP %d is in location %s", id, p.Location)
	}
	return nil
}

func idOrName(x schema.IDOrName) string {
	if x.Name != "" || x.ID == 0 {
		return x.Name
	}
	return strconv.FormatInt(x.ID, 10)
}

// findImage returns the image of that ID, or of that name for the architecture, if there is one.
func findImage(c *rest.Call, x schema.IDOrName, architecture string) *fakecloud.Image {
	if x.Name == "" {
		return c.Tx.Images.Get(x.ID)
	}
	var other *fakecloud.Image
	for _, i := range c.Tx.Images.All() {
		if i.Name != x.Name || i.Type != "system" {
			continue
		}
		if i.Architecture == architecture {
			return i
		}
		other = i
	}
	return other
}

func updateServer(c *rest.Call) (int, any, error) {
	var change schema.ServerUpdateRequest
	if err := c.Decode(&change); err != nil {
		return 0, nil, err
	}
	if change.Name != "" && !hostname.MatchString(change.Name) {
		return 0, nil, fakecloud.Invalid("name", "must be a valid hostname")
	}
	return servers.Put(c)
}

func deleteServer(c *rest.Call) (int, any, error) {
	i, err := servers.Find(c)
	if err != nil {
		return 0, nil, err
	}
	if i.Protected {
		return 0, nil, rest.Protected("server")
	}
	return http.StatusOK, schema.ServerDeleteResponse{Action: c.Action(c.Tx.Delete(i.ID))}, nil
}
