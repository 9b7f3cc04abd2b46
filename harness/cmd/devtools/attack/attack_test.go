package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/reports/table"
)

// faking has this test stand in for nodestorm, and says what it does there.
const faking = "ATTACK_FAKE"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == keeping {
		os.Exit(keep(os.Args[2], os.Args[3:]))
	}
	if does := os.Getenv(faking); does != "" {
		os.Exit(fake(does))
	}
	os.Exit(m.Run())
}

func fake(does string) int {
	verdict := "failed"
	switch {
	case does == "panics":
		panic("it does")
	case strings.HasPrefix(does, "merges"):
		return merging(does, os.Args[1:])
	case does == "says nothing":
		return 0
	case does == "refuses":
		fmt.Fprintln(os.Stderr, "it cannot be")
		return 2
	case does == "leaves a file":
		_ = os.WriteFile(filepath.Join(os.TempDir(), "forgotten"), nil, 0o600)
	case does == "leaves a process": // which has no parent, and listens
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), faking+"=stays")
		_ = cmd.Start()
		time.Sleep(300 * time.Millisecond)
	case does == "stays":
		if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
			_, _ = l.Accept()
		}
	case does == "does not end":
		time.Sleep(time.Hour)
	case slices.Contains([]string{"healthy", "reproduced", "inconclusive"}, does):
		verdict = does
	}
	text, _ := json.Marshal([]table.Row{{ID: "r", Target: "t@1", Expected: "healthy", Verdict: verdict, Outcome: "expected"}})
	fmt.Println(string(text))
	return 0
}

func newFakes(t *testing.T) *lab {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &lab{plan: plan{nodestorm: self, atOnce: 2, match: regexp.MustCompile("")}, dir: t.TempDir(), self: self}
}

// What nodestorm says wrongly, and what it leaves, is found, and is in the table.
func TestFound(t *testing.T) {
	for does, want := range map[string]struct {
		may         func(table.Row) bool
		wrong, left string
	}{
		"failed":           {nothing, "", ""},
		"inconclusive":     {disturbed, "", ""},
		"refuses":          {disturbed, "", ""},
		"healthy":          {nothing, "r on t@1 is healthy", ""},
		"reproduced":       {disturbed, "r on t@1 is reproduced", ""},
		"panics":           {nothing, "it crashed", ""},
		"says nothing":     {nothing, "it ended well without a verdict", ""},
		"leaves a file":    {nothing, "", "file forgotten in TMPDIR"},
		"leaves a process": {nothing, "", "process attack.test, 1 ports"},
	} {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			l := newFakes(t)
			k := kind{name: "fakes", title: "fakes", cases: func(context.Context, *lab) ([]attack, []string) {
				return []attack{{does, func(ctx context.Context, _ *scratch) found {
					return l.command(ctx, run{env: []string{faking + "=" + does}, within: time.Minute}).judge(want.may)
				}}}, nil
			}}
			var out strings.Builder
			all := report{Rows: []row{l.try(t.Context(), k, time.Now().Add(time.Hour), &out)}}
			r := all.Rows[0]
			if len(r.Tried) != 1 || r.Wrong != count1(want.wrong) || r.Left != count1(want.left) || all.wrong() != (want.wrong+want.left != "") {
				t.Errorf("%+v", r)
			}
			page := all.markdown()
			for _, text := range []string{want.wrong, want.left} {
				if !strings.Contains(page, text) || !strings.Contains(out.String(), text) {
					t.Errorf("it does not say %q: %s\n%s", text, page, &out)
				}
			}
		})
	}
}

func count1(text string) int {
	if text == "" {
		return 0
	}
	return 1
}

// What takes too long is interrupted, and that is no verdict. What cannot be tried for want of time, or
// at all, is counted and named.
func TestBounds(t *testing.T) {
	l := newFakes(t)
	f := l.command(t.Context(), run{env: []string{faking + "=does not end"}, within: time.Second}).judge(nothing)
	if !slices.Equal(f.Verdicts, []string{"interrupted"}) || f.Wrong != nil || f.Left != nil {
		t.Errorf("interrupted: %+v", f)
	}
	var out strings.Builder
	never := func(context.Context, *scratch) found {
		t.Error("it was tried")
		return found{Verdicts: []string{"tried"}}
	}
	r := l.try(t.Context(), kind{cases: func(context.Context, *lab) ([]attack, []string) {
		return []attack{{"a", never}, {"b", never}}, []string{"c is not here"}
	}}, time.Now().Add(-time.Second), &out)
	if r.Untried != 2 || !strings.Contains((report{Rows: []row{r}}).markdown(), "- c is not here") {
		t.Errorf("without time: %+v", r)
	}
	if err := (report{Rows: []row{r}}).write("", "", &out); err == nil {
		t.Error("nothing was tried, and that is well")
	}
}

// Records of all kinds take turns, and releases that are missing are passed over, or named.
func TestChoose(t *testing.T) {
	l := newFakes(t)
	if err := os.MkdirAll(filepath.Join(l.store(), "targets", "karpenter", "v1.7.0", "kwok-1"), 0o755); err != nil {
		t.Fatal(err)
	}
	var records []record
	for n := range 40 {
		records = append(records, record{ID: fmt.Sprint("k", n), System: "karpenter", Autoscaler: "karpenter",
			Targets: []struct{ Name, Expected string }{{"karpenter@v1.6.4", "reproduced"}, {"karpenter@v1.7.0", "healthy"}}})
	}
	records = append(records, record{ID: "c", System: "clusterapi", Autoscaler: "cluster-api",
		Targets: []struct{ Name, Expected string }{{"cluster-api@v1.9.5", "reproduced"}}},
		record{ID: "h", System: "hetzner", Autoscaler: "cluster-autoscaler",
			Targets: []struct{ Name, Expected string }{{"cluster-autoscaler@1.33.0", "reproduced"}}})
	chosen, without := l.choose(records)
	if len(chosen) != mostRecords || chosen[1].ID != "h" || chosen[0].Targets[0].Name != "karpenter@v1.7.0" ||
		len(without) != 1 || !strings.HasPrefix(without[0], "clusterapi on cluster-api: ") {
		t.Errorf("%d are chosen, %v, and %q is not", len(chosen), chosen[:2], without)
	}
}

// What is missing, or was changed and is believed, is found.
func TestParts(t *testing.T) {
	for name, of := range map[string]struct {
		does  string
		found string
	}{
		"changed and believed":   {"merges all", "karpenter@v1.6.4 is reproduced"},
		"changed and noticed":    {"merges what is whole", ""},
		"killed and believed":    {"merges all", "a whole of which half was killed is as expected"},
		"killed and not counted": {"merges what is whole", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(faking, of.does)
			l := newFakes(t)
			c := &scratch{l, t.TempDir()}
			var f found
			if strings.HasPrefix(name, "killed") {
				f = l.killShard(t.Context(), c)
			} else {
				from := t.TempDir()
				for _, n := range []string{"1", "2"} {
					if err := l.command(t.Context(), l.shard(from, n)); err.Status != 0 {
						t.Fatal(err.stderr)
					}
				}
				f = l.tamper(t.Context(), c, from, tampering{"a", ofRun + "run.json", "reproduced", "failed"})
			}
			if got := strings.Join(f.Wrong, "; "); f.Left != nil || (of.found == "") != (got == "") || !strings.Contains(got, of.found) {
				t.Errorf("it finds %q, want %q; left %q", got, of.found, f.Left)
			}
		})
	}
}

// merging is a fake that plays a shard of two and stays in its second one, and joins them.
func merging(does string, args []string) int {
	out := args[slices.Index(args, "--out")+1]
	row := func(n, verdict string) table.Row {
		target := map[string]string{"1": plainFixed, "2": plainAffected}[n]
		expected := map[string]string{"1": "healthy", "2": "reproduced"}[n]
		return table.Row{ID: plain, Target: target, Expected: expected, Verdict: verdict, Outcome: "expected", Run: out + "/" + n + "/run"}
	}
	if args[0] == "verify" {
		run := filepath.Join(out, plain, "karpenter")
		if err := os.MkdirAll(run, 0o755); err != nil {
			return 2
		}
		fmt.Fprintln(os.Stderr, begun) // a shard may be killed here
		time.Sleep(500 * time.Millisecond)
		if os.WriteFile(filepath.Join(run, "run.json"), []byte(`reproduced`), 0o600) != nil {
			return 2
		}
		text, _ := json.Marshal([]table.Row{{ID: plain, Target: plainFixed, Expected: "healthy", Verdict: "healthy"}})
		fmt.Println(string(text))
		return 0
	}
	rows, status := []table.Row{row("1", "healthy"), row("2", "reproduced")}, 0
	for n := range rows {
		rows[n].Run = filepath.Join(args[2], fmt.Sprint(n+1), "run")
	}
	text, err := os.ReadFile(filepath.Join(args[2], "2", plain, "karpenter", "run.json"))
	switch {
	case does == "merges all":
	case err != nil:
		rows, status = append(rows[:1], row("2", table.Missing)), 3
	case string(text) != "reproduced":
		rows[1].Verdict, status = "inconclusive", 3
	}
	all, _ := json.Marshal(rows)
	fmt.Println(string(all))
	return status
}

// Each pattern of what is changed is one, so that no attack ends in the middle.
func TestTamperings(t *testing.T) {
	for _, tampering := range tamperings {
		if _, err := regexp.Compile(tampering.from); err != nil {
			t.Errorf("%s: %v", tampering.name, err)
		}
	}
}

// A kind that is tried again has its new row, and others keep theirs.
func TestEarlier(t *testing.T) {
	file := filepath.Join(t.TempDir(), "attack.json")
	if got := earlier(file); got.Rows != nil {
		t.Errorf("of no file: %+v", got)
	}
	all := earlier(file).with(row{Kind: "programs", Made: "a"}).with(row{Kind: "parts", Made: "a", Tried: []tried{{"c", found{}}}})
	if err := all.write(file, "", io.Discard); err != nil {
		t.Fatal(err)
	}
	all = earlier(file).with(row{Kind: "programs", Made: "b"})
	if len(all.Rows) != 2 || all.Rows[0].Kind != "parts" || all.Rows[0].Made != "a" || len(all.Rows[0].Tried) != 1 || all.Rows[1].Made != "b" {
		t.Errorf("%+v", all)
	}
}

// The page says what commands have said only in few words, and links to what there is.
func TestPage(t *testing.T) {
	page := report{Rows: []row{{Title: "a", Tried: []tried{{"b", found{Verdicts: []string{"none (status 2: x y)", "healthy"}}}}}}}.markdown()
	if !strings.Contains(page, "- b: none (status 2), healthy\n") || !strings.HasPrefix(page, "<!-- generated") {
		t.Error(page)
	}
	if _, err := os.Stat("../../../../.github/workflows/nightly.yml"); err != nil {
		t.Error(err)
	}
}
