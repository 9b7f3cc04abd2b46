package sentences

import (
	"context"
	"errors"
	"fmt"
)

// registerPrograms has what somebody does to the programs of the world, the target and
// the control plane, as a whole.
func (s *scenario) registerPrograms(on sentences) {
	on.Given(`^a liveness probe asks the target every `+span+`, and restarts it after `+number+` failures$`, s.probeTarget)
	for _, each := range []struct {
		does string
		do   func(context.Context, string) error
	}{
		{"killed", s.killProgram},
		{"restarted", s.restartProgram},
		{"stopped", s.stopProgram},
		{"started again", s.startProgram},
	} {
		on.When(`^the target is `+each.does+`$`, func(ctx context.Context) error {
			name, err := s.target()
			if err != nil {
				return err
			}
			return each.do(ctx, name)
		})
		on.When(`^the program `+name+` is `+each.does+`$`, each.do)
	}
}

// probeTarget has the target restarted as its kubelet does.
func (s *scenario) probeTarget(every string, failures int) error {
	name, err := s.target()
	if err != nil {
		return err
	}
	interval, err := duration(every)
	if err != nil {
		return err
	}
	if failures < 1 {
		return fmt.Errorf("after %d failures: want 1 or more", failures)
	}
	s.world.Probe(name, interval, failures)
	return nil
}

// target is the name of the target's program.
func (s *scenario) target() (string, error) {
	name := s.rig.Target.Ref.Name
	if s.world == nil {
		return "", errNoCluster
	}
	if _, runs := s.world.Component(name); !runs {
		return "", errNoTarget
	}
	return name, nil
}

var errNoTarget = errors.New(`the target does not run yet: say "Karpenter" or "Cluster Autoscaler" in a Given before, or which program is meant: the program "kube-scheduler"`)

// killProgram ends a program as the kernel does that is out of memory, and starts it again
// as the kubelet does: at once.
func (s *scenario) killProgram(ctx context.Context, name string) error {
	if err := s.end(ctx, name, true); err != nil {
		return err
	}
	return s.world.StartAgain(ctx, name)
}

// restartProgram ends a program as the kubelet does, and starts it again.
func (s *scenario) restartProgram(ctx context.Context, name string) error {
	if err := s.end(ctx, name, false); err != nil {
		return err
	}
	return s.world.StartAgain(ctx, name)
}

// stopProgram ends a program until it is started again.
func (s *scenario) stopProgram(ctx context.Context, name string) error {
	return s.end(ctx, name, false)
}

func (s *scenario) startProgram(ctx context.Context, name string) error {
	if s.world == nil {
		return errNoCluster
	}
	return s.world.StartAgain(ctx, name)
}

func (s *scenario) end(ctx context.Context, name string, kill bool) error {
	if s.world == nil {
		return errNoCluster
	}
	return s.world.End(ctx, name, kill)
}
