package stored

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/reports/bundle"
	"nodestorm/reports/redact"
	"nodestorm/scenarios"
	"nodestorm/sim/strict"
)

// Called is what a run in dir is called in the name of a file.
func Called(dir string) string {
	r, err := run.Load(dir)
	if err != nil || filepath.Base(r.ID) != r.ID { // a stranger's may have a path
		return filepath.Base(dir)
	}
	return r.ID + "-" + filepath.Base(dir)
}

// Pack packs runs into one archive to give away, and returns how many credentials were removed. A run that is another one
// without them, or without the names of the machine and its user, is an error.
func (r *Reporter) Pack(ctx context.Context, found []Run, to string, scratch Scratch) (removed int, err error) {
	staging, remove, err := scratch()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	for n, f := range found {
		count, err := r.stage(ctx, f, filepath.Join(staging, fmt.Sprintf("%03d-%s", n+1, filepath.Base(f.Dir))))
		if err != nil {
			return 0, err
		}
		removed += count
	}
	name := strings.TrimSuffix(filepath.Base(to), ArchiveSuffix)
	return removed, r.File(ctx, to, func(w io.Writer) error { return bundle.Pack(ctx, w, staging, name) })
}

// stage puts a run into the folder dir as it is given away, and returns how many credentials were removed.
func (r *Reporter) stage(ctx context.Context, f Run, dir string) (removed int, err error) {
	machine := redact.ThisMachine()
	if r.Machine != nil {
		machine = *r.Machine
	}
	redactor := machine.Redactor(kept.HasWord(r.Catalogue, f.Dir))
	if err := copyRun(ctx, redactor, f.Dir, dir); err != nil {
		return 0, err
	}
	if run.Sound(ctx, f.Dir) { // of another one the digests stay those that differ
		if err := run.Reseal(ctx, dir); err != nil {
			return 0, err
		}
	}
	if err := r.checkCopy(ctx, f.Dir, dir); err != nil {
		return 0, fmt.Errorf("%s is not given away: %w, without %s; %s", f.Name, err, cmp.Or(strings.Join(redactor.Replaced(), ", "),
			"what looks like a credential"), "bundle it where that is no word of the run, as another user or on another machine")
	}
	return redactor.Count, r.Page(ctx, filepath.Join(dir, run.ReportFile), dir)
}

// checkCopy makes sure that a copy of a run is of the same scenario and target, and is judged as the run is.
func (r *Reporter) checkCopy(ctx context.Context, dir, copied string) error {
	records := kept.Records(r.Catalogue)
	ofCopy := func(of run.Run, in string) (scenarios.Record, error) {
		if _, err := os.Stat(filepath.Join(in, run.ScenarioFolder)); err != nil { // its record is not given away
			in = dir
		}
		return records(of, in)
	}
	was, is := judged(ctx, dir, records), judged(ctx, copied, ofCopy)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	// mutant: a bundle may be another run
	if was != is {
		return fmt.Errorf("it is %s, and its copy is %s", was, is)
	}
	return nil
}

// judged is which run is in a folder and what it shows, in words.
func judged(ctx context.Context, dir string, records run.Records) string {
	of, err := run.Load(dir)
	if err != nil {
		return "no run that can be read"
	}
	about := fmt.Sprintf("a run of %q on %s", of.ID, of.Target.Ref)
	if again, err := run.Recheck(ctx, dir, records); err == nil {
		return fmt.Sprintf("%s, %s", about, again.Now.Verdict)
	}
	return about + " that cannot be judged"
}

// copyRun copies what belongs to a run, without credentials. Links and what else
// lies in the folder are left out.
func copyRun(ctx context.Context, redactor *redact.Redactor, from, to string) error {
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
		if err := copyRedacted(ctx, redactor, root, path, filepath.Join(to, path)); err != nil {
			return fmt.Errorf("copying %s: %w", path, err)
		}
	}
	return nil
}

func copyRedacted(ctx context.Context, redactor *redact.Redactor, root *os.Root, from, to string) error {
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
	return errors.Join(redactor.Copy(out, strict.WithContext(ctx, in)), out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
