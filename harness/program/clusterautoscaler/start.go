package clusterautoscaler

import (
	"context"
	"fmt"
	"slices"

	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/process"
)

// Start runs the autoscaler and waits until it answers. Virtual time passes as
// real time does until then.
func (a *Autoscaler) Start(ctx context.Context) (p *process.Process, err error) {
	if a.ways, err = a.reach(); err != nil {
		return nil, err
	}
	spec, err := a.spec()
	if err != nil {
		return nil, err
	}
	return a.cfg.World.StartComponent(ctx, spec)
}

// spec is how the build is started.
func (a *Autoscaler) spec() (spec process.Spec, err error) {
	w := a.cfg.World
	port, err := world.FreePort()
	if err != nil {
		return spec, err
	}
	a.address = fmt.Sprintf("127.0.0.1:%d", port)
	line := commandLine(a.known, nil, a.line, append(slices.Clone(a.ways), flags{
		{"kubernetes", ""},
		{"namespace", a.account.Namespace},
		{"address", a.address},
		{"logtostderr", "true"},
		{"v", "4"}, // 5 has requests with user data, 4 has the loops
	}...))
	return container.Program(w, a.cfg.Target, a.settings, process.Spec{
		Name:  Name,
		Args:  line.args(),
		Env:   a.environment(),
		Hide:  a.secrets(),
		Lines: logLines(w.History(), w.Clock(), a.redact()),
		Ready: world.HTTPReady("http://" + a.address + "/health-check"),
	}), nil
}

// environment is the container's.
func (a *Autoscaler) environment() (env []string) {
	for _, v := range a.env {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}
