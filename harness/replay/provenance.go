package replay

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	messages "github.com/cucumber/messages/go/v21"

	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/run"
	"nodestorm/scenarios"
)

// Provenance is what the request is going to run, as far as the manifests of its
// builds do not say it.
func (r Request) Provenance(ctx context.Context) (run.Provenance, error) {
	p := run.Provenance{SHA256: run.Program(), Stale: r.staleOf()}
	around, _ := buildstore.Root() // there need not be one
	p.Nodestorm, p.Features = Self(ctx, around, r.Checkout)
	if r.Own != nil {
		text, err := fs.ReadFile(r.Features, r.Record.Feature)
		if err != nil {
			return p, fmt.Errorf("reading the feature: %w", err)
		}
		p.Feature = &run.Input{Name: r.Record.Feature, SHA256: fmt.Sprintf("%x", sha256.Sum256(text))}
		if p.Beside, err = r.filesBeside(); err != nil {
			return p, err
		}
	}
	if r.Cluster == Kind {
		p.Cluster = run.Kind
	}
	if r.Machines == Containers {
		p.Machines = run.Containers
	}
	var err error
	if p.ControlPlane, err = r.ControlPlane.noted(); err != nil {
		return p, fmt.Errorf("reading the control plane of --kubernetes: %w", err)
	}
	if r.Manifest != "" {
		file, err := run.Digest(r.Manifest)
		if err != nil {
			return p, fmt.Errorf("reading the manifest: %w", err)
		}
		p.Manifest = &file
	}
	if r.Order != "" {
		if p.Order, err = r.orderFiles(); err != nil {
			return p, fmt.Errorf("reading the order: %w", err)
		}
	}
	for _, t := range r.With {
		p.With = append(p.With, t.Manifest)
	}
	parts, err := r.checkReleases()
	for _, t := range parts {
		p.Parts = append(p.Parts, t.Manifest)
	}
	return p, err
}

// filesBeside are the files that the steps name, each once.
func (r Request) filesBeside() (files []run.Input, err error) {
	err = r.eachScenario(func(pickle []*messages.PickleStep) error {
		for _, step := range pickle {
			name, is := scenarios.FileOf(step.Text)
			if !is || slices.ContainsFunc(files, func(have run.Input) bool { return have.Name == name }) {
				continue
			}
			text, err := fs.ReadFile(featureFolder(r.Features, r.Record), name)
			if err != nil {
				return fmt.Errorf("reading the file %q beside the feature: %w", name, err)
			}
			files = append(files, run.Input{Name: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(text))})
		}
		return nil
	})
	return files, err
}

// orderFiles are an order's file and those that it applies, each once. They are those that the target is.
func (r Request) orderFiles() (files []run.Input, err error) {
	now, err := OwnOrder(r.Target.Ref, r.Order)
	if err != nil {
		return nil, err
	}
	// mutant: an order may be changed while it is replayed
	if now.Digests() != r.Target.Digests() {
		return nil, fmt.Errorf("%s, or what it applies, has changed since the command began; give it again", filepath.Base(r.Order))
	}
	text, applied, err := r.program().Orders.Load(r.Order)
	if err != nil {
		return nil, err
	}
	note := func(name string, text []byte) {
		files = append(files, run.Input{Name: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(text))})
	}
	note(filepath.Base(r.Order), text)
	for _, name := range slices.Sorted(maps.Keys(applied)) {
		note(name, applied[name])
	}
	return files, nil
}
