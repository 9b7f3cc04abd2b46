package acts

import (
	"context"
	"time"

	"nodestorm/harness/search/workload"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/objects"
)

// workloads are the sentences that play one.
var workloads = []scene.Sentence{
	{Role: scene.When, Words: workload.StepQuotes, Check: checkWorkload, Act: runWorkload},
	{Role: scene.When, Words: workload.StepNames, Check: checkWorkload, Act: runWorkload},
}

// checkWorkload finds what is wrong with a workload, and with its objects as the first seed has them.
func checkWorkload(f *scene.Feature, a words.Args) error {
	w, err := workload.Read([]byte(a.Quoted))
	if err != nil {
		return err
	}
	acts, err := w.Expand(1)
	if err != nil {
		return err
	}
	for _, act := range acts {
		if act.Do == workload.Create {
			if err := checkObjects(f, words.Args{Quoted: act.Manifest}); err != nil {
				return err
			}
		}
	}
	return nil
}

// runWorkload plays a workload as the seed of the run has it. The step takes as long in virtual time as the workload lasts,
// so that runs of one workload can be compared.
func runWorkload(ctx context.Context, s *scene.Scene, a words.Args) error {
	w, err := workload.Read([]byte(a.Quoted))
	if err != nil {
		return err
	}
	acts, err := w.Expand(s.Rig.World.Seed)
	if err != nil {
		return err
	}
	begun := s.World.Clock().Now()
	until := func(d time.Duration) error {
		if left := begun.Add(d).Sub(s.World.Clock().Now()); left > 0 {
			return s.Sleep(ctx, left)
		}
		return nil
	}
	for _, act := range acts {
		if err := until(act.At); err != nil {
			return err
		}
		if err := do(ctx, s, act); err != nil {
			return err
		}
	}
	return until(time.Duration(w.Lasts))
}

// do does what an act says as a user does who is quick, see change.
func do(ctx context.Context, s *scene.Scene, act workload.Act) error {
	switch act.Do {
	case workload.Scale:
		return change(s, act.Object, func(c *objects.Client, of objects.Ref) error { return c.Scale(ctx, of, act.Pods) })
	case workload.Delete:
		return change(s, act.Object, func(c *objects.Client, of objects.Ref) error { return c.Delete(ctx, of, false) })
	}
	s.World.Driver().Hold()
	defer s.World.Driver().Release()
	_, err := put(ctx, s, act.Manifest, objects.Create)
	return err
}
