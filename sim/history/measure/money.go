package measure

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"nodestorm/sim/history"
)

// price is what a machine costs.
type price struct {
	hourly   float64
	currency string
	billed   time.Duration // what is billed as a whole; zero: every moment
}

// mostHourly is more than any machine costs an hour: a history may say anything, and sums stay numbers.
const mostHourly = 1e6

// priceOf is what a cloud says of an instance; hourly is zero if it does not.
func priceOf(d history.Detail) price {
	hourly, said := d.Number("hourly")
	p := price{currency: d.Text("currency")}
	if !said { // of before prices had currencies
		hourly, _ = d.Number("hourlyEUR")
		p.currency = "EUR"
	}
	if hourly > 0 && hourly < mostHourly && p.currency != "" {
		p.hourly = hourly
	}
	if billed, said := d.Number("billedSeconds"); said && billed > 0 && billed < horizon.Seconds() {
		p.billed = time.Duration(billed) * time.Second
	}
	return p
}

// list takes what a cloud says of its types, which have no instances in the history.
func (m *Meter) list(d history.Detail) {
	for _, capacity := range []string{"onDemand", "spot"} {
		for name, of := range d.Mapping(capacity) {
			hourly, _ := history.Detail{"": of}.Number("")
			if hourly > 0 && hourly < mostHourly && d.Text("currency") != "" {
				m.listed[listedAs(name, capacity)] = price{hourly: hourly, currency: d.Text("currency")}
			}
		}
	}
}

func listedAs(name, capacity string) string {
	if capacity == "spot" {
		return name + " spot"
	}
	return name
}

// instance is a machine of the cloud, or a Node that stands for one.
type instance struct {
	kind    string // its type
	price   price
	created time.Duration
	deleted time.Duration // from when it is gone
	gone    bool
}

// seeInstance takes an event of the cloud's own truth.
func (m *Meter) seeInstance(r history.Entry) {
	i := m.instance[r.Object.Name]
	m.cloud = true
	switch {
	case r.Verb == "created":
		i = &instance{kind: r.Detail.Text("type"), price: priceOf(r.Detail), created: r.Virtual}
		m.instance[r.Object.Name] = i
		m.instances = append(m.instances, i)
	case i == nil || i.gone:
	// mutant: what could not be created was launched
	case r.Verb == "failed":
		m.instances = slices.DeleteFunc(m.instances, func(other *instance) bool { return other == i })
		delete(m.instance, r.Object.Name)
	// mutant: an instance costs after it was deleted
	case r.Verb == "deleted":
		i.deleted, i.gone = r.Virtual, true
	}
}

// machines are the instances, or the Nodes that stand for them where the history has no instances.
func (m *Meter) machines() []*instance {
	if m.cloud {
		return m.instances
	}
	var stand []*instance
	for _, n := range m.nodes {
		if n.backed {
			i := &instance{kind: n.kind, price: m.listed[listedAs(n.kind, n.capacity)], created: n.created}
			i.deleted, i.gone = n.ends()
			stand = append(stand, i)
		}
	}
	return stand
}

// lived is how long an instance has been there by then.
func (i *instance) lived(by time.Duration) time.Duration {
	if i.gone {
		by = min(by, i.deleted)
	}
	return max(0, by-i.created)
}

// owed is what an instance has cost by then, at its price.
func (i *instance) owed(by time.Duration, p price) float64 {
	lived := i.lived(by)
	// mutant: an hour that has begun is not billed
	if p.billed > 0 {
		lived = time.Duration(math.Ceil(float64(lived)/float64(p.billed))) * p.billed
	}
	return lived.Hours() * p.hourly
}

// costs is the price of an instance, or the assumed one.
func (m *Meter) costs(i *instance) price {
	if i.price.hourly == 0 {
		return m.assumed
	}
	return i.price
}

// money is what machines cost, how long they were there, and how many came and went.
func (m *Meter) money(v Values, end time.Duration) {
	machines := m.machines()
	if len(machines) == 0 {
		for _, name := range []string{Cost, NodeHours, NodesLaunched, NodesRemoved} {
			v[name] = absent("there has been no instance, and no Node with a provider ID")
		}
		if m.cloud || len(m.nodes) > 0 { // there are Nodes, and nothing was launched
			v[NodesLaunched], v[NodesRemoved] = Value{}, Value{}
		}
		return
	}
	cost, hours, launched, removed := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
	currencies, without := map[string]bool{}, map[string]bool{}
	for _, i := range machines {
		name := cmp.Or(i.kind, "unknown type")
		if i.created > end || i.gone && i.deleted < m.from {
			continue
		}
		hours[name] += (i.lived(end) - i.lived(m.from)).Hours()
		if i.created >= m.from {
			launched[name]++
		}
		if i.gone && i.deleted <= end {
			removed[name]++
		}
		p := m.costs(i)
		// mutant: a machine without a price costs nothing
		if p.hourly == 0 {
			without[name] = true
			continue
		}
		currencies[p.currency] = true
		// mutant: what was owed before it counts
		cost[name] += i.owed(end, p) - i.owed(m.from, p)
	}
	v[NodeHours], v[NodesLaunched], v[NodesRemoved] = summed(hours), summed(launched), summed(removed)
	v[Cost] = summed(cost)
	v[Cost] = priced(v[Cost], slices.Sorted(maps.Keys(currencies)), slices.Sorted(maps.Keys(without)))
}

// priced is a sum of money in its currency, or why there is none.
func priced(v Value, currencies, without []string) Value {
	switch {
	case len(without) > 3:
		return absent("the history has no price of %s and %d more", strings.Join(without[:3], ", "), len(without)-3)
	case len(without) > 0:
		return absent("the history has no price of %s", strings.Join(without, ", "))
	case len(currencies) > 1:
		return absent("prices are in %s, which do not add up", strings.Join(currencies, " and "))
	case len(currencies) == 0:
		return absent("no instance was there in that time")
	}
	v.Unit = Unit(currencies[0])
	return v
}

// Point is a value at a time.
type Point struct {
	At    time.Duration
	Value float64
}

// mostPoints bounds a curve of money: each point is a sum over all machines.
const mostPoints = 200

// Bill is what the machines have cost and how many node-hours they were there, over the time until the end. Without
// prices there is no cost. The currency is that of the cost.
func (m *Meter) Bill(end time.Duration) (hours, cost []Point, currency string) {
	machines := m.machines()
	var times []time.Duration
	for _, i := range machines {
		times = append(times, i.created)
		if i.gone {
			times = append(times, i.deleted)
		}
	}
	if len(times) == 0 {
		return nil, nil, ""
	}
	slices.Sort(times)
	times = slices.Compact(append(times, max(end, times[len(times)-1])))
	currencies := map[string]bool{}
	for k := range times {
		if every := len(times)/mostPoints + 1; k%every != 0 && k != len(times)-1 {
			continue
		}
		at := Point{At: times[k]}
		paid := at
		for _, i := range machines {
			at.Value += i.lived(at.At).Hours()
			if p := m.costs(i); p.hourly > 0 {
				currencies[p.currency] = true
				paid.Value += i.owed(at.At, p)
			}
		}
		hours, cost = append(hours, at), append(cost, paid)
	}
	if len(currencies) != 1 {
		return hours, nil, ""
	}
	for currency = range currencies {
	}
	return hours, cost, currency
}

// Rate is what the machines that are there cost an hour, over the time until the end: each value holds until the next. Without a
// price of every machine, or with prices in several currencies, there is none.
func (m *Meter) Rate(end time.Duration) (rate []Point, currency string) {
	changes := map[time.Duration]float64{}
	for _, i := range m.machines() {
		p := m.costs(i)
		// mutant: a machine without a price costs nothing an hour
		if p.hourly == 0 || currency != "" && p.currency != currency {
			return nil, ""
		}
		currency = p.currency
		changes[i.created] += p.hourly
		// mutant: a machine that is gone costs as much an hour as before
		if i.gone {
			changes[i.deleted] -= p.hourly
		}
	}
	sum := 0.0
	for _, at := range slices.Sorted(maps.Keys(changes)) {
		sum += changes[at]
		if at <= end {
			rate = append(rate, Point{at, math.Round(sum*1e9) / 1e9}) // what fractions leave when they are taken away again
		}
	}
	return rate, currency
}
