package supplies

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world/kind"
	"nodestorm/harness/world/process"
	"nodestorm/sim/oneline"
)

// imagePrefix begins the names of folders in which node images are made.
const imagePrefix = "nodestorm-node-image-"

var _ = Commands.AddHidden(newCluster)

func newCluster(e *console.Console) *cobra.Command {
	c := console.Group(&cobra.Command{
		Use:   "cluster",
		Short: "Create and delete clusters whose nodes are containers (kind)",
		Long: `Make and remove real clusters with kind, whose nodes are containers of Docker: the
Kubernetes of worlds, with a kubelet and containerd on each node, in real time.

No image registry is needed: the image of the nodes is made here, of Debian packages and
Go modules. The clusters have no kube-proxy and no CoreDNS: Services reach nothing but the API server.
Records play on clusters of their own: nodestorm verify ID --cluster kind.`,
	})
	c.Example = "  nodestorm cluster image\n  nodestorm cluster create mine"
	c.AddCommand(newClusterImage(e), newClusterCreate(e), newClusterList(e), newClusterLoad(e), newClusterDelete(e))
	return c
}

func newClusterImage(e *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "image",
		Short:   "Build the image of the nodes: 0.7 GB in Docker, some minutes once",
		Example: "  nodestorm cluster image",
		Args:    console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			ctx := c.Context()
			if err := errors.Join(kind.CanBuildImage(), kind.CheckDocker(ctx)); err != nil {
				return exit.UsageError(err)
			}
			root, err := buildstore.Root()
			if err != nil {
				return exit.UsageError(err)
			}
			all := func(builds.Target) error { return nil }
			listed, err := e.Supplier().Ensure(ctx, all, supply.Refuse, builds.Kubernetes, builds.Node)
			if err != nil {
				return err
			}
			dir, remove, err := process.Scratch(imagePrefix)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, remove()) }()
			e.Remark("making %s of Debian packages and builds of the store; this is done once", kind.Image(builds.Kubernetes.Version))
			err = kind.BuildImage(ctx, kind.Programs{
				Version: builds.Kubernetes.Version, Root: root,
				Kubernetes: listed[builds.Kubernetes].Binary(), Node: listed[builds.Node].Binary(),
			}, dir, e.Stderr)
			if err != nil {
				return fmt.Errorf("making the node image: %w", err)
			}
			fmt.Fprintf(e.Stdout, "%s is ready\n", kind.Image(builds.Kubernetes.Version))
			return nil
		},
	}
}

func newClusterCreate(e *console.Console) *cobra.Command {
	var workers int
	var share string
	c := &cobra.Command{
		Use:     "create NAME",
		Short:   "Make a cluster, and say where its kubeconfig and audit log are",
		Example: "  nodestorm cluster create mine --workers 2",
		Args:    console.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if workers < 0 || workers > 20 {
				return exit.UsageError(fmt.Errorf("--workers %d: want 0 to 20; thousands of nodes are for simulated ones, with nodestorm up", workers))
			}
			if share != "" {
				info, err := os.Stat(share)
				if err == nil && !info.IsDir() {
					err = fmt.Errorf("%s is no folder", share)
				}
				if err == nil {
					share, err = filepath.Abs(share)
				}
				if err != nil {
					return exit.UsageError(fmt.Errorf("--share: %w", err))
				}
			}
			if err := errors.Join(kind.CheckName(args[0]), canCluster(c.Context())); err != nil {
				return exit.UsageError(err)
			}
			cluster, err := kind.Create(c.Context(), kind.Spec{Name: args[0], Version: builds.Kubernetes.Version, Workers: workers, Share: share})
			if err != nil {
				return err
			}
			fmt.Fprintf(e.Stdout, "export KUBECONFIG=%s\n", oneline.Command(cluster.Kubeconfig()))
			e.Say("its API server's audit log is %s; it stays until: %s", cluster.AuditLog(),
				oneline.Command("nodestorm", "cluster", "delete", cluster.Name))
			return nil
		},
	}
	c.Flags().IntVar(&workers, "workers", 0, "`N` nodes in addition to the control plane's")
	c.Flags().StringVar(&share, "share", "", "`FOLDER` that all nodes have as "+kind.EverywherePath)
	return c
}

// canCluster says what the machine lacks for clusters.
func canCluster(ctx context.Context) error {
	if err := kind.CheckDocker(ctx); err != nil {
		return err
	}
	return kind.CheckImage(ctx, builds.Kubernetes.Version)
}

func newClusterList(e *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the clusters",
		Example: "  nodestorm cluster list",
		Args:    console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := kind.CheckDocker(c.Context()); err != nil {
				return exit.UsageError(err)
			}
			names, err := kind.List()
			for _, name := range names {
				fmt.Fprintln(e.Stdout, name)
			}
			return err
		},
	}
}

func newClusterLoad(e *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "load NAME IMAGE.tar",
		Short:   "Give all nodes an image, as docker save writes it",
		Example: "  nodestorm cluster load mine image.tar",
		Args:    console.Exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			cluster, err := kind.Find(args[0])
			if err == nil {
				_, err = os.Stat(args[1])
			}
			if err == nil {
				err = kind.CheckDocker(c.Context())
			}
			if err != nil {
				return exit.UsageError(err)
			}
			if err := cluster.Load(args[1]); err != nil {
				return err
			}
			fmt.Fprintf(e.Stdout, "the nodes of cluster %s have %s\n", cluster.Name, filepath.Base(args[1]))
			return nil
		},
	}
}

func newClusterDelete(e *console.Console) *cobra.Command {
	return &cobra.Command{
		Use:     "delete NAME",
		Aliases: []string{"rm"},
		Short:   "Remove a cluster with all it has",
		Example: "  nodestorm cluster delete mine",
		Args:    console.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(kind.CheckName(args[0]), kind.CheckDocker(c.Context())); err != nil {
				return exit.UsageError(err)
			}
			if err := kind.Delete(args[0]); err != nil {
				return exit.UsageError(err)
			}
			fmt.Fprintf(e.Stdout, "removed cluster %s\n", args[0])
			return nil
		},
	}
}
