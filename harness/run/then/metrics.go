package then

import (
	"fmt"
	"strings"

	"nodestorm/harness/sentences/words"
	"nodestorm/sim/history"
	"nodestorm/sim/history/measure"
	"nodestorm/sim/strict"
)

// Metrics are those about what a program counts itself: where it and the history count the same, neither is wrong.
var Metrics = []Sentence{
	{Words: `the metric "METRIC" comes to the measure "NAME" within DURATION`, Observe: counts},
}

// counting is what all series of a metric add up to, beside all measures of the run.
type counting struct {
	metric string
	series map[string]float64 // by their labels
	meter  *measure.Meter
}

func (c *counting) add(r history.Entry) {
	c.meter.Add(r)
	if r.Source != history.Harness || r.Object.Resource != history.Metrics || r.Object.Name != c.metric {
		return
	}
	labels := fmt.Sprint(r.Detail["labels"]) // maps print in the order of their keys
	if r.Verb == history.Unmeasured {
		delete(c.series, labels)
		return
	}
	if value, has := r.Detail.Number("value"); has {
		c.series[labels] = value
	}
}

func counts(args words.Args) (Observation, error) {
	of, known := measure.Find(args.Text(1))
	if !known {
		var names []string
		for _, m := range measure.All() {
			names = append(names, m.Name)
		}
		return Observation{}, fmt.Errorf("no measure %q%s; want one of %s", args.Text(1), strict.Meant(args.Text(1), names),
			strings.Join(names, ", "))
	}
	if of.Unit != measure.Count {
		return Observation{}, fmt.Errorf("the measure %s is not a number of things, as this compares", of.Name)
	}
	c := &counting{metric: args.Text(0), series: map[string]float64{}, meter: measure.NewMeter()}
	return eventually(args.Duration(2), c, func() error {
		sum := 0.0
		for _, value := range c.series {
			sum += value
		}
		switch value := c.meter.ValuesAt(c.meter.Last())[of.Name]; {
		case len(c.series) == 0:
			return fmt.Errorf("the metric %s has no value", c.metric)
		case value.Absent != "":
			return fmt.Errorf("the measure %s has no value: %s", of.Name, value.Absent)
		// mutant: a metric that counts something else agrees
		case value.Value == 0 || value.Value != sum:
			return fmt.Errorf("the metric %s comes to %g, and the measure %s to %g", c.metric, sum, of.Name, value.Value)
		}
		return nil
	}), nil
}
