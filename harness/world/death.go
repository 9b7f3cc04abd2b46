package world

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"nodestorm/harness/world/process"
	"nodestorm/sim/history"
)

// deathNoticed is how long, in real time, the end of a killed program may be noticed after
// that of another that could not live without it. Its connections are closed first, and only
// then, which takes long where it had much memory or few processors, is it gone.
const deathNoticed = time.Second

// Died reports that a part of the world has ended by itself, which the world then does too.
func (w *World) Died(component string, err error) {
	w.mu.Lock()
	stopped := w.stopped
	w.mu.Unlock()
	if !stopped {
		w.recordDeath(component, err)
		w.fail(err)
	}
}

// reportEnd waits for the end of a component, and reports it unless it was asked for. If one
// that was started before has ended as well, the world ends because of that one.
func (w *World) reportEnd(c component) {
	<-c.process.Exited()
	err := c.process.Exit()
	if err == nil {
		return
	}
	w.driver.Hold() // no time is jumped over in a world that is about to end
	defer w.driver.Release()
	// mutant: the world ends because of the death that was noticed first
	w.awaitEarlierEnd(c)
	if lost := new(process.LostError); errors.As(err, &lost) {
		w.Died(lost.By, err)
	} else {
		w.Died(c.program(), err)
	}
}

// awaitEarlierEnd gives components that were started before c a moment to end, and waits until
// the end of one is reported if it does.
func (w *World) awaitEarlierEnd(c component) {
	if c.order == 0 {
		return
	}
	select {
	case <-time.After(deathNoticed):
	case <-w.ctx.Done():
		return
	}
	w.mu.Lock()
	ended := slices.ContainsFunc(slices.Collect(maps.Values(w.components)), func(other component) bool {
		return other.order < c.order && other.process.Exit() != nil
	})
	w.mu.Unlock()
	if ended {
		<-w.ctx.Done()
	}
}

// recordDeath names files as the run's folder has them: where that is does not matter to those who
// read the history elsewhere.
func (w *World) recordDeath(component string, err error) {
	// mutant: a death in the history says where the run's folder is
	w.history.Record(history.Death(component, errors.New(strings.ReplaceAll(err.Error(), w.cfg.Out+string(filepath.Separator), ""))))
}
