package supplies

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/cli/output"
	"nodestorm/harness/night/image"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world/process"
	"nodestorm/reports/wording"
)

// ownImagePrefix begins the names of folders in which images of nodestorm are made.
const ownImagePrefix = "nodestorm-image-"

func newTargetImage(e *console.Console) *cobra.Command {
	var out, push, tag string
	var with []string
	c := &cobra.Command{
		Use:   "image --out-file FILE | --push REFERENCE",
		Short: "Build nodestorm's own container image, without Docker",
		Long: `Make a container image of this nodestorm, for Docker and Kubernetes; no Docker and no
other image is needed for that. With --include it has builds of the store, so that it
replays. The same program and builds make the same image. The program must be linked
statically: make image, in a checkout, builds such a one.

What runs in it is one static program, as user 65532. It writes to /tmp only, and needs
no capability and no right to gain any: with a read-only root, mount something there. Only
builds that are added in the container (target add, target get) are started from there:
with Docker, --tmpfs /tmp:exec.

Programs with the clock built in have file descriptors duplicated (pidfd_getfd), which the
default seccomp profiles of Docker and containerd allow only to containers with the
capability SYS_PTRACE. A program that is not root's gains nothing else by it. Builds without
it ("target build --plain") live in virtual time and need nothing, if the image's Kubernetes
is one, too; nor does --clock real.`,
		Example: `  nodestorm target image --out-file image.tar && docker load --input image.tar
  nodestorm target image --include kubernetes@v1.36.3 \
    --include karpenter@v1.7.0 --push registry.example/team/nodestorm:v1
  docker run --rm --read-only --tmpfs /tmp --cap-drop ALL \
    --cap-add SYS_PTRACE --security-opt no-new-privileges \
    ` + image.Name + ` \
    run karpenter-7515-not-ready-noexecute --target karpenter@v1.7.0`,
		Args: console.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if (out == "") == (push == "") {
				return exit.UsageError(errors.New("want one of --out-file FILE, for docker load, and --push REFERENCE"))
			}
			if push != "" && c.Flags().Changed("tag") {
				return exit.UsageError(errors.New("--tag is the image's name in a file: leave it out with --push REFERENCE, which is the name"))
			}
			listed, err := packed(e, with)
			if err != nil {
				return exit.UsageError(err)
			}
			program, err := os.Executable()
			if err != nil {
				return err
			}
			dir, remove, err := process.Scratch(ownImagePrefix)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, remove()) }()
			from, _ := replay.Self(c.Context(), "", "")
			return makeImage(e, c.Context(), image.Spec{Program: program, Commit: from.Commit, Builds: listed}, dir, out, tag, push)
		},
	}
	c.Flags().StringVar(&out, "out-file", "", "`FILE` for docker load")
	e.RenamedFlag(c, "out", "out-file")
	c.Flags().StringVar(&push, "push", "", "`REFERENCE` in a registry, such as registry.example/team/nodestorm:v1")
	c.Flags().StringVar(&tag, "tag", image.Name, "`NAME:TAG` of the image in the file")
	c.Flags().StringArrayVar(&with, "include", nil, "build of the store to include, `NAME@VERSION`, or all")
	e.RenamedFlag(c, "with", "include")
	return c
}

func makeImage(e *console.Console, ctx context.Context, spec image.Spec, dir, out, tag, push string) error {
	line := output.NewLine(e.Stderr)
	defer line.Clear()
	line.Show("", fmt.Sprintf("packing nodestorm and %s", wording.Counted(len(spec.Builds), "build")), "")
	im, err := image.Make(ctx, spec, dir)
	if err != nil {
		return exit.UsageError(fmt.Errorf("making the image: %w", err))
	}
	if push != "" {
		digest, err := image.Push(ctx, im, push, func(done, of int) { line.Show("", fmt.Sprintf("pushing %d of %d MiB", done, of), "") })
		if err != nil {
			return exit.UsageError(fmt.Errorf("pushing the image to %w", err))
		}
		line.Clear()
		fmt.Fprintf(e.Stdout, "%s has it: %s\n", push, digest)
		return nil
	}
	size, err := image.Save(im, tag, out)
	if err != nil {
		return exit.UsageError(fmt.Errorf("--out-file: %w", err))
	}
	digest, err := im.ConfigName() // as docker images shows it
	if err != nil {
		return err
	}
	line.Clear()
	fmt.Fprintf(e.Stdout, "%s is in %s: %d MB, %s; docker load --input %[2]s\n", tag, filepath.Base(out), size/1e6, digest)
	return nil
}

// packed are the builds of the store that an image is to have: of each that with names, for
// every provider, the newest.
func packed(e *console.Console, with []string) (listed []builds.Target, err error) {
	wanted, all := map[builds.Ref]bool{}, false
	for _, name := range with {
		if name == "all" {
			all = true
			continue
		}
		ref, err := builds.ParseRef(name)
		if err != nil {
			return nil, fmt.Errorf("--include: %w", err)
		}
		if _, err := e.Store.Get(ref); err != nil {
			return nil, fmt.Errorf("--include: %w", err)
		}
		wanted[ref] = true
	}
	if len(wanted) == 0 && !all {
		return nil, nil
	}
	entries, err := e.Store.List()
	if err != nil {
		return nil, err
	}
	seen := map[builds.Ref]bool{}
	for _, entry := range entries {
		bare := builds.Ref{Name: entry.Name, Version: entry.Version}
		if entry.Err != nil || seen[entry.Ref] || !all && !wanted[bare] {
			continue
		}
		seen[entry.Ref] = true
		listed = append(listed, entry.Target)
	}
	if all && len(listed) == 0 {
		return nil, fmt.Errorf("--include all: the store in %s has no build that is intact; nodestorm target get --all makes some", e.Store.Dir())
	}
	return listed, nil
}
