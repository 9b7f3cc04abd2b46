package world

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/world/process"
	"nodestorm/harness/world/tunnel"
)

// openToKubelets configures kube-apiserver as kubeadm does (cmd/kubeadm/app/phases/
// controlplane/manifests.go): who kubelets are and what they may, and who it is for
// them. It reaches them through a proxy, as it would with Konnectivity, because nodes'
// addresses are the cloud's and not this host's.
func (c *local) openToKubelets(dir string) (flags map[string][]string, err error) {
	cert, key, err := c.ca.issueFiles("apiserver-kubelet-client", "kube-apiserver-kubelet-client", []string{"system:masters"})
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "egress.sock")
	if c.tunnel, err = tunnel.Listen(socket); err != nil {
		return nil, err
	}
	c.World.OnStop(c.tunnel.Close)
	egress := filepath.Join(dir, "egress.yaml")
	if err := os.WriteFile(egress, tunnel.Config(socket, tunnel.ToNodes), 0o600); err != nil {
		return nil, err
	}
	return map[string][]string{
		"authorization-mode":              {"Node,RBAC"},
		"enable-admission-plugins":        {"NodeRestriction"},
		"enable-bootstrap-token-auth":     {"true"},
		"kubelet-preferred-address-types": {"InternalIP,ExternalIP,Hostname"},
		"kubelet-client-certificate":      {cert},
		"kubelet-client-key":              {key},
		"egress-selector-config-file":     {egress},
	}, nil
}

// StartProgram runs a program in the world's time whose end is not the world's: its
// output goes to the run's logs, and it is gone when we are. Virtual time passes as
// real time does until the program lives in it; one that does not within a minute, or
// was not built with the clock, is an error where time is virtual.
func (w *World) StartProgram(ctx context.Context, spec process.Spec) (*process.Process, error) {
	w.driver.Hold()
	defer w.driver.Release()
	spec.Log = w.LogFile(spec.Name)
	spec.Env = w.isolatedEnvironment(spec.Env)
	spec.Env = w.forGuests(spec)
	p, err := process.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	w.driver.Name(p.PID(), spec.Name)
	if err := w.watchProgram(p); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	if err := w.awaitClock(ctx, p); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	return p, nil
}

// watchProgram has a program ended with the world, or with us.
func (w *World) watchProgram(p *process.Process) error {
	name := p.Name()
	w.mu.Lock() // or the end of one with its name, just now, would be taken for its own
	defer w.mu.Unlock()
	if w.stopped { // since then: Stop does not know of it
		return context.Cause(w.ctx)
	}
	if err := w.guard.Watch(p); err != nil {
		return err
	}
	w.programs[name] = p
	w.background.Go(func() {
		<-p.Exited()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.programs[name] == p {
			delete(w.programs, name)
			w.guard.Forget(name)
		}
	})
	return nil
}

// killPrograms ends what those who started programs have left.
func (w *World) killPrograms() error {
	w.mu.Lock()
	left := slices.Collect(maps.Values(w.programs))
	w.mu.Unlock()
	var errs []error
	for _, p := range left {
		errs = append(errs, p.Kill())
	}
	return errors.Join(errs...)
}

// clockWithin bounds, in real time, how long a program may take to map the clock's page.
const clockWithin = time.Minute

// awaitClock waits until a program has the clock's page in its memory, which is
// before its main function, or has ended. Time would else jump past its start.
func (w *World) awaitClock(ctx context.Context, p *process.Process) error {
	if !w.cfg.Clock.Virtual() {
		return nil
	}
	_, page, _ := strings.Cut(w.driver.Env(), "=")
	page, err := filepath.EvalSymlinks(page) // as the kernel has it
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, clockWithin,
		fmt.Errorf("%s is not in the world's time after %s: was it built with the clock?", p.Name(), clockWithin))
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		mapped, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.PID()))
		if err == nil && strings.Contains(string(mapped), page) {
			return nil
		}
		select {
		case <-p.Exited():
			return nil
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// ClientCA is the CA that clients' certificates are of, as kubelets have it in a file. It
// is an error in a world that kubelets cannot join.
func (w *World) ClientCA() ([]byte, error) {
	if !w.cfg.ClusterOptions.Kubelets {
		return nil, errors.New("no kubelet can join this world: want Wishes.Kubelets")
	}
	return w.plane.ClientCA()
}
