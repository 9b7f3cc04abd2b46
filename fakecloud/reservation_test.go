package fakecloud

import (
	"errors"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/sim/fault"
)

// reserving is a cloud with a type that is out of stock, and what can be done with its reservations.
type reserving struct {
	*testing.T
	cloud *Cloud
	clock *testclock.FakeClock
}

func newReserving(t *testing.T) *reserving {
	r := &reserving{T: t, clock: testclock.NewFakeClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))}
	var err error
	if r.cloud, err = New(Config{Clock: r.clock, Catalogue: Plain()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.cloud.Close)
	return r
}

func (r *reserving) reserve(count int, targeted bool) (id int64) {
	err := r.cloud.Update(func(tx *Tx) error {
		is, err := tx.AddReservation(Reservation{Type: "medium", Location: "zone-a", Count: count, Targeted: targeted})
		if err == nil {
			id = is.ID
		}
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return id
}

// launch is the reservation that a new instance fills, or the code of its error.
func (r *reserving) launch(name, typeName, zone string, m Matching) (reservation int64, code string) {
	err := r.cloud.Update(func(tx *Tx) error {
		i, _, _, err := tx.Create(Spec{
			Name: name, Type: r.cloud.Catalogue().ServerType(typeName), Image: tx.Images.All()[0], Location: zone, Matching: m,
		})
		if err == nil {
			reservation = i.Reservation
		}
		return err
	})
	if refused := (*Error)(nil); errors.As(err, &refused) {
		code = refused.Code
	}
	return reservation, code
}

func (r *reserving) room(id int64) (room int) {
	r.cloud.View(func(tx *Tx) { room = tx.Room(tx.Reservations.Get(id)) })
	return room
}

// An open reservation is filled by what is like it and may, a targeted one by what names it; neither holds more than was reserved.
func TestReservations(t *testing.T) {
	r := newReserving(t)
	open, targeted := r.reserve(1, false), r.reserve(1, true)
	for _, test := range []struct {
		name, typeName, zone string
		may                  Matching
		want                 int64
		code                 string
	}{
		{"other-type", "large", "zone-a", Matching{}, 0, ""},
		{"other-zone", "medium", "zone-b", Matching{}, 0, ""},
		{"none", "medium", "zone-a", Matching{None: true}, 0, ""},
		{"unlike", "medium", "zone-b", Matching{Only: true, Reservation: targeted}, 0, "reservation_full"},
		{"like", "medium", "zone-a", Matching{}, open, ""},
		{"late", "medium", "zone-a", Matching{}, 0, ""},
		{"only", "medium", "zone-a", Matching{Only: true}, 0, "reservation_full"},
		{"named", "medium", "zone-a", Matching{Only: true, Reservation: targeted}, targeted, ""},
		{"second", "medium", "zone-a", Matching{Only: true, Reservation: targeted}, 0, "reservation_full"},
	} {
		if got, code := r.launch(test.name, test.typeName, test.zone, test.may); got != test.want || code != test.code {
			t.Errorf("%s fills %d (%q), want %d (%q)", test.name, got, code, test.want, test.code)
		}
	}
	if a, b := r.room(open), r.room(targeted); a != 0 || b != 0 {
		t.Errorf("there is room for %d and %d", a, b)
	}
	// What runs and may fills what another leaves.
	_ = r.cloud.Update(func(tx *Tx) error { tx.Remove(tx.Instances.Named("like").ID); return nil })
	if i := r.instance("late"); i.Reservation != open || r.room(open) != 0 {
		t.Errorf("the one that came late fills %d, and there is room for %d", i.Reservation, r.room(open))
	}
	for _, wrong := range []Reservation{
		{Type: "none", Location: "zone-a", Count: 1}, {Type: "medium", Location: "moon", Count: 1}, {Type: "medium", Location: "zone-a"},
	} {
		if err := r.cloud.Update(func(tx *Tx) error { _, err := tx.AddReservation(wrong); return err }); err == nil {
			t.Errorf("there is a reservation %+v", wrong)
		}
	}
}

func (r *reserving) instance(name string) (is *Instance) {
	r.cloud.View(func(tx *Tx) { is = tx.Instances.Named(name) })
	return is
}

// What is reserved can be had when nothing else can.
func TestReservedIsInStock(t *testing.T) {
	r := newReserving(t)
	id := r.reserve(1, false)
	if err := r.cloud.Inject(fault.Fault{Name: "none", Effect: cloudfault.Unavailable{Type: "medium"}}); err != nil {
		t.Fatal(err)
	}
	if _, code := r.launch("outside", "medium", "zone-a", Matching{None: true}); code != "resource_unavailable" {
		t.Errorf("outside of it: %q", code)
	}
	if got, code := r.launch("inside", "medium", "zone-a", Matching{}); got != id || code != "" {
		t.Errorf("it fills %d (%q)", got, code)
	}
}

// A reservation ends when it is said to, and what filled it stays. A cloud that is restored goes on from there.
func TestReservationEnds(t *testing.T) {
	r := newReserving(t)
	id := r.reserve(2, false)
	if got, _ := r.launch("a", "medium", "zone-a", Matching{}); got != id {
		t.Fatalf("it fills %d", got)
	}
	_ = r.cloud.Update(func(tx *Tx) error { tx.EndReservation(id, tx.Now().Add(time.Hour)); return nil })
	_ = r.cloud.Update(func(tx *Tx) error { tx.EndReservation(id, tx.Now().Add(2*time.Hour)); return nil })
	r.clock.Step(90 * time.Minute)
	if room := r.room(id); room != 1 || r.instance("a").Reservation != id {
		t.Errorf("before its end there is room for %d", room)
	}
	state, err := r.cloud.Save()
	if err != nil {
		t.Fatal(err)
	}
	restored, err := New(Config{Clock: r.clock, Catalogue: Plain(), State: state})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	r.clock.Step(time.Hour)
	for name, c := range map[string]*Cloud{"the cloud": r.cloud, "the restored cloud": restored} {
		c.View(func(tx *Tx) {
			is := tx.Reservations.Get(id)
			if i := tx.Instances.Named("a"); i == nil || i.Reservation != 0 || !is.Over || tx.Room(is) != 0 {
				t.Errorf("in %s the instance is %+v, the reservation %+v", name, i, is)
			}
		})
	}
}
