package timeline

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"nodestorm/reports/story"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/sim/history"
)

// Head writes what a run was and what came of it, before its history. Of a run without a verdict it
// says so.
func Head(w io.Writer, r story.Run) error {
	mark := table.Row{Outcome: cmp.Or(r.Outcome, table.Missing)}.Mark()
	fmt.Fprintf(w, "%s %s on %s\n", mark, wording.Clean(r.ID), wording.Clean(r.Target))
	verdict := wording.Clean(r.Verdict)
	switch {
	case verdict == "":
		verdict = "none: the run did not come to its end"
	case r.Outcome == "expected":
		verdict += ", as expected"
	case r.Outcome != r.Verdict:
		verdict += ", " + wording.Clean(r.Outcome)
	}
	out := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	for _, line := range [][2]string{
		{"discarded", r.Discarded}, {"expected", cmp.Or(r.Expected, "-")}, {"verdict", verdict}, {"reason", r.Reason},
	} {
		if line[1] != "" {
			fmt.Fprintf(out, "  %s:\t%s\n", line[0], wording.Clean(line[1]))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// WithoutPace leaves out how virtual time passed, and says how much that is.
func WithoutPace(events []history.Entry) (rest []history.Entry, left int) {
	rest = slices.DeleteFunc(slices.Clone(events), func(r history.Entry) bool { return r.Source == history.Clock })
	return rest, len(events) - len(rest)
}
