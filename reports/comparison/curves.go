package comparison

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nodestorm/reports/interval"
	"nodestorm/reports/story"
	"nodestorm/reports/wording"
)

// drawn are the curves of a run that are drawn for each variant.
var drawn = []string{story.NodesAll, story.Rate, story.Requested, story.Pending}

// Strips are one curve of all variants, each in a strip of its own, one below the other, at one scale.
type Strips struct {
	Name, Most, Lasts string
	Width, Height     int
	Strips            []Strip
}

// Strip is the curve of a variant: Median is a line, as SVG has points, and Range an area from the least to the most of its runs.
type Strip struct {
	Number        int
	Name          string
	Median, Range string
}

const (
	stripHeight = 72
	stripPoints = 160
)

// Curves are those that any variant has.
func (c Comparison) Curves() (all []Strips) {
	for _, name := range drawn {
		if s := c.strips(name); len(s.Strips) > 0 {
			all = append(all, s)
		}
	}
	return all
}

func (c Comparison) strips(name string) Strips {
	s := Strips{Name: name, Width: pictureWidth, Height: stripHeight}
	var lasts time.Duration
	for _, v := range c.Variants {
		for _, r := range v.Runs {
			if r.Course != nil {
				lasts = max(lasts, r.Course.Lasts)
			}
		}
	}
	s.Lasts = lasts.Round(time.Second).String()
	sampled, most, unit := map[int][][]float64{}, 0.0, ""
	for i, v := range c.Variants {
		var runs [][]float64
		for _, r := range v.Runs {
			curve, has := r.curve(name)
			if !has {
				continue
			}
			unit = curve.Unit
			values := sample(curve.Points, lasts)
			most = max(most, slices.Max(values))
			runs = append(runs, values)
		}
		if len(runs) > 0 {
			sampled[i] = runs
		}
	}
	if most == 0 {
		return s
	}
	s.Most = strings.TrimSpace(fmt.Sprintf("%.4g %s", most, unit))
	for i, v := range c.Variants {
		if runs := sampled[i]; runs != nil {
			median, area := lines(runs, most)
			s.Strips = append(s.Strips, Strip{Number: i + 1, Name: wording.Clean(v.Name), Median: median, Range: area})
		}
	}
	return s
}

func (r Run) curve(name string) (story.Curve, bool) {
	if r.Course == nil {
		return story.Curve{}, false
	}
	i := slices.IndexFunc(r.Course.Curves, func(of story.Curve) bool { return of.Name == name })
	if i < 0 {
		return story.Curve{}, false
	}
	return r.Course.Curves[i], true
}

// sample are the values at equal distances: that of a point holds until the next.
func sample(points []story.Point, lasts time.Duration) (values []float64) {
	at, value := 0, 0.0
	for n := range stripPoints {
		for ; at < len(points) && points[at].At <= lasts*time.Duration(n)/(stripPoints-1); at++ {
			value = points[at].Value
		}
		values = append(values, value)
	}
	return values
}

// lines are the median of the runs at each place, and the way around what they span.
func lines(runs [][]float64, most float64) (median, area string) {
	var above, below []string
	for n := range stripPoints {
		var values []float64
		for _, r := range runs {
			values = append(values, r[n])
		}
		slices.Sort(values)
		x := n * pictureWidth / (stripPoints - 1)
		point := func(value float64) string {
			return fmt.Sprintf("%d,%.1f", x, 2+float64(stripHeight-4)*(1-value/most))
		}
		median += point(interval.Median(values)) + " "
		above = append(above, point(values[len(values)-1]))
		below = append(below, point(values[0]))
	}
	slices.Reverse(below)
	for _, p := range append(above, below...) {
		area += p + " "
	}
	return median, area
}
