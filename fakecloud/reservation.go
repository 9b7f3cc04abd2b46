package fakecloud

import (
	"time"

	"nodestorm/fakecloud/table"
	"nodestorm/sim/history"
)

// Reservation is room for instances of a type in a location. It is paid for whether they fill it or not, and never out of stock.
type Reservation struct {
	table.Meta
	Type, Location string
	Count          int
	// Targeted is that only instances that name it fill it. Else every instance does that is like it and may, in the order of their ages.
	Targeted bool
	// Ends is when it ends; zero: it does not. Over is that it has: instances that filled it are there still.
	Ends time.Time `json:",omitzero"`
	Over bool      `json:",omitempty"`
}

// Matching says which reservations an instance may fill: without anything, those that are not Targeted.
type Matching struct {
	// None is that it fills none, Only that it is not created unless it fills one.
	None bool `json:",omitempty"`
	Only bool `json:",omitempty"`
	// Reservation is the only one that it may fill; zero: any.
	Reservation int64 `json:",omitempty"`
}

// AddReservation reserves capacity from now on. What runs already and may fills it.
func (tx *Tx) AddReservation(r Reservation) (*Reservation, error) {
	t := tx.c.cfg.Catalogue.ServerType(r.Type)
	switch {
	case t == nil:
		return nil, Errorf("invalid_input", "there is no type %q", r.Type)
	case r.Count < 1:
		return nil, Errorf("invalid_input", "a reservation of %d instances: want 1 or more", r.Count)
	}
	if _, offered := t.PriceIn(r.Location); !offered {
		return nil, Errorf("invalid_input", "%s is not offered in %q", r.Type, r.Location)
	}
	r.Meta = tx.NewMeta(r.Name, r.Labels)
	tx.Reservations.Put(r)
	tx.recordReservation(&r, "created")
	tx.fill(r.ID)
	tx.endLater(&r)
	return tx.Reservations.Get(r.ID), nil
}

// EndReservation has one end at a time, which may be now.
func (tx *Tx) EndReservation(id int64, at time.Time) {
	tx.Reservations.Update(id, func(r *Reservation) { r.Ends = at })
	if r := tx.Reservations.Get(id); r != nil {
		tx.endLater(r)
	}
}

// endLater ends one at its end, unless it has another one by then.
func (tx *Tx) endLater(r *Reservation) {
	id, at := r.ID, r.Ends
	if at.IsZero() || r.Over {
		return
	}
	tx.schedule(at, func() {
		if r := tx.Reservations.Get(id); r.Over || !r.Ends.Equal(at) {
			return
		}
		tx.Reservations.Update(id, func(r *Reservation) { r.Over = true })
		for _, i := range tx.filling(id) {
			// mutant: instances are in a reservation that has ended
			tx.Instances.Update(i.ID, func(i *Instance) { i.Reservation = 0 })
		}
		tx.recordReservation(tx.Reservations.Get(id), "ended")
	})
}

// filling are the instances that fill a reservation.
func (tx *Tx) filling(id int64) (all []*Instance) {
	for _, i := range tx.Instances.All() {
		if i.Reservation == id {
			all = append(all, i)
		}
	}
	return all
}

// Room is how many more instances can fill a reservation.
func (tx *Tx) Room(r *Reservation) int {
	if r.Over {
		return 0
	}
	return r.Count - len(tx.filling(r.ID))
}

// takes reports whether an instance of a type in a location may fill the reservation.
func (r *Reservation) takes(typeName, location string, m Matching) bool {
	if r.Type != typeName || r.Location != location || m.None {
		return false
	}
	if m.Reservation != 0 {
		return m.Reservation == r.ID
	}
	// mutant: any instance fills a reservation that is for those that name it
	return !r.Targeted
}

// reservationFor is the reservation that an instance fills that is to be created; zero: none.
func (tx *Tx) reservationFor(spec Spec) (int64, error) {
	for _, r := range tx.Reservations.All() {
		// mutant: a reservation holds more instances than are reserved
		if !spec.Spot && r.takes(spec.Type.Name, spec.Location, spec.Matching) && tx.Room(r) > 0 {
			return r.ID, nil
		}
	}
	if spec.Matching.Only {
		return 0, Errorf("reservation_full", "there is no room for such an instance in a reservation")
	}
	return 0, nil
}

// fill has instances that are there fill a reservation that has room.
func (tx *Tx) fill(id int64) {
	r := tx.Reservations.Get(id)
	if r == nil {
		return
	}
	room := tx.Room(r)
	for _, i := range tx.Instances.All() {
		if room > 0 && i.Reservation == 0 && !i.Spot && i.State != Deleting && r.takes(i.Type, i.Location, i.Matching) {
			tx.Instances.Update(i.ID, func(i *Instance) { i.Reservation = id })
			tx.recordInstance(tx.Instances.Get(i.ID), "reserved")
			room--
		}
	}
}

func (tx *Tx) recordReservation(r *Reservation, verb string) {
	tx.c.cfg.Recorder.Record(history.Event{
		At: tx.now, Source: history.Cloud, Verb: verb, Actor: "fakecloud", Object: history.Object{Resource: "reservations", Name: r.Name},
		Detail: map[string]any{"id": r.ID, "type": r.Type, "location": r.Location},
	})
}
