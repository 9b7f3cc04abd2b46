package node

// Stats counts what the fleet has. Taking it costs a look at every node and none at
// the pods.
type Stats struct {
	Nodes      int // machines
	Registered int // whose kubelet has spoken
	Ready      int // whose last accepted report was Ready=True, and that have a Node
	Pods       int // bound to machines
	Running    int // started, and not yet reported terminated
	// Failures counts calls that did not succeed, and LastError is the latest. Most
	// failed calls are tried again, so a few are no reason to worry.
	Failures  int
	LastError error
}

// Stats returns the present counts.
func (f *Fleet) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Stats{Nodes: len(f.kubelets), Failures: f.failures, LastError: f.lastErr}
	for name, k := range f.kubelets {
		if !k.registered.IsZero() {
			s.Registered++
		}
		if k.node != nil && k.saidReady() {
			s.Ready++
		}
		if bound := f.byNode[name]; bound != nil {
			s.Pods += len(bound.pods)
			s.Running += bound.running
		}
	}
	return s
}
