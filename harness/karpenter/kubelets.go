package karpenter

import (
	"context"
	"strings"

	"nodestorm/harness/kubelet"
	"nodestorm/harness/world"
	"nodestorm/sim/history"
)

// Kubelets has a real kubelet run on each of the kwok provider's Nodes, from its
// registration to its deletion and until the world ends: what Machines does with
// simulated ones. machine says what it runs on; its name is the Node's.
func Kubelets(w *world.World, machines *kubelet.Machines, machine func() kubelet.Machine) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		kwok := map[string]bool{}
		for seq := uint64(0); ; {
			r, err := w.History().WaitAfter(ctx, seq, func(r history.Record) bool {
				return r.Source == history.API && r.Object.Resource == "nodes" && r.Code < 300
			})
			if err != nil {
				return // the world ends
			}
			seq = r.Seq
			providerID, _ := r.Detail["providerID"].(string)
			switch name := r.Object.Name; {
			case r.Verb == "delete" && kwok[name]:
				delete(kwok, name)
				_ = machines.Shutdown(name) // its kubelet may have ended by itself
			case !kwok[name] && strings.HasPrefix(providerID, providerIDPrefix):
				kwok[name] = true
				m := machine()
				m.Name = name
				if err := machines.Boot(m); err != nil {
					w.History().Record(history.Event{
						Source: history.Node, Verb: "nojoin", Actor: "kubelet",
						Object: history.Object{Resource: "machines", Name: name}, Detail: map[string]any{"reason": err.Error()},
					})
				}
			}
		}
	}()
	w.OnStop(func() error { cancel(); <-ended; return nil })
}
