package nights

import (
	"testing"

	"nodestorm/reports/matrix"
	"nodestorm/reports/nightly"
)

// Runs of a folder that was never emptied count in the night that has counted them, unless
// nothing else was run of theirs.
func TestLeaveEarlier(t *testing.T) {
	cell := func(scenario, digest string) matrix.Cell {
		return matrix.Cell{Scenario: scenario, Target: "karpenter@v1.7.0", Digest: digest}
	}
	tonight := &matrix.Matrix{Cells: []matrix.Cell{cell("a", "1"), cell("a", "2"), cell("b", "3"), cell("c", "")}}
	LeaveEarlier(tonight, []nightly.Night{{Matrix: &matrix.Matrix{Cells: []matrix.Cell{cell("a", "1"), cell("b", "3"), cell("c", "")}}}})
	left := ""
	for _, c := range tonight.Cells {
		left += c.Scenario + c.Digest + " "
	}
	if left != "a2 b3 c " {
		t.Errorf("left are %s", left)
	}
}
