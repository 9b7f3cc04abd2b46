package fakecloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nodestorm/fakecloud/table"
)

// saved is a project as Save writes it.
type saved struct {
	Version         int
	ID, ActionID    int64
	IPs             uint32
	Instances       []*Instance
	Ended           []*Instance    `json:",omitempty"`
	Groups          []*Group       `json:",omitempty"`
	Reservations    []*Reservation `json:",omitempty"`
	Actions         []*Action
	Images          []*Image
	Networks        []*Network
	PlacementGroups []*PlacementGroup
	Firewalls       []*Firewall
	SSHKeys         []*SSHKey
	Volumes         []*Volume
	LoadBalancers   []*LoadBalancer
	PrimaryIPs      []*PrimaryIP
	FloatingIPs     []*FloatingIP
	Certificates    []*Certificate
}

const stateVersion = 1

// Save returns the project as Config.State takes it: all resources and actions; no faults.
func (c *Cloud) Save() ([]byte, error) {
	var s saved
	c.View(func(tx *Tx) {
		s = saved{
			Version: stateVersion, ID: tx.id, ActionID: tx.actionID, IPs: tx.ips,
			Instances: tx.Instances.All(), Ended: tx.Ended.All(), Groups: tx.Groups.All(), Reservations: tx.Reservations.All(),
			Actions: tx.Actions.All(), Images: tx.Images.All(), Networks: tx.Networks.All(),
			PlacementGroups: tx.PlacementGroups.All(), Firewalls: tx.Firewalls.All(), SSHKeys: tx.SSHKeys.All(),
			Volumes: tx.Volumes.All(), LoadBalancers: tx.LoadBalancers.All(), PrimaryIPs: tx.PrimaryIPs.All(),
			FloatingIPs: tx.FloatingIPs.All(), Certificates: tx.Certificates.All(),
		}
	})
	return json.MarshalIndent(s, "", " ")
}

// restore goes on from what Save returned. What came due since then is done at once.
func (c *Cloud) restore(state []byte) error {
	var s saved
	d := json.NewDecoder(bytes.NewReader(state))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return fmt.Errorf("it is no state of a fake cloud: %w", err)
	}
	if d.More() {
		return errors.New("it is no state of a fake cloud: something comes after it")
	}
	if s.Version != stateVersion {
		return fmt.Errorf("it is a state of version %d: want %d", s.Version, stateVersion)
	}
	tx := c.tx
	tx.id, tx.actionID, tx.ips = s.ID, s.ActionID, s.IPs
	err := errors.Join(
		load(tx.Instances, "instance", s.Instances, s.ID), load(tx.Ended, "instance that is gone", s.Ended, s.ID),
		load(tx.Groups, "group", s.Groups, s.ID), load(tx.Reservations, "reservation", s.Reservations, s.ID), load(tx.Images, "image", s.Images,
			0), load(tx.Networks, "network", s.Networks, s.ID),
		load(tx.PlacementGroups, "placement group", s.PlacementGroups, s.ID), load(tx.Firewalls, "firewall", s.Firewalls, s.ID),
		load(tx.SSHKeys, "SSH key", s.SSHKeys, s.ID), load(tx.Volumes, "volume", s.Volumes, s.ID),
		load(tx.LoadBalancers, "load balancer", s.LoadBalancers, s.ID), load(tx.PrimaryIPs, "primary IP", s.PrimaryIPs, s.ID),
		load(tx.FloatingIPs, "floating IP", s.FloatingIPs, s.ID), load(tx.Certificates, "certificate", s.Certificates, s.ID),
		load(tx.Actions, "action", s.Actions, s.ActionID), tx.checkRefs())
	if err != nil {
		return err
	}
	for _, i := range tx.Instances.All() {
		if !i.Interrupted.IsZero() {
			// mutant: an interruption is forgotten with the cloud that announced it
			tx.takeBack(i)
		}
	}
	for _, i := range tx.Ended.All() {
		tx.forgetEnded(i)
	}
	for _, r := range tx.Reservations.All() {
		tx.endLater(r)
	}
	for _, g := range tx.Groups.All() {
		tx.wakeLater(g)
	}
	for _, a := range tx.Actions.All() {
		if a.Status != ActionRunning {
			continue
		}
		server := a.ResourceID("server")
		tx.live[server] = append(tx.live[server], a.ID)
		if id := a.ID; !a.Begins.IsZero() && a.Takes >= 0 {
			tx.schedule(a.Begins.Add(a.Takes), func() { tx.finishAction(id) })
		}
		if a.Command == "delete_server" {
			tx.deleting[server] = Running
		}
	}
	return nil
}

// load fills a table. Last is the highest ID that was given; zero means any.
func load[T any](t *table.Table[T], kind string, all []*T, last int64) error {
	for n, r := range all {
		if r == nil {
			return fmt.Errorf("%s number %d is empty", kind, n+1)
		}
		id := table.MetaOf(r).ID
		if id <= 0 || (last > 0 && id > last) {
			return fmt.Errorf("%s number %d has ID %d: want 1 to %d", kind, n+1, id, last)
		}
		if t.Get(id) != nil {
			return fmt.Errorf("%s %d is there twice", kind, id)
		}
		t.Put(*r)
	}
	return nil
}

// hasImage reports whether an image of the catalogue is there.
func (tx *Tx) hasImage(image Image) bool {
	there := tx.Images.Get(image.ID)
	// mutant: one cloud serves another's state
	return there != nil && there.Name == image.Name
}

// checkRefs says which reference leads nowhere, as far as the cloud relies on it.
func (tx *Tx) checkRefs() error {
	if images := tx.c.cfg.Catalogue.Images; len(images) > 0 && !slices.ContainsFunc(images, tx.hasImage) {
		return fmt.Errorf("it is the state of another cloud, without the images of this one, such as %q", images[0].Name)
	}
	states := []State{Creating, Starting, Running, Stopping, Off, Rebuilding, Deleting}
	for _, i := range tx.Instances.All() {
		switch {
		case !slices.Contains(states, i.State):
			return fmt.Errorf("instance %d has state %q: want one of %q", i.ID, i.State, states)
		case tx.c.cfg.Catalogue.ServerType(i.Type) == nil:
			return fmt.Errorf("instance %d has server type %q, which is not offered", i.ID, i.Type)
		case tx.c.cfg.Catalogue.Location(i.Location) == nil:
			return fmt.Errorf("instance %d has location %q, which is not offered", i.ID, i.Location)
		case i.Reservation != 0 && tx.Reservations.Get(i.Reservation) == nil:
			return fmt.Errorf("instance %d fills reservation %d, which is not there", i.ID, i.Reservation)
		}
		for _, a := range i.Networks {
			if tx.Networks.Get(a.Network) == nil {
				return fmt.Errorf("instance %d is in network %d, which is not there", i.ID, a.Network)
			}
		}
	}
	for _, g := range tx.Groups.All() {
		if err := g.check(tx); err != nil {
			return fmt.Errorf("group %q: %w", g.Name, err)
		}
	}
	for _, v := range tx.Volumes.All() {
		if tx.c.cfg.Catalogue.Location(v.Location) == nil {
			return fmt.Errorf("volume %d has location %q, which is not offered", v.ID, v.Location)
		}
	}
	for _, p := range tx.PrimaryIPs.All() {
		if tx.c.cfg.Catalogue.Location(p.Location) == nil {
			return fmt.Errorf("primary IP %d has location %q, which is not offered", p.ID, p.Location)
		}
	}
	for _, f := range tx.FloatingIPs.All() {
		if tx.c.cfg.Catalogue.Location(f.HomeLocation) == nil {
			return fmt.Errorf("floating IP %d has location %q, which is not offered", f.ID, f.HomeLocation)
		}
	}
	for _, lb := range tx.LoadBalancers.All() {
		if tx.c.cfg.Catalogue.Location(lb.Location) == nil || tx.c.cfg.Catalogue.LoadBalancerType(lb.Type) == nil {
			return fmt.Errorf("load balancer %d has location %q and type %q, which are not offered", lb.ID, lb.Location, lb.Type)
		}
	}
	return nil
}
