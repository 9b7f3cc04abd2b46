package karpenter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/program/deploy"
	"nodestorm/harness/world/container"
)

// setVariables gives the controller those of the scenario beside those of the release's chart, or in their place.
func (k *Karpenter) setVariables() {
	for _, v := range k.set {
		k.env = slices.DeleteFunc(k.env, func(have string) bool { return strings.HasPrefix(have, v.Name+"=") })
		k.env = append(k.env, v.Name+"="+v.Value)
	}
}

// place are the flags that say where the controller is, which is the world's to say.
var place = []string{"kubeconfig", "metrics-port", "health-probe-port", "leader-election-namespace", "webhook-port", "webhook-metrics-port"}

// flagLine begins the description of a flag, as package flag prints it.
var flagLine = regexp.MustCompile(`(?m)^  -([a-z0-9][a-z0-9-]*)(?:\s|$)`)

// check makes sure that the release knows all flags, before anything starts.
func check(ctx context.Context, r deploy.Request) error {
	t := r.Target
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := container.Help(ctx, t, container.Settings{}) // its status is not 0 in all releases
	var known []string
	for _, m := range flagLine.FindAllSubmatch(out, -1) {
		known = append(known, string(m[1]))
	}
	if !slices.Contains(known, "batch-max-duration") {
		err = cmp.Or(err, errors.New("it ended well"))
		return fmt.Errorf("asking %s for its flags: it lists no --batch-max-duration: is it a Karpenter? (%w)", t.Ref, err)
	}
	for _, f := range r.Flags {
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch {
		case slices.Contains(place, name):
			return fmt.Errorf("the scenario: --%s is what the world sets", name)
		case !slices.Contains(known, name):
			like := cmp.Or(deploy.MeantFlag(name, known), fmt.Sprintf(" (it has --%s)", strings.Join(known, ", --")))
			return fmt.Errorf("the scenario: %s knows no flag --%s%s", t.Ref, name, like)
		}
	}
	return nil
}
