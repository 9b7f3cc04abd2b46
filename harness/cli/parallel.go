package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"nodestorm/harness/replay"
	"nodestorm/harness/replay/queue"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/harness/world/memory"
	"nodestorm/reports"
	"nodestorm/sim/time/clock"
)

// mostAtOnce bounds the worlds of one command: each has an equal part of the ports.
const mostAtOnce = 64

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
		return fmt.Errorf("%q: want how many worlds play at a time, from 1 to %d, or auto", text, mostAtOnce)
	}
	*n = atOnce(number)
	return nil
}

func (n *atOnce) Type() string { return "N" }

// abreast is how a command plays several worlds at a time.
type abreast struct {
	asked atOnce
	now   int // how many; 0: not known yet
}

func (a *abreast) addFlags(c *cobra.Command) {
	c.Flags().Var(&a.asked, "parallel", "play `N` worlds at a time; auto measures with the first how many this machine bears")
}

// checkParallel finds what is wrong with --parallel before anything starts. sides are the
// ways in which each is replayed.
func (s *session) checkParallel(sides int) error {
	n := int(s.abreast.asked)
	var alone string // why
	switch {
	case s.player != nil:
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
		return usage(fmt.Errorf("--parallel %d: %s; leave it out", n, alone))
	case alone != "" || n == 0 && s.World.Clock != clock.Auto: // other clocks don't wait for who has to share a processor
		n = 1
	case n > mostAtOnce:
		return usage(fmt.Errorf("--parallel %d: want at most %d, as each world needs ports of its own; --shard i/N splits among machines", n, mostAtOnce))
	case n > 1:
		free, err := memory.Free()
		if err == nil && int64(n) > free/memory.World {
			return usage(fmt.Errorf("--parallel %d: a world takes about %d GiB of memory, and what is free (%.1f GiB) is enough for %d", n, memory.World>>30, float64(free)/(1<<30), max(1, free/memory.World)))
		}
	}
	s.abreast.now = n
	return nil
}

// task is a job in the order of the sequence.
type task struct {
	job
	index int    // of the job
	label string // what progress calls it besides
}

// tasksOf are the jobs, each once.
func tasksOf(jobs []job) []task {
	tasks := make([]task, len(jobs))
	for i, j := range jobs {
		tasks[i] = task{job: j, index: i}
	}
	return tasks
}

// play plays the tasks, several at a time if that is asked for or the machine bears it, and
// returns their rows in order. keep, which may be nil, is told of those there are so far. With an error,
// the rows are those of before it.
func (s *session) play(ctx context.Context, tasks []task, keep func([]reports.Row) error) (rows []reports.Row, err error) {
	if keep == nil {
		keep = func([]reports.Row) error { return nil }
	}
	for i, t := range tasks {
		if s.abreast.now > 1 && len(tasks)-i > 1 {
			others, err := s.beside(ctx, tasks[i:], func(more []reports.Row) error { return keep(append(rows[:i:i], more...)) })
			return append(rows, others...), err
		}
		meter, _ := queue.NewMeter() // of one that cannot tell, one at a time comes
		_, row, err := s.replay(ctx, t.record, t.target, t.label)
		if err == nil {
			rows = append(rows, row)
			err = keep(rows)
		}
		if err != nil {
			return rows, err
		}
		if s.abreast.now == 0 {
			s.measured(meter)
		}
	}
	return rows, nil
}

// measured has as many worlds play at a time from now on as the machine bears, by what the
// first has asked of it.
func (s *session) measured(meter queue.Meter) {
	s.abreast.now = 1
	load, err := meter.Load()
	if err != nil {
		return // not here
	}
	n := min(load.AtOnce(), mostAtOnce)
	if free, err := memory.Free(); err == nil {
		n = min(n, int(free/memory.World))
	}
	if n > 1 {
		s.abreast.now = n
		s.remark("the first world kept %s: from now on %d play at a time; --parallel 1 has them play one by one", load, n)
	}
}

// beside plays the tasks at a time, each in a process of its own.
func (s *session) beside(ctx context.Context, tasks []task, keep func([]reports.Row) error) ([]reports.Row, error) {
	for _, t := range tasks { // what several would build at once, is built before
		if err := s.ensureParts(ctx, t.record); err != nil {
			return nil, err
		}
	}
	crew := &crew{session: s, board: newBoard(s.status, len(tasks)), of: min(s.abreast.now, len(tasks))}
	defer s.status.clear()
	played := func(ctx context.Context, t task, hand int, o order) (reports.Row, error) {
		o.Job, o.ID, o.Target, o.AtOnce = t.index, t.record.ID, t.target.Ref.String(), crew.of
		row, err := crew.play(ctx, hand, t, o)
		var crashed *crash
		if errors.As(err, &crashed) && ctx.Err() == nil {
			expected := t.record.Expected(o.Target)
			return reports.Row{
				ID: o.ID, Target: o.Target, Expected: string(expected), Verdict: string(verdict.Inconclusive),
				Outcome: string(verdict.Compare(expected, verdict.Inconclusive)), Reason: crashed.Error(),
			}, nil
		}
		return row, err
	}
	rows, err := queue.Play(ctx, len(tasks), crew.of, queue.Hands[reports.Row]{
		Beside: func(ctx context.Context, hand, i int) (reports.Row, bool, error) {
			row, err := played(ctx, tasks[i], hand, order{})
			again := err == nil && row.Verdict == string(verdict.Inconclusive)
			if again {
				crew.board.aside(s.say, "%s on %s does not count beside others, and is played again alone: %s", row.ID, row.Target, row.Reason)
			}
			return row, again, err
		},
		Alone: func(ctx context.Context, i int, before reports.Row) (reports.Row, error) {
			return played(ctx, tasks[i], 0, order{Alone: true, InPlaceOf: before.Run})
		},
		Done: keep,
		Fewer: func(n int) {
			s.abreast.now = n
			crew.board.aside(s.say, "from now on %s", atATime(n))
		},
	})
	stuck := crew.close()
	if stuck != nil {
		err = errors.Join(err, &world.StopError{Err: stuck})
	}
	return rows, err
}

func atATime(n int) string {
	if n == 1 {
		return "one plays at a time"
	}
	return fmt.Sprintf("%d play at a time", n)
}
