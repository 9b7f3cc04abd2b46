package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/karpenter"
	"nodestorm/harness/target"
	"nodestorm/harness/world"
	"nodestorm/reports/story"
	"nodestorm/sim/clock"
	"nodestorm/sim/node"
)

func (e *env) up() *cobra.Command {
	s := &session{env: e}
	var name string
	var nodes int
	c := &cobra.Command{
		Use:   "up",
		Short: "Start a world that stays until Ctrl-C",
		Args:  exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			var ref target.Ref
			if name != "" {
				var err error
				if ref, err = target.ParseRef(name); err != nil {
					return usage(err)
				}
				if ref.Name != karpenter.Name {
					return usage(fmt.Errorf("--target %s: up knows karpenter", ref))
				}
			}
			if nodes < 0 || nodes > 5000 {
				return usage(fmt.Errorf("--nodes %d: want 0 to 5000", nodes))
			}
			if err := s.check(c); err != nil {
				return err
			}
			var refs []target.Ref
			if name != "" {
				refs = append(refs, ref)
			}
			have, err := s.open(ctx, refuse, refs...)
			if err != nil {
				return err
			}
			return s.stay(ctx, have[ref], nodes)
		},
	}
	s.addFlags(c)
	s.clock = clock.Real // for a person who types
	c.Flags().Lookup("clock").DefValue = s.clock.String()
	c.Flags().StringVar(&name, "target", "", "Karpenter to run in it, `NAME@VERSION`, with a NodePool \"default\"")
	_ = c.RegisterFlagCompletionFunc("target", completeTargets)
	c.Flags().IntVar(&nodes, "nodes", 3, "simulated nodes")
	return c
}

func (s *session) stay(ctx context.Context, t target.Target, nodes int) (err error) {
	out, err := os.MkdirTemp(s.out, "up-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(out) }() // if nothing came of it
	w, err := world.Start(ctx, world.Config{
		Out: out, Kubernetes: s.kubernetes.Bin(), ControlPlane: s.assets, Clock: s.clock, Seed: s.seed,
		Nodes:    node.Config{Adopt: karpenter.Machines(node.DefaultProfile)},
		Progress: func(what string) { s.status.about(what, what, "") },
	})
	s.status.clear()
	if err != nil {
		return err
	}
	defer func() {
		if stopped := w.Stop(); err == nil {
			err = stopped
		}
	}()
	live, err := s.follow(story.Run{ID: "nodestorm up", Title: "A world that stays", Target: t.Ref.String(), Autoscaler: t.Name, Kubernetes: s.kubernetes.Version, Seed: s.seed, Started: time.Now()}, w.History)
	if err != nil {
		return err
	}
	defer live.Close(nil)
	for n := range nodes {
		if err := w.Fleet().Boot(node.Spec{Name: fmt.Sprintf("node-%d", n+1), Profile: node.DefaultProfile()}); err != nil {
			return err
		}
	}
	if t.Name != "" {
		k, err := karpenter.Install(ctx, w, t)
		if err != nil {
			return err
		}
		if _, err := k.Start(ctx); err != nil {
			return err
		}
		if err := k.CreatePool(ctx, karpenter.Pool{Name: "default", RegistrationDelay: node.DefaultProfile().BootDelay}); err != nil {
			return err
		}
	}
	kubeconfig, err := w.Kubeconfig("admin", "system:masters")
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, `The world is up, in %s time. Use it with

  export KUBECONFIG=%s
  %s get nodes

Watch it at %s
Logs and history are in %s. Ctrl-C ends the world.
`, s.clock, kubeconfig, filepath.Join(s.kubernetes.Bin(), "kubectl"), live.URL(), out)
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.stdout, "\nending the world")
		return nil
	case <-w.Done():
		return w.Err()
	}
}
