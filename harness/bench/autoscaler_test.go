package bench

import (
	"context"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/features"
	"nodestorm/harness/steps"
	"nodestorm/harness/target"
	"nodestorm/harness/target/targettest"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
)

// BenchmarkAutoscalers plays the features of scale/ on the newest releases: how long it takes from
// the last When on, and what the autoscaler uses meanwhile.
func BenchmarkAutoscalers(b *testing.B) {
	kubernetes := targettest.Get(b, target.Kubernetes)
	files, err := fs.Sub(features.Files, "scale")
	if err != nil {
		b.Fatal(err)
	}
	for _, play := range []struct {
		feature string
		ref     target.Ref
	}{
		{"karpenter.feature", target.Ref{Name: "karpenter", Version: "v1.14.1"}},
		{"cluster-autoscaler.feature", target.Ref{Name: "cluster-autoscaler", Version: "1.36.1", Provider: "externalgrpc"}},
	} {
		parsed, err := godog.TestSuite{Options: &godog.Options{FS: files, Paths: []string{play.feature}}}.RetrieveFeatures()
		if err != nil {
			b.Fatal(err)
		}
		for _, child := range parsed[0].Feature.Children {
			if child.Scenario == nil {
				continue
			}
			b.Run(play.ref.Name+"/"+child.Scenario.Name, func(b *testing.B) {
				on := targettest.Get(b, play.ref)
				for b.Loop() {
					from := &lastWhen{left: whens(child.Scenario)}
					rig := steps.Rig{
						World:   world.Config{Out: b.TempDir(), Kubernetes: kubernetes.Bin(), Seed: 1, ClientQPS: 1000},
						Target:  on,
						Beside:  files,
						Started: func(w *world.World) { from.world = w },
						Step:    from.step,
						Failed:  func(what string, err error) { b.Errorf("%s: %v", what, err) },
						Ended:   func([]string) { from.report(b, play.ref.Name) },
					}
					suite := godog.TestSuite{
						ScenarioInitializer: rig.Initialize,
						Options: &godog.Options{
							FS: files, Paths: []string{fmt.Sprintf("%s:%d", play.feature, child.Scenario.Location.Line)},
							Format: "progress", Strict: true, DefaultContext: context.Background(),
						},
					}
					if suite.Run() != 0 {
						b.Fatal("the scenario failed")
					}
				}
			})
		}
	}
}

// whens are the texts of a scenario's Whens.
func whens(scenario *messages.Scenario) (texts []string) {
	for _, step := range scenario.Steps {
		if step.KeywordType == messages.StepKeywordType_ACTION {
			texts = append(texts, step.Text)
		}
	}
	return texts
}

// lastWhen measures from the last When of a scenario on.
type lastWhen struct {
	world  *world.World
	left   []string // Whens that are to come
	before map[string]world.Usage
	began  time.Time
	at     time.Time // virtual
}

// step is told each step as it begins.
func (l *lastWhen) step(text string) {
	if len(l.left) == 0 || text != l.left[0] {
		return
	}
	l.left = l.left[1:]
	l.before, l.began, l.at = l.world.Usage(), time.Now(), l.world.Clock().Now()
}

// report tells seconds, virtual ones, the processor time of the autoscaler and of all, and the most
// memory that the autoscaler ever had.
func (l *lastWhen) report(b *testing.B, autoscaler string) {
	after := l.world.Usage()
	spent, _ := total(l.before)
	all, _ := total(after)
	b.ReportMetric(time.Since(l.began).Seconds(), "s")
	b.ReportMetric(l.world.Clock().Since(l.at).Seconds(), "virtual-s")
	b.ReportMetric((after[autoscaler].CPU - l.before[autoscaler].CPU).Seconds(), "cpu-s-"+autoscaler)
	b.ReportMetric((all - spent).Seconds(), "cpu-s")
	b.ReportMetric(float64(after[autoscaler].Peak)/(1<<20), "MiB-"+autoscaler)
	b.ReportMetric(float64(l.world.Driver().Figures().Lag.P99)/1e6, "ms-lag-p99")
	l.reportRounds(b)
}

// reportRounds tells how long a round of the main loop took, on average and at most, where the scenario
// has that recorded.
func (l *lastWhen) reportRounds(b *testing.B) {
	from := l.at.Sub(l.world.History().Start())
	var n uint64
	var all, longest float64
	for _, r := range l.world.History().Since(0) {
		if r.Source != history.Harness || r.Verb != history.Rounds || r.Virtual < from {
			continue
		}
		of, seconds := r.Detail["of"].(uint64), r.Detail["seconds"].(float64)
		n, all, longest = n+of, all+float64(of)*seconds, max(longest, seconds)
	}
	if n > 0 {
		b.ReportMetric(all/float64(n), "s-a-round")
		b.ReportMetric(longest, "s-longest-round")
	}
}
