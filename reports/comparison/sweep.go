package comparison

import (
	"fmt"
	"slices"
	"strings"

	"nodestorm/reports/interval"
	"nodestorm/reports/wording"
	"nodestorm/sim/history/measure"
)

// Setting is a flag or a variable, and its value.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Map is a measure over the values of two settings that were swept, of what is otherwise one variant.
type Map struct {
	// Of is that variant, and Words what is measured.
	Of, Words string
	// Down and Across are the names of the settings, and Columns the values of the second.
	Down, Across string
	Columns      []string
	Rows         []MapRow
}

// MapRow are the medians for one value of the first setting.
type MapRow struct {
	Value string
	Cells []MapCell
}

// MapCell is the median of a variant, or the reason why it has none.
type MapCell struct {
	Number int // of the variant, from 1 on
	Text   string
	// Shade is from 0, the least on the map, to 4, the most; -1 of a cell without a median.
	Shade int
}

const shades = 5

// Maps are those of cost and waiting, of each variant of which two settings were swept.
func (c Comparison) Maps() (all []Map) {
	var bases []string
	places := map[string][]int{}
	for i, v := range c.Variants {
		if len(v.Swept) != 2 {
			return nil
		}
		base := v.base()
		if !slices.Contains(bases, base) {
			bases = append(bases, base)
		}
		places[base] = append(places[base], i)
	}
	for _, base := range bases {
		for _, name := range axes {
			if m := c.mapOf(name, places[base]); len(m.Columns) > 1 && len(m.Rows) > 1 {
				m.Of = wording.Clean(base)
				all = append(all, m)
			}
		}
	}
	return all
}

// base is the name of a variant without what was swept.
func (v Variant) base() string {
	words := slices.DeleteFunc(strings.Fields(v.Name), func(word string) bool {
		return slices.ContainsFunc(v.Swept, func(s Setting) bool { return word == s.Name+"="+s.Value })
	})
	return strings.Join(words, " ")
}

// mapOf is the map of a measure over the variants at those places.
func (c Comparison) mapOf(name string, places []int) Map {
	of, _ := measure.Find(name)
	first := c.Variants[places[0]].Swept
	m := Map{Words: of.Words, Down: wording.Clean(first[0].Name), Across: wording.Clean(first[1].Name)}
	var down []string
	values := map[int]float64{}
	cells := map[[2]string]MapCell{}
	for _, i := range places {
		swept := c.Variants[i].Swept
		at := [2]string{wording.Clean(swept[0].Value), wording.Clean(swept[1].Value)}
		if !slices.Contains(down, at[0]) {
			down = append(down, at[0])
		}
		if !slices.Contains(m.Columns, at[1]) {
			m.Columns = append(m.Columns, at[1])
		}
		cell := MapCell{Number: i + 1, Shade: -1}
		value, unit, why := c.Variants[i].median(name)
		if cell.Text = inUnit(unit, value); why != "" {
			cell.Text = wording.Clean(why)
		} else {
			values[i] = value
		}
		cells[at] = cell
	}
	shade(cells, values)
	for _, value := range down {
		row := MapRow{Value: value}
		for _, column := range m.Columns {
			row.Cells = append(row.Cells, cells[[2]string{value, column}])
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// shade gives each cell with a value its shade between the least and the most.
func shade(cells map[[2]string]MapCell, values map[int]float64) {
	var all []float64
	for _, value := range values {
		all = append(all, value)
	}
	if len(all) == 0 {
		return
	}
	low, high := slices.Min(all), slices.Max(all)
	for at, cell := range cells {
		value, has := values[cell.Number-1]
		if !has {
			continue
		}
		// mutant: what costs most has the shade of what costs least
		if cell.Shade = 0; high > low {
			cell.Shade = min(shades-1, int(shades*(value-low)/(high-low)))
		}
		cells[at] = cell
	}
}

// median is that of a measure over the runs of a variant that count, or why there is none.
func (v Variant) median(name string) (median float64, unit measure.Unit, why string) {
	var all []float64
	for _, r := range v.Runs {
		if r.Values == nil {
			continue
		}
		value := r.Values[name]
		switch {
		case value.Absent != "":
			return 0, "", value.Absent
		case unit != "" && unit != value.Unit:
			return 0, "", fmt.Sprintf("it is in %s and in %s", unit, value.Unit)
		}
		unit = value.Unit
		all = append(all, value.Value)
	}
	if len(all) == 0 {
		return 0, "", "none of its runs counts"
	}
	slices.Sort(all)
	return interval.Median(all), unit, ""
}
