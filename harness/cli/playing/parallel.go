package playing

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/exit"
	"nodestorm/sim/time/clock"
)

// atOnce is --parallel: how many worlds play at a time. Zero is to be measured.
type atOnce int

func (n *atOnce) String() string {
	if *n == 0 {
		return "auto"
	}
	return strconv.Itoa(int(*n))
}

func (n *atOnce) Set(text string) error {
	if text == "auto" {
		*n = 0
		return nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 {
		return fmt.Errorf("%q: want how many worlds play at a time, from 1 to %d, or auto", text, queue.Most)
	}
	*n = atOnce(number)
	return nil
}

func (n *atOnce) Type() string { return "N" }

// AddParallel adds the flag of the commands that play several worlds at a time.
func (s *Session) AddParallel(c *cobra.Command) {
	c.Flags().VarP(&s.parallel, "parallel", "j", "play `N` worlds at a time; auto: measure how many with the first")
}

// CheckParallel finds what is wrong with --parallel before anything starts. alone says why one world has to play after the
// other; empty: it does not.
func (s *Session) CheckParallel(alone string) error {
	n := int(s.parallel)
	switch {
	case s.Serving != nil:
		return nil // the command that asks us to play has checked
	case alone != "" && n > 1:
		return exit.UsageError(fmt.Errorf("--parallel %d: %s; leave it out", n, alone))
	case alone != "" || n == 0 && s.World.Clock != clock.Auto: // other clocks don't wait for who has to share a processor
		n = 1
	}
	s.AtOnce = n
	return CheckAtOnce(n)
}
