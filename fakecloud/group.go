package fakecloud

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/table"
	"nodestorm/sim/history"
)

// Group is a set of instances of one kind that the cloud itself keeps at a target size: the scaling
// group of large clouds. The target is a truth of its own: it says what the cloud owes, and the instances
// what there is.
//
//	SetTarget up ────▶ instances are created until there are as many
//	SetTarget down ──▶ the youngest are deleted
//	Forgo ───────────▶ what the cloud owes is forgone, and no instance deleted
//	DeleteMembers ───▶ these are deleted, and the target falls with them
//
// An instance that cannot be created stays in the group, with its Failure, until it is deleted.
// One that is lost is replaced.
type Group struct {
	table.Meta
	// Min and Max are bounds of the target for autoscalers. Others, as SetTarget, need not keep to them.
	Min, Max int
	Target   int
	// Type, Location and Image are names, as those of an instance. UserData is every instance's.
	Type, Location, Image, UserData string
	// NodeLabels and Taints are what the nodes of its instances come with, taints as kubelets have them:
	// "a=b:NoSchedule".
	NodeLabels map[string]string
	Taints     []string
	// Options are what autoscalers get as its options, by the names that the wire API has for them.
	Options map[string]string
	// Made counts the instances that it has had, after which they are called.
	Made int
	// Withheld is how many instances the cloud owes and does not even begin to create.
	Withheld int
	// InstanceLabels are those that its instances have beside that of their group.
	InstanceLabels map[string]string `json:",omitempty"`
	Placement
}

// groupName is what names of hosts begin with, short enough for a dash and ten digits.
var groupName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$`)

// maxTarget is more than anybody simulates: a larger one is a slip of the hand.
const maxTarget = 100_000

// check says what is wrong with a new group.
func (g *Group) check(tx *Tx) error {
	t := tx.c.cfg.Catalogue.ServerType(g.Type)
	switch {
	case g.Name == "" || tx.c.cfg.InstanceName == nil && !groupName.MatchString(g.Name):
		return errors.New("want a name of 1 to 52 small letters, digits and dashes: with a number behind it, it is an instance's, and a node's")
	case g.Min < 0 || g.Max < g.Min:
		return fmt.Errorf("from %d to %d instances: want 0 <= min <= max", g.Min, g.Max)
	case g.Target < 0 || g.Target > maxTarget:
		return fmt.Errorf("a target of %d: want 0 to %d", g.Target, maxTarget)
	case t == nil:
		return fmt.Errorf("there is no instance type %q", g.Type)
	case tx.image(g.Image, t.Architecture) == nil:
		return fmt.Errorf("there is no image %q for %s", g.Image, t.Architecture)
	}
	for _, p := range g.places() {
		if _, offered := t.PriceIn(p.Location); !offered {
			return fmt.Errorf("the instance type %q is not offered in %q", g.Type, p.Location)
		}
	}
	return nil
}

// image is the one of that name for an architecture, or nil.
func (tx *Tx) image(name, architecture string) *Image {
	for _, i := range tx.Images.All() {
		if i.Name == name && i.Architecture == architecture {
			return i
		}
	}
	return nil
}

// CreateGroup creates a group, and its first instances. Its Meta needs a name only.
func (tx *Tx) CreateGroup(g Group) (*Group, error) {
	if err := g.check(tx); err != nil {
		return nil, fmt.Errorf("group %q: %w", g.Name, err)
	}
	if tx.Groups.Named(g.Name) != nil {
		return nil, Errorf("uniqueness_error", "group name %q is already used", g.Name)
	}
	target := g.Target
	g.Meta, g.Target = tx.NewMeta(g.Name, g.Labels), 0
	tx.Groups.Put(g)
	tx.SetTarget(g.ID, target)
	return tx.Groups.Get(g.ID), nil
}

// RemoveGroup takes a group out of the cloud. Its instances stay, in no group.
func (tx *Tx) RemoveGroup(id int64) {
	if g := tx.Groups.Get(id); g != nil {
		tx.Groups.Delete(id)
		tx.recordGroup(g, "deleted", nil)
	}
}

// Membership returns the instances of a group, but for those that are being deleted: they count no more.
func (tx *Tx) Membership(g *Group) (all []*Instance) {
	for _, i := range tx.Instances.All() {
		if i.State != Deleting && tx.Group(i.Labels) == g.Name {
			all = append(all, i)
		}
	}
	return all
}

// SetTarget sets a group's target size, zero or more, and has the cloud make it true.
func (tx *Tx) SetTarget(id int64, target int) {
	tx.retarget(id, target)
	tx.Groups.Update(id, func(g *Group) { g.Rests = time.Time{} })
	g := tx.Groups.Get(id)
	for members := tx.Membership(g); len(members) > target; members = tx.Membership(g) {
		tx.Discard(surplus(g, members))
	}
	tx.fulfil(id)
}

// Forgo lowers a group's target size by so many instances that it does not have yet. More of them are
// refused.
func (tx *Tx) Forgo(id int64, instances int) error {
	g := tx.Groups.Get(id)
	// mutant: an instance that there is can be forgone
	if there := len(tx.Membership(g)); g.Target-instances < there {
		return Errorf("conflict", "group %q: a target of %d, less %d, is below the %d instances that there are", g.Name, g.Target, instances,
			there)
	}
	tx.retarget(id, g.Target-instances)
	return nil
}

// DeleteMembers deletes instances of a group, by their IDs, and lowers its target by as many, unless faults have it
// half done.
func (tx *Tx) DeleteMembers(id int64, instances ...int64) error {
	g := tx.Groups.Get(id)
	for _, instance := range instances {
		i := tx.Instances.Get(instance)
		switch {
		case i == nil:
			return NotFound("instance", instance)
		case tx.Group(i.Labels) != g.Name:
			return Errorf("invalid_input", "instance %q is not of the group %q", i.Name, g.Name)
		}
	}
	fewer := 0
	for _, instance := range instances {
		i := tx.Instances.Get(instance)
		if i.State == Deleting {
			continue
		}
		switch tx.deletionRemainder(g, i) {
		case cloudfault.LeavesRest:
			tx.retarget(id, max(0, g.Target-fewer))
			return Errorf("internal", "%d of %d instances of the group %q are deleted, and not %q", fewer, len(instances), g.Name, i.Name)
		// mutant: a half deletion is a whole one
		case cloudfault.LeavesInstance:
			fewer++
		case cloudfault.LeavesTarget:
			tx.Discard(i)
		default:
			tx.Discard(i)
			fewer++
		}
	}
	tx.retarget(id, max(0, g.Target-fewer))
	tx.fulfil(id)
	return nil
}

// deletionRemainder is what faults leave of the deletion of an instance, or "".
func (tx *Tx) deletionRemainder(g *Group, i *Instance) string {
	hit := tx.c.faults.First(cloudfault.Shrinkage, cloudfault.Call{Operation: "delete_server", Group: g.Name, Instance: i.Name})
	if hit == nil {
		return ""
	}
	hit.Effective()
	return hit.Effect.(cloudfault.Leaver).Remainder()
}

// Discard deletes an instance of a group, and nothing else: of one that failed to be created nothing is left at once.
func (tx *Tx) Discard(i *Instance) {
	tx.logDeletion(i)
	if i.Failure != nil {
		tx.Remove(i.ID)
		return
	}
	tx.Delete(i.ID)
}

// retarget changes a group's target size and nothing else.
func (tx *Tx) retarget(id int64, target int) {
	g := tx.Groups.Get(id)
	if g.Target == target {
		return
	}
	from := g.Target
	tx.Groups.Update(id, func(g *Group) {
		g.Target = target
		g.Withheld = min(g.Withheld, max(0, target-len(tx.Membership(g))))
	})
	tx.recordGroup(g, "target", map[string]any{"from": from, "to": target})
}

// fulfil creates the instances that a group lacks.
func (tx *Tx) fulfil(id int64) {
	for g := tx.Groups.Get(id); g != nil && !tx.now.Before(g.Rests) && len(tx.Membership(g))+g.Withheld < g.Target; g = tx.Groups.Get(id) {
		tx.Groups.Update(id, func(g *Group) { g.Made++ })
		name := tx.nextName(g)
		call := cloudfault.Call{Operation: "create_server", Group: g.Name, Instance: name}
		if hit := tx.c.faults.First(cloudfault.Growth, call); hit != nil {
			hit.Effective()
			tx.Groups.Update(id, func(g *Group) { g.Withheld++ })
			continue
		}
		if g.Retry > 0 {
			tx.growSomewhere(g, name)
			continue
		}
		tx.grow(g, name)
	}
}

// nextName is that of the next instance of a group.
func (tx *Tx) nextName(g *Group) string {
	if name := tx.c.cfg.InstanceName; name != nil {
		return name(tx)
	}
	return fmt.Sprintf("%s-%d", g.Name, g.Made+1)
}

// grow creates one instance of a group. What cannot be created is there with its failure.
func (tx *Tx) grow(g *Group, name string) {
	t := tx.c.cfg.Catalogue.ServerType(g.Type)
	spec := tx.specOf(g, name, t)
	spec.IPv4 = true
	_, _, _, err := tx.Create(spec)
	refused := &Error{}
	if !errors.As(err, &refused) {
		return
	}
	i := Instance{
		Meta: tx.NewMeta(name, spec.Labels), Type: t.Name, Location: g.Location, Image: spec.Image.ID, UserData: g.UserData,
		Failure: &Failure{refused.Code, refused.Message},
	}
	tx.Instances.Put(i)
	tx.move(i.ID, Creating)
}

// failToCreate keeps an instance of a group that failed to be created; ok is false for one of no group, or one that is being deleted.
func (tx *Tx) failToCreate(i *Instance, why Failure) (ok bool) {
	g := tx.Groups.Named(tx.Group(i.Labels))
	if i.State == Deleting || g == nil {
		return false
	}
	if g.Retry > 0 {
		tx.rest(g)
		return false
	}
	tx.release(i)
	tx.Instances.Update(i.ID, func(i *Instance) { i.State, i.Failure = Creating, &why })
	tx.recordInstance(tx.Instances.Get(i.ID), "failed")
	return true
}

// recordGroup records what happened to a group.
func (tx *Tx) recordGroup(g *Group, verb string, detail map[string]any) {
	tx.c.cfg.Recorder.Record(history.Event{
		At: tx.now, Source: history.Cloud, Verb: verb, Actor: "fakecloud",
		Object: history.Object{Resource: "nodegroups", Name: g.Name}, Detail: detail,
	})
}

// fulfilAll looks at all groups when faults are new, begin or end: what is not withheld any more is
// created.
func (tx *Tx) fulfilAll() {
	for _, g := range tx.Groups.All() {
		if g.Withheld > 0 && len(tx.c.faults.Active(cloudfault.Growth)) == 0 {
			tx.Groups.Update(g.ID, func(g *Group) { g.Withheld = 0 })
		}
		tx.fulfil(g.ID)
	}
	if next := tx.c.faults.Next(cloudfault.Growth); !next.IsZero() {
		tx.schedule(next, tx.fulfilAll)
	}
}
