package replays

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/playing"
	"nodestorm/harness/replay"
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

// parallelism is how a command plays several worlds at a time.
type parallelism struct{ asked atOnce }

func (p *parallelism) addFlags(c *cobra.Command) {
	c.Flags().VarP(&p.asked, "parallel", "j", "play `N` worlds at a time; auto: measure how many with the first")
}

// checkParallel finds what is wrong with --parallel before anything starts. sides are the
// ways in which each is replayed.
func (s *session) checkParallel(sides int) error {
	n := int(s.parallel.asked)
	var alone string // why
	switch {
	case s.Serving != nil:
		return nil // the command that asks us to play has checked
	case sides > 1:
		alone = "a comparison plays one side after the other, and neighbours would be compared as well"
	case s.Cluster == replay.Kind:
		alone = "clusters of kind share one Docker, and real time waits for none of them"
	case s.live:
		alone = "--watch is for one run"
	}
	switch {
	case alone != "" && n > 1:
		return exit.UsageError(fmt.Errorf("--parallel %d: %s; leave it out", n, alone))
	case alone != "" || n == 0 && s.World.Clock != clock.Auto: // other clocks don't wait for who has to share a processor
		n = 1
	}
	s.AtOnce = n
	return playing.CheckAtOnce(n)
}
