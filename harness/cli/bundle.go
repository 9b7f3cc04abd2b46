package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"nodestorm/harness/run"
	"nodestorm/harness/world/process"
	"nodestorm/reports/bundle"
	"nodestorm/reports/redact"
)

// archiveSuffix ends the names of bundles.
const archiveSuffix = ".tar.gz"

func (e *env) bundle() *cobra.Command {
	var to string
	var hourly float64
	c := &cobra.Command{
		Use:   "bundle RUN…",
		Short: "Pack stored runs into one archive to give away",
		Long: `Pack runs into one archive: run.json, history, logs, report, and the feature and record if
they are your own. What looks like a credential is removed, and so are this machine's name
and your home folder. The archive is opened by "nodestorm report" and "nodestorm recheck"
on any machine; who unpacks it plays the failure with --catalogue RUN/scenario.

Look through the archive before you publish it: nobody knows all secrets.`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if len(args) == 0 {
				return usage(fmt.Errorf("no RUN is named: %s", c.UseLine()))
			}
			catalogue, err := e.catalogue()
			if err != nil {
				return err
			}
			found, done, err := e.runs(c.Context(), args)
			defer done()
			if err != nil {
				return usage(err)
			}
			if to == "" {
				to = "nodestorm-" + called(found[0].dir) + archiveSuffix
			}
			staging, remove, err := process.Scratch(bundlePrefix)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, remove()) }()
			redactor := redact.ForHere()
			r := &reporter{env: e, catalogue: catalogue, hourly: hourly}
			for n, f := range found {
				dir := filepath.Join(staging, fmt.Sprintf("%03d-%s", n+1, filepath.Base(f.dir)))
				if err := copyRun(redactor, f.dir, dir); err != nil {
					return err
				}
				if run.Sound(f.dir) { // of another one the digests stay those that differ
					if err := run.Reseal(dir); err != nil {
						return err
					}
				}
				if err := r.page(filepath.Join(dir, run.ReportFile), dir); err != nil {
					return err
				}
			}
			name := strings.TrimSuffix(filepath.Base(to), archiveSuffix)
			if err := r.file(to, func(w io.Writer) error { return bundle.Pack(w, staging, name) }); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s: %s, %s removed\n", to, counted(len(found), "run"), counted(redactor.Count, "credential"))
			return nil
		},
	}
	e.catalogueFlags(c)
	c.Flags().StringVar(&to, "out", "", "`file` to write; default nodestorm-SCENARIO-TARGET.tar.gz")
	c.Flags().Float64Var(&hourly, "price", 0, "what a machine costs that does not tell itself, in `euros` an hour")
	return c
}

// called is what a run in dir is called in the name of a file.
func called(dir string) string {
	r, err := run.Load(dir)
	if err != nil || filepath.Base(r.ID) != r.ID { // a stranger's may have a path
		return filepath.Base(dir)
	}
	return r.ID + "-" + filepath.Base(dir)
}

// copyRun copies what belongs to a run, without credentials. Links and what else
// lies in the folder are left out.
func copyRun(redactor *redact.Redactor, from, to string) error {
	paths := []string{run.File, run.HistoryFile, run.JUnitFile, run.CucumberFile}
	root, err := os.OpenRoot(from) // no link leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	logs, _ := fs.Glob(root.FS(), run.LogFolder+"/*.log") // the pattern is ours
	for _, path := range logs {
		paths = append(paths, filepath.FromSlash(path))
	}
	// Most runs have no such folder, and one that leads elsewhere is none.
	_ = fs.WalkDir(root.FS(), run.ScenarioFolder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			paths = append(paths, filepath.FromSlash(name))
		}
		return err
	})
	for _, path := range paths {
		if err := os.MkdirAll(filepath.Join(to, filepath.Dir(path)), 0o755); err != nil {
			return err
		}
		if err := copyRedacted(redactor, root, path, filepath.Join(to, path)); err != nil {
			return fmt.Errorf("copying %s: %w", path, err)
		}
	}
	return nil
}

func copyRedacted(redactor *redact.Redactor, root *os.Root, from, to string) error {
	info, err := root.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err != nil {
		return err
	}
	in, err := root.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(redactor.Copy(out, in), out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
