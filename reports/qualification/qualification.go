// Package qualification says whether a release is fit to roll out: what its runs show, beside those of a release before it.
// It plays nothing.
package qualification

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"nodestorm/reports/comparison"
	"nodestorm/reports/interval"
	"nodestorm/reports/matrix"
	"nodestorm/reports/wording"
	"nodestorm/sim/strict"
)

// Answer is whether a release is fit.
type Answer string

// Answers.
const (
	Fit       Answer = "fit"
	NotFit    Answer = "not fit"
	CannotSay Answer = "cannot say"
)

// Kind is what became of a failure between the two releases.
type Kind string

// Kinds, those first that speak against the release.
const (
	New       Kind = "new"       // it shows, and was not seen before
	NotFixed  Kind = "not fixed" // it shows, and its record says that this release has the fix
	Undecided Kind = "undecided" // no run of the release could decide
	Earlier   Kind = "earlier"   // it shows, was not seen before, and came with a release between the two, by its record
	Stays     Kind = "stays"     // it shows, as it did before or as its record says
	Fixed     Kind = "fixed"     // it did show before
	Healthy   Kind = "healthy"   // it shows on neither
)

var kinds = []Kind{New, NotFixed, Undecided, Earlier, Stays, Fixed, Healthy}

// Count is what the runs of a failure on a release came to.
type Count struct {
	// Shown are runs that reproduced the failure or failed otherwise, of Runs that could decide.
	Shown int `json:"shown"`
	// Otherwise are those of Shown that failed in another way than documented.
	Otherwise    int `json:"otherwise,omitempty"`
	Runs         int `json:"runs"`
	Inconclusive int `json:"inconclusive"`
	// Low and High are the shares that Shown of Runs are compatible with, at 95 %: see interval.Wilson.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func (c Count) String() string {
	switch {
	case c.Runs == 0 && c.Inconclusive == 0:
		return "not played"
	case c.Runs == 0:
		return fmt.Sprintf("%d inconclusive", c.Inconclusive)
	}
	return fmt.Sprintf("%d of %d (%.0f to %.0f %%)", c.Shown, c.Runs, 100*c.Low, 100*c.High)
}

// Finding is a failure on both releases.
type Finding struct {
	Scenario string `json:"scenario"`
	// Kubernetes is the release that it was played on; empty where there is one only.
	Kubernetes string `json:"kubernetes,omitempty"`
	Title      string `json:"title,omitempty"`
	Issue      string `json:"issue,omitempty"`
	Kind       Kind   `json:"kind"`
	On         Count  `json:"on"`     // the release in question
	Before     Count  `json:"before"` // the one before it
	// Reason is the newest run's that shows the failure, or that could not decide, or why there is none.
	Reason string `json:"reason,omitempty"`
	// Run is where that run is, relative to the report; empty if that is not known.
	Run string `json:"run,omitempty"`
}

// Qualification is the answer for a release.
type Qualification struct {
	Made   time.Time `json:"made"`
	Target string    `json:"target"`
	Since  string    `json:"since,omitempty"` // the release before; empty: compared with none
	Answer Answer    `json:"answer"`
	// Findings are all failures, in the order of their kinds.
	Findings []Finding `json:"findings"`
	// Workloads are how the release does on workloads beside the one before it. They say what it costs, and not whether it is fit.
	Workloads []Workload `json:"workloads,omitempty"`
	// Kubernetes are the releases that all was played on.
	Kubernetes []string `json:"kubernetes,omitempty"`
	// Searches are what schedules that were drawn have shown.
	Searches []Search `json:"searches,omitempty"`
}

// Workload is a comparison of both releases on a workload.
type Workload struct {
	Name string           `json:"name"`
	Rows []comparison.Row `json:"rows"`
}

// mostComparison is the most bytes of a comparison.
const mostComparison = 16 << 20

// ReadWorkload reads a comparison of both releases, as nodestorm compare leaves it.
func ReadWorkload(file, since, target string) (w Workload, err error) {
	text, err := strict.ReadFile(file, mostComparison)
	if err != nil {
		return w, strict.WithHint(err, "name a comparison.json that nodestorm compare has left")
	}
	var c comparison.Comparison
	if err := json.Unmarshal(text, &c); err != nil {
		return w, fmt.Errorf("%s: it is no comparison: %w", file, err)
	}
	if w, err = WorkloadOf(c, since, target); err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return w, err
}

// WorkloadOf is that of a comparison of variants, of which the first has to be the release before, as it is, and another the
// release itself.
func WorkloadOf(c comparison.Comparison, since, target string) (Workload, error) {
	rows, has := c.Between(since, target)
	if !has {
		var names []string
		for _, v := range c.Variants {
			names = append(names, v.Name)
		}
		return Workload{}, fmt.Errorf("it compares %s: want %s, and with it %s", wording.Clean(strings.Join(names, " with ")), since, target)
	}
	return Workload{Name: c.Workload, Rows: rows}, nil
}

// Certain are the rows whose difference is certain.
func (w Workload) Certain() (rows []comparison.Row) {
	for _, r := range w.Rows {
		if r.Certain() {
			rows = append(rows, r)
		}
	}
	return rows
}

// Sum says in how many of the measures that both have the difference is certain.
func (w Workload) Sum() string {
	known := 0
	for _, r := range w.Rows {
		if r.Absent == "" {
			known++
		}
	}
	n := len(w.Certain())
	if n == 0 {
		return fmt.Sprintf("no difference is certain in %s", wording.Counted(known, "measure"))
	}
	return fmt.Sprintf("in %d of %s the difference is certain", n, wording.Counted(known, "measure"))
}

// Runs is what a qualification is made of.
type Runs struct {
	Target, Since string
	Scenarios     []matrix.Scenario // those that are about the target
	Cells         []matrix.Cell     // several for a scenario and target that was played again
	Skipped       []matrix.Skip
	Workloads     []Workload
	// Said is what the records say of failures, by scenario.
	Said map[string]Said
	// Columns are what the releases are called on each Kubernetes that they were played on; none: as they are called.
	Columns  []Column
	Searches []Search
}

// Column is what the releases are called in runs on one Kubernetes.
type Column struct{ Kubernetes, Target, Since string }

// Said is what a failure's record says of it.
type Said struct {
	// Before is what it says of Since: "reproduced", "healthy" or nothing.
	Before string
	// Came is the release with which the failure came, if that is one between Since and Target. Such a failure does not speak
	// against Target. Empty if all that Since does not show is new, as to those who run Since.
	Came string
}

// From judges a release by runs.
func From(made time.Time, of Runs) *Qualification {
	q := &Qualification{Made: made, Target: of.Target, Since: of.Since, Answer: Fit, Workloads: of.Workloads}
	columns := of.Columns
	if len(columns) == 0 {
		columns = []Column{{Target: of.Target, Since: of.Since}}
	}
	for _, on := range columns {
		if on.Kubernetes != "" {
			q.Kubernetes = append(q.Kubernetes, on.Kubernetes)
		}
		if len(columns) == 1 {
			on.Kubernetes = ""
		}
		for _, s := range of.Scenarios {
			q.Findings = append(q.Findings, of.finding(s, on))
		}
	}
	for _, s := range of.Searches {
		q.Searches = append(q.Searches, s)
		q.Findings = append(q.Findings, s.findings()...)
	}
	slices.SortStableFunc(q.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.Scenario, b.Scenario))
	})
	switch {
	// mutant: a release with a new failure is fit
	case len(q.Of(New))+len(q.Of(NotFixed)) > 0:
		q.Answer = NotFit
	// mutant: a release that nothing was seen of is fit
	case len(q.Of(Undecided)) > 0 || len(q.Findings) == 0:
		q.Answer = CannotSay
	}
	return q
}

// Of are the findings of a kind.
func (q *Qualification) Of(k Kind) (list []Finding) {
	for _, f := range q.Findings {
		if f.Kind == k {
			list = append(list, f)
		}
	}
	return list
}

func (of Runs) finding(s matrix.Scenario, in Column) Finding {
	f := Finding{Scenario: s.ID, Kubernetes: in.Kubernetes, Title: s.Title, Issue: s.Issue}
	var on []matrix.Cell
	f.On, on = of.count(s.ID, in.Target)
	if of.Since != "" {
		f.Before, _ = of.count(s.ID, in.Since)
	}
	expected := ""
	for _, c := range on {
		expected = cmp.Or(c.Expected, expected)
	}
	said := of.Said[s.ID]
	f.Kind = kindOf(f.On, f.Before, expected, said)
	if f.Kind == Fixed || f.Kind == Healthy {
		return f
	}
	for _, skip := range of.Skipped {
		if skip.Scenario == s.ID && skip.Target == in.Target {
			f.Reason = skip.Reason
		}
	}
	for _, c := range slices.Backward(on) {
		if f.Kind == Undecided || shows(c) && (c.Verdict == otherwise || f.On.Otherwise == 0 || f.Kind != New) {
			f.Reason, f.Run = c.Reason, c.Run
			break
		}
	}
	switch {
	case f.Reason == "" && len(on) == 0:
		f.Reason = "was not played"
	case f.Kind == Earlier:
		f.Reason = fmt.Sprintf("came with %s, by its record: %s", said.Came, f.Reason)
	}
	return f
}

// otherwise is the verdict on a run that fails in another way than documented.
const otherwise = "failed"

// kindOf finds the kind of a failure, of which expected is what its record says of the release.
func kindOf(on, before Count, expected string, said Said) Kind {
	documented := expected == "reproduced"
	switch {
	case on.Runs == 0:
		return Undecided
	case on.Shown == 0 && before.Shown > 0:
		return Fixed
	case on.Shown == 0:
		return Healthy
	// mutant: a fix that does not fix is none of the release's failures
	case expected == "healthy" && (before.Shown > 0 || before.Runs == 0):
		return NotFixed
	// mutant: what fails in another way than before stays
	case on.Otherwise > 0 && before.Otherwise == 0:
		return New
	case on.Shown == on.Otherwise || before.Shown > before.Otherwise || documented && before.Runs == 0 && said.Before != "healthy":
		return Stays
	// mutant: what came before the release is new with it
	case documented && said.Came != "":
		return Earlier
	}
	return New
}

// count counts the runs of a scenario on a target, which it returns oldest first.
func (of Runs) count(scenario, target string) (n Count, cells []matrix.Cell) {
	for _, c := range of.Cells {
		if c.Scenario == scenario && c.Target == target {
			cells = append(cells, c)
		}
	}
	slices.SortStableFunc(cells, func(a, b matrix.Cell) int { return a.Started.Compare(b.Started) })
	for _, c := range cells {
		switch {
		case !c.Decided():
			n.Inconclusive++
		case shows(c):
			n.Shown++
			n.Runs++
			if c.Verdict == otherwise {
				n.Otherwise++
			}
		default:
			n.Runs++
		}
	}
	n.Low, n.High = interval.Wilson(n.Shown, n.Runs)
	return n, cells
}

func shows(c matrix.Cell) bool { return c.Verdict == "reproduced" || c.Verdict == otherwise }

// Sum is the answer in one sentence.
func (q *Qualification) Sum() string {
	switch q.Answer {
	case NotFit:
		return fmt.Sprintf("%s is not fit to roll out: %s", q.Target,
			said(len(q.Of(New))+len(q.Of(NotFixed)), "failure speaks against it", "failures speak against it"))
	case CannotSay:
		return fmt.Sprintf("cannot say whether %s is fit to roll out: %s", q.Target,
			said(len(q.Of(Undecided)), "failure is undecided", "failures are undecided"))
	}
	shown := len(q.Of(Stays)) + len(q.Of(Earlier))
	if shown == 0 {
		return fmt.Sprintf("%s is fit to roll out: no known failure shows", q.Target)
	}
	return fmt.Sprintf("%s is fit to roll out: %s", q.Target,
		said(shown, "known failure shows, and does not speak against it", "known failures show, and do not speak against it"))
}

func said(n int, one, several string) string {
	if n != 1 {
		one = several
	}
	return fmt.Sprintf("%d %s", n, one)
}
