// Package table is the table of several verdicts, a row each, for people and for programs:
// what `nodestorm verify` shows, with rates, and how late programs were. It judges nothing.
package table

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"nodestorm/reports/document"
	"nodestorm/reports/wording"
)

// Row is one verdict of `nodestorm verify`, and its place in --json.
type Row struct {
	ID     string `json:"id"`
	Target string `json:"target"`
	// Own says what the target is, if it has the name of a release and is no build of it.
	Own string `json:"own,omitempty"`
	// Kubernetes is the release of the control plane, if it is not nodestorm's own.
	Kubernetes string `json:"kubernetes,omitempty"`
	Expected   string `json:"expected"`
	// Verdict is healthy, reproduced, failed or inconclusive, or "skipped" of a target
	// that cannot be had.
	Verdict string `json:"verdict"`
	// Outcome compares the two: "expected", "regression" and so on.
	Outcome string `json:"outcome"`
	// Reason is why, in one line.
	Reason         string  `json:"reason,omitempty"`
	WallSeconds    float64 `json:"wallSeconds"`    // world and all
	VirtualSeconds float64 `json:"virtualSeconds"` // since the world was ready
	Factor         float64 `json:"factor"`         // mean, since the world was ready
	LagP99Ms       float64 `json:"lagP99Ms"`       // virtual
	// Programs say how late each program was, from the first When on.
	Programs []Program `json:"programs,omitempty"`
	Run      string    `json:"run"` // folder of the run, empty if there is none
	// Rate is that of all runs of the scenario on the target, where there are several.
	Rate *Rate `json:"rate,omitempty"`
}

// Verdicts of rows without a run: the target cannot be had; a shard was to play it, and nothing of
// it is there.
const (
	Skipped = "skipped"
	Missing = "missing"
)

// fine is the outcome that needs no explanation.
const fine = "expected"

// Write writes the rows for people: a line for each run, then why for all that are not
// as expected, those of which there is no run by their reason, then a count of the outcomes.
// Of the lines are the columns that a terminal of that width has room for, 0 for all.
func Write(w io.Writer, as Style, rows []Row) error {
	var text strings.Builder
	if err := write(&text, as, rows); err != nil {
		return err
	}
	if as.Colour {
		_, err := io.WriteString(w, Coloured(text.String()))
		return err
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// Style is how a table is written.
type Style struct {
	Width  int  // columns of the terminal; 0: as many as it takes
	Wide   bool // with how fast virtual time was, and how late timers were
	Colour bool // of marks
}

func write(w io.Writer, as Style, rows []Row) error {
	other := slices.ContainsFunc(rows, func(r Row) bool { return r.Kubernetes != "" })
	header := []string{"  SCENARIO", "TARGET", "EXPECTED", "VERDICT", "WALL", "VIRTUAL"}
	if as.Wide {
		header = append(header, "FACTOR", "LAG P99")
	}
	if other {
		header = slices.Insert(header, 2, "KUBERNETES")
	}
	lines := [][]string{header}
	for _, r := range rows {
		if r.Run == "" {
			continue
		}
		virtual := "-"
		if r.VirtualSeconds > 0 {
			virtual = (time.Duration(r.VirtualSeconds) * time.Second).String() // "15m2s"
		}
		target := wording.Clean(r.Target)
		if r.Own != "" {
			target += "*"
		}
		cells := []string{r.Mark() + " " + wording.Clean(r.ID), target, orDash(r.Expected), orDash(r.Verdict),
			figure("%.1fs", r.WallSeconds), virtual}
		if as.Wide {
			cells = append(cells, figure("%.0fx", r.Factor), figure("%.0fms", r.LagP99Ms))
		}
		if other {
			cells = slices.Insert(cells, 2, orDash(r.Kubernetes))
		}
		lines = append(lines, cells)
	}
	out := tabwriter.NewWriter(w, 0, 0, gap, ' ', 0)
	for _, line := range Narrow(as.Width, slices.Index(header, "VERDICT")+1, lines) {
		fmt.Fprintln(out, strings.Join(line, "\t"))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	writeOwnBuilds(&b, rows)
	notRun(&b, rows) // before what is wrong, which people look for at the end
	for _, r := range rows {
		if r.Outcome == fine || r.Run == "" {
			continue
		}
		fmt.Fprintf(&b, "\n%s %s on %s: %s\n", r.Mark(), wording.Clean(r.ID), wording.Clean(r.Target), strings.ToUpper(wording.Clean(r.Outcome)))
		if r.Reason != "" {
			fmt.Fprintf(&b, "  %s\n", wording.Clean(r.Reason))
		}
		fmt.Fprintf(&b, "  run: %s\n", wording.Clean(r.Run))
	}
	rates(&b, rows)
	fmt.Fprintf(&b, "\n%s\n", count(rows))
	_, err := io.WriteString(w, b.String())
	return err
}

// writeOwnBuilds says which targets are none of the releases that they are called after.
func writeOwnBuilds(b *strings.Builder, rows []Row) {
	var seen []string
	for _, r := range rows {
		text := fmt.Sprintf("\n* %s is called so and is no build of that release: %s\n", wording.Clean(r.Target), wording.Clean(r.Own))
		if r.Own != "" && !slices.Contains(seen, text) {
			seen = append(seen, text)
			b.WriteString(text)
		}
	}
}

// notRun writes the rows of which there is no run: a target that is missing is often
// the reason of many.
func notRun(b *strings.Builder, rows []Row) {
	type reason struct{ target, outcome, why string }
	var reasons []reason
	ids := map[reason][]string{}
	for _, r := range rows {
		if r.Run != "" {
			continue
		}
		of := reason{r.Target, r.Outcome, r.Reason}
		if ids[of] == nil {
			reasons = append(reasons, of)
		}
		ids[of] = append(ids[of], wording.Clean(r.ID))
	}
	for _, of := range reasons {
		fmt.Fprintf(b, "\n%s %d on %s: %s\n  %s\n  %s\n", Row{Outcome: of.outcome}.Mark(), len(ids[of]), wording.Clean(of.target),
			strings.ToUpper(wording.Clean(of.outcome)),
			wording.Clean(of.why), strings.Join(ids[of], ", "))
	}
}

// JSON writes the rows as an array, [] for none.
func JSON(w io.Writer, rows []Row) error {
	return document.JSON(w, Finite(rows))
}

// Finite are the rows as JSON can have them.
func Finite(rows []Row) []Row {
	finite := make([]Row, 0, len(rows))
	for _, r := range rows {
		for _, figure := range []*float64{&r.WallSeconds, &r.VirtualSeconds, &r.Factor, &r.LagP99Ms} {
			if math.IsNaN(*figure) || math.IsInf(*figure, 0) {
				*figure = 0 // of a run that had no time; JSON has no such number
			}
		}
		if rate := RateOf(rows, r.ID, r.Target); rate.Runs+rate.Inconclusive > 1 {
			r.Rate = &rate
		}
		finite = append(finite, r)
	}
	return finite
}

// count is "5 replays: 3 as expected, 1 regression, 1 skipped", in the order of first appearance.
func count(rows []Row) string {
	var outcomes []string
	counts, ran := map[string]int{}, 0
	for _, r := range rows {
		if !slices.Contains(outcomes, r.Outcome) {
			outcomes = append(outcomes, r.Outcome)
		}
		counts[r.Outcome]++
		if r.Run != "" {
			ran++
		}
	}
	var parts []string
	for _, o := range outcomes {
		what := wording.Clean(o)
		if o == fine {
			what = "as expected"
		}
		parts = append(parts, fmt.Sprintf("%d %s", counts[o], what))
	}
	text := strings.Join(parts, ", ")
	switch {
	case ran == 0 && text == "":
		return "nothing was run"
	case ran == 0:
		return "nothing was run, " + text
	case len(rows) == 1:
		return "1 replay: " + text
	}
	return fmt.Sprintf("%d replays: %s", len(rows), text)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return wording.Clean(text)
}

// figure formats a figure of a run, "-" if the run had none.
func figure(format string, value float64) string {
	if value == 0 || math.IsNaN(value) || math.IsInf(value, 0) {
		return "-"
	}
	return fmt.Sprintf(format, value)
}
