package scenarios_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/scenarios"
	"nodestorm/sim/history/invariants"
)

var update = flag.Bool("update", false, "write the table of invariants anew")

const begin, end = "<!-- generated -->\n", "<!-- end -->\n"

// INVARIANTS.md says what judges every run, and which failures break it.
func TestInvariantsAreNotStale(t *testing.T) {
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString(begin + "| Invariant | What must hold | When | Of | Failures that break it |\n|---|---|---|---|---|\n")
	for _, i := range invariants.All() {
		var broken []string
		for _, r := range catalogue.Records() {
			if slices.Contains(r.Breaks, i.Name) {
				broken = append(broken, r.ID)
			}
			for _, k := range r.Known {
				if k.Invariant == i.Name {
					broken = append(broken, fmt.Sprintf("%s (known on %s: %s)", r.ID, k.Releases, k.Because))
				}
			}
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", i.Name, i.Statement, i.When, strings.Join(scenarios.SubjectsOf(i), ", "), strings.ReplaceAll(strings.Join(broken, ", "), "|", `\|`))
	}
	table.WriteString(end)
	text, err := os.ReadFile("INVARIANTS.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := bytes.Cut(text, []byte(begin))
	_, tail, found := bytes.Cut(rest, []byte(end))
	if !found {
		t.Fatalf("INVARIANTS.md has no %q and %q", begin, end)
	}
	want := slices.Concat(head, []byte(table.String()), tail)
	if bytes.Equal(text, want) {
		return
	}
	if !*update {
		t.Fatal("the table in INVARIANTS.md is stale: go test ./scenarios -run InvariantsAreNotStale -update writes it anew")
	}
	if err := os.WriteFile("INVARIANTS.md", want, 0o644); err != nil {
		t.Fatal(err)
	}
}
