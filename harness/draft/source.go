package draft

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"nodestorm/harness/draft/lines"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Kind is what a source is said to be.
type Kind string

// The kinds of sources, by the flags that name them.
const (
	AuditLog Kind = "audit-log"
	Events   Kind = "events"
	Log      Kind = "log"
	Dump     Kind = "dump"
)

// Source is a file or, for a dump, a folder. "-" is standard input.
type Source struct {
	Kind Kind
	Path string
	// Text is what it has, of what is no file. Path is then what it is called.
	Text string
}

// mostFiles is how many files of a folder are read at most.
const mostFiles = 20_000

// Read takes all sources into one Cluster. An error has a line for each source that could
// not be read; progress receives what is being read, and may be called often.
func Read(ctx context.Context, sources []Source, progress func(what string)) (*Cluster, error) {
	c := newCluster()
	var errs []error
	for _, s := range sources {
		c.readAny = 0
		r := reader{ctx: ctx, c: c, progress: progress}
		if err := r.source(s); err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", s.Kind, err))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.noteUnused("events", "event", c.unused)
	return c, errors.Join(errs...)
}

// reader reads one source.
type reader struct {
	ctx      context.Context
	c        *Cluster
	progress func(what string)
}

func (r reader) source(s Source) error {
	if s.Kind == Dump && s.Path != "-" && s.Text == "" {
		if info, err := os.Stat(s.Path); err == nil && info.IsDir() {
			return r.folder(s.Path)
		}
	}
	open := func() (*lines.File, error) { return lines.Open(r.ctx, s.Path, r.progress) }
	if s.Text != "" {
		open = func() (*lines.File, error) { return lines.FromText(r.ctx, s.Path, s.Text) }
	}
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	switch s.Kind {
	case AuditLog:
		err = r.auditLog(in)
	case Events:
		err = r.events(in)
	case Log:
		err = r.log(in, "")
	default:
		err = r.dumpFile(in)
	}
	if err == nil {
		r.c.sources = append(r.c.sources, fmt.Sprintf("%s (%s)", in.Base(), strings.ReplaceAll(string(s.Kind), "-", " ")))
	}
	return err
}

// folder reads what there is in a folder: a `kubectl cluster-info dump`, a must-gather, or
// one that a person has put together.
func (r reader) folder(dir string) error {
	var errs []error
	files, took := 0, 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%w; make it readable (chmod -R u+rX)", err))
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil // links lead out
		}
		if files++; files > mostFiles {
			return fmt.Errorf("%s has more than %d files; name the folder of one cluster", dir, mostFiles)
		}
		before := r.c.readAny
		if err := r.file(path, filepath.ToSlash(strings.TrimPrefix(path, dir))); err != nil {
			errs = append(errs, err)
		}
		if r.c.readAny > before {
			took++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(errs) > 0 && took == 0 {
		return errs[0]
	}
	for _, err := range errs[:min(3, len(errs))] {
		r.c.addNote("left out: %v", strings.ReplaceAll(err.Error(), dir, filepath.Base(dir)))
	}
	if took == 0 {
		return fmt.Errorf("%s: none of its %d files has nodes, pods, events or an autoscaler's log; want what `kubectl cluster-info dump "+
			"--all-namespaces --output-directory DIR` or `oc adm must-gather` writes", dir, files)
	}
	r.c.sources = append(r.c.sources, fmt.Sprintf("%s (dump, %d of %d files)", filepath.Base(filepath.Clean(dir)), took, files))
	return nil
}

// named are the files of a dump that have objects of kinds that matter. A must-gather has
// thousands of others, secrets among them.
var named = regexp.MustCompile(`(?i)(^|/)(nodes?|pods?|events?|nodepools?|nodeclaims?|deployments?|daemonsets?|machinedeployments?|` +
	`machinepools?|machinesets?|machine\.openshift\.io/machines|priorityclasses|configmaps?|cluster-autoscaler-status)[^/]*(/|\.)`)

func (r reader) file(path, under string) error {
	packed := strings.TrimSuffix(under, ".gz")
	program := ""
	switch {
	case strings.Contains(under, "secret"):
		return nil
	case strings.Contains(under, "karpenter"):
		program = Karpenter
	case strings.Contains(under, "autoscaler"):
		program = ClusterAutoscaler
	}
	open := func(read func(*lines.File) error) error {
		if info, err := os.Stat(path); err == nil && info.Size() == 0 {
			return nil
		}
		in, err := lines.Open(r.ctx, path, r.progress)
		if err != nil {
			return err
		}
		defer in.Close()
		return read(in)
	}
	switch ext := filepath.Ext(packed); {
	case strings.Contains(under, "audit") && (ext == ".log" || ext == ".json" || ext == ".ndjson"):
		return open(r.auditLog)
	case ext == ".json" && (named.MatchString(under) || program != ""):
		return open(r.json)
	case (ext == ".yaml" || ext == ".yml") && (named.MatchString(under) || program != ""):
		return open(r.yaml)
	case (ext == ".log" || ext == ".txt") && program != "":
		return open(func(in *lines.File) error { _ = r.log(in, program); return r.ctx.Err() })
	case (ext == ".txt" || ext == ".log") && strings.Contains(strings.ToLower(filepath.Base(packed)), "event"):
		return open(r.events)
	}
	return nil
}
