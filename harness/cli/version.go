package cli

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"nodestorm/harness/builds"
	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay"
)

// ownVersion describes this program.
func ownVersion() (v versions) {
	v = versions{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Kubernetes: builds.Kubernetes.Version}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Version = cmp.Or(info.Main.Version, v.Version)
	}
	return v
}

// versions are what `nodestorm version -o json` prints.
type versions struct {
	Version  string `json:"version"`          // of the Go module, "(devel)" of a checkout
	Commit   string `json:"commit,omitempty"` // that it was built from; empty: not known
	Dirty    bool   `json:"dirty,omitempty"`  // with changes that are in no commit
	Go       string `json:"go"`               // that built it
	Platform string `json:"platform"`
	// Kubernetes is the control plane that worlds get.
	Kubernetes string `json:"kubernetes"`
}

// String is the one line of --version.
func (v versions) String() string { return v.Version + " " + v.Go }

func newVersion(e *console.Console) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Show how this nodestorm was built, and its Kubernetes",
		Example: "  nodestorm version -o json",
		Args:    console.Exactly(0),
		RunE: func(*cobra.Command, []string) error {
			v := ownVersion()
			// A test's program knows no commit and asks around it, for which a moment is enough.
			program, _ := replay.Self(context.Background(), ".", "")
			v.Commit, v.Dirty = program.Commit, program.Dirty
			if asJSON {
				return e.JSON(v)
			}
			commit := cmp.Or(v.Commit, "unknown: make build notes it, go build where git knows it")
			if v.Dirty {
				commit += ", with changes that are in no commit"
			}
			fmt.Fprintf(e.Stdout, "nodestorm   %s\ncommit      %s\ngo          %s %s\nkubernetes  %s\n", v.Version, commit, v.Go, v.Platform,
				v.Kubernetes)
			return nil
		},
	}
	e.OutputFlags(c, &asJSON)
	return c
}
