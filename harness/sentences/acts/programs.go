package acts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/metrics"
	"nodestorm/sim/history"
)

// programSentences have what a user does to the programs of the world, the target and
// the control plane, as a whole.
var programSentences = scene.Sentences{
	Worlds: "any", Records: "programs that end and start (harness)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a liveness probe asks the target every DURATION, and restarts it after N failures`,
			Needs: []scene.Need{scene.TargetRuns}, Act: probeTarget},
		{Role: scene.Given, Words: `the metric "METRIC" of the target is recorded`,
			Needs: []scene.Need{scene.TargetRuns}, Check: checkTarget, Act: recordMetric},
		ofTarget(`the target is killed`, killProgram), ofProgram(`the program "NAME" is killed`, killProgram),
		ofTarget(`the target is restarted`, restartProgram), ofProgram(`the program "NAME" is restarted`, restartProgram),
		ofTarget(`the target is stopped`, stopProgram), ofProgram(`the program "NAME" is stopped`, stopProgram),
		ofTarget(`the target is started again`, startProgram), ofProgram(`the program "NAME" is started again`, startProgram),
		ofLeader(`the leader of the target is killed`, replaceKilled), ofLeader(`the leader of the target is stopped`, stopRenewed),
	},
}

// ofTarget is a sentence about the target's program, ofProgram one about that which it names.
func ofTarget(said string, do func(context.Context, *scene.Scene, string) error) scene.Sentence {
	return scene.Sentence{Role: scene.When, Words: said, Needs: []scene.Need{scene.TargetRuns}, Check: checkTarget,
		Act: func(ctx context.Context, s *scene.Scene, _ words.Args) error {
			return do(ctx, s, s.Rig.Target.Program())
		}}
}

func ofProgram(said string, do func(context.Context, *scene.Scene, string) error) scene.Sentence {
	return scene.Sentence{Role: scene.When, Words: said,
		Act: func(ctx context.Context, s *scene.Scene, a words.Args) error { return do(ctx, s, a.Text(0)) }}
}

func checkTarget(f *scene.Feature, _ words.Args) error {
	// mutant: the target can be killed before it runs
	if f.Target == "" {
		return scene.TargetRuns.Missing
	}
	return nil
}

// probeTarget has the target restarted as its kubelet does.
func probeTarget(_ context.Context, s *scene.Scene, a words.Args) error {
	failures := a.Int(1)
	if failures < 1 {
		return fmt.Errorf("after %d failures: want 1 or more", failures)
	}
	s.World.Probe(s.Rig.Target.Program(), a.Duration(0), failures)
	return nil
}

func recordMetric(_ context.Context, s *scene.Scene, a words.Args) error {
	source, exposes := s.Target.(metrics.Source)
	if !exposes {
		return fmt.Errorf("%s exposes no metrics that nodestorm knows the address of: Karpenter and Cluster Autoscaler do",
			s.Rig.Target.Program())
	}
	metrics.Record(s.World, s.Rig.Target.Program(), source, []string{a.Text(0)})
	return nil
}

// ofLeader is a sentence about the one of the target's processes that leads.
func ofLeader(said string, do func(context.Context, *scene.Scene, string) error) scene.Sentence {
	return scene.Sentence{Role: scene.When, Words: said, Needs: []scene.Need{scene.CanLead}, Check: checkTarget,
		Act: func(ctx context.Context, s *scene.Scene, _ words.Args) error {
			name, err := s.Target.(scene.Led).Depose()
			if err != nil {
				return err
			}
			return do(ctx, s, name)
		}}
}

// replaceKilled kills a process as killProcess does, and starts it again once another one leads, if that comes within a minute: its
// kubelet takes longer the more often it does so.
func replaceKilled(ctx context.Context, s *scene.Scene, name string) error {
	before := s.Seq()
	if err := s.World.StopProgram(ctx, name, true); err != nil {
		return err
	}
	if len(s.World.Replicas(s.Rig.Target.Program())) > 1 {
		leads := func(history.Entry) bool { return s.Target.(scene.Led).Leading() != "" }
		if _, err := s.Within(ctx, time.Minute, before, leads); err != nil && !errors.Is(err, scene.ErrOver) {
			return err
		}
	}
	return s.World.StartAgain(ctx, name)
}

// each does something to all processes of a program that run, or to all that have ended, one after the other.
func each(run bool, do func(context.Context, *scene.Scene, string) error) func(context.Context, *scene.Scene, string) error {
	return func(ctx context.Context, s *scene.Scene, name string) error {
		all := slices.DeleteFunc(s.World.Replicas(name), func(process string) bool { return s.World.Runs(process) != run })
		if len(all) == 0 {
			return do(ctx, s, name) // which says what is wrong
		}
		for _, process := range all {
			if err := do(ctx, s, process); err != nil {
				return err
			}
		}
		return nil
	}
}

var (
	killProgram, restartProgram = each(true, killProcess), each(true, restartProcess)
	stopProgram, startProgram   = each(true, stopProcess), each(false, startProcess)
)

// killProcess ends one as the kernel does that is out of memory, and starts it again
// as the kubelet does: at once.
func killProcess(ctx context.Context, s *scene.Scene, name string) error {
	if err := s.World.StopProgram(ctx, name, true); err != nil {
		return err
	}
	return s.World.StartAgain(ctx, name)
}

// restartProcess ends one as the kubelet does, and starts it again.
func restartProcess(ctx context.Context, s *scene.Scene, name string) error {
	if err := s.World.StopProgram(ctx, name, false); err != nil {
		return err
	}
	return s.World.StartAgain(ctx, name)
}

// stopProcess ends one until it is started again.
func stopProcess(ctx context.Context, s *scene.Scene, name string) error {
	return s.World.StopProgram(ctx, name, false)
}

// stopRenewed ends one that leads as stopProcess does, when it has just renewed its lease. An end in the midst of a renewal may
// leave the lease behind: the process then gives up what it has read before, and Kubernetes' clients from before v1.34 do
// not read it anew.
func stopRenewed(ctx context.Context, s *scene.Scene, name string) error {
	const longest, pause = time.Minute, 50 * time.Millisecond
	namespace, lease, _ := strings.Cut(s.Target.(scene.Led).Lease(), "/")
	var first *metav1.MicroTime
	for range longest / pause {
		l, err := s.World.Client().CoordinationV1().Leases(namespace).Get(ctx, lease, metav1.GetOptions{})
		switch {
		case err != nil:
			return fmt.Errorf("the lease of the process that leads: %w", err)
		case first == nil:
			first = l.Spec.RenewTime
		case !l.Spec.RenewTime.Equal(first):
			return stopProcess(ctx, s, name)
		}
		if err := s.Sleep(ctx, pause); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s leads, and has not renewed its lease %s/%s for %s", name, namespace, lease, longest)
}

func startProcess(ctx context.Context, s *scene.Scene, name string) error {
	return s.World.StartAgain(ctx, name)
}
