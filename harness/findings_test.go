package harness_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nodestorm/features"
	"nodestorm/scenarios"
)

// TestFindings keeps docs/findings.md in step with the records: each is there, with its affected releases, and the
// newest release of its program shows it. What a release has fixed is no finding any more.
func TestFindings(t *testing.T) {
	text, err := os.ReadFile("../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("../scenarios/releases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	releases, err := scenarios.ReadReleases(list)
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := features.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range wrongFindings(string(text), catalogue, releases) {
		t.Error(wrong)
	}
	// It would notice.
	for _, test := range []struct{ row, want string }{
		{"| karpenter-2265-none | x | `>=v1.0.0` | [#1](x) |", `unknown scenario "karpenter-2265-none"`},
		{"| karpenter-2265-unreachable | x | `>=v1.7.0` | [#1](x) |", "karpenter-2265-unreachable is affected on >=v1.0.0, and not on >=v1.7.0"},
		{"| karpenter-7515-not-ready-noexecute | x | `>=v1.0.0, <v1.7.0` | [#1](x) |", "is healthy on v1.14.1, which is the newest"},
		{"", "no finding was read"},
	} {
		if wrong := wrongFindings(test.row, catalogue, releases); len(wrong) != 1 || !strings.Contains(wrong[0], test.want) {
			t.Errorf("%s: %q, want %q", test.row, wrong, test.want)
		}
	}
}

var finding = regexp.MustCompile("(?m)^\\| ([a-z]+-[\\w-]+) \\|[^|]*\\| `((?:[^`|]|\\\\\\|)*)` \\|")

// wrongFindings says in a sentence each which rows of the page are not as the records have it.
func wrongFindings(text string, catalogue *scenarios.Catalogue, releases scenarios.Releases) (wrong []string) {
	rows := finding.FindAllStringSubmatch(text, -1)
	if len(rows) == 0 {
		return []string{"no finding was read"}
	}
	for _, row := range rows {
		r, err := catalogue.Lookup(row[1])
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		if affected := strings.ReplaceAll(row[2], `\|`, "|"); string(r.Affected) != affected {
			wrong = append(wrong, fmt.Sprintf("%s is affected on %s, and not on %s", r.ID, r.Affected, affected))
			continue
		}
		all := releases[r.Autoscaler].Releases
		newest := all[len(all)-1]
		if expected := r.Expected(r.Autoscaler + "@" + newest); expected != scenarios.Reproduced {
			wrong = append(wrong, fmt.Sprintf("%s is %s on %s, which is the newest: it belongs to the history of this page", r.ID, expected, newest))
		}
	}
	slices.Sort(wrong)
	return wrong
}
