package clusterautoscaler

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"nodestorm/harness/program/deploy"
	"nodestorm/harness/world"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/process"
)

// Start runs the autoscaler's processes and waits until they answer. Virtual time passes as
// real time does until then.
func (a *Autoscaler) Start(ctx context.Context) error {
	return a.rollOut(ctx, false)
}

// rollOut has processes of the release come, and those of the release before it go, as a Deployment does whose manifest says nothing
// of it: the examples of all clouds do not.
func (a *Autoscaler) rollOut(ctx context.Context, kill bool) error {
	replicas := max(a.cfg.Replicas, 1)
	surge, unavailable, err := deploy.Rolling(&unstructured.Unstructured{}, replicas)
	if err != nil {
		return err
	}
	return a.cfg.World.RollOut(ctx, world.Rollout{
		Program: Name, Replicas: replicas, Surge: surge, Unavailable: unavailable, Kill: kill, Spec: a.spec,
	})
}

// spec is how one of the processes is started.
func (a *Autoscaler) spec(name string) (spec process.Spec, err error) {
	w := a.cfg.World
	port, err := world.FreePort()
	if err != nil {
		return spec, err
	}
	ways, err := a.reach(name)
	if err != nil {
		return spec, err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	line := commandLine(a.known, nil, a.line, append(ways, flags{
		{"kubernetes", ""},
		{"namespace", a.account.Namespace},
		{"address", address},
		{"logtostderr", "true"},
		{"v", "4"}, // 5 has requests with user data, 4 has the loops
	}...))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.addresses[name] = address
	return container.Program(w, a.cfg.Target, a.settings, process.Spec{
		Name:  name,
		Args:  line.args(),
		Env:   a.environment(),
		Hide:  a.secrets(),
		Lines: logLines(w.History(), w.Clock(), a.redact(), name, &a.Leader),
		Ready: world.HTTPReady("http://" + address + "/health-check"),
	}), nil
}

// environment is the container's.
func (a *Autoscaler) environment() (env []string) {
	for _, v := range a.env {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}
