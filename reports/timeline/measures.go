package timeline

import (
	"fmt"
	"io"
	"text/tabwriter"

	"nodestorm/reports/wording"
	"nodestorm/sim/history/measure"
)

// Measures writes what a run came to, a line for each measure. Those that it does not have are one line for each reason.
func Measures(w io.Writer, v measure.Values) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\nmeasures")
	for _, l := range v.Lines() {
		text := wording.Cut(wording.Clean(l.Text), maxLine)
		if l.Absent {
			text = "not known: " + text
		}
		fmt.Fprintf(out, "  %s\t%s\n", l.Words, text)
	}
	return out.Flush()
}
