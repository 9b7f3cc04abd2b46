package supplies

import (
	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/doctor"
	"nodestorm/harness/run/exit"
)

var _ = Commands.Add(console.Start, newDoctor)

func newDoctor(e *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check what can be replayed here and how to get the rest",
		Long: `Check what this machine can do, what of the catalogue can be replayed with the builds in the
store, and which commands get the rest. The clock is tested: a small program is built with
it, which takes half a minute the first time, and waits for an hour of virtual time.

Exit status: 0 all that "nodestorm target get --all --build" brings is there and works; 1
some of it is not; 2 usage. Cluster Autoscaler and real clusters do not count.`,
		Example: "  nodestorm doctor",
		Args:    console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			catalogue, err := e.LoadCatalogue()
			if err != nil {
				return err
			}
			status := e.NewLine()
			status.Show("", "trying the clock: a program that waits for an hour", "")
			d := doctor.Diagnosis{Machine: doctor.Look(c.Context(), doctor.Machine)}
			status.Clear()
			if d.Replays, err = doctor.Ready(e.Store, catalogue); err != nil {
				return exit.UsageError(err)
			}
			d.Optional = doctor.Look(c.Context(), doctor.Optional)
			if asJSON {
				err = e.JSON(d)
			} else {
				err = d.Print(e.Stdout)
			}
			if err == nil && !d.Well() {
				return &exit.Error{Code: exit.NotAsExpected}
			}
			return err
		},
	}
	e.OutputFlags(c, &asJSON)
	e.CatalogueFlags(c)
	return c
}
