package results

import (
	"fmt"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/stored"
	"nodestorm/reports/wording"
)

var _ = Commands.Add(console.Results, newBundle)

func newBundle(e *console.Console) *cobra.Command {
	var to string
	var hourly float64
	c := &cobra.Command{
		Use:   "bundle RUN…",
		Short: "Pack stored runs into an archive",
		Long: `Pack runs into one archive: run.json, history, logs, report, and the feature and record if
they are your own. What looks like a credential is removed, and so are your home folder and
the names of this machine and of your user, unless they are words of Kubernetes or of the
scenario, as "default" is. A run that would be judged otherwise without them is not packed,
and it is said without what. The archive is opened by "nodestorm report" and "nodestorm recheck"
on any machine; who unpacks it plays the failure with --catalogue RUN/scenario.

Look through the archive before you publish it: no list of secrets is complete.`,
		Example: "  nodestorm bundle RUN --out-file incident.tar.gz",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.UsageError(fmt.Errorf("RUN is missing: want %s", c.UseLine()))
			}
			catalogue, err := e.LoadCatalogue()
			if err != nil {
				return err
			}
			found, done, err := e.Runs(c.Context(), args)
			defer done()
			if err != nil {
				return exit.UsageError(err)
			}
			if to == "" {
				to = "nodestorm-" + stored.Called(found[0].Dir) + stored.ArchiveSuffix
			}
			r := e.Reporter(catalogue)
			r.Hourly = hourly
			removed, err := r.Pack(c.Context(), found, to, console.Scratch)
			if err != nil {
				return err
			}
			fmt.Fprintf(e.Stdout, "%s: %s, %s removed\n", to, wording.Counted(len(found), "run"), wording.Counted(removed, "credential"))
			return nil
		},
	}
	e.CatalogueFlags(c)
	c.Flags().StringVar(&to, "out-file", "", "`FILE` to write; default nodestorm-SCENARIO-TARGET.tar.gz")
	e.RenamedFlag(c, "out", "out-file")
	c.Flags().Float64Var(&hourly, "price", 0, "price in `EUR` an hour, such as 0.05, of machines whose cloud has none")
	return c
}
