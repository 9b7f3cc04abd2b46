package comparison

import (
	"fmt"
	"slices"
	"strings"

	"nodestorm/reports/wording"
	"nodestorm/sim/history/measure"
)

// Picture is the variants by what they cost and how long pods waited, in pixels.
type Picture struct {
	Width, Height int
	// Margin is between the edges and where both axes have their zero, and their most.
	Margin int
	// Dots are the variants that have both.
	Dots []Dot
	// Front is the way along those that no other beats in both, as SVG has points.
	Front string
	// Most is how far the axes go: of the cost, then of the waiting.
	Most [2]string
	// Absent says why variants are missing, a line each.
	Absent []string
}

// Dot is a variant in the picture.
type Dot struct {
	Number       int // of the variant, from 1 on
	Name         string
	Cost, Waited string
	// Beaten reports whether another one costs no more and has pods wait no longer, and is better in one of them.
	Beaten bool
	X, Y   int
}

const (
	pictureWidth, pictureHeight = 560, 320
	margin                      = 28
)

// axes are the measures of the picture: what a variant costs, and how long pods waited.
var axes = [2]string{measure.Cost, measure.PodWaitP95}

// Picture is that of cost and waiting, by the medians of the runs that count. It has no dots if fewer than two variants have
// both, or if they have them in several units.
func (c Comparison) Picture() (p Picture) {
	p.Width, p.Height, p.Margin = pictureWidth, pictureHeight, margin
	var of [][2]float64
	var units [2]measure.Unit
	for i, v := range c.Variants {
		medians, ofThis, why := v.medians()
		if why == "" && units == [2]measure.Unit{} {
			units = ofThis
		}
		if why == "" && ofThis != units {
			why = fmt.Sprintf("it is in %s, and others are in %s", ofThis[0], units[0])
		}
		if why != "" {
			p.Absent = append(p.Absent, fmt.Sprintf("%s is not in the picture: %s", wording.Clean(v.Name), wording.Clean(why)))
			continue
		}
		of = append(of, medians)
		p.Dots = append(p.Dots, Dot{Number: i + 1, Name: wording.Clean(v.Name), Cost: inUnit(units[0], medians[0]),
			Waited: inUnit(units[1], medians[1])})
	}
	if len(of) < 2 {
		p.Dots = nil
		return p
	}
	p.place(of, units)
	return p
}

// medians are those of a variant on both axes, or why it has none.
func (v Variant) medians() (of [2]float64, units [2]measure.Unit, why string) {
	for axis, name := range axes {
		if of[axis], units[axis], why = v.median(name); why != "" {
			return of, units, why
		}
	}
	return of, units, ""
}

// place gives each dot its place, and finds those that no other beats. Axes begin at zero: what differs by little is close.
func (p *Picture) place(of [][2]float64, units [2]measure.Unit) {
	high := of[0]
	for _, m := range of {
		for axis := range axes {
			high[axis] = max(high[axis], m[axis])
		}
	}
	at := func(axis, pixels int, value float64) int {
		if high[axis] == 0 {
			return margin
		}
		return margin + int(float64(pixels-2*margin)*value/high[axis])
	}
	for axis := range axes {
		p.Most[axis] = inUnit(units[axis], high[axis])
	}
	for i, m := range of {
		d := &p.Dots[i]
		d.X, d.Y = at(0, p.Width, m[0]), p.Height-at(1, p.Height, m[1])
		// mutant: a variant that another beats is on the front
		d.Beaten = slices.ContainsFunc(of, func(other [2]float64) bool {
			return other[0] <= m[0] && other[1] <= m[1] && other != m
		})
	}
	front := slices.DeleteFunc(slices.Clone(p.Dots), func(d Dot) bool { return d.Beaten })
	slices.SortFunc(front, func(a, b Dot) int { return a.X - b.X })
	var points []string
	for _, d := range front {
		points = append(points, fmt.Sprintf("%d,%d", d.X, d.Y))
	}
	p.Front = strings.Join(points, " ")
}

func inUnit(unit measure.Unit, number float64) string {
	return measure.Value{Unit: unit, Value: number}.String()
}
