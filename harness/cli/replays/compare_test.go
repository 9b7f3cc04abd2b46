package replays

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/replay/queue"
	"nodestorm/reports/story"
)

func TestPrintComparison(t *testing.T) {
	made, gone := story.Decision{What: "create NodeClaim 1"}, story.Decision{At: 90e9, What: "delete NodeClaim 1"}
	for _, test := range []struct {
		name     string
		verdicts [2]string
		second   []story.Decision
		end      time.Duration // of the second
		why      string
		want     []string
	}{
		{"the same", [2]string{"healthy", "healthy"}, []story.Decision{made, gone}, 91e9, "", []string{"kind healthy sim healthy", "1m30s delete NodeClaim 1 1m30s", "the same verdict, and the same 2 decisions"}},
		{"another verdict", [2]string{"healthy", "failed"}, []story.Decision{made, gone}, 91e9, "", []string{"kind healthy sim failed", "the same 2 decisions, and another verdict; the runs are a and b"}},
		{"another decision", [2]string{"healthy", "healthy"}, []story.Decision{made}, 91e9, "", []string{"≠", "—", "they differ first at decision 2"}},
		{"over before it", [2]string{"healthy", "healthy"}, []story.Decision{made}, 89e9, "", []string{"—", "the same verdict, and the same 1 decision; sim ended before the next was due"}},
		{"inconclusive", [2]string{"inconclusive", ""}, nil, 0, "kind: Docker has died", []string{"inconclusive on kind: Docker has died"}},
	} {
		var stdout bytes.Buffer
		c := queue.Comparison{
			ID: "x", Target: "karpenter@v1.7.0", Sides: [2]string{"kind", "sim"}, Verdicts: test.verdicts, Runs: [2]string{"a", "b"}, Inconclusive: test.why,
			Decisions: [2][]story.Decision{{made, gone}, test.second}, Ends: [2]time.Duration{91e9, test.end},
		}
		c.First = c.FirstDifference()
		c.Same = c.First < 0 && c.Verdicts[0] == c.Verdicts[1]
		newSession(&console.Console{Stdout: &stdout}).printComparison(c)
		for _, want := range test.want {
			if !strings.Contains(strings.Join(strings.Fields(stdout.String()), " "), want) {
				t.Errorf("%s: %q is not in %s", test.name, want, &stdout)
			}
		}
	}
}
