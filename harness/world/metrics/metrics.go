// Package metrics reads what a program exposes for Prometheus, and records it in the history of a world. It knows no
// program: which metrics mean what is for others to say.
package metrics

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"nodestorm/harness/world"
	"nodestorm/sim/history"
)

// Source is a program that exposes metrics.
type Source interface {
	// MetricsURL is where. It is another one when the program has been upgraded.
	MetricsURL() string
}

const (
	// Every is how often metrics are read, in virtual time. What is there for a shorter time is not seen.
	Every = 5 * time.Second
	// mostBytes is how much a program may expose: Karpenter for AWS, with the most series known, exposes some 2 MB.
	mostBytes = 32 << 20
	// mostEvents is how many events come of the metrics of one program at most. More make the run inconclusive.
	mostEvents = 20_000
)

// Each calls do every so often in virtual time, until the world stops.
func Each(w *world.World, every time.Duration, do func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	w.OnStop(func() error {
		cancel()
		<-done
		return nil
	})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.Clock().After(every):
				do(ctx)
			}
		}
	}()
}

// Read asks a program for its metrics.
func Read(ctx context.Context, url string) (map[string]*dto.MetricFamily, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading metrics: %s", answer.Status)
	}
	reader := expfmt.NewTextParser(model.LegacyValidation)
	families, err := reader.TextToMetricFamilies(http.MaxBytesReader(nil, answer.Body, mostBytes))
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return families, nil
}

// Record records from now on each value of these metrics that a program has, when it is seen first and when it has
// changed, and when it is no longer there. Of a histogram or a summary NAME there are NAME_count and NAME_sum, as
// Prometheus has them.
func Record(w *world.World, actor string, from Source, names []string) {
	r := recorder{into: w.History(), actor: actor, names: names}
	Each(w, Every, func(ctx context.Context) {
		families, err := Read(ctx, from.MetricsURL())
		if err != nil { // it is killed, or begins
			return
		}
		r.record(families)
	})
}

// recorder records what has changed since the last time.
type recorder struct {
	into   history.Recorder
	actor  string
	names  []string
	before map[string]series
	events int
}

// series is a value with its labels.
type series struct {
	name   string
	labels map[string]any
	value  float64
}

func (r *recorder) record(families map[string]*dto.MetricFamily) {
	now := seriesOf(families, r.names)
	for _, key := range slices.Sorted(maps.Keys(now)) {
		// mutant: a metric that does not change is recorded again and again
		if old, had := r.before[key]; !had || old.value != now[key].value {
			r.event(history.Measured, now[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.before)) {
		// mutant: a metric that is no longer there keeps its value
		if _, has := now[key]; !has {
			r.event(history.Unmeasured, r.before[key])
		}
	}
	r.before = now
}

func (r *recorder) event(verb string, s series) {
	if r.events++; r.events > mostEvents {
		if r.events == mostEvents+1 {
			r.into.Record(history.Event{Source: history.Harness, Verb: history.Unreadable, Detail: map[string]any{
				"error": fmt.Sprintf("the metrics %s of %s changed more than %d times: name fewer", strings.Join(r.names, ", "), r.actor, mostEvents),
			}})
		}
		return
	}
	detail := map[string]any{"value": s.value}
	if len(s.labels) > 0 {
		detail["labels"] = s.labels
	}
	r.into.Record(history.Event{
		Source: history.Harness, Verb: verb, Actor: r.actor, Object: history.Object{Resource: history.Metrics, Name: s.name}, Detail: detail,
	})
}

// seriesOf are the values of these metrics. A value that is no number is left out.
func seriesOf(families map[string]*dto.MetricFamily, names []string) map[string]series {
	all := map[string]series{}
	add := func(name string, m *dto.Metric, value float64) {
		if !slices.Contains(names, name) || math.IsNaN(value) || math.IsInf(value, 0) {
			return
		}
		s := series{name: name, labels: map[string]any{}, value: value}
		key := name
		for _, l := range m.GetLabel() {
			s.labels[l.GetName()] = l.GetValue()
			key += "\x00" + l.GetName() + "\x00" + l.GetValue()
		}
		all[key] = s
	}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			switch {
			case m.Counter != nil:
				add(name, m, m.Counter.GetValue())
			case m.Gauge != nil:
				add(name, m, m.Gauge.GetValue())
			case m.Untyped != nil:
				add(name, m, m.Untyped.GetValue())
			case m.Histogram != nil:
				add(name+"_count", m, float64(m.Histogram.GetSampleCount()))
				add(name+"_sum", m, m.Histogram.GetSampleSum())
			case m.Summary != nil:
				add(name+"_count", m, float64(m.Summary.GetSampleCount()))
				add(name+"_sum", m, m.Summary.GetSampleSum())
			}
		}
	}
	return all
}
