package fakecloud

import (
	"slices"
	"time"

	"nodestorm/fakecloud/cloudfault"
)

// ListInstances returns all instances as a listing shows them, which faults make Stale, or have some
// Missing in, and after them those that are gone and still listed. Call is what they are matched with.
func (tx *Tx) ListInstances(call cloudfault.Call) []*Instance {
	all := tx.Instances.All()
	for _, hit := range tx.c.faults.Active(cloudfault.Listing) {
		if e, ok := hit.Effect.(cloudfault.Stales); ok && hit.Fits(call) {
			all = tx.stale(hit, e, call, all)
		}
	}
	listed := map[int64]bool{}
	if tx.Ended.Len() > 0 {
		for _, i := range all {
			listed[i.ID] = true
		}
		all = slices.Clone(all)
	}
	for _, i := range tx.Ended.All() {
		// mutant: an instance that is gone is listed twice
		if !listed[i.ID] {
			all = append(all, i)
		}
	}
	return LeaveOut(tx, all, func(i *Instance) (cloudfault.Call, time.Time) {
		return cloudfault.Call{Operation: call.Operation, Group: tx.Group(i.Labels), Instance: i.Name}, i.Created
	})
}

func (tx *Tx) stale(hit *cloudfault.Hit, e cloudfault.Stales, call cloudfault.Call, now []*Instance) []*Instance {
	then := tx.InstancesAt(e.ListingTime(tx.now, hit.From))
	if slices.Equal(then, now) || !hit.Fire(call) {
		return now
	}
	hit.Effective()
	return then
}

// LeaveOut takes out of a listing what faults have Missing in it. About says what they are matched with for
// an entry, and when that was created.
func LeaveOut[T any](tx *Tx, all []*T, about func(*T) (call cloudfault.Call, created time.Time)) []*T {
	for _, hit := range tx.c.faults.Active(cloudfault.Listing) {
		e, ok := hit.Effect.(cloudfault.Hider)
		if !ok {
			continue
		}
		gone := map[*T]bool{}
		var last cloudfault.Call
		for _, r := range all {
			call, created := about(r)
			if hit.Fits(call) && e.Hides(created, tx.now) {
				gone[r], last = true, call
			}
		}
		if len(gone) > 0 && hit.Fire(last) {
			hit.Effective()
			all = slices.DeleteFunc(slices.Clone(all), func(r *T) bool { return gone[r] })
		}
	}
	return all
}

// CutShort ends a listing where faults have it end early. Calls are what they are matched with.
func CutShort[T any](tx *Tx, all []*T, calls ...cloudfault.Call) []*T {
	for _, hit := range tx.c.faults.Active(cloudfault.Listing) {
		e, ok := hit.Effect.(cloudfault.Shortener)
		k := slices.IndexFunc(calls, hit.Fits)
		if ok && k >= 0 && e.Shorten(len(all)) < len(all) && hit.Fire(calls[k]) {
			hit.Effective()
			all = all[:e.Shorten(len(all))]
		}
	}
	return all
}
