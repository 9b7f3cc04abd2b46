package results

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
)

// symptomOptions are the events of a run that a symptom is made of, and the runs that it is held against.
type symptomOptions struct {
	lines   string
	against []string
	asJSON  bool
}

var _ = Commands.Add(console.Write, newSymptom)

func newSymptom(e *console.Console) *cobra.Command {
	var o symptomOptions
	c := &cobra.Command{
		Use:   "symptom RUN --lines NUMBERS",
		Short: "Make a record's symptom out of events of a run",
		Long: `Print the symptom: of a record, in YAML, made of events of a run. --lines names
them by the numbers at the beginning of the lines of "nodestorm report -o text". In
a run's page marks can be set, which make the command line. Choose what the failure
follows and, last, what shows it.

The patterns have as much of the events as is needed: what the scenario named,
captures for other names that recur, and details without which the symptom would
hold elsewhere. Where the events alone would not do, the symptom says what does not
happen between them.

It is held against the run, the other runs of its scenario, and runs of others.
Those that fail as the run does ought to show it; healthy ones and other scenarios
ought not to, kin apart. Comments below it say where it holds.

Exit status: 0 it holds as it ought to, 1 it does not, 2 usage.`,
		Example: `  nodestorm report -o text RUN
  nodestorm symptom RUN --lines 274,284
  nodestorm symptom RUN --lines 274,284 --against reports/out \
    --against other-runs`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.UsageError(fmt.Errorf("%d runs are named, want one: %s", len(args), c.UseLine()))
			}
			return o.run(c.Context(), e, args[0])
		},
	}
	c.Flags().StringVar(&o.lines, "lines", "", "`NUMBERS` of events, in the order of time, with commas between them")
	c.Flags().StringArrayVar(&o.against, "against", nil,
		"`FOLDER` with runs to hold the symptom against; without it the one of --out that RUN lies in")
	_ = c.MarkFlagDirname("against")
	e.OutputFlags(c, &o.asJSON, console.AsWide)
	e.CatalogueFlags(c)
	return c
}

func (o symptomOptions) run(ctx context.Context, e *console.Console, arg string) error {
	run.LimitMemory()
	lines, err := numbersOf(o.lines)
	if err != nil {
		return exit.UsageError(err)
	}
	catalogue, err := e.LoadCatalogue()
	if err != nil {
		return err
	}
	own, done, err := e.Runs(ctx, []string{arg})
	defer done()
	switch {
	case err != nil:
		return exit.UsageError(err)
	case len(own) != 1:
		return exit.UsageError(fmt.Errorf("%s has %d runs: name one of them, such as %s", arg, len(own), own[0].Name))
	}
	against := o.against
	if len(against) == 0 {
		against = []string{folderOf(own[0].Dir)}
	}
	others, done, err := e.Runs(ctx, against)
	defer done()
	if err != nil {
		return exit.UsageError(fmt.Errorf("--against: %w", err))
	}
	s, err := e.Reporter(catalogue).Symptom(ctx, own[0], lines, others)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return exit.UsageError(errors.New(own[0].ErrorText(err)))
	}
	return printSymptom(e, s, o.asJSON)
}

func printSymptom(e *console.Console, s *stored.Symptom, asJSON bool) error {
	for _, why := range s.LeftOut {
		e.Remark("left out: %s", why)
	}
	err := error(nil)
	if asJSON {
		err = e.JSON(s)
	} else {
		err = s.Show(e.Stdout, e.Form == console.AsWide)
	}
	if err != nil {
		return err
	}
	return exitStatus(len(s.Wrong) > 0, false)
}

// folderOf is the folder that runs lie in beside the one in dir: that of its scenario's folder, if it lies in one as replays make it.
func folderOf(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	parent := filepath.Dir(dir)
	if r, err := run.Load(dir); err == nil && filepath.Base(parent) == r.ID {
		return filepath.Dir(parent)
	}
	return parent
}

// numbersOf reads --lines.
func numbersOf(text string) (lines []uint64, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("no events are named: say in --lines their numbers, which nodestorm report -o text prints, such as 12,15,19")
	}
	for part := range strings.SplitSeq(text, ",") {
		line, err := strconv.ParseUint(strings.TrimSpace(part), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("--lines %s: %q is no number of a line: want numbers with commas between them, such as 12,15,19", text, part)
		}
		lines = append(lines, line)
	}
	return lines, nil
}
