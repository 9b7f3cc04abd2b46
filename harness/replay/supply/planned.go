package supply

import (
	"context"

	"nodestorm/harness/builds"
)

// How a build that is missing would be got.
const (
	Download = "download"
	Build    = "build"
	Cannot   = "cannot" // it is skipped, or refused
)

// Planned is a build that is missing.
type Planned struct {
	Target string `json:"target"`
	// Cloud is whose cloud it is for, empty where it is for none.
	Cloud string `json:"cloud,omitempty"`
	How   string `json:"how"`
	// Bytes is what is downloaded; Seconds how long the last build of such a target took here, 0 if that is not known.
	Bytes   int64   `json:"bytes,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Why     string  `json:"why,omitempty"` // it cannot be had, and the way out
}

// Is reports whether it is the build of a target.
func (p Planned) Is(ref builds.Ref) bool { return p.Target == ref.String() && p.Cloud == ref.Provider }

// Planned is how those of the targets would be got that are missing. It asks registries, and gets nothing.
func (s *Supplier) Planned(ctx context.Context, refs ...builds.Ref) (list []Planned, err error) {
	_, missing, err := s.Look(func(builds.Target) error { return nil }, refs...)
	if err != nil {
		return nil, err
	}
	todo, err := s.plan(ctx, missing, func(ref builds.Ref, err error) error {
		list = append(list, Planned{Target: ref.String(), Cloud: ref.Provider, How: Cannot, Why: err.Error()})
		return nil
	})
	for _, next := range todo {
		p := Planned{Target: next.ref.String(), Cloud: next.ref.Provider, How: Build, Seconds: s.Store.Expected(next.ref).Seconds()}
		if next.offer != nil {
			p.How, p.Bytes, p.Seconds = Download, next.offer.Size, 0
		}
		list = append(list, p)
	}
	return list, err
}
