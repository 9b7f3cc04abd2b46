package fakecloud

import (
	"slices"
	"time"

	"nodestorm/fakecloud/fault"
)

// ListInstances returns all instances as a listing shows them, which faults make Stale, or have some
// Missing in. Call is what they are matched with.
func (tx *Tx) ListInstances(call fault.Call) []*Instance {
	all := tx.Instances.All()
	for _, hit := range tx.c.faults.Active(fault.Listing) {
		if e, ok := hit.Effect.(fault.Stale); ok && hit.Fits(call) {
			all = tx.stale(hit, e, call, all)
		}
	}
	return LeaveOut(tx, all, func(i *Instance) (fault.Call, time.Time) {
		return fault.Call{Operation: call.Operation, Group: tx.Group(i.Labels), Instance: i.Name}, i.Created
	})
}

func (tx *Tx) stale(hit *fault.Hit, e fault.Stale, call fault.Call, now []*Instance) []*Instance {
	at := hit.From
	if e.By > 0 {
		at = tx.now.Add(-time.Duration(e.By))
		if at.Before(hit.From) {
			at = hit.From
		}
	}
	then := tx.InstancesAt(at)
	if slices.Equal(then, now) || !hit.Take(call) {
		return now
	}
	hit.Effective()
	return then
}

// LeaveOut takes out of a listing what faults have Missing in it. About says what they are matched with for
// an entry, and when that was created.
func LeaveOut[T any](tx *Tx, all []*T, about func(*T) (call fault.Call, created time.Time)) []*T {
	for _, hit := range tx.c.faults.Active(fault.Listing) {
		e, ok := hit.Effect.(fault.Missing)
		if !ok {
			continue
		}
		gone := map[*T]bool{}
		var last fault.Call
		for _, r := range all {
			call, created := about(r)
			if hit.Fits(call) && (e.For == 0 || tx.now.Before(created.Add(time.Duration(e.For)))) {
				gone[r], last = true, call
			}
		}
		if len(gone) > 0 && hit.Take(last) {
			hit.Effective()
			all = slices.DeleteFunc(slices.Clone(all), func(r *T) bool { return gone[r] })
		}
	}
	return all
}

// CutShort ends a listing where faults have it end early. Calls are what they are matched with.
func CutShort[T any](tx *Tx, all []*T, calls ...fault.Call) []*T {
	for _, hit := range tx.c.faults.Active(fault.Listing) {
		e, ok := hit.Effect.(fault.Partial)
		k := slices.IndexFunc(calls, hit.Fits)
		if ok && k >= 0 && len(all) > e.Keep && hit.Take(calls[k]) {
			hit.Effective()
			all = all[:e.Keep]
		}
	}
	return all
}
