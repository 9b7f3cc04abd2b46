package table_test

import (
	"strings"
	"testing"

	"nodestorm/reports/table"
)

// A terminal shows the columns that say what a row is about, then as many others as it has room for.
func TestFit(t *testing.T) {
	rows := [][]string{
		{"SCENARIO", "TARGET", "VERDICT", "EXPECTED", "WALL", "REASON"},
		{"karpenter-7515-not-ready-noexecute", "karpenter@v1.6.4", "reproduced", "reproduced", "5.7s", "failed: Then no more than 1 NodeClaim is created within 5m"},
	}
	for width, want := range map[int]string{
		0:   "SCENARIO TARGET VERDICT EXPECTED WALL REASON",
		60:  "SCENARIO TARGET VERDICT",
		80:  "SCENARIO TARGET VERDICT",
		94:  "SCENARIO TARGET VERDICT REASON",
		106: "SCENARIO TARGET VERDICT EXPECTED REASON",
		150: "SCENARIO TARGET VERDICT EXPECTED WALL REASON",
	} {
		fit := table.Fit(width, 3, rows)
		if got := strings.Join(fit[0], " "); got != want {
			t.Errorf("%d columns: %s, want %s", width, got, want)
		}
		if line := strings.Join(fit[1], "  "); width >= 80 && len([]rune(line)) >= width {
			t.Errorf("%d columns: %s", width, line)
		}
	}
	if fit := table.Fit(40, 1, rows); len(fit[0]) != 2 || fit[1][1] != "fa…" {
		t.Errorf("40 columns: %q", fit)
	}
}

// Of a table of figures the last are left out first.
func TestNarrow(t *testing.T) {
	rows := [][]string{{"SCENARIO", "VERDICT", "WALL", "FACTOR"}, {"karpenter-7515", "healthy", "5.7s", "46x"}}
	for width, want := range map[int]string{0: "SCENARIO VERDICT WALL FACTOR", 38: "SCENARIO VERDICT WALL FACTOR", 37: "SCENARIO VERDICT WALL", 10: "SCENARIO VERDICT"} {
		if got := strings.Join(table.Narrow(width, 2, rows)[0], " "); got != want {
			t.Errorf("%d columns: %s, want %s", width, got, want)
		}
	}
}
