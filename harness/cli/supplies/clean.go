package supplies

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/doctor"
	"nodestorm/harness/world"
	"nodestorm/harness/world/apiproxy"
	"nodestorm/harness/world/container"
	"nodestorm/harness/world/kind"
	"nodestorm/harness/world/process"
)

var _ = Commands.Add(console.Builds, newClean)

func newClean(e *console.Console) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:     "clean",
		Short:   "Remove what interrupted commands left behind, or the store",
		Example: "  nodestorm clean\n  nodestorm clean --all",
		Long: `End the programs and remove the temporary folders of worlds, proxies, reports and
bundles whose command was killed, in whatever TMPDIR, its containers with their volumes,
clusters that were not ready yet when it was, and images that Docker got for targets which
are no longer in the store; and say so. What is in use stays.
With --all the builds in the store are removed as well, and nothing else that is in its folder.`,
		Args: console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			swept, used, err := process.Sweep(os.TempDir(), world.FolderPrefix, apiproxy.FolderPrefix, console.ScratchPrefix, imagePrefix,
				ownImagePrefix, doctor.FolderPrefix)
			for _, s := range swept {
				fmt.Fprintln(e.Stdout, s)
			}
			for _, dir := range used {
				fmt.Fprintf(e.Stdout, "left %s alone: it is in use\n", dir)
			}
			clusters, failed := kind.Sweep(c.Context())
			for _, name := range clusters {
				fmt.Fprintf(e.Stdout, "removed cluster %s\n", name)
			}
			containers, other := container.Sweep(c.Context())
			for _, name := range containers {
				fmt.Fprintf(e.Stdout, "removed container %s\n", name)
			}
			err = errors.Join(err, failed, other)
			if all && err == nil {
				err = e.Store.Clear(c.Context())
			}
			images := sweepImages(e, c.Context())
			switch {
			case err != nil:
			case all:
				fmt.Fprintf(e.Stdout, "removed all builds in %s\n", e.Store.Dir())
			case len(swept)+len(used)+len(clusters)+len(containers)+images == 0:
				fmt.Fprintln(e.Stdout, "nothing was left behind")
			}
			return err
		},
	}
	c.Flags().BoolVar(&all, "all", false, "remove all builds from the store as well")
	return c
}

// sweepImages removes from Docker what no target in the store needs any more, and returns how many
// images that were. What cannot be removed now is a remark: the next clean does.
func sweepImages(e *console.Console, ctx context.Context) int {
	images, err := container.SweepImages(ctx)
	for _, name := range images {
		fmt.Fprintf(e.Stdout, "removed image %s\n", name)
	}
	if err != nil {
		e.Remark("%v", err)
	}
	return len(images)
}
