package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cucumber/godog"
	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/features"
	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstest"
	"nodestorm/harness/sentences"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
)

// BenchmarkAutoscalers plays the features of scale/ on the newest releases: how long it takes from
// the last When on, and what the autoscaler uses in that time. What may be on any instance type is played
// with as many as a large cloud has, too.
func BenchmarkAutoscalers(b *testing.B) {
	kubernetes := buildstest.Get(b, builds.Kubernetes)
	files, err := fs.Sub(features.Files, "scale")
	if err != nil {
		b.Fatal(err)
	}
	for _, play := range []struct {
		feature string
		ref     builds.Ref
	}{
		{"karpenter.feature", builds.Ref{Name: "karpenter", Version: "v1.14.1"}},
		{"cluster-autoscaler.feature", builds.Ref{Name: "cluster-autoscaler", Version: "1.36.1", Provider: "externalgrpc"}},
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
				playOn(b, kubernetes, play.ref, files, play.feature, child.Scenario)
			})
			if strings.Contains(child.Scenario.Name, "any instance type") {
				b.Run(play.ref.Name+"/"+child.Scenario.Name+"/"+fmt.Sprint(manyTypes), func(b *testing.B) {
					playOn(b, kubernetes, play.ref, onManyTypes(b, files, play.feature), play.feature, child.Scenario)
				})
			}
		}
	}
}

// playOn plays a scenario of a feature, which may begin in another line of it by now.
func playOn(b *testing.B, kubernetes builds.Target, ref builds.Ref, files fs.FS, feature string, scenario *messages.Scenario) {
	on := buildstest.Get(b, ref)
	for b.Loop() {
		from := &lastWhen{left: whens(scenario)}
		rig := sentences.Rig{
			World:   world.Config{Out: b.TempDir(), Kubernetes: kubernetes.Bin(), Seed: 1, ClientQPS: 1000},
			Target:  on,
			Beside:  files,
			Started: func(w *world.World) { from.world = w },
			Step:    from.step,
			Failed:  func(what string, err error) { b.Errorf("%s: %v", what, err) },
			Ended:   func([]string) { from.report(b, ref.Name) },
		}
		suite := godog.TestSuite{
			ScenarioInitializer: rig.Initialize,
			Options: &godog.Options{
				FS: files, Paths: []string{fmt.Sprintf("%s:%d", feature, lineOf(b, files, feature, scenario.Name))},
				Format: "progress", Strict: true, DefaultContext: context.Background(),
			},
		}
		if suite.Run() != 0 {
			b.Fatal("the scenario failed")
		}
	}
}

func lineOf(b *testing.B, files fs.FS, feature, scenario string) int {
	text, err := fs.ReadFile(files, feature)
	if err != nil {
		b.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), "Scenario: "+scenario+"\n")
	if !found {
		b.Fatalf("%s has no scenario %q", feature, scenario)
	}
	return 1 + strings.Count(before, "\n")
}

// manyTypes is about what a large cloud has.
const manyTypes = 400

// onManyTypes is a feature of Karpenter whose provider kwok has that many instance types, in a file that is
// written as the provider reads it: five families of two to sixteen GiB a processor, of twenty sizes, for
// two architectures and two systems, each in four zones, launched on demand and spot.
func onManyTypes(b *testing.B, files fs.FS, feature string) fs.FS {
	type requirement struct {
		Key      string   `json:"key"`
		Operator string   `json:"operator"`
		Values   []string `json:"values"`
	}
	type offering struct {
		Price        float64
		Available    bool
		Requirements []requirement
	}
	type instanceType struct {
		Name             string            `json:"name"`
		Offerings        []offering        `json:"offerings"`
		Architecture     string            `json:"architecture"`
		OperatingSystems []string          `json:"operatingSystems"`
		Resources        map[string]string `json:"resources"`
	}
	var all []instanceType
	for family := range 5 {
		gib := []int{2, 4, 6, 8, 16}[family]
		for size := range 20 {
			cpu := []int{1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256}[size]
			for _, arch := range []string{"amd64", "arm64"} {
				for _, system := range []string{"linux", "windows"} {
					t := instanceType{
						Name: fmt.Sprintf("%c-%dx-%s-%s", "csmrx"[family], cpu, arch, system), Architecture: arch, OperatingSystems: []string{system},
						Resources: map[string]string{"cpu": fmt.Sprint(cpu), "memory": fmt.Sprintf("%dGi", cpu*gib), "ephemeral-storage": "20Gi", "pods": fmt.Sprint(min(16*cpu, 1024))},
					}
					for _, zone := range []string{"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"} {
						for kind, part := range map[string]float64{"on-demand": 1, "spot": 0.7} {
							t.Offerings = append(t.Offerings, offering{part * (0.025*float64(cpu) + 0.001*float64(cpu*gib)), true, []requirement{
								{"karpenter.sh/capacity-type", "In", []string{kind}}, {"topology.kubernetes.io/zone", "In", []string{zone}},
							}})
						}
					}
					all = append(all, t)
				}
			}
		}
	}
	if len(all) != manyTypes {
		b.Fatalf("%d types, want %d", len(all), manyTypes)
	}
	listed, err := json.Marshal(all)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "types.json")
	if err := os.WriteFile(path, listed, 0o600); err != nil {
		b.Fatal(err)
	}
	text, err := fs.ReadFile(files, feature)
	if err != nil {
		b.Fatal(err)
	}
	const starts = "    And Karpenter\n"
	if strings.Count(string(text), starts) != 1 {
		b.Fatalf("%s starts Karpenter %d times, want once", feature, strings.Count(string(text), starts))
	}
	changed := strings.Replace(string(text), starts, "    And the target has the environment variables:\n      | INSTANCE_TYPES_FILE_PATH | "+path+" |\n"+starts, 1)
	return fstest.MapFS{feature: {Data: []byte(changed)}}
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

// step is called with each step as it begins.
func (l *lastWhen) step(text string) {
	if len(l.left) == 0 || text != l.left[0] {
		return
	}
	l.left = l.left[1:]
	l.before, l.began, l.at = l.world.Usage(), time.Now(), l.world.Clock().Now()
}

// report reports seconds, virtual ones, the processor time of the autoscaler and of all, and the most
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

// reportRounds reports how long a round of the main loop took, on average and at most, where the scenario
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
