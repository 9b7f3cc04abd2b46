package stored

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"nodestorm/harness/run"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/summary"
	"nodestorm/reports/formats"
	"nodestorm/reports/page"
	"nodestorm/reports/redact"
	"nodestorm/reports/story"
	"nodestorm/scenarios"
)

// Reporter writes what is known of runs.
type Reporter struct {
	Catalogue *scenarios.Catalogue
	Hourly    float64 // what a machine costs whose cloud has no price, in euros; 0: nothing
	Pace      bool    // whether text says how virtual time passed
	Stdout    io.Writer
	Say       func(format string, args ...any) // what could not be read
	Machine   *redact.Machine                  // whose names and secrets bundles do not have; nil: this one
}

// ForEach does something for every run; those that it cannot be done for are named, and make the exit
// status.
func (r *Reporter) ForEach(ctx context.Context, found []Run, do func(Run) error) error {
	failed := false
	for _, f := range found {
		err := do(f)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r.Say("%s", f.ErrorText(exit.WithRoom(err)))
			failed = true
		}
	}
	if failed {
		return &exit.Error{Code: exit.Inconclusive}
	}
	return nil
}

// reportMemory is from where on memory is collected more eagerly while a report
// is made: one of a million events must do with 1 GiB.
const reportMemory = 800 << 20

// Story is a run as far as it can be read; what cannot is said.
func (r *Reporter) Story(ctx context.Context, dir string) (*story.Story, error) {
	s, err := summary.Run(ctx, dir, r.Catalogue, r.Hourly)
	if err == nil {
		for _, problem := range s.Run.Problems {
			r.Say("%s: %s", dir, problem)
		}
	}
	return s, err
}

// Page writes the page of one run, or of two side by side.
func (r *Reporter) Page(ctx context.Context, path string, dirs ...string) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(reportMemory))
	var runs []page.Run
	for _, dir := range dirs {
		s, err := r.Story(ctx, dir)
		if err != nil {
			return err
		}
		logs, done := page.Logs(ctx, filepath.Join(dir, run.LogFolder), kept.HasWord(r.Catalogue, dir))
		defer done()
		runs = append(runs, page.Run{Story: s, Logs: logs})
	}
	return r.File(ctx, path, func(w io.Writer) error { return page.Write(w, runs...) })
}

// contextWriter writes as long as its context lasts.
type contextWriter struct {
	ctx context.Context
	to  io.Writer
}

// Write implements io.Writer.
func (w contextWriter) Write(p []byte) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}

// File writes a file whole or not at all, or standard output for "-", as long as ctx lasts.
func (r *Reporter) File(ctx context.Context, path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(contextWriter{ctx, r.Stdout})
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("writing a report: %w; name a file that can be written with --out-file", err)
	}
	buffered := bufio.NewWriterSize(temporary, 1<<20)
	err = write(contextWriter{ctx, buffered})
	err = errors.Join(err, buffered.Flush(), temporary.Chmod(0o644), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// Issue writes the text in Markdown for an upstream issue about the run, below a head.
func (r *Reporter) Issue(ctx context.Context, path, head, dir string) error {
	s, err := summary.Run(ctx, dir, r.Catalogue, 0)
	if err != nil {
		return err
	}
	return r.File(ctx, path, func(w io.Writer) error {
		if _, err := io.WriteString(w, head); err != nil {
			return err
		}
		return formats.Write(w, "issue", []*story.Story{s})
	})
}
