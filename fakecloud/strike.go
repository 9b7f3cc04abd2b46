package fakecloud

import (
	"time"

	"nodestorm/fakecloud/cloudfault"
)

// breakLater schedules what faults have in store for an instance that runs now.
func (tx *Tx) breakLater(i *Instance) {
	call := tx.call("", i.ID)
	for _, hit := range tx.c.faults.Active(cloudfault.Instance) {
		if !hit.Fits(call) || tx.struck[strike{hit.Name(), i.ID}] || !hit.Fire(call) {
			continue
		}
		tx.struck[strike{hit.Name(), i.ID}] = true
		hit.Effect.(cloudfault.Striker).Strike(running{tx, i.ID, hit, tx.now})
	}
}

// running is an instance that a fault breaks.
type running struct {
	tx    *Tx
	id    int64
	hit   *cloudfault.Hit
	since time.Time
}

// schedule does something to the instance that is still there then.
func (r running) schedule(d time.Duration, does func(i *Instance) bool) {
	r.tx.schedule(r.since.Add(d), func() {
		if i := r.tx.Instances.Get(r.id); i != nil && does(i) {
			r.hit.EffectiveAt(r.tx.now)
		}
	})
}

// TurnOff implements cloudfault.Machine.
func (r running) TurnOff(after time.Duration) {
	r.schedule(after, func(i *Instance) bool {
		if i.State != Running {
			return false
		}
		r.tx.move(r.id, Off)
		return true
	})
}

// Vanish implements cloudfault.Machine.
func (r running) Vanish(after time.Duration) {
	r.schedule(after, func(*Instance) bool {
		r.tx.Remove(r.id)
		return true
	})
}

// Interrupt implements cloudfault.Machine.
func (r running) Interrupt(after, notice time.Duration) {
	r.schedule(after, func(i *Instance) bool {
		if i.State != Running {
			return false
		}
		r.tx.interrupt(i, r.tx.now.Add(notice))
		return true
	})
}

// Impair implements cloudfault.Machine.
func (r running) Impair(after time.Duration) {
	r.schedule(after, func(i *Instance) bool {
		if i.State != Running || !i.Impaired.IsZero() {
			return false
		}
		r.tx.Instances.Update(r.id, func(i *Instance) { i.Impaired = r.tx.now })
		r.tx.recordInstance(r.tx.Instances.Get(r.id), "impaired")
		return true
	})
}

// Maintain implements cloudfault.Machine.
func (r running) Maintain(after time.Duration, kind string, finished bool) {
	r.schedule(after, func(i *Instance) bool {
		if i.State != Running {
			return false
		}
		m := &Maintenance{Kind: kind, Begins: r.tx.now.Add(maintenanceNotice), Finished: finished}
		if finished {
			m.Begins = r.tx.now.Add(-maintenanceNotice)
		}
		r.tx.Instances.Update(r.id, func(i *Instance) { i.Maintenance = m })
		r.tx.recordInstance(r.tx.Instances.Get(r.id), "maintenance")
		return true
	})
}

// Maintenance is work of the cloud's on the host of an instance.
type Maintenance struct {
	// Kind is what it means for the instance, in the words of the wire API: for AWS for example system-reboot.
	Kind string
	// Begins is when it is to begin. Finished is that it is over, and still listed.
	Begins   time.Time
	Finished bool `json:",omitempty"`
}

// maintenanceNotice is how long before it begins maintenance is announced, and how long after its begin what is finished is
// seen here. Clouds give days.
const maintenanceNotice = 2 * 24 * time.Hour

// interrupt announces that an instance is taken back, and does so.
func (tx *Tx) interrupt(i *Instance, end time.Time) {
	tx.Instances.Update(i.ID, func(i *Instance) { i.Interrupted = end })
	tx.recordInstance(i, "interrupted")
	tx.takeBack(tx.Instances.Get(i.ID))
}

// takeBack ends an instance when that was announced for.
func (tx *Tx) takeBack(i *Instance) {
	id := i.ID
	// mutant: an interruption never comes true
	tx.schedule(i.Interrupted, func() { tx.Remove(id) })
}

// strike is that a fault has been taken for an instance.
type strike struct {
	fault string
	id    int64
}

// faultsChanged takes account of faults that are new or gone.
func (tx *Tx) faultsChanged() {
	tx.breakRunning()
	tx.fulfilAll()
	tx.freeze()
	tx.c.generation.Add(1) // what is offered may be different
}

// breakRunning looks at the instances that run already when a fault is new or begins.
func (tx *Tx) breakRunning() {
	for _, i := range tx.Instances.All() {
		if i.State == Running {
			tx.breakLater(i)
		}
	}
	if next := tx.c.faults.Next(cloudfault.Instance); !next.IsZero() {
		tx.schedule(next, tx.breakRunning)
	}
}
