package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/replay/supply"
	"nodestorm/harness/run/exit"
	"nodestorm/harness/world/kind"
	"nodestorm/scenarios"
)

// finding is one thing that doctor has looked at.
type finding struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Says string `json:"says,omitempty"` // why not, and the way out; or what was seen
}

// readiness is what of the catalogue can be replayed with what the store has.
type readiness struct {
	// Of names the group: what its records need besides Kubernetes.
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
}

// diagnosis is what doctor finds.
type diagnosis struct {
	Machine  []finding   `json:"machine"`
	Replays  []readiness `json:"replays"`
	Optional []finding   `json:"optional"`
}

func (e *env) doctor() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what can be replayed here, what is missing, and the command that gets it",
		Long: `Tell what this machine can do, what of the catalogue can be replayed with what is in the
store, and the commands that get the rest. The clock is tried for real: a small program is
built with it, which takes half a minute the first time, and waits for an hour.

Exit status: 0 what make setup brings is there and works; 1 some of it is not; 2 usage. What
more there is to have, Cluster Autoscaler and real clusters, does not count.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			catalogue, err := e.catalogue()
			if err != nil {
				return err
			}
			d := diagnosis{Machine: e.machine(c.Context())}
			if d.Replays, err = e.ready(catalogue); err != nil {
				return usage(err)
			}
			d.Optional = optional(c.Context())
			if asJSON {
				err = e.json(d)
			} else {
				err = e.tellDiagnosis(d)
			}
			if err == nil && !d.well() {
				return &exit.Error{Code: NotAsExpected}
			}
			return err
		},
	}
	e.outputFlags(c, &asJSON)
	e.catalogueFlags(c)
	return c
}

// well tells whether all that is needed is there.
func (d diagnosis) well() bool {
	return !slices.ContainsFunc(d.Machine, func(f finding) bool { return !f.OK }) &&
		// mutant: doctor counts what is optional
		!slices.ContainsFunc(d.Replays, func(r readiness) bool { return r.Needed && r.Ready < r.Replays })
}

func looked(what string, says string, err error) finding {
	if err != nil {
		return finding{What: what, Says: err.Error()}
	}
	return finding{What: what, OK: true, Says: says}
}

// machine looks at what every replay needs.
func (e *env) machine(ctx context.Context) (list []finding) {
	list = append(list, looked("Go toolchain, for building targets", "", goFound()))
	_, err := buildstore.Root()
	list = append(list, looked("checkout of nodestorm, for building its own parts of worlds", "", err))
	status := e.newStatus()
	status.Show("", "trying the clock: a program that waits for an hour", "")
	took, err := e.tryClock(ctx)
	status.Clear()
	says := fmt.Sprintf("an hour of waiting passed in %.1f s", took.Seconds())
	if took == 0 {
		says = "the kernel allows it; without Go no program was tried"
	}
	list = append(list, looked("virtual time", says, err))
	return list
}

func optional(ctx context.Context) (list []finding) {
	list = append(list, looked("virtual time for programs as somebody else built them", "", tryGuest()))
	err := kind.CheckDocker(ctx)
	list = append(list, looked("Docker, for real clusters (--cluster kind)", "", err))
	if err == nil {
		list = append(list, looked("node image of real clusters", "", kind.CheckImage(ctx, builds.Kubernetes.Version)),
			looked("inotify instances for real clusters", "", kind.CheckInotify()))
	}
	return list
}

func goFound() error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("no go in PATH; install Go 1.26 from your distribution or go.dev")
	}
	return nil
}

// groupOf says which records go together: what they need comes in one way.
func groupOf(r scenarios.Record) string {
	of := "no Cluster Autoscaler"
	if r.Autoscaler == "cluster-autoscaler" {
		of = "Cluster Autoscaler for " + r.Provider()
	}
	if r.Race {
		of += " with Go's race detector"
	}
	return of
}

// neededFor are the builds that the replay of a record on a target needs.
func neededFor(r scenarios.Record, catalogue *scenarios.Catalogue, of scenarios.Target) ([]builds.Ref, error) {
	ref, err := builds.ParseRef(of.Name)
	if err != nil {
		return nil, err
	}
	// mutant: doctor takes a build for one cloud for another's
	ref.Provider, ref.Race = r.Provider(), r.Race
	parts, err := replay.Request{Record: r, Features: catalogue.Features()}.Needs()
	return append([]builds.Ref{builds.Kubernetes, ref}, parts...), err
}

// ready tells, group by group, what of the catalogue can be replayed.
func (e *env) ready(catalogue *scenarios.Catalogue) ([]readiness, error) {
	errs := map[builds.Ref]error{} // of what the store was asked for
	lacks := func(ref builds.Ref) error {
		if _, asked := errs[ref]; !asked {
			_, errs[ref] = replay.Find(e.store, ref)
		}
		return errs[ref]
	}
	groups := map[string]*readiness{}
	missing := map[string][]builds.Ref{}
	var order []string
	for _, r := range catalogue.Records() {
		of := groupOf(r)
		g := groups[of]
		if g == nil {
			g = &readiness{Of: of, Needed: r.Autoscaler != "cluster-autoscaler", Missing: []string{}, Ways: []string{}}
			groups[of], order = g, append(order, of)
		}
		g.Records++
		for _, t := range r.Targets {
			refs, err := neededFor(r, catalogue, t)
			if err != nil {
				return nil, err
			}
			g.Replays++
			before := len(missing[of])
			whole := true
			for _, ref := range refs {
				if lacks(ref) != nil {
					whole = false
					missing[of] = append(missing[of], ref)
				}
			}
			if whole {
				missing[of] = missing[of][:before]
				g.Ready++
			}
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return strings.Compare(b, a) }) // what make setup brings first
	var list []readiness
	for _, of := range order {
		g := groups[of]
		var sources []builds.Ref
		setup := false
		slices.SortFunc(missing[of], func(a, b builds.Ref) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), semver.Compare("v"+strings.TrimPrefix(a.Version, "v"), "v"+strings.TrimPrefix(b.Version, "v")), cmp.Compare(a.Provider, b.Provider))
		})
		for _, ref := range slices.Compact(missing[of]) {
			name := ref.String()
			if ref.Provider != "" {
				name += " for " + ref.Provider
			}
			g.Missing = append(g.Missing, name)
			_, unknown := buildstore.Known(ref)
			switch {
			case !errors.As(errs[ref], new(*buildstore.NotFoundError)):
				g.Ways = append(g.Ways, errs[ref].Error())
			case unknown == nil || errors.As(unknown, new(*buildstore.NoCheckoutError)):
				setup = true
			default:
				sources = append(sources, ref)
			}
		}
		if setup {
			g.Ways = append(g.Ways, "nodestorm setup")
		}
		if len(sources) > 0 {
			if _, err := buildstore.Published(sources[0]); err == nil {
				g.Ways = append(g.Ways, "nodestorm pull "+strings.ReplaceAll(supply.Names(sources), ",", ""))
			}
			g.Ways = append(g.Ways, buildstore.BuildCommand(sources...))
		}
		list = append(list, *g)
	}
	return list, nil
}

// tellDiagnosis prints it, by what it makes possible.
func (e *env) tellDiagnosis(d diagnosis) error {
	var b strings.Builder
	tell := func(head, no string, findings []finding) {
		fmt.Fprintf(&b, "%s\n", head)
		for _, f := range findings {
			word, says := "ok", f.Says
			if !f.OK {
				word = no
			}
			if says != "" {
				says = ": " + says
			}
			fmt.Fprintf(&b, "  %-8s %s%s\n", word, f.What, says)
		}
	}
	tell("This machine", "missing", d.Machine)
	fmt.Fprintln(&b, "\nReplays")
	for _, g := range d.Replays {
		word := "ready"
		switch {
		case g.Ready == 0:
			word = "not yet"
		case g.Ready < g.Replays:
			word = "partly"
		}
		need := "need"
		if g.Records == 1 {
			need = "needs"
		}
		fmt.Fprintf(&b, "  %-8s the %s that %s %s: %d of %d replays\n", word, counted(g.Records, "record"), need, g.Of, g.Ready, g.Replays)
		if len(g.Missing) > 0 {
			fmt.Fprintf(&b, "           missing: %s\n", together(g.Missing))
		}
		for n, way := range g.Ways {
			if n+1 < len(g.Ways) && strings.HasPrefix(way, "nodestorm pull ") {
				way += ", or without a registry:"
			}
			fmt.Fprintf(&b, "           %s\n", strings.ReplaceAll(way, "\n", "\n           "))
		}
	}
	fmt.Fprintln(&b)
	tell("Not needed for any of this", "without", d.Optional)
	_, err := e.stdout.Write([]byte(b.String()))
	return err
}

// together are builds in fewer words: the versions of a program behind its name.
func together(refs []string) string {
	var text strings.Builder
	last := ""
	for _, build := range refs {
		name, version, _ := strings.Cut(build, "@")
		version, _, _ = strings.Cut(version, " for ")
		_, provider, _ := strings.Cut(build, " for ")
		switch program := strings.TrimSpace(name + " for " + provider); program {
		case last:
			fmt.Fprintf(&text, ", %s", version)
		default:
			if last = program; text.Len() > 0 {
				text.WriteString("; ")
			}
			if provider != "" {
				name += " (" + provider + ")"
			}
			fmt.Fprintf(&text, "%s %s", name, version)
		}
	}
	return text.String()
}

// clockLimit is how long, in real time, the hour of the clock's trial may take: it takes a
// fraction of a second, and the machine may be busy.
const clockLimit = time.Minute
