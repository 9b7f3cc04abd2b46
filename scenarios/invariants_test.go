package scenarios_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mitchellh/go-wordwrap"

	"nodestorm/features"
	"nodestorm/scenarios"
	"nodestorm/sim/history/invariants"
)

var update = flag.Bool("update", false, "write the files that are made of the code: make reference does")

// TestReferenceInvariants keeps the page in step with what judges every run, and with the failures that break it.
func TestReferenceInvariants(t *testing.T) {
	const page = "../docs/reference/invariants.md"
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("# Invariants of every run\n\n<!-- written by make reference -->\n\n" +
		"These invariants judge every run, whatever its scenario is about. `nodestorm list --invariants` prints them.\n\n" +
		"- A run that breaks one and is healthy otherwise is *failed*, unless its record names the cause in `known`.\n" +
		"- A run that reproduces its failure may break those that its record names in `breaks`. The reason of the verdict\n" +
		"  names any other.\n" +
		"- `nodestorm recheck RUNS` judges stored runs by today's invariants, and `recheck --invariants RUNS` counts which\n" +
		"  runs break which. [Fidelity](../fidelity.md#false-alarms) has the counts.\n")
	for _, i := range invariants.All() {
		fmt.Fprintf(&text, "\n## %s\n\n%s.\n\n- of: %s\n", i.Name, strings.ReplaceAll(wrapped(i.Statement), "\n  ", "\n"), strings.Join(scenarios.SubjectsOf(i), ", "))
		for _, when := range strings.Split(i.When, "; ") {
			fmt.Fprintf(&text, "- when: %s\n", wrapped(when))
		}
		writeBreakers(&text, catalogue.Records(), i.Name)
	}
	if *update {
		if err := os.WriteFile(page, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(page); err != nil || string(is) != text.String() {
		t.Errorf("%s is not what the code says, %v: run make reference", page, err)
	}
}

func wrapped(text string) string {
	return strings.ReplaceAll(wordwrap.WrapString(text, 104), "\n", "\n  ")
}

// writeBreakers writes which records name an invariant.
func writeBreakers(text *strings.Builder, records []scenarios.Record, name string) {
	var broken, known []string
	for _, r := range records {
		if slices.Contains(r.Breaks, name) {
			broken = append(broken, r.ID)
		}
		for _, k := range r.Known {
			if k.Invariant == name {
				known = append(known, fmt.Sprintf("- known in %s on `%s`: %s", r.ID, k.Releases, k.Because))
			}
		}
	}
	if len(broken)+len(known) == 0 {
		text.WriteString("- no failure of the catalogue breaks it: it is shown broken in written histories only\n")
	}
	if len(broken) > 0 {
		fmt.Fprintf(text, "- broken by: %s\n", wrapped(strings.Join(broken, ", ")))
	}
	for _, k := range known {
		fmt.Fprintln(text, wrapped(k))
	}
}
