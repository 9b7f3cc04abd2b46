package fakecloud

import (
	"net/netip"
	"time"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/table"
	"nodestorm/sim/history"
)

// State is where an instance is in its life.
//
//	creating ──create_server──▶ starting ──start_server──▶ running ◀─start/stop─▶ off
//	    └──(not to be started)───────────────────────────────────────────────────▶ off
//	any ──▶ deleting ──delete_server──▶ gone
type State string

// The states of an instance.
const (
	Creating   State = "creating"
	Starting   State = "starting"
	Running    State = "running"
	Stopping   State = "stopping"
	Off        State = "off"
	Rebuilding State = "rebuilding"
	Deleting   State = "deleting"
	Gone       State = "gone"
)

// Instance is a machine of the cloud.
type Instance struct {
	table.Meta
	Type     string // name of the server type
	Location string
	Image    int64 // zero after its image is gone
	UserData string
	State    State
	// Spot is that the cloud may take it back.
	Spot bool
	// Interrupted is when the cloud takes it back. Zero: that has not been announced.
	Interrupted time.Time `json:",omitzero"`
	// Impaired is since when its health checks fail, Maintenance what is announced for it. Zero: they pass, and nothing is.
	Impaired    time.Time    `json:",omitzero"`
	Maintenance *Maintenance `json:",omitempty"`
	// Reservation is the one that it fills; zero: none. Matching is which it may.
	Reservation int64    `json:",omitempty"`
	Matching    Matching `json:",omitzero"`
	// Ended is when it was gone. Zero: it is there.
	Ended time.Time `json:",omitzero"`
	// Failure is why it could not be created, of an instance of a Group. Nil: it could, or may yet.
	Failure *Failure
	// RebuildProtected refuses rebuilding.
	RebuildProtected bool

	// PublicIPv4 and PublicIPv6 are zero where there is none. PublicIPv6 is the first host address
	// of the instance's /64.
	PublicIPv4, PublicIPv6 netip.Addr
	PrimaryIPv4ID          int64
	PrimaryIPv6ID          int64
	Networks               []Attachment

	SSHKeys        []int64
	PlacementGroup int64 // zero: none
	ISO            int64 // zero: none
	Rescue         bool
	BackupWindow   string // empty: no backups
	DNSPtr         map[string]string
	// RootPassword is handed out where no SSH key is given. It is no secret: it opens nothing.
	RootPassword string
}

// Attachment is an instance's or a load balancer's place in a network.
type Attachment struct {
	Network    int64
	IP         netip.Addr
	AliasIPs   []netip.Addr
	MACAddress string
	// Attached is false until the action attach_to_network has succeeded.
	Attached bool
}

// PrivateIPs are its addresses in networks that it is attached to.
func (i *Instance) PrivateIPs() []netip.Addr {
	var ips []netip.Addr
	for _, a := range i.Networks {
		if a.Attached {
			ips = append(ips, a.IP)
		}
	}
	return ips
}

// Locked reports whether the instance accepts no other action now.
func (i *Instance) Locked() bool {
	return i.State == Creating || i.State == Rebuilding || i.State == Deleting
}

// Spec is an instance to create. Names and IDs have been found to exist by the caller.
type Spec struct {
	Name           string
	Labels         map[string]string
	Type           *ServerType
	Image          *Image
	Location       string
	UserData       string
	Start          bool // begin running at once
	Spot           bool
	Matching       Matching // which reservations it may fill
	IPv4, IPv6     bool
	IPv4ID, IPv6ID int64 // existing primary IPs; zero: a new one
	Networks       []int64
	Subnet         netip.Prefix // of the networks, where its addresses are to be; zero: any of its zone
	Firewalls      []int64
	SSHKeys        []int64
	Volumes        []int64
	PlacementGroup int64
}

// call is what faults are matched with for an operation on an instance.
func (tx *Tx) call(operation string, id int64) cloudfault.Call {
	call := cloudfault.Call{Operation: operation}
	if i := tx.Instances.Get(id); i != nil {
		call.Group, call.Instance = tx.Group(i.Labels), i.Name
	}
	return call
}

// Create creates an instance. It returns the action create_server, and those that follow it.
func (tx *Tx) Create(spec Spec) (*Instance, *Action, []*Action, error) {
	reservation, err := tx.reservationFor(spec)
	if err == nil {
		err = tx.checkSupply(spec, reservation != 0)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	attachments, err := tx.reserve(spec.Networks, tx.c.cfg.Catalogue.Location(spec.Location).NetworkZone, spec.Subnet)
	if err != nil {
		return nil, nil, nil, err
	}
	i := Instance{
		Meta:     table.Meta{ID: tx.nextID(), Name: spec.Name, Labels: spec.Labels, Created: tx.now},
		Type:     spec.Type.Name,
		Location: spec.Location, Image: spec.Image.ID, UserData: spec.UserData, Spot: spec.Spot,
		Reservation: reservation, Matching: spec.Matching,
		SSHKeys: spec.SSHKeys, PlacementGroup: spec.PlacementGroup, Networks: attachments,
	}
	if len(spec.SSHKeys) == 0 {
		i.RootPassword = tx.Password()
	}
	if spec.IPv4 {
		i.PrimaryIPv4ID, i.PublicIPv4 = tx.publicIP(spec.IPv4ID, "ipv4", &i)
	}
	if spec.IPv6 {
		i.PrimaryIPv6ID, i.PublicIPv6 = tx.publicIP(spec.IPv6ID, "ipv6", &i)
	}
	tx.Instances.Put(i)
	tx.move(i.ID, Creating)
	for _, id := range spec.Firewalls {
		tx.Firewalls.Update(id, func(f *Firewall) { f.Servers = append(f.Servers[:len(f.Servers):len(f.Servers)], i.ID) })
	}
	server := Ref{"server", i.ID}
	create := tx.Start("create_server", nil, server)
	var next []*Action
	for _, a := range attachments {
		next = append(next, tx.Start("attach_to_network", create, server, Ref{"network", a.Network}))
	}
	for _, id := range spec.Volumes {
		tx.Volumes.Update(id, func(v *Volume) { v.Server = i.ID })
		next = append(next, tx.Start("attach_volume", create, server, Ref{"volume", id}))
	}
	if spec.Start {
		next = append(next, tx.Start("start_server", create, server))
	}
	return tx.Instances.Get(i.ID), create, next, nil
}

// Delete begins to delete an instance.
func (tx *Tx) Delete(id int64) *Action {
	if a := tx.runningOn(id, "delete_server"); a != nil {
		return a
	}
	before := tx.Instances.Get(id).State
	a := tx.Start("delete_server", nil, Ref{"server", id})
	tx.deleting[id] = before
	tx.move(id, Deleting)
	return a
}

func (tx *Tx) runningOn(id int64, command string) *Action {
	for _, a := range tx.running(id) {
		if a.Command == command {
			return a
		}
	}
	return nil
}

// Power starts one of the actions start_server, stop_server, shutdown_server, reboot_server and
// reset_server.
func (tx *Tx) Power(id int64, command string) *Action {
	i := tx.Instances.Get(id)
	a := tx.Start(command, nil, Ref{"server", id})
	switch {
	case command == "start_server" && i.State == Off:
		tx.move(id, Starting)
	case command != "start_server" && i.State == Running:
		tx.move(id, Stopping)
	}
	return a
}

// applyOutcome carries out what the end of an action means for its instance.
func (tx *Tx) applyOutcome(a *Action) {
	id := a.ResourceID("server")
	i := tx.Instances.Get(id)
	// mutant: what a failed creation was followed by turns it off
	if i == nil || i.Failure != nil { // nothing comes of what was to follow a failed creation
		return
	}
	ok, state := a.Status == ActionSuccess, i.State
	if before, deleting := tx.deleting[id]; deleting {
		state = before
	}
	switch a.Command {
	case "create_server":
		tx.created(a, i, state)
	case "start_server":
		if state == Starting || state == Creating {
			tx.settle(id, ok, Running, Off)
		}
	case "stop_server", "shutdown_server":
		if state == Stopping {
			tx.settle(id, ok, Off, Running)
		}
	case "reboot_server", "reset_server", "rebuild_server":
		if state == Stopping || state == Rebuilding {
			tx.setState(id, Running)
		}
	case "delete_server":
		delete(tx.deleting, id)
		if ok {
			tx.Remove(id)
		} else if i.State == Deleting {
			tx.move(id, state)
		}
	case "attach_to_network":
		tx.attached(id, a.ResourceID("network"), ok)
	case "detach_from_network":
		if ok {
			tx.attached(id, a.ResourceID("network"), false)
		}
	}
}

// created carries out the end of the action create_server.
func (tx *Tx) created(a *Action, i *Instance, state State) {
	ok := a.Status == ActionSuccess
	switch {
	// mutant: an instance that cannot be had is gone from its group
	case !ok && tx.failToCreate(i, *a.Fails):
	case !ok:
		tx.Remove(i.ID)
	case state != Creating:
	case tx.runningOn(i.ID, "start_server") != nil:
		tx.setState(i.ID, Starting)
	default:
		tx.setState(i.ID, Off)
	}
}

func (tx *Tx) settle(id int64, ok bool, good, bad State) {
	if ok {
		tx.setState(id, good)
		return
	}
	tx.setState(id, bad)
}

// setState brings an instance into a state; one that is being deleted will be in it if deleting fails.
func (tx *Tx) setState(id int64, to State) {
	if _, deleting := tx.deleting[id]; deleting {
		tx.deleting[id] = to
		return
	}
	tx.move(id, to)
}

// Remove takes an instance out of the cloud at once, with all that goes with it.
func (tx *Tx) Remove(id int64) {
	i := tx.Instances.Get(id)
	if i == nil {
		return
	}
	tx.release(i)
	tx.move(id, Gone)
	// mutant: a deleted instance stays
	tx.Instances.Delete(id)
	tx.keepListed(*i)
	tx.fill(i.Reservation)
	for _, a := range tx.running(id) {
		tx.fail(a.ID, Failure{"action_failed", "Action failed"})
	}
}

// keepListed has an instance that is gone listed for a while.
func (tx *Tx) keepListed(i Instance) {
	if tx.c.cfg.Keeps <= 0 {
		return
	}
	i.State, i.Ended = Gone, tx.now
	tx.Ended.Put(i)
	tx.forgetEnded(&i)
}

// forgetEnded ends the time in which an instance is listed that is gone.
func (tx *Tx) forgetEnded(i *Instance) {
	id := i.ID
	tx.schedule(i.Ended.Add(tx.c.cfg.Keeps), func() { tx.Ended.Delete(id) })
}

// move brings an instance into a state and records it.
func (tx *Tx) move(id int64, to State) {
	i := tx.Instances.Get(id)
	if i == nil || i.State == to {
		return
	}
	from := i.State
	tx.Instances.Update(id, func(i *Instance) { i.State = to })
	i = tx.Instances.Get(id)
	// mutant: an instance's change is not reported
	tx.c.changes = append(tx.c.changes, Change{At: tx.now, Instance: *i, From: from, To: to})
	verb := string(to)
	switch {
	case to == Creating && i.Failure != nil:
		verb = "failed"
	case to == Creating:
		verb = "created"
	case to == Gone:
		verb = "deleted"
	}
	tx.recordInstance(i, verb)
	tx.settleActivity(i, to)
	if to == Running {
		tx.breakLater(i)
	}
	if g := tx.Groups.Named(tx.Group(i.Labels)); to == Gone && g != nil {
		tx.schedule(tx.now, func() { tx.fulfil(g.ID) })
	}
}

// recordInstance records what happened to an instance.
func (tx *Tx) recordInstance(i *Instance, verb string) {
	detail := map[string]any{"id": i.ID, "type": i.Type, "location": i.Location}
	if i.Failure != nil {
		detail["error"] = i.Failure.Code
	}
	if group := tx.Group(i.Labels); group != "" {
		detail["group"] = group
	}
	if r := tx.Reservations.Get(i.Reservation); r != nil {
		detail["reservation"] = r.Name
	}
	if verb == "created" {
		tx.recordPrice(i, detail)
	}
	tx.c.cfg.Recorder.Record(history.Event{
		At: tx.now, Source: history.Cloud, Verb: verb, Actor: "fakecloud",
		Object: history.Object{Resource: "instances", Name: i.Name}, Detail: detail,
	})
	for _, hear := range tx.c.hearers {
		hear(tx, verb, i)
	}
}

// recordPrice adds what the instance costs an hour, in which currency, and what is billed as a whole: a history is the
// only one that knows prices once its cloud is gone.
func (tx *Tx) recordPrice(i *Instance, detail map[string]any) {
	catalogue := tx.c.cfg.Catalogue
	t := catalogue.ServerType(i.Type)
	if t == nil || catalogue.Currency == "" {
		return
	}
	price, offered := t.PriceIn(i.Location)
	if !offered || price.Monthly == 0 {
		return
	}
	detail["hourly"], detail["currency"] = price.Hourly(), catalogue.Currency
	// mutant: spot capacity costs what other does
	if i.Spot {
		detail["hourly"], detail["capacity"] = price.SpotHourly(), CapacityType(true)
	}
	if catalogue.Billed > 0 {
		detail["billedSeconds"] = int64(catalogue.Billed.Seconds())
	}
}
