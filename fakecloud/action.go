package fakecloud

import (
	"slices"
	"time"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/table"
	"nodestorm/sim/time/seed"
)

// Statuses of an action.
const (
	ActionRunning = "running"
	ActionSuccess = "success"
	ActionError   = "error"
)

// Ref names a resource by its kind, in the singular as in "server", and its ID.
type Ref struct {
	Type string
	ID   int64
}

// Action is something that the cloud has been asked to do and that takes time.
//
//	           ┌─(Ends)─▶ success
//	running ───┤
//	           └─(Ends, with Fails)─▶ error
//
// Commands that move an instance through its life have their effect when the action ends, and so have
// attach_to_network and detach_from_network of an instance; all others at once, and the action says so later.
type Action struct {
	ID        int64
	Command   string // "create_server" and so on, as in the API
	Status    string
	Resources []Ref
	// Started is when it was asked for.
	Started time.Time
	// Begins is when work on it begins; zero while it waits for the action Follows.
	Begins  time.Time
	Follows int64
	// Takes is how long the work is from then on. Negative means that it never ends.
	Takes time.Duration
	// Finished is when it ended; zero while it runs.
	Finished time.Time
	// Fails is the error that it will end in, or has. Nil means success.
	Fails *Failure
}

// About implements table.MetaOf.
func (a *Action) About() *table.Meta { return &table.Meta{ID: a.ID} }

// Failure is the error that an action ends in.
type Failure struct{ Code, Message string }

// Progress is how much of the work is done at a time, from 0 to 100.
func (a *Action) Progress(now time.Time) int {
	switch {
	case a.Status != ActionRunning:
		return 100
	case a.Begins.IsZero() || !now.After(a.Begins):
		return 0
	case a.Takes <= 0:
		return 50 // it hangs
	}
	return int(min(99, 100*now.Sub(a.Begins)/a.Takes))
}

// ResourceID returns the ID of the first resource of that kind that the action is about, or zero.
func (a *Action) ResourceID(kind string) int64 {
	for _, r := range a.Resources {
		if r.Type == kind {
			return r.ID
		}
	}
	return 0
}

// maxFinished is how many finished actions are kept at least. Older ones are forgotten, as the
// API does after a while, so that a cloud that runs for days needs no more memory.
const maxFinished = 10_000

// Start starts an action about resources. After names one that has to succeed first, of the same server;
// nil means none.
func (tx *Tx) Start(command string, after *Action, resources ...Ref) *Action {
	tx.actionID++
	a := Action{ID: tx.actionID, Command: command, Status: ActionRunning, Resources: resources, Started: tx.now}
	a.Takes = tx.c.cfg.Durations[command]
	if a.Takes == 0 {
		if _, known := tx.c.cfg.Durations[command]; !known {
			a.Takes = time.Second
		}
	}
	a.Takes = seed.Vary(tx.random, a.Takes, 0.2)
	call := tx.call(command, a.ResourceID("server"))
	if hit := tx.c.faults.First(cloudfault.Action, call); hit != nil {
		tx.applyFault(&a, hit)
	}
	if after != nil && after.Status == ActionRunning {
		a.Follows = after.ID
	} else {
		tx.begin(&a)
	}
	tx.Actions.Put(a)
	server := a.ResourceID("server")
	tx.live[server] = append(tx.live[server], a.ID)
	tx.forget()
	return tx.Actions.Get(a.ID)
}

// applyFault makes an action end as the fault has it.
func (tx *Tx) applyFault(a *Action, hit *cloudfault.Hit) {
	course := cloudfault.Work{Takes: a.Takes, Felt: a.Takes}
	hit.Effect.(cloudfault.Worker).Work(&course)
	a.Takes, a.Fails = course.Takes, (*Failure)(course.Fails)
	tx.hits[a.ID] = pendingHit{hit, course.Felt}
}

// pendingHit is a fault that becomes effective so long after its action has begun.
type pendingHit struct {
	hit *cloudfault.Hit
	in  time.Duration
}

func (tx *Tx) begin(a *Action) {
	a.Begins = tx.now
	if p, ok := tx.hits[a.ID]; ok {
		tx.schedule(tx.now.Add(p.in), func() { p.hit.EffectiveAt(tx.now) })
		delete(tx.hits, a.ID)
	}
	if a.Takes >= 0 {
		id := a.ID
		// mutant: actions of the cloud take no time
		tx.schedule(tx.now.Add(a.Takes), func() { tx.finishAction(id) })
	}
}

// finishAction ends an action as it is to end.
func (tx *Tx) finishAction(id int64) {
	a := tx.Actions.Get(id)
	if a == nil || a.Status != ActionRunning {
		return
	}
	tx.Actions.Update(id, func(a *Action) {
		a.Finished, a.Status = tx.now, ActionSuccess
		if a.Fails != nil {
			// mutant: an action that fails succeeds
			a.Status = ActionError
		}
	})
	delete(tx.hits, id)
	a = tx.Actions.Get(id)
	server := a.ResourceID("server")
	tx.live[server] = slices.DeleteFunc(tx.live[server], func(live int64) bool { return live == id })
	if len(tx.live[server]) == 0 {
		delete(tx.live, server)
	}
	tx.applyOutcome(a)
	for _, next := range tx.running(server) {
		if next.Follows != id || !next.Begins.IsZero() {
			continue
		}
		if a.Fails != nil {
			tx.fail(next.ID, *a.Fails)
			continue
		}
		began := *next
		tx.begin(&began)
		tx.Actions.Put(began)
	}
}

// fail ends an action in an error now.
func (tx *Tx) fail(id int64, why Failure) {
	tx.Actions.Update(id, func(a *Action) { a.Fails = &why })
	tx.finishAction(id)
}

// running returns the actions about a server that run, or those about none for zero.
func (tx *Tx) running(server int64) []*Action {
	var all []*Action
	for _, id := range tx.live[server] {
		all = append(all, tx.Actions.Get(id))
	}
	return all
}

// forget drops the oldest finished actions, many at once so that it is seldom done.
func (tx *Tx) forget() {
	if tx.Actions.Len() < 2*maxFinished {
		return
	}
	for _, a := range tx.Actions.All()[:maxFinished] {
		if a.Status != ActionRunning {
			tx.Actions.Delete(a.ID)
		}
	}
}

// schedule has do done when the cloud's time has come to at.
func (tx *Tx) schedule(at time.Time, do func()) { tx.agenda.Add(at, do) }

// advance does all that is due until now, each at its own time.
func (tx *Tx) advance(now time.Time) {
	for at, do, ok := tx.agenda.Take(now); ok; at, do, ok = tx.agenda.Take(now) {
		if at.After(tx.now) {
			tx.now = at
		}
		do()
	}
	if now.After(tx.now) {
		tx.now = now
	}
}

// Rebuild puts an image on an instance again. UserData nil keeps what it has.
func (tx *Tx) Rebuild(id, image int64, userData *string) *Action {
	tx.Instances.Update(id, func(i *Instance) {
		i.Image = image
		if userData != nil {
			i.UserData = *userData
		}
	})
	a := tx.Start("rebuild_server", nil, Ref{"server", id})
	tx.move(id, Rebuilding)
	return a
}
