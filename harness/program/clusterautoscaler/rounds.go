package clusterautoscaler

import (
	"context"
	"math"
	"time"

	dto "github.com/prometheus/client_model/go"

	"nodestorm/harness/world/metrics"
	"nodestorm/sim/history"
)

// roundsEvery is how often its metrics are read, in virtual time: a round begins ten seconds after the one before,
// as long as it takes no longer.
const roundsEvery = 10 * time.Second

// RecordRounds records from now on how long its rounds take, see history.Rounds.
func (a *Autoscaler) RecordRounds() {
	var before rounds
	metrics.Each(a.cfg.World, roundsEvery, func(ctx context.Context) {
		now, err := readRounds(ctx, a.MetricsURL())
		if err != nil { // it is killed, or begins
			return
		}
		if n, each := now.since(before); n > 0 {
			a.cfg.World.History().Record(history.Event{
				Source: history.Harness, Verb: history.Rounds, Actor: Name, Detail: map[string]any{"of": n, "seconds": each},
			})
		}
		before = now
	})
}

// rounds are those since the program began, and how many seconds they took in all.
type rounds struct {
	count   uint64
	seconds float64
}

// since is how many there were since then, and how long one took on average. A program that counts less
// than before has begun anew.
func (r rounds) since(before rounds) (n uint64, each float64) {
	if r.count < before.count {
		before = rounds{}
	}
	if n = r.count - before.count; n > 0 {
		each = math.Round((r.seconds-before.seconds)/float64(n)*1e6) / 1e6
	}
	return n, each
}

// MetricsURL is where the metrics of the process are that leads.
func (a *Autoscaler) MetricsURL() string {
	leader := a.OrFirst()
	a.mu.Lock()
	defer a.mu.Unlock()
	return "http://" + a.addresses[leader] + "/metrics"
}

// readRounds asks a process's metrics.
func readRounds(ctx context.Context, url string) (rounds, error) {
	families, err := metrics.Read(ctx, url)
	if err != nil {
		return rounds{}, err
	}
	return mainLoop(families), nil
}

// mainLoop finds the rounds of the main loop among an autoscaler's metrics.
func mainLoop(families map[string]*dto.MetricFamily) rounds {
	for _, m := range families["cluster_autoscaler_function_duration_seconds"].GetMetric() {
		for _, label := range m.GetLabel() {
			if label.GetName() == "function" && label.GetValue() == "main" {
				return rounds{m.GetHistogram().GetSampleCount(), m.GetHistogram().GetSampleSum()}
			}
		}
	}
	return rounds{}
}
