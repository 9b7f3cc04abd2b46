package fakecloud

import (
	"math/rand/v2"
	"time"

	"nodestorm/fakecloud/agenda"
	"nodestorm/fakecloud/cloudfault"
	"nodestorm/fakecloud/table"
)

// Tx is the cloud as one call sees it and changes it.
type Tx struct {
	Instances       *table.Table[Instance]
	Ended           *table.Table[Instance] // that are gone, and still listed
	Groups          *table.Table[Group]
	Reservations    *table.Table[Reservation]
	Actions         *table.Table[Action]
	Images          *table.Table[Image]
	Networks        *table.Table[Network]
	PlacementGroups *table.Table[PlacementGroup]
	Firewalls       *table.Table[Firewall]
	SSHKeys         *table.Table[SSHKey]
	Volumes         *table.Table[Volume]
	LoadBalancers   *table.Table[LoadBalancer]
	PrimaryIPs      *table.Table[PrimaryIP]
	FloatingIPs     *table.Table[FloatingIP]
	Certificates    *table.Table[Certificate]

	c        *Cloud
	now      time.Time
	random   *rand.Rand
	id       int64
	actionID int64
	ips      uint32 // public addresses handed out so far

	addresses addresses
	agenda    agenda.Agenda
	live      map[int64][]int64    // running actions by server
	hits      map[int64]pendingHit // faults of actions that have not begun
	struck    map[strike]bool
	// deleting is the state that an instance comes to if deleting it fails.
	deleting map[int64]State
	// past are instances as listings had them, oldest first, as far as stale listings need them.
	past []instancesSince
}

func newTx(c *Cloud) *Tx {
	changed := func() { c.generation.Add(1) }
	tx := &Tx{
		c: c, now: c.cfg.Clock.Now(), id: 1000, actionID: 1000,
		addresses: addresses{}, live: map[int64][]int64{}, hits: map[int64]pendingHit{}, struck: map[strike]bool{}, deleting: map[int64]State{},
	}
	tx.Instances = table.New(func() { changed(); tx.remember() }, func(old, by *Instance) {
		tx.addresses.replace(placesOf(old), placesOf(by))
	})
	tx.Ended = table.New[Instance](changed, nil)
	tx.Groups = table.New[Group](changed, nil)
	tx.Reservations = table.New[Reservation](changed, nil)
	tx.Actions = table.New[Action](func() {}, nil)
	tx.Images = table.New[Image](changed, nil)
	tx.Networks = table.New[Network](changed, nil)
	tx.PlacementGroups = table.New[PlacementGroup](changed, nil)
	tx.Firewalls = table.New[Firewall](changed, nil)
	tx.SSHKeys = table.New[SSHKey](changed, nil)
	tx.Volumes = table.New[Volume](changed, nil)
	tx.LoadBalancers = table.New(changed, func(old, by *LoadBalancer) {
		tx.addresses.replace(placesOfBalancer(old), placesOfBalancer(by))
	})
	tx.PrimaryIPs = table.New[PrimaryIP](changed, nil)
	tx.FloatingIPs = table.New[FloatingIP](changed, nil)
	tx.Certificates = table.New[Certificate](changed, nil)
	return tx
}

// Now is the time of the call.
func (tx *Tx) Now() time.Time { return tx.now }

// NewMeta is the Meta of a resource that is created now.
func (tx *Tx) NewMeta(name string, labels map[string]string) table.Meta {
	return table.Meta{ID: tx.nextID(), Name: name, Labels: labels, Created: tx.now}
}

func (tx *Tx) nextID() int64 {
	tx.id++
	return tx.id
}

// Password is a new one of the seed's. It opens nothing.
func (tx *Tx) Password() string {
	const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
	text := make([]byte, 20)
	for i := range text {
		text[i] = letters[tx.random.IntN(len(letters))]
	}
	return string(text)
}

// Hex is a text of n hexadecimal digits, new ones of the seed's.
func (tx *Tx) Hex(n int) string {
	const digits = "0123456789abcdef"
	text := make([]byte, n)
	for i := range text {
		text[i] = digits[tx.random.IntN(len(digits))]
	}
	return string(text)
}

// instancesSince is the list of instances since a time, until the next one in the slice.
type instancesSince struct {
	since     time.Time
	instances []*Instance
}

// remember keeps the instances as they are now, as long as a stale listing may be asked for. It is
// called after every change.
func (tx *Tx) remember() {
	frozen, lag := tx.staleness()
	switch {
	case lag > 0:
		tx.past = append(tx.past, instancesSince{tx.now, tx.Instances.All()})
	case !frozen:
		tx.past = nil
	}
	if frozen {
		return
	}
	for len(tx.past) > 1 && !tx.past[1].since.After(tx.now.Add(-lag)) {
		tx.past = tx.past[1:]
	}
}

// staleness says whether a fault keeps listings as they were when it began, and how far back
// another may look.
func (tx *Tx) staleness() (frozen bool, lag time.Duration) {
	for _, hit := range tx.c.faults.Active(cloudfault.Listing) {
		if e, ok := hit.Effect.(cloudfault.Stales); ok {
			frozen = frozen || e.Lag() == 0
			lag = max(lag, e.Lag())
		}
	}
	return frozen, lag
}

// freeze remembers the instances as they are when faults in the listing are new or begin.
func (tx *Tx) freeze() {
	if frozen, lag := tx.staleness(); frozen || lag > 0 {
		tx.past = append(tx.past, instancesSince{tx.now, tx.Instances.All()})
	}
	if next := tx.c.faults.Next(cloudfault.Listing); !next.IsZero() {
		tx.schedule(next, tx.freeze)
	}
}

// InstancesAt returns the instances as they were at a time; as they are, where that is not
// remembered.
func (tx *Tx) InstancesAt(at time.Time) []*Instance {
	for k := len(tx.past) - 1; k >= 0; k-- {
		if !tx.past[k].since.After(at) {
			return tx.past[k].instances
		}
	}
	if len(tx.past) > 0 {
		return tx.past[0].instances
	}
	return tx.Instances.All()
}
