package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"nodestorm/harness/world/process"
	"nodestorm/sim/history"
)

// Rollout is how a Deployment comes to its pods, each of which is a process here.
type Rollout struct {
	// Program is what the Deployment runs, and what the history calls who does what its processes do.
	Program string
	// Replicas are how many processes it has.
	Replicas int
	// Surge is how many there may be beyond that, and Unavailable how many of them need not be Ready, as
	// deployment.spec.strategy.rollingUpdate has them in numbers of pods.
	Surge, Unavailable int
	// Kill has those that end do so by SIGKILL, as on a machine that is gone: they have no time to give anything up.
	Kill bool
	// Spec says how one starts.
	Spec func(name string) (process.Spec, error)
}

// Replicas are the processes of a program by their names, those that were started first before others, whether they run or
// have ended to be started again. Most programs have one, which is called as they are.
func (w *World) Replicas(program string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []component
	for _, c := range w.components {
		if c.program() == program {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b component) int { return cmp.Compare(a.order, b.order) })
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	return names
}

// Runs reports whether a process does, by its name.
func (w *World) Runs(name string) bool {
	c, is := w.component(name)
	if !is {
		return false
	}
	select {
	case <-c.process.Exited():
		return false
	default:
		return true
	}
}

// RollOut starts the processes of a program, and ends those that there are, in the order of a Deployment's controller: new ones
// as soon as there may be more, old ones as soon as enough are Ready, of these the newest first. It returns when all is done, see
// [World.StartComponent] for how time passes until then.
func (w *World) RollOut(ctx context.Context, r Rollout) error {
	old := w.Replicas(r.Program)
	first := len(old) == 0
	started, available := 0, 0
	ready, ended := make(chan error, r.Replicas), make(chan error, len(old))
	ending := len(old)
	for len(old) > 0 || available < r.Replicas {
		// mutant: a release waits until the one before it is gone
		for started < r.Replicas && (first || len(old)+started < r.Replicas+r.Surge) {
			name := w.nextReplica(r.Program)
			spec, err := r.Spec(name)
			if err != nil {
				return err
			}
			if name != r.Program {
				w.recordEvent(history.Started, r.Program, name) // before: what it does is after it
			}
			started++
			go func() {
				_, err := w.startReplica(ctx, r.Program, spec)
				ready <- err
			}()
		}
		// mutant: all of the old release ends before the new one is Ready
		if len(old) > 0 && len(old)-1+available >= r.Replicas-r.Unavailable {
			name := old[len(old)-1]
			old = old[:len(old)-1]
			go func() { ended <- w.remove(ctx, name, r.Kill) }()
			continue
		}
		if started == available {
			return fmt.Errorf("a rollout of %s with at most %d processes more and %d less comes to no end", r.Program, r.Surge, r.Unavailable)
		}
		if err := <-ready; err != nil {
			return fmt.Errorf("starting %s: %w", r.Program, err)
		}
		available++
	}
	var errs []error
	for range ending {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}

// nextReplica is a name that no process of the program has had.
func (w *World) nextReplica(program string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods[program]++
	if n := w.pods[program]; n > 1 {
		return fmt.Sprintf("%s-%d", program, n)
	}
	return program
}

// remove ends a process that nothing starts again.
func (w *World) remove(ctx context.Context, name string, kill bool) error {
	if w.Runs(name) {
		if err := w.StopProgram(ctx, name, kill); err != nil {
			return err
		}
	}
	w.guard.Forget(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.components, name)
	return nil
}
