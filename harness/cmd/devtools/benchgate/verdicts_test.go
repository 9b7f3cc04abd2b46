package main

import (
	"strings"
	"testing"

	"nodestorm/reports/table"
)

// rows are of a record on a release, one for each of these seconds.
func rows(id, verdict string, virtual float64, walls ...float64) (list []table.Row) {
	for _, seconds := range walls {
		list = append(list, table.Row{ID: id, Target: "t@v1", Expected: "healthy", Verdict: verdict, WallSeconds: seconds, VirtualSeconds: virtual, Run: "r"})
	}
	return list
}

func TestVerdictsTable(t *testing.T) {
	all := &verdicts{}
	all.add(0, rows("the-same", "healthy", 60, 4, 4.1, 4.2, 4.3, 4.4))
	all.add(1, rows("the-same", "healthy", 60, 4, 4.1, 4.2, 4.3, 4.4))
	all.add(0, rows("slower", "healthy", 75, 4, 4.1, 4.2, 4.3, 4.4))
	all.add(1, rows("slower", "healthy", 75, 11, 11.1, 11.2, 11.3, 11.4))
	all.add(0, rows("long", "healthy", 1300, 20, 21, 22, 23, 24))
	all.add(1, rows("long", "healthy", 1300, 15, 16, 17, 18, 19))
	all.add(0, rows("spoiled", "healthy", 60, 4))
	all.add(1, append(rows("spoiled", "healthy", 60, 4), rows("spoiled", "inconclusive", 60, 4)...))
	all.add(1, []table.Row{{ID: "missing", Target: "t@v2", Verdict: "skipped", Reason: "no build"}})
	all.add(0, rows("gone", "healthy", 60, 4))
	var out strings.Builder
	worse, err := all.table("abc", "here", &out)
	if err != nil {
		t.Fatal(err)
	}
	if worse != 2 {
		t.Errorf("%d are worse, want 2", worse)
	}
	for _, want := range []string{
		"| the-same | t@v1 | healthy | 5 of 5, 5 of 5 | 1m0s | 4.2 s | 4.2 s | ~ (p=1.000 n=5) |\n",
		"| slower | t@v1 | healthy | 5 of 5, 5 of 5 | 1m15s | 4.2 s | 11.2 s | +166.67% (p=0.008 n=5) |\n",
		"| long | t@v1 | healthy | 5 of 5, 5 of 5 | 21m40s | 22.0 s | 17.0 s | -22.73% (p=0.008 n=5) |\n",
		"\n4 replays, of which 1 of less than 20m0s take more than 10s; the median is ",
		"slower on t@v1 is slower\n", "slower on t@v1 takes more than 10s\n",
		"spoiled on t@v1 is as expected in 1 of 2: inconclusive\n",
		"gone on t@v1: only one side has it\n", "without missing on t@v2: no build\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestVerdictsOfNothing(t *testing.T) {
	all := &verdicts{}
	all.add(0, []table.Row{{ID: "a", Target: "t@v1", Verdict: "skipped", Reason: "no build"}})
	if _, err := all.table("abc", "here", &strings.Builder{}); err == nil || !strings.Contains(err.Error(), "a on t@v1: no build") {
		t.Errorf("%v, want what is missing", err)
	}
}
