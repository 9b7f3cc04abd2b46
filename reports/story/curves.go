package story

import (
	"cmp"
	"slices"
	"time"

	"nodestorm/sim/history/measure"
	"nodestorm/sim/history/vocabulary"
)

// Curve is a number over time. Of steps the value holds until the next point; a
// curve that is not of steps goes straight from one to the next.
type Curve struct {
	Name, Unit string
	Straight   bool
	Points     []Point
}

// Point is a value from then on.
type Point struct {
	At    time.Duration
	Value float64
}

// What the curves are called.
const (
	Pending    = "pods pending"
	Running    = "pods running"
	Asked      = "machines asked for"
	Size       = "target size"
	Alive      = "instances"
	NodesAll   = "Nodes"
	NodesReady = "Nodes Ready"
	Factor     = "clock factor"
	Lag        = "timer lag"
	Round      = "round"
	Hours      = "node-hours"
	Costs      = "cost"
	Rate       = "cost an hour"
	Requested  = "CPU requested"
)

var curveOrder = []string{Pending, Running, Asked, Size, Alive, NodesAll, NodesReady}

// counts keep how many there are of each.
type counts struct {
	changes map[string][]change
	sizes   map[uint32]int // of each group
}

// change is one more or one less.
type change struct {
	at time.Duration
	by int
}

func newCounts() *counts {
	return &counts{changes: map[string][]change{}, sizes: map[uint32]int{}}
}

// see takes a life as it is at t.
func (c *counts) see(l *life, t time.Duration) {
	alive := l.born && !l.gone
	switch l.resource {
	case vocabulary.Pods:
		c.set(l, t, Pending, alive && !l.bound && !l.dying)
		c.set(l, t, Running, alive && l.running && !l.dying)
	case vocabulary.NodeClaims, vocabulary.Machines:
		c.set(l, t, Asked, alive && !l.dying)
	case vocabulary.Instances:
		c.set(l, t, Alive, alive)
	case vocabulary.Nodes:
		c.set(l, t, NodesAll, alive)
		c.set(l, t, NodesReady, alive && l.ready == "True" && !l.dying)
	}
}

// endLate is the end of a life that is known afterwards only; t may be earlier than
// what was seen last.
func (c *counts) endLate(l *life, t time.Duration) {
	l.gone = true
	c.see(l, t)
}

// resize takes the size that a group shall have.
func (c *counts) resize(group uint32, t time.Duration, size float64) {
	to := int(min(max(size, -1e6), 1e6)) // a history may say anything
	if by := to - c.sizes[group]; by != 0 {
		c.sizes[group] = to
		c.changes[Size] = append(c.changes[Size], change{at: t, by: by})
	}
}

// set says whether a life counts as name from t on.
func (c *counts) set(l *life, t time.Duration, name string, is bool) {
	if slices.Contains(l.counted, name) == is {
		return
	}
	if is {
		l.counted = append(l.counted, name)
	} else {
		l.counted = slices.DeleteFunc(l.counted, func(other string) bool { return other == name })
	}
	by := -1
	if is {
		by = 1
	}
	c.changes[name] = append(c.changes[name], change{t, by})
}

// curves are all that have changes.
func (c *counts) curves(begin time.Duration) []Curve {
	var curves []Curve
	for _, name := range curveOrder {
		changes := c.changes[name]
		if len(changes) == 0 {
			continue
		}
		// Ends that were known afterwards only are out of order.
		slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
		points := []Point{{begin, 0}}
		sum := 0
		for _, change := range changes {
			sum += change.by
			if last := &points[len(points)-1]; last.At == change.at {
				last.Value = float64(sum)
				continue
			}
			points = append(points, Point{change.at, float64(sum)})
		}
		curves = append(curves, Curve{Name: name, Points: thin(points)})
	}
	return curves
}

// measured is what the measures of the run come to over time.
func (b *Builder) measured() (curves []Curve) {
	last := b.meter.Last()
	hours, cost, currency := b.meter.Bill(last)
	rate, of := b.meter.Rate(last)
	for _, c := range []struct {
		Curve
		points []measure.Point
	}{
		{Curve{Name: Hours, Unit: "h", Straight: true}, hours}, {Curve{Name: Rate, Unit: symbol(of) + "/h"}, rate},
		{Curve{Name: Costs, Unit: symbol(currency), Straight: true}, cost},
		{Curve{Name: Requested, Unit: "%"}, b.meter.Requested(last)},
	} {
		for _, p := range c.points {
			c.Points = append(c.Points, Point{p.At, p.Value})
		}
		if c.Points = thin(c.Points); len(c.Points) > 0 {
			curves = append(curves, c.Curve)
		}
	}
	return curves
}

// symbol is how people write a currency, itself if they write it so.
func symbol(currency string) string {
	switch currency {
	case "EUR":
		return "€"
	case "USD":
		return "$"
	}
	return currency
}

// maxPoints bounds a curve. A screen has some thousands of columns.
const maxPoints = 100_000

// thin halves a curve until it is bounded, and keeps of each four points the
// first, the highest, the lowest and the last.
func thin(points []Point) []Point {
	for len(points) > maxPoints {
		kept := points[:0:0]
		for block := range slices.Chunk(points, 8) {
			low, high := 0, 0
			for i, p := range block {
				if p.Value < block[low].Value {
					low = i
				}
				if p.Value > block[high].Value {
					high = i
				}
			}
			which := []int{0, low, high, len(block) - 1}
			slices.Sort(which)
			for _, i := range slices.Compact(which) {
				kept = append(kept, block[i])
			}
		}
		points = kept
	}
	return points
}

// window is the real time over which the clock's factor is computed.
const window = 250 * time.Millisecond

// pace is how fast virtual time passed and how late timers fired. Of histories
// without the clock's own events the factor is known, for events have both times.
func (b *Builder) pace() []Curve {
	s := &b.story
	factor, lag := Curve{Name: Factor, Unit: "x"}, Curve{Name: Lag, Unit: "ms"}
	for _, e := range s.Events {
		f := b.facts[e.facts]
		if f.pace == nil || e.Virtual <= -horizon || e.Virtual >= horizon {
			continue
		}
		from := max(e.Virtual-min(f.pace.span, e.Virtual-s.Begin), s.Begin)
		factor.Points = append(factor.Points, Point{from, f.pace.factor})
		lag.Points = append(lag.Points, Point{from, f.pace.lagMs})
	}
	if len(factor.Points) == 0 {
		return s.derived()
	}
	factor.Points, lag.Points = thin(inOrder(factor.Points)), thin(inOrder(lag.Points))
	return []Curve{factor, lag}
}

// rounds is how long rounds of an autoscaler's main loop took, where that was recorded.
func (b *Builder) rounds() []Curve {
	c := Curve{Name: Round, Unit: "s"}
	for _, e := range b.story.Events {
		if took := b.facts[e.facts].round; took > 0 && e.Virtual > -horizon && e.Virtual < horizon {
			c.Points = append(c.Points, Point{e.Virtual, took})
		}
	}
	if len(c.Points) == 0 {
		return nil
	}
	c.Points = thin(inOrder(c.Points))
	return []Curve{c}
}

// inOrder keeps points in order of time, which rounding may disturb.
func inOrder(points []Point) []Point {
	for i := 1; i < len(points); i++ {
		points[i].At = max(points[i].At, points[i-1].At)
	}
	return points
}

// derived is the clock's factor as it follows from the times of events.
func (s *Story) derived() []Curve {
	type pair struct{ virtual, real time.Duration }
	pairs := make([]pair, 0, len(s.Events))
	for _, e := range s.Events {
		if e.Virtual > -horizon && e.Virtual < horizon {
			pairs = append(pairs, pair{e.Virtual, e.Real})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return int(min(max(a.real-b.real, -1), 1)) })
	var points []Point
	var from pair
	for i, p := range pairs {
		p.virtual = max(p.virtual, from.virtual) // some are recorded late
		if i == 0 {
			from = p
			continue
		}
		if took := p.real - from.real; took >= window && p.virtual > from.virtual {
			points = append(points, Point{from.virtual, float64(p.virtual-from.virtual) / float64(took)})
			from = p
		}
	}
	if len(points) == 0 {
		return nil
	}
	return []Curve{{Name: Factor, Unit: "x", Points: thin(append(points, Point{from.virtual, points[len(points)-1].Value}))}}
}
