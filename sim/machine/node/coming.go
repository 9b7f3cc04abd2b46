package node

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/utils/clock"

	"nodestorm/sim/fault"
)

// Coming are the faults of machines that boot from now on. Its methods are safe for concurrent use.
type Coming struct {
	recorder fault.Recorder
	clk      clock.PassiveClock

	mu  sync.Mutex
	all []comingFault
}

// comingFault is one that machines get which boot, and the choice among them.
type comingFault struct {
	fault.Fault
	chosen *fault.Life
}

// NewComing returns one without faults.
func NewComing(recorder fault.Recorder, clk clock.PassiveClock) *Coming {
	return &Coming{recorder: recorder, clk: clk}
}

// AboutComing is what events of such faults are about: of no Node until one boots.
var AboutComing = fault.EventDetails{Actor: Actor}

// Inject implements fault.Injector.
func (c *Coming) Inject(f fault.Fault) error {
	if err := Faults.Check(f); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	choice := fault.Plan{Skip: f.Skip, Limit: f.Limit, Probability: f.Probability}
	f.Plan = fault.Plan{When: f.When, At: f.At, For: f.For}
	c.all = append(c.all, comingFault{f, new(c.recorder.Arm(f.Name, Faults.Called(f.Effect), choice, c.clk.Now(), AboutComing))})
	return nil
}

// Clear implements fault.Injector: it spares machines that are still to come.
func (c *Coming) Clear(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := len(c.all)
	c.all = slices.DeleteFunc(c.all, func(f comingFault) bool { return f.Name == name && f.chosen.Clear(c.clk.Now(), AboutComing) })
	if len(c.all) == before {
		return fmt.Errorf("there is no fault %q of machines that are to come", name)
	}
	return nil
}

// Next are the faults of the next machine that boots.
func (c *Coming) Next() (faults []fault.Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.all {
		if f.chosen.Fire() {
			faults = append(faults, f.Fault)
		}
	}
	return faults
}
