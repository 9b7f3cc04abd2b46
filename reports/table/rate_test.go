package table

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Rates are shown for what was run more than once, with the runs that they rest on.
func TestRates(t *testing.T) {
	var rows []Row
	add := func(id, outcome string, n int) {
		for range n {
			rows = append(rows, Row{ID: id, Target: "karpenter@v1", Outcome: outcome, Run: "somewhere"})
		}
	}
	add("always", "expected", 6)
	add("flaky", "expected", 3)
	add("flaky", "regression", 1)
	add("flaky", "inconclusive", 2)
	add("never", "regression", 2)
	add("doubtful", "inconclusive", 2)
	add("once", "expected", 1)
	rows = append(rows, Row{ID: "skipped", Target: "karpenter@v1", Outcome: "skipped"})
	var out bytes.Buffer
	if err := Write(&out, Style{}, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nalways on karpenter@v1: as expected in 6 of 6 runs, a rate of 61 to 100 % (at 95 %); that it usually is as expected is 99.2 % certain\n",
		"\nflaky on karpenter@v1: as expected in 3 of 4 runs, a rate of 30 to 95 % (at 95 %); that it usually is as expected is 81.2 % certain; 2 more inconclusive\n",
		"\nnever on karpenter@v1: as expected in 0 of 2 runs, a rate of 0 to 66 % (at 95 %); that it usually is not as expected is 87.5 % certain\n",
		"\ndoubtful on karpenter@v1: no run could decide; 2 more inconclusive\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nlacks %q", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "once on") || strings.Contains(out.String(), "skipped on karpenter@v1: as") {
		t.Errorf("a rate of one run, or of none:\n%s", out.String())
	}
	out.Reset()
	if err := JSON(&out, rows); err != nil {
		t.Fatal(err)
	}
	var read []struct {
		ID   string
		Rate *Rate
	}
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || read[0].Rate == nil || read[0].Rate.Runs != 6 || read[len(read)-2].Rate != nil {
		t.Errorf("%v: %s", err, out.String())
	}
}
