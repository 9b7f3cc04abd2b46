package main

import (
	"fmt"
	"html/template"
	"strings"
)

// Size of a plot, and what is left free around it for its words.
const (
	width, height = 360, 220
	left, bottom  = 60, 30
	right, top    = 20, 20
)

// plots is a page with a plot of each figure. Both axes begin at 0; what grows linearly lies on
// the dashed line from its first point to its last.
var plots = template.Must(template.New("plots").Parse(`<!DOCTYPE html>
<meta charset="utf-8"><title>Growth</title>
<style>
body { font: 14px system-ui, sans-serif; margin: 24px; display: flex; flex-wrap: wrap; gap: 24px }
figure { margin: 0 } text { font-size: 11px; fill: #555 } line { stroke: #bbb }
polyline { fill: none; stroke: #06c; stroke-width: 2 } .even { stroke: #999; stroke-width: 1; stroke-dasharray: 4 4 } circle { fill: #06c }
</style>
{{range .}}{{with .Plot}}<figure><figcaption>{{.Title}}</figcaption>
<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="{{.Height}}" role="img" aria-label="{{.Title}}">
<line x1="{{.Left}}" y1="{{.Floor}}" x2="{{.End}}" y2="{{.Floor}}"/><line x1="{{.Left}}" y1="{{.Top}}" x2="{{.Left}}" y2="{{.Floor}}"/>
<text x="4" y="{{.Top}}" dominant-baseline="middle">{{.MostY}}</text><text x="4" y="{{.Floor}}">0</text>
<text x="{{.End}}" y="{{.Below}}" text-anchor="end">{{.MostX}}</text><text x="{{.Left}}" y="{{.Below}}">0</text>
<polyline class="even" points="{{.Even}}"/><polyline points="{{.Line}}"/>
{{range .Dots}}<circle cx="{{.X}}" cy="{{.Y}}" r="3"><title>{{.Says}}</title></circle>
{{end}}</svg></figure>
{{end}}{{end}}`))

// plot is a figure in pixels.
type plot struct {
	Title                    string
	Width, Height            int
	Left, Top, End           int
	Floor, Below             int
	MostX, MostY, Even, Line string
	Dots                     []dot
}

type dot struct{ X, Y, Says string }

// Plot lays the figure out. The dashed line is from the first point to the last.
func (f figure) Plot() plot {
	first, last := f.Points[0], f.Points[len(f.Points)-1]
	most := point{X: last.X}
	for _, p := range f.Points {
		most.Y = max(most.Y, p.Y)
	}
	if most.Y <= 0 {
		most.Y = 1
	}
	place := func(p point) (x, y string) {
		return fmt.Sprintf("%.1f", left+p.X/most.X*(width-left-right)), fmt.Sprintf("%.1f", height-bottom-p.Y/most.Y*(height-bottom-top))
	}
	drawn := plot{
		Title: fmt.Sprintf("%s over %s", f.Unit, f.Of), Width: width, Height: height, Left: left, Top: top, End: width - right,
		Floor: height - bottom, Below: height - bottom + 16,
		MostX: fmt.Sprintf("%g %s", most.X, f.Of), MostY: fmt.Sprintf("%.4g", most.Y),
	}
	line := func(points ...point) string {
		var at []string
		for _, p := range points {
			x, y := place(p)
			at = append(at, x+","+y)
		}
		return strings.Join(at, " ")
	}
	drawn.Even, drawn.Line = line(first, last), line(f.Points...)
	for _, p := range f.Points {
		x, y := place(p)
		drawn.Dots = append(drawn.Dots, dot{x, y, fmt.Sprintf("%.4g %s at %g %s", p.Y, f.Unit, p.X, f.Of)})
	}
	return drawn
}
