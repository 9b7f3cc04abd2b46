package cli

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/scenarios"
)

// What nodestorm new writes, of which SCENARIO-ID becomes the ID.
var (
	//go:embed new/new.feature
	newFeature string
	//go:embed new/new.yaml
	newRecord string
)

func (e *env) newFailure() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "new ID",
		Short: "Write a feature and a record to start from",
		Long: `Write ID.feature and ID.yaml, with comments, for a failure of your own. They run as they
are, on a build of Karpenter:

  nodestorm lint DIR
  nodestorm run ID --catalogue DIR --target karpenter@v1.6.4

A file that is there already is left alone.`,
		Example: "  nodestorm new karpenter-late-node --dir failures",
		Args:    exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			id := args[0]
			if err := scenarios.CheckID(id); err != nil {
				return usage(err)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return usage(fmt.Errorf("--dir: %w; name a folder that can be written", err))
			}
			files := []struct{ path, text string }{
				{filepath.Join(dir, id+".feature"), newFeature}, {filepath.Join(dir, id+".yaml"), newRecord},
			}
			for _, file := range files {
				if _, err := os.Lstat(file.path); !errors.Is(err, fs.ErrNotExist) {
					return usage(fmt.Errorf("%s is there already; take another ID, or another --dir", file.path))
				}
			}
			for _, file := range files {
				if err := os.WriteFile(file.path, []byte(strings.ReplaceAll(file.text, "SCENARIO-ID", id)), 0o644); err != nil {
					return err
				}
				fmt.Fprintln(e.stdout, file.path)
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "`folder` to write into")
	_ = c.MarkFlagDirname("dir")
	return c
}
