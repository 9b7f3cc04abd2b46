// Package matrix shows many runs at once: scenarios × targets for a release, and
// the track record, what was last verified of each documented failure.
package matrix

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Scenario is a documented failure, as the catalogue has it.
type Scenario struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	System string `json:"system,omitempty"`
	// Provider is whose cloud the autoscaler is linked with, empty where none is.
	Provider string `json:"provider,omitempty"`
	Issue    string `json:"issue,omitempty"`
	Fix      string `json:"fix,omitempty"`
	Affected string `json:"affected,omitempty"` // range of releases
	Fixed    string `json:"fixed,omitempty"`
	// Control says that no release shows it.
	Control bool `json:"control,omitempty"`
	// Beside is a page of an affected and a fixed run, relative to the matrix;
	// empty if there is none.
	Beside string `json:"beside,omitempty"`
	// Targets are those that the catalogue has an expectation of.
	Targets []Promise `json:"targets,omitempty"`
}

// Promise is what the catalogue expects of a target.
type Promise struct {
	Target   string `json:"target"`
	Expected string `json:"expected"`
}

// Cell is the newest run of a scenario on a target.
type Cell struct {
	Scenario string `json:"scenario"`
	Target   string `json:"target"`
	Expected string `json:"expected,omitempty"`
	// Verdict is healthy, reproduced, failed or inconclusive; empty of a run that was cut
	// off. Outcome is how it compares with Expected.
	Verdict     string    `json:"verdict"`
	Outcome     string    `json:"outcome,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	WallSeconds float64   `json:"wallSeconds"`
	Started     time.Time `json:"started"`
	Kubernetes  string    `json:"kubernetes,omitempty"`
	Commit      string    `json:"commit,omitempty"` // nodestorm's own
	// Digest is that of the run's run.json, which has those of the rest. Runs had none
	// before format 2.
	Digest string `json:"digest,omitempty"`
	// Departures say in which ways the run was something else than its names say.
	// One that has any proves nothing of a release.
	Departures []string `json:"departures,omitempty"`
	// Run is where the run is, relative to the matrix; empty if that is not known.
	Run string `json:"run,omitempty"`
}

// Decided reports whether the run says anything of its target.
func (c *Cell) Decided() bool { return c.Verdict != "" && c.Verdict != "inconclusive" }

// NamedSo is what a program is called that has the name of a release, and is no build of it: a target, and a column, of
// its own.
func NamedSo(target, sha256 string) string {
	return fmt.Sprintf("%s, own program %.12s", target, sha256)
}

const onKubernetes = " on Kubernetes "

// OnKubernetes is what a target is called in runs on another Kubernetes than nodestorm's own: it
// is a target, and a column, of its own.
func OnKubernetes(target, version string) string {
	// mutant: a run on another Kubernetes takes the place of the one on nodestorm's own
	return target + onKubernetes + version
}

// otherKubernetes are the other versions of Kubernetes on which a scenario and a target have a run.
func (m *Matrix) otherKubernetes(scenario, target string) (cells []Cell) {
	for _, c := range m.Cells {
		if c.Scenario == scenario && strings.HasPrefix(c.Target, target+onKubernetes) {
			cells = append(cells, c)
		}
	}
	return cells
}

// Skip is a scenario that was to run on a target, and did not.
type Skip struct {
	Scenario string `json:"scenario"`
	Target   string `json:"target"`
	Reason   string `json:"reason"`
}

// Matrix is scenarios × targets.
type Matrix struct {
	Made      time.Time  `json:"made"`
	Scenarios []Scenario `json:"scenarios"`
	Targets   []string   `json:"targets"`
	Cells     []Cell     `json:"cells"`
	Skipped   []Skip     `json:"skipped,omitempty"`
	// Changes say what differs from the last matrix, if one was given.
	Changes []string `json:"changes,omitempty"`
}

// New makes a matrix of runs, of which the newest of each scenario and target
// counts. A scenario that only runs know has no title.
func New(made time.Time, scenarios []Scenario, runs []Cell) *Matrix {
	newest := map[[2]string]Cell{}
	for _, c := range runs {
		key := [2]string{c.Scenario, c.Target}
		// mutant: the oldest run of a matrix counts
		if old, there := newest[key]; !there || c.Started.After(old.Started) {
			newest[key] = c
		}
	}
	m := &Matrix{Made: made, Scenarios: slices.Clone(scenarios)}
	for _, c := range newest {
		m.Cells = append(m.Cells, c)
		if !slices.Contains(m.Targets, c.Target) {
			m.Targets = append(m.Targets, c.Target)
		}
		if !slices.ContainsFunc(m.Scenarios, func(s Scenario) bool { return s.ID == c.Scenario }) {
			m.Scenarios = append(m.Scenarios, Scenario{ID: c.Scenario})
		}
	}
	slices.Sort(m.Targets)
	slices.SortFunc(m.Scenarios, func(a, b Scenario) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(m.Cells, func(a, b Cell) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Target, b.Target))
	})
	return m
}

// Filter says which cells to keep; what is empty keeps all.
type Filter struct {
	System   string // of the failure: hetzner, clusterapi, karpenter
	Provider string // whose cloud the autoscaler is linked with
	Target   string // a text that the target's name has: a program or a release
	Status   string // a verdict, or how it compares with what is expected
}

func (f Filter) keeps(s Scenario, c Cell) bool {
	return (f.System == "" || f.System == s.System) && (f.Provider == "" || f.Provider == s.Provider) &&
		strings.Contains(c.Target, f.Target) && (f.Status == "" || f.Status == c.Verdict || f.Status == c.Outcome)
}

// Filter keeps the cells that f keeps, and the scenarios and targets that have any.
func (m *Matrix) Filter(f Filter) {
	m.Cells = slices.DeleteFunc(m.Cells, func(c Cell) bool { return !f.keeps(m.scenario(c.Scenario), c) })
	m.Scenarios = slices.DeleteFunc(m.Scenarios, func(s Scenario) bool {
		return !slices.ContainsFunc(m.Cells, func(c Cell) bool { return c.Scenario == s.ID })
	})
	m.Targets = slices.DeleteFunc(m.Targets, func(t string) bool {
		return !slices.ContainsFunc(m.Cells, func(c Cell) bool { return c.Target == t })
	})
}

// Intersect is the part of a matrix that another has cells of as well, for MarkChanges: a matrix
// of a few runs says nothing of all others.
func (m *Matrix) Intersect(other *Matrix) *Matrix {
	part := *m
	part.Cells = slices.DeleteFunc(slices.Clone(m.Cells), func(c Cell) bool { return other.At(c.Scenario, c.Target) == nil })
	return &part
}

func (m *Matrix) scenario(id string) Scenario {
	i := slices.IndexFunc(m.Scenarios, func(s Scenario) bool { return s.ID == id })
	if i < 0 {
		return Scenario{ID: id}
	}
	return m.Scenarios[i]
}

// At is the cell of a scenario and a target, nil if there was no such run.
func (m *Matrix) At(scenario, target string) *Cell {
	i := slices.IndexFunc(m.Cells, func(c Cell) bool { return c.Scenario == scenario && c.Target == target })
	if i < 0 {
		return nil
	}
	return &m.Cells[i]
}

// Read reads a matrix that JSON has written.
func Read(r io.Reader) (*Matrix, error) {
	var m Matrix
	if err := json.NewDecoder(r).Decode(&m); err != nil {
		return nil, fmt.Errorf("no matrix of nodestorm matrix -o json: %w", err)
	}
	if m.Made.IsZero() {
		return nil, fmt.Errorf("no matrix of nodestorm matrix -o json: made is missing")
	}
	return &m, nil
}

// MarkChanges notes what has changed since an older matrix.
func (m *Matrix) MarkChanges(old *Matrix) {
	m.Changes = nil
	for _, c := range m.Cells {
		before := old.At(c.Scenario, c.Target)
		switch {
		case before == nil:
			m.Changes = append(m.Changes, fmt.Sprintf("%s on %s is new: %s", c.Scenario, c.Target, word(c.Verdict)))
		case before.Verdict != c.Verdict:
			m.Changes = append(m.Changes, fmt.Sprintf("%s on %s was %s and is %s", c.Scenario, c.Target, word(before.Verdict), word(c.Verdict)))
		case before.Expected != c.Expected:
			m.Changes = append(m.Changes,
				fmt.Sprintf("%s on %s was expected %s and is expected %s", c.Scenario, c.Target, word(before.Expected), word(c.Expected)))
		}
	}
	for _, c := range old.Cells {
		if m.At(c.Scenario, c.Target) == nil {
			m.Changes = append(m.Changes, fmt.Sprintf("%s on %s is gone; it was %s", c.Scenario, c.Target, word(c.Verdict)))
		}
	}
}

func word(text string) string { return cmp.Or(text, "without a verdict") }
