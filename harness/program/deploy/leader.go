package deploy

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"nodestorm/harness/world"
)

// Leader is the process of a program that leads, as its processes' logs say. World and Program are required; it implements
// scene.Led.
type Leader struct {
	World   *world.World
	Program string

	mu   sync.Mutex
	name string // none is known to lead that is called ""
}

// Logged takes in what a process has logged. All versions of client-go say that they have got the lease, with a name behind it
// or, as a structured log has it, in quotes.
func (l *Leader) Logged(process, message string) {
	// mutant: a line that is structured says nothing of a lease
	if strings.HasPrefix(strings.ToLower(strings.TrimPrefix(message, `"`)), "successfully acquired lease") {
		l.set(process)
	}
}

func (l *Leader) set(process string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name = process
}

// Leading implements scene.Led.
func (l *Leader) Leading() string {
	all := l.World.Replicas(l.Program)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(all, l.name) {
		return ""
	}
	return l.name
}

// OrFirst is the process that leads, or the one that was started first where none is known to: it may need no lease.
func (l *Leader) OrFirst() string {
	leading := l.Leading()
	if all := l.World.Replicas(l.Program); leading == "" && len(all) > 0 {
		return all[0]
	}
	return leading
}

// Depose implements scene.Led.
func (l *Leader) Depose() (name string, err error) {
	if name = l.Leading(); name == "" {
		return "", fmt.Errorf("no process of %s leads, as far as its log says: wait until one does, or have it elect a leader and log "+
			"what is of level info", l.Program)
	}
	l.set("")
	return name, nil
}
