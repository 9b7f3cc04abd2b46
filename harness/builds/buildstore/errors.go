package buildstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"nodestorm/harness/builds"
)

// NotFoundError says that the store has no such target.
type NotFoundError struct {
	Ref    builds.Ref
	Others []string // providers that it has Ref for, if Ref is for another

	otherwise bool // it has one with the race detector, or without, and not as asked
}

func (e *NotFoundError) Error() string {
	if like := meant(e.Ref); like != "" {
		return fmt.Sprintf("%s is not in the store; did you mean %s@%s?", e.Ref, e.Ref.Name, like)
	}
	if len(e.Others) > 0 {
		return fmt.Sprintf("%s for %s is not in the store, only for %s; get it with: %s",
			e.Ref, e.Ref.Provider, strings.Join(slices.Compact(slices.Sorted(slices.Values(e.Others))), ", "), e.Command())
	}
	switch {
	case e.Ref.Race:
		return fmt.Sprintf("%s is not in the store with Go's race detector; get it with: %s", e.Ref, e.Command())
	case e.otherwise:
		return fmt.Sprintf("%s is in the store with Go's race detector only, which --race plays; get another with: %s", e.Ref, e.Command())
	}
	return fmt.Sprintf("%s is not in the store; get it with: %s", e.Ref, e.Command())
}

// Command is what gets the target.
func (e *NotFoundError) Command() string { return buildCommand(e.Ref, builds.Source{}) }

// StaleError says that a target was built with another clock, or code of ours, than this
// nodestorm's, so that the two would not agree on the time.
type StaleError struct {
	Ref    builds.Ref
	Source builds.Source
	Err    error
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s was built with another %v; build it again with: %s", e.Ref, e.Err, e.Command())
}

func (e *StaleError) Unwrap() error { return e.Err }

// Command is what builds the target again.
func (e *StaleError) Command() string { return buildCommand(e.Ref, e.Source) }

// CorruptError says that an entry is not what its manifest claims.
type CorruptError struct {
	Ref    builds.Ref
	Source builds.Source // zero if the manifest can't be read
	Dir    string
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is damaged in the store (%v); remove it with: %s, and get it again with: %s",
		e.Ref, e.Err, e.Command(), buildCommand(e.Ref, e.Source))
}

func (e *CorruptError) Unwrap() error { return e.Err }

// Command is what removes the entry.
func (e *CorruptError) Command() string { return "nodestorm target rm " + e.Ref.String() }

// buildCommand is the command that gets a target from where it came from, as
// far as that is known.
func buildCommand(ref builds.Ref, src builds.Source) string {
	if ref.Race {
		ref.Race = false
		return buildCommand(ref, src) + " --race"
	}
	_, err := Known(ref)
	switch {
	case src.Published:
		return fmt.Sprintf("nodestorm pull %s", ref)
	case src.Kind != builds.FromImage && src.Image != "":
		cmd := fmt.Sprintf("nodestorm pull %s --from %s", ref, src.Image)
		if ref.Provider != "" {
			cmd += " --provider " + ref.Provider
		}
		return cmd
	case src.Kind == builds.FromBinary:
		return fmt.Sprintf("nodestorm target add %s %s", ref, src.File)
	case src.Kind == builds.FromImage:
		return fmt.Sprintf("nodestorm target add %s --image %s --path %s", ref, src.Image, src.File)
	case src.Kind == builds.FromFolder:
		cmd := fmt.Sprintf("nodestorm target build %s --source %s --package %s", ref, src.Dir, src.Package)
		if src.Ref != "" {
			cmd += " --ref " + src.Ref
		}
		if len(src.Tags) > 0 {
			cmd += " --tags " + strings.Join(src.Tags, ",")
		}
		return cmd
	case err != nil && ref.Name != builds.Kubernetes.Name:
		return fmt.Sprintf("nodestorm target build %s", ref) + sourceFlags(ref)
	}
	if ref.Provider == builds.Instances {
		return fmt.Sprintf("nodestorm target build %s --provider %s", ref, ref.Provider)
	}
	return fmt.Sprintf("nodestorm target build %s", ref)
}

// withHint adds the way out to errors whose cause is a full disk.
func withHint(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; make room, or put the store on another disk with %s", err, EnvCache)
	}
	return err
}
