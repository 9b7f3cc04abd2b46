package doctor

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/program"
	"nodestorm/harness/replay"
	"nodestorm/scenarios"
	"nodestorm/sim/oneline"
)

// Readiness is what of the catalogue can be replayed with what the store has.
type Readiness struct {
	// Of names the group: what its records need beside Kubernetes.
	Of      string `json:"of"`
	Records int    `json:"records"`
	Replays int    `json:"replays"` // on all releases of all of its records
	// Ready of the replays can be played now.
	Ready   int      `json:"ready"`
	Missing []string `json:"missing"` // builds, with their providers
	// Ways are the commands that get what is missing.
	Ways []string `json:"ways"`
	// Needed groups are those that make setup can bring in full.
	Needed bool `json:"needed"`

	lacks []builds.Ref
}

// asked is what a store has said of builds.
type asked struct {
	store *buildstore.Store
	errs  map[builds.Ref]error
}

func (a asked) lacks(ref builds.Ref) error {
	if _, known := a.errs[ref]; !known {
		_, a.errs[ref] = replay.Find(a.store, ref)
	}
	return a.errs[ref]
}

// Ready says, group by group, what of the catalogue can be replayed.
func Ready(store *buildstore.Store, catalogue *scenarios.Catalogue) (list []Readiness, err error) {
	a := asked{store, map[builds.Ref]error{}}
	groups := map[string]*Readiness{}
	var order []string
	for _, r := range catalogue.Records() {
		needs, err := replay.NeededFor(r, catalogue)
		if err != nil {
			return nil, err
		}
		about := program.Named(r.Autoscaler)
		of, all := groupOf(r), slices.Concat(needs...)
		// mutant: what is built apart counts among what setup brings
		apart := slices.IndexFunc(all, replay.Apart)
		if apart >= 0 && !about.Apart {
			of = all[apart].String()
		}
		g := groups[of]
		if g == nil {
			g = &Readiness{Of: of, Needed: !about.PerCloud && apart < 0, Missing: []string{}, Ways: []string{}}
			groups[of], order = g, append(order, of)
		}
		g.Records++
		for _, refs := range needs {
			lacking := slices.DeleteFunc(refs, func(ref builds.Ref) bool { return a.lacks(ref) == nil })
			g.Replays++
			if len(lacking) == 0 {
				g.Ready++
			}
			g.lacks = append(g.lacks, lacking...)
		}
	}
	slices.SortStableFunc(order, func(x, y string) int {
		if setup := groups[x].Needed; setup != groups[y].Needed { // make setup brings them first
			if setup {
				return -1
			}
			return 1
		}
		return strings.Compare(y, x)
	})
	for _, of := range order {
		groups[of].findWays(a)
		list = append(list, *groups[of])
	}
	return list, nil
}

// findWays names what is missing, and the commands that get it.
func (g *Readiness) findWays(a asked) {
	var sources []builds.Ref
	setup := false
	slices.SortFunc(g.lacks, func(x, y builds.Ref) int {
		version := func(ref builds.Ref) string { return "v" + strings.TrimPrefix(ref.Version, "v") }
		return cmp.Or(cmp.Compare(x.Name, y.Name), semver.Compare(version(x), version(y)), cmp.Compare(x.Provider, y.Provider))
	})
	for _, ref := range slices.Compact(g.lacks) {
		name := ref.String()
		if ref.Provider != "" {
			name += " for " + ref.Provider
		}
		g.Missing = append(g.Missing, name)
		_, unknown := buildstore.Known(ref)
		switch {
		case replay.Apart(ref) && errors.As(a.errs[ref], new(*buildstore.NotFoundError)):
			g.Ways = append(g.Ways, oneline.Command("nodestorm", "target", "build", ref.String()))
		case !errors.As(a.errs[ref], new(*buildstore.NotFoundError)):
			g.Ways = append(g.Ways, a.errs[ref].Error())
		case unknown == nil || errors.As(unknown, new(*buildstore.NoCheckoutError)):
			setup = true
		default:
			sources = append(sources, ref)
		}
	}
	if setup {
		g.Ways = append(g.Ways, "nodestorm target get --all --build")
	}
	if len(sources) > 0 {
		if _, err := buildstore.Published(sources[0]); err == nil {
			words := []string{"nodestorm", "target", "get"}
			for _, ref := range sources {
				words = append(words, ref.String())
			}
			g.Ways = append(g.Ways, oneline.Command(words...))
		}
		g.Ways = append(g.Ways, buildstore.BuildCommand(sources...))
	}
}

// groupOf says which records go together: what they need comes in one way.
func groupOf(r scenarios.Record) string {
	of := "no Cluster Autoscaler"
	switch about := program.Named(r.Autoscaler); {
	case about.PerCloud:
		of = "Cluster Autoscaler for " + r.Provider()
	case about.Apart:
		of = about.Name
	}
	if r.Race {
		of += " with Go's race detector"
	}
	return of
}
