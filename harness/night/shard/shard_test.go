package shard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/night/shard"
	"nodestorm/harness/run"
	"nodestorm/reports/table"
)

func TestParsePart(t *testing.T) {
	for text, want := range map[string]string{"2/4": "2/4", "1/1": "1/1", "1000/1000": "1000/1000", "": "", "0/4": "", "5/4": "", "1/1001": "", "a/b": "", "-1/4": "", "1/4 ": "", "01/4": "", "1/": ""} {
		part, err := shard.ParsePart(text)
		if (err != nil) != (want == "") || err == nil && part.String() != want {
			t.Errorf("%q: %v, %v; want %q", text, part, err, want)
		}
	}
}

// Whatever the durations, each job is in one shard, the plan is the same for jobs in any
// order, and no shard takes longer than a fair share and the longest job.
func TestPlan(t *testing.T) {
	var jobs []shard.Job
	for i := range 40 {
		jobs = append(jobs, shard.Job{Scenario: fmt.Sprintf("s%02d", i%20), Target: fmt.Sprintf("k@v%d", i/20)})
	}
	for name, seconds := range map[string]func(int) float64{
		"nothing known": nil,
		"equal":         func(int) float64 { return 10 },
		"one long":      func(i int) float64 { return map[bool]float64{true: 500, false: 5}[i == 7] },
		"growing":       func(i int) float64 { return float64(i + 1) },
	} {
		var known shard.Durations
		for i, j := range jobs {
			if seconds != nil {
				known.Add(j.Scenario, j.Target, seconds(i))
			}
		}
		for _, n := range []int{1, 3, 4, 7, 100} {
			plan, backwards := slices.Clone(jobs), slices.Clone(jobs)
			slices.Reverse(backwards)
			shard.Plan(plan, known, n)
			shard.Plan(backwards, known, n)
			slices.Reverse(backwards)
			if !slices.Equal(plan, backwards) {
				t.Errorf("%s, %d: the plan depends on the order", name, n)
			}
			loads, all, longest := make([]float64, n), 0.0, 0.0
			for _, j := range plan {
				loads[j.Shard-1] += j.Seconds
				all += j.Seconds
				longest = max(longest, j.Seconds)
			}
			if most := slices.Max(loads); most > all/float64(n)+longest {
				t.Errorf("%s, %d: a shard takes %.0f s of %.0f", name, n, most, all)
			}
		}
	}
}

// A target that is not known takes what its scenario takes on others.
func TestDurationsUnknown(t *testing.T) {
	var known shard.Durations
	known.Add("a", "k@v1", 10)
	known.Add("a", "k@v1", 1000)
	known.Add("a", "k@v1", 12)
	known.Add("b", "k@v1", 50)
	known.Add("b", "k@v1", -1)
	jobs := []shard.Job{{Scenario: "a", Target: "k@v1"}, {Scenario: "b", Target: "k@v2"}, {Scenario: "c", Target: "k@v1"}}
	shard.Plan(jobs, known, 1)
	var got []float64
	for _, j := range jobs {
		got = append(got, j.Seconds-6)
	}
	if want := []float64{12, 50, 50}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// parts are two shards with a row of each job.
func parts(t *testing.T) (list []shard.Shard) {
	t.Helper()
	whole := []shard.Job{{Scenario: "a", Target: "k@v1"}, {Scenario: "a", Target: "k@v2"}, {Scenario: "b", Target: "k@v1"}, {Scenario: "b", Target: "k@v2"}}
	shard.Plan(whole, shard.Durations{}, 2)
	for n := 1; n <= 2; n++ {
		s := shard.Shard{Dir: t.TempDir(), Kept: shard.Kept{Part: shard.Part{Number: n, Of: 2}, Nodestorm: run.Code{Commit: "c"}, Flags: []string{"--all=true"}, Whole: slices.Clone(whole), Ended: true}}
		for _, j := range whole {
			if j.Shard == n {
				s.Rows = append(s.Rows, table.Row{ID: j.Scenario, Target: j.Target, Run: filepath.Join(s.Dir, j.Scenario, j.Target)})
			}
		}
		list = append(list, s)
	}
	return list
}

func TestJoin(t *testing.T) {
	list := parts(t)
	if err := shard.Check(list); err != nil {
		t.Fatal(err)
	}
	rows, missing, problems := shard.Join(list)
	var order []string
	for _, r := range rows {
		order = append(order, r.ID+" "+r.Target)
	}
	if want := []string{"a k@v1", "a k@v2", "b k@v1", "b k@v2"}; !slices.Equal(order, want) || len(missing)+len(problems) > 0 {
		t.Errorf("%q, missing %v, problems %q; want %q", order, missing, problems, want)
	}
}

func TestJoinIncomplete(t *testing.T) {
	for name, test := range map[string]struct {
		change  func([]shard.Shard) []shard.Shard
		problem string
		missing int
	}{
		"a shard is missing": {func(l []shard.Shard) []shard.Shard { return l[:1] }, "shard 2/2 is missing, with 2 of 4 replays", 2},
		"one was interrupted": {func(l []shard.Shard) []shard.Shard {
			l[1].Rows, l[1].Ended = l[1].Rows[:1], false
			return l
		}, "did not come to its end: 1 of its replays are missing", 1},
		"one lacks a row": {func(l []shard.Shard) []shard.Shard {
			l[0].Rows = nil
			return l
		}, "shard 1/2 in ", 2},
	} {
		rows, missing, problems := shard.Join(test.change(parts(t)))
		if len(missing) != test.missing || len(rows) != 4-test.missing || len(problems) != 1 || !strings.Contains(problems[0], test.problem) {
			t.Errorf("%s: %d rows, missing %v, problems %q", name, len(rows), missing, problems)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		change func([]shard.Shard) []shard.Shard
		want   string
	}{
		"twice":             {func(l []shard.Shard) []shard.Shard { return append(l, l[1]) }, "shard 2/2 is there twice, in "},
		"other flags":       {func(l []shard.Shard) []shard.Shard { l[1].Flags = []string{"--all=true", "--repeat=2"}; return l }, `flags of shard 1/2`},
		"other version":     {func(l []shard.Shard) []shard.Shard { l[1].Nodestorm.Commit = "d"; return l }, "nodestorm's version of shard 1/2"},
		"uncommitted":       {func(l []shard.Shard) []shard.Shard { l[1].Nodestorm.Dirty = true; return l }, "nodestorm's version of shard 1/2"},
		"of other features": {func(l []shard.Shard) []shard.Shard { l[1].Features.Commit = "d"; return l }, "the features of shard 1/2"},
		"of three":          {func(l []shard.Shard) []shard.Shard { l[1].Part.Of = 3; return l }, "the number of shards of shard 1/2"},
		"split otherwise":   {func(l []shard.Shard) []shard.Shard { l[1].Whole[0].Seconds++; return l }, "split other replays, or by other durations: replay 1 is a on k@v1"},
		"more":              {func(l []shard.Shard) []shard.Shard { l[1].Whole = l[1].Whole[:3]; return l }, "4 and 3 replays"},
		"none":              {func([]shard.Shard) []shard.Shard { return nil }, "there is no shard"},
	} {
		if err := shard.Check(test.change(parts(t))); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// The folder can be moved, and a file that leads elsewhere, or is none of ours, is refused.
func TestKept(t *testing.T) {
	s := parts(t)[0]
	if err := s.Save(s.Dir); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(s.Dir, moved); err != nil {
		t.Fatal(err)
	}
	again, err := shard.Load(moved)
	if err != nil || again.Rows[0].Run != filepath.Join(moved, "a", "k@v1") || again.Part != s.Part {
		t.Fatalf("%+v, %v", again, err)
	}
	s.Rows[0].Run = "/elsewhere"
	if err := s.Save(moved); err == nil || !strings.Contains(err.Error(), "is not below") {
		t.Errorf("a run elsewhere: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(moved, shard.File))
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string]string{
		"names a run outside":  strings.Replace(string(text), `"run": "a/k@v1"`, `"run": "../a"`, 1),
		"is damaged or cut":    string(text[:len(text)/2]),
		"has format 9":         strings.Replace(string(text), `"format": 1`, `"format": 9`, 1),
		"want i/N":             strings.Replace(string(text), `"number": 1`, `"number": 7`, 1),
		"has more than 16 MiB": string(text) + strings.Repeat(" ", 16<<20),
	} {
		if err := os.WriteFile(filepath.Join(moved, shard.File), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := shard.Load(moved); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOfPod(t *testing.T) {
	for text, index := range map[string]string{"job/4 none": "", "job/4 word": "x", "job/4 minus": "-1", "job/4 huge": "1000", "job/4 more": "1 2"} {
		text, _, _ := strings.Cut(text, " ")
		if part, err := shard.OfPod(text, index); err == nil || !strings.Contains(err.Error(), shard.EnvIndex) {
			t.Errorf("%s with index %q: %q, %v", text, index, part, err)
		}
	}
	for _, test := range [][3]string{{"job/4", "0", "1/4"}, {"job/4", "3", "4/4"}, {"2/4", "0", "2/4"}, {"", "", ""}, {"job/x", "0", "1/x"}} {
		if part, err := shard.OfPod(test[0], test[1]); err != nil || part != test[2] {
			t.Errorf("%s with index %q: %q, %v", test[0], test[1], part, err)
		}
	}
}
