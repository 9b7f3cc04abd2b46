package buildstore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"nodestorm/harness/builds"
	"nodestorm/sim/oneline"
)

// NotFoundError says that the store has no such target.
type NotFoundError struct {
	Ref    builds.Ref
	Others []string // providers that it has Ref for, if Ref is for another

	removing  bool // so it need not be got
	otherwise bool // it has one with the race detector, or without, and not as asked
}

func (e *NotFoundError) Error() string {
	if like := intended(e.Ref); like != "" {
		return fmt.Sprintf("%s is not in the store; did you mean %s@%s?", e.Ref, e.Ref.Name, like)
	}
	if len(e.Others) > 0 {
		return fmt.Sprintf("%s for %s is not in the store, only for %s; get it with: %s",
			e.Ref, e.Ref.Provider, e.Providers(), e.Command())
	}
	switch {
	case e.removing:
		return fmt.Sprintf("%s is not in the store; nodestorm target list shows what is", e.Ref)
	case e.Ref.Race:
		return fmt.Sprintf("%s is not in the store with Go's race detector; get it with: %s", e.Ref, e.Command())
	case e.otherwise:
		return fmt.Sprintf("%s is in the store with Go's race detector only, which --race plays; get another with: %s", e.Ref, e.Command())
	}
	return fmt.Sprintf("%s is not in the store; get it with: %s", e.Ref, e.Command())
}

// Providers are those that the store has it for, in a line.
func (e *NotFoundError) Providers() string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(e.Others))), ", ")
}

// Command is what gets the target.
func (e *NotFoundError) Command() string { return buildCommand(e.Ref, builds.Source{}) }

// StaleError says that a target was built with another clock, or code of ours, than this
// nodestorm's, so that the two would not agree on the time.
type StaleError struct {
	Ref    builds.Ref
	Source builds.Source
	Err    error
	// Unsealed says instead that it is of before the manifest had a digest of what stands beside the program.
	Unsealed bool
}

func (e *StaleError) Error() string {
	if e.Unsealed {
		return fmt.Sprintf("%s was built before what stands beside its program had a digest; get it again, without compiling it, with: %s",
			e.Ref, e.Command())
	}
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
func (e *CorruptError) Command() string {
	return oneline.Command("nodestorm", "target", "rm", e.Ref.String())
}

// buildCommand is the command that gets a target from where it came from, as
// far as that is known.
func buildCommand(ref builds.Ref, src builds.Source) string {
	race := ref.Race
	ref.Race = false
	words := append([]string{"nodestorm"}, wayTo(ref, src)...)
	if race {
		words = append(words, "--race")
	}
	return oneline.Command(words...)
}

func wayTo(ref builds.Ref, src builds.Source) (words []string) {
	_, err := Known(ref)
	build := []string{"target", "build", ref.String()}
	switch {
	case src.Published:
		return []string{"target", "get", ref.String()}
	case src.Kind != builds.FromImage && src.Image != "":
		words = []string{"target", "get", ref.String(), "--from", src.Image}
		if ref.Provider != "" {
			words = append(words, "--provider", ref.Provider)
		}
		return words
	case src.Kind == builds.FromBinary:
		words = []string{"target", "add", ref.String(), src.File}
		if src.Dir != "" {
			words = append(words, "--source", src.Dir)
		}
		return words
	case src.Kind == builds.FromImage:
		return []string{"target", "add", ref.String(), "--image", src.Image, "--path", src.File}
	case src.Kind == builds.FromFolder:
		words = append(build, "--source", src.Dir, "--package", src.Package)
		if src.Ref != "" {
			words = append(words, "--ref", src.Ref)
		}
		if len(src.Tags) > 0 {
			words = append(words, "--tags", strings.Join(src.Tags, ","))
		}
		return words
	case err != nil && !errors.As(err, new(*NoCheckoutError)) && ref.Name != builds.Kubernetes.Name:
		return append(build, sourceFlags(ref)...)
	}
	if ref.Provider == builds.Instances {
		return append(build, "--provider", ref.Provider)
	}
	return build
}

// withHint adds the way out to errors whose cause is a full disk.
func withHint(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; make room, or put the store on another disk with %s", err, EnvCache)
	}
	return err
}
