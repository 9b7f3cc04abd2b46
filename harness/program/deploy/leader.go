package deploy

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"nodestorm/harness/world"
)

// Leader is the process of a program that leads, as its processes' logs say. World and Program are required; it implements
// scene.Led.
type Leader struct {
	World   *world.World
	Program string

	mu    sync.Mutex
	name  string // none is known to lead that is called ""
	lease string
}

// acquired is how all versions of client-go say that they have got a lease: in words, in klog's structured form, and in JSON.
var acquired = regexp.MustCompile(`[sS]uccessfully acquired lease(?: |" lock="|","lock":")([^\s"/]+/[^\s"/]+)`)

// Logged takes in a line that a process has logged.
func (l *Leader) Logged(process string, line []byte) {
	// mutant: a line that is structured says nothing of a lease
	if m := acquired.FindSubmatch(line); m != nil {
		l.set(process, string(m[1]))
	}
}

func (l *Leader) set(process, lease string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name, l.lease = process, lease
}

// Lease implements scene.Led.
func (l *Leader) Lease() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lease
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
	l.set("", l.Lease())
	return name, nil
}
