package clusterautoscaler

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"nodestorm/sim/history"
)

// roundsEvery is how often its metrics are read, in virtual time: a round begins ten seconds after the one before,
// as long as it takes no longer.
const roundsEvery = 10 * time.Second

// RecordRounds records from now on how long its rounds take, see history.Rounds.
func (a *Autoscaler) RecordRounds() {
	w := a.cfg.World
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	w.OnStop(func() error {
		cancel()
		<-done
		return nil
	})
	go func() {
		defer close(done)
		var before rounds
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.Clock().After(roundsEvery):
			}
			now, err := a.rounds(ctx)
			if err != nil { // it is killed, or begins
				continue
			}
			if n, each := now.since(before); n > 0 {
				w.History().Record(history.Event{
					Source: history.Harness, Verb: history.Rounds, Actor: Name, Detail: map[string]any{"of": n, "seconds": each},
				})
			}
			before = now
		}
	}()
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

// rounds asks its metrics.
func (a *Autoscaler) rounds(ctx context.Context) (rounds, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.address+"/metrics", nil)
	if err != nil {
		return rounds{}, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return rounds{}, err
	}
	defer answer.Body.Close()
	reader := expfmt.NewTextParser(model.LegacyValidation)
	families, err := reader.TextToMetricFamilies(http.MaxBytesReader(nil, answer.Body, 32<<20))
	if err != nil {
		return rounds{}, fmt.Errorf("reading its metrics: %w", err)
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
