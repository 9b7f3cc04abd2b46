package fakecloud

import (
	"cmp"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"nodestorm/fakecloud/cloudfault"
)

// Placement is how a Group does what large clouds do: its instances are spread over places, and what it did about them is kept.
type Placement struct {
	// Places are those that its instances are spread over evenly. Nil: all are at the group's Location, in no network.
	Places []Place `json:",omitempty"`
	// Retry is how long after a failure instances are tried to be created again, in a group in which one that could not be
	// created is not there. Zero: it is there, with its Failure, and nothing is tried again.
	Retry time.Duration `json:",omitempty"`
	// Rests is until when nothing is tried.
	Rests time.Time `json:",omitzero"`
	// Activities are what the cloud did, the oldest first, if Retry is not zero.
	Activities []Activity `json:",omitempty"`
}

// Place is where an instance can be.
type Place struct {
	Location string
	// Network and Subnet are where its address is from; zero: none.
	Network int64
	Subnet  netip.Prefix
}

// Group is the node group that labels name, or empty.
func (tx *Tx) Group(labels map[string]string) string {
	return cmp.Or(labels[tx.c.cfg.GroupLabel], labels[tx.c.cfg.KeptLabel])
}

// places are those that its instances can be at.
func (g *Group) places() []Place {
	if len(g.Places) == 0 {
		return []Place{{Location: g.Location}}
	}
	return g.Places
}

// Activity is the creation or the deletion of an instance of a Group, or the failure to create one.
type Activity struct {
	ID    int64
	Start time.Time
	// End is zero while it is under way.
	End time.Time `json:",omitzero"`
	// Instance is the name of the instance; empty: it could not be created.
	Instance, Location string
	Deletion           bool `json:",omitempty"`
	// Failure is why it could not be created, Struck that a fault said so in the wire API's words.
	Failure *Failure `json:",omitempty"`
	Struck  bool     `json:",omitempty"`
}

// maxActivities is how many of a group are kept. Clouds keep them for weeks.
const maxActivities = 500

// log keeps an activity.
func (tx *Tx) log(g *Group, a Activity) {
	a.ID, a.Start = tx.nextID(), tx.now
	tx.Groups.Update(g.ID, func(g *Group) {
		g.Activities = append(slices.Clone(g.Activities), a)
		g.Activities = g.Activities[max(0, len(g.Activities)-maxActivities):]
	})
}

func (tx *Tx) logDeletion(i *Instance) {
	if g := tx.Groups.Named(tx.Group(i.Labels)); g != nil && g.Retry > 0 {
		tx.log(g, Activity{Instance: i.Name, Location: i.Location, Deletion: true})
	}
}

// settleActivity ends the activities about an instance that a state ends.
func (tx *Tx) settleActivity(i *Instance, to State) {
	g := tx.Groups.Named(tx.Group(i.Labels))
	if g == nil || to != Running && to != Gone {
		return
	}
	k := slices.IndexFunc(g.Activities, func(a Activity) bool {
		return a.Instance == i.Name && a.End.IsZero() && (to == Gone || !a.Deletion)
	})
	if k < 0 {
		return
	}
	tx.Groups.Update(g.ID, func(g *Group) {
		g.Activities = slices.Clone(g.Activities)
		a := &g.Activities[k]
		a.End = tx.now
		if to == Gone && !a.Deletion {
			a.Failure = &Failure{"action_failed", "Action failed"}
		}
	})
	tx.settleActivity(i, to) // one that is deleted before it runs has two
}

// surplus is the instance of a group that goes when it has too many: the youngest, or, of one that is spread over places, the
// oldest where there are most.
func surplus(g *Group, members []*Instance) *Instance {
	if len(g.Places) == 0 {
		return members[len(members)-1]
	}
	there := map[string]int{}
	for _, i := range members {
		there[i.Location]++
	}
	most := members[0]
	for _, i := range members {
		if there[i.Location] > there[most.Location] {
			most = i
		}
	}
	return most
}

// specOf is an instance of a group at its first place.
func (tx *Tx) specOf(g *Group, name string, t *ServerType) Spec {
	labels := maps.Clone(g.InstanceLabels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[tx.c.cfg.KeptLabel] = g.Name
	return Spec{
		Name: name, Labels: labels, Type: t, Image: tx.image(g.Image, t.Architecture), Location: g.Location, UserData: g.UserData, Start: true,
	}
}

// growSomewhere creates one instance of a group where it has fewest, or where else there is room. If there is none anywhere, the group
// rests.
func (tx *Tx) growSomewhere(g *Group, name string) {
	spec := tx.specOf(g, name, tx.c.cfg.Catalogue.ServerType(g.Type))
	there := map[string]int{}
	for _, i := range tx.Membership(g) {
		there[i.Location]++
	}
	places := slices.Clone(g.places())
	// mutant: instances of a group are all in one place
	slices.SortStableFunc(places, func(a, b Place) int { return there[a.Location] - there[b.Location] })
	for _, p := range places {
		spec.Location, spec.Networks, spec.Subnet = p.Location, nil, p.Subnet
		if p.Network != 0 {
			spec.Networks = []int64{p.Network}
		}
		err, struck := tx.unlaunched(g, p), true
		if err == nil {
			struck = false
			_, _, _, err = tx.Create(spec)
		}
		refused := &Error{}
		if !errors.As(err, &refused) {
			tx.log(g, Activity{Instance: name, Location: p.Location})
			return
		}
		tx.logFailure(g, p, refused, struck)
	}
	tx.rest(g)
}

// logFailure keeps that an instance could not be created at a place. Of what nothing is said to anybody, nothing is kept.
func (tx *Tx) logFailure(g *Group, p Place, e *Error, struck bool) {
	if e.Code == "" {
		return
	}
	tx.log(g, Activity{End: tx.now, Location: p.Location, Failure: &Failure{e.Code, e.Message}, Struck: struck})
	tx.recordGroup(g, "failed", map[string]any{"error": e.Code, "type": g.Type, "location": p.Location})
}

// unlaunched is why faults have an instance of a group not launched, or nil.
func (tx *Tx) unlaunched(g *Group, p Place) error {
	hit := tx.c.faults.First(cloudfault.Launch, cloudfault.Call{
		Operation: "create_server", Group: g.Name, Type: g.Type, Location: p.Location, Capacity: CapacityType(false),
	})
	if hit == nil {
		return nil
	}
	hit.Effective()
	code, message := hit.Effect.(cloudfault.Launcher).Unlaunched()
	return &Error{Code: code, Message: message}
}

// rest has nothing tried for a group for a while.
func (tx *Tx) rest(g *Group) {
	tx.Groups.Update(g.ID, func(g *Group) { g.Rests = tx.now.Add(g.Retry) })
	tx.wakeLater(tx.Groups.Get(g.ID))
}

// wakeLater has a group tried again that rests.
func (tx *Tx) wakeLater(g *Group) {
	if id := g.ID; g.Rests.After(tx.now) {
		tx.schedule(g.Rests, func() { tx.fulfil(id) })
	}
}
