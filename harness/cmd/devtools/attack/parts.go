package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"nodestorm/reports/table"
)

// begun is a step by which a world goes on; there is something to lose.
const begun = "Karpenter with a NodePool"

// parts have commands killed, and what others read then; and shards changed before they are joined.
func parts(ctx context.Context, l *lab) (cases []attack, without []string) {
	for _, target := range []string{plainAffected, plainFixed} {
		if !l.has(target) {
			return nil, []string{target + " is not in the store"}
		}
	}
	cases = []attack{
		{"--parallel 2, and the command is killed", l.kill(first)},
		{"--parallel 2, and one that plays is killed", l.kill(second)},
		{"--parallel 2, and all of nodestorm is killed", l.kill(all)},
		{"a shard is killed, and both are joined", l.killShard},
	}
	dir, err := os.MkdirTemp(l.dir, "shards-")
	if err != nil {
		return nil, []string{err.Error()}
	}
	for _, n := range []string{"1", "2"} {
		result := l.command(ctx, l.shard(dir, n))
		if result.Status != 0 {
			return cases, []string{"changed parts: shard " + n + " is not as expected: " + last(result.stderr)}
		}
	}
	for _, t := range tamperings {
		cases = append(cases, attack{"changed and joined: " + t.name, func(ctx context.Context, c *scratch) found {
			return l.tamper(ctx, c, dir, t)
		}})
	}
	return cases, nil
}

func (l *lab) shard(dir, n string) run {
	return run{args: []string{"verify", plain, "-v", "--shard", n + "/2", "--parallel", "1", "-o", "json", "--out", filepath.Join(dir, n)},
		within: 2 * time.Minute}
}

// Of the processes of nodestorm, the command comes before those that play for it.
func first(pids []int) []int  { return pids[:1] }
func second(pids []int) []int { return pids[1:min(2, len(pids))] }
func all(pids []int) []int    { return pids }

// kill kills some of nodestorm's processes once two worlds have begun. What is there then may not be
// other than the catalogue expects, for this command or for who reads its runs.
func (l *lab) kill(which func(pids []int) []int) func(context.Context, *scratch) found {
	return func(ctx context.Context, c *scratch) found {
		out := filepath.Join(c.dir, "out")
		hit := 0
		r := run{args: []string{"verify", plain, "-v", "-o", "json", "--parallel", "2", "--out", out}, within: 3 * time.Minute}
		r.said = l.killing(2, which, &hit)
		f := l.command(ctx, r).judge(disturbed)
		if hit == 0 {
			f.Wrong = append(f.Wrong, "nothing could be killed")
		}
		return f.and(l.command(ctx, run{args: []string{"recheck", out, "-o", "json"}, within: time.Minute}).judge(disturbed))
	}
}

// killing kills once so many lines have said that a world has begun.
func (l *lab) killing(lines int, which func(pids []int) []int, hit *int) func(string, int) {
	var one sync.Mutex
	seen := map[string]bool{}
	return func(line string, keeper int) {
		one.Lock()
		defer one.Unlock()
		if !strings.Contains(line, begun) {
			return
		}
		if seen[target.FindString(line)] = true; len(seen) < lines || *hit > 0 {
			return
		}
		var pids []int
		for _, p := range descendants(keeper) {
			if p.name == filepath.Base(l.nodestorm) {
				pids = append(pids, p.pid)
			}
		}
		if len(pids) == 0 {
			return
		}
		for _, pid := range which(pids) {
			if killed(pid) == nil {
				*hit++
			}
		}
	}
}

var target = regexp.MustCompile(`\w+@v[\d.]+`)

// killShard kills one of two shards. Both together are not as expected then.
func (l *lab) killShard(ctx context.Context, c *scratch) found {
	whole := l.command(ctx, l.shard(c.dir, "1"))
	hit := 0
	r := l.shard(c.dir, "2")
	r.said = l.killing(1, all, &hit)
	half := l.command(ctx, r)
	f := whole.judge(disturbed)
	f.Left = append(f.Left, half.Left...)
	joined := l.command(ctx, merge(c.dir, "merged"))
	read := joined.judge(func(row table.Row) bool { return disturbed(row) || row.Verdict == table.Missing })
	// mutant: what is missing is as expected
	if joined.Status == 0 || hit == 0 {
		f.Wrong = append(f.Wrong, "a whole of which half was killed is as expected: "+last(joined.stderr))
	}
	return f.and(read)
}

// tampering changes what shards have left.
type tampering struct {
	name string
	// file is what is changed, of the second shard.
	file     string
	from, to string // a pattern, and what comes in its place
}

const ofRun = "karpenter-*/*/"

var tamperings = []tampering{
	{"the verdict in a shard's file", "shard.json", `"verdict": "(reproduced|healthy)"`, `"verdict": "failed"`},
	{"what is expected in a shard's file", "shard.json", `"expected": "(reproduced|healthy)"`, `"expected": "failed"`},
	{"the number of a part", "shard.json", `"number": \d`, `"number": 1`},
	{"the number of parts", "shard.json", `"of": 2`, `"of": 3`},
	{"the target in a shard's file", "shard.json", `karpenter@v1\.[67]\.\d"`, `karpenter@v1.5.0"`},
	{"the flags of a shard", "shard.json", `"--output=json"`, `"--all=true"`},
	{"another nodestorm", "shard.json", `"program": "[0-9a-f]{8}`, `"program": "00000000`},
	{"a shard's file ends early", "shard.json", `(?s)"rows".*`, ``},
	{"a shard's file without rows", "shard.json", `(?s)"rows": \[.*\n  \]`, `"rows": []`},
	{"the verdict in a run", ofRun + "run.json", `"verdict": "(reproduced|healthy)"`, `"verdict": "failed"`},
	{"the target of a run", ofRun + "run.json", `"version": "v1\.[67]\.\d"`, `"version": "v1.5.0"`},
	{"the digest of a run's target", ofRun + "run.json", `"sha256": "[0-9a-f]{8}`, `"sha256": "00000000`},
	{"the lag of a run", ofRun + "run.json", `"max": \d+`, `"max": 1`},
	{"records that are gone from a history", ofRun + "history.ndjson", `(?m)^.*nodeclaims.*\n`, ``},
	{"a history that ends early", ofRun + "history.ndjson", `(?s)^((?:[^\n]*\n){50}).*`, `$1`},
	{"a name in a history", ofRun + "history.ndjson", `nodeclaims`, `nodeclass`},
	{"an empty history", ofRun + "history.ndjson", `(?s).*`, ``},
}

// change changes the file below dir.
func (t tampering) change(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, t.file))
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return fmt.Errorf("the files %s in %s are %v", t.file, dir, files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return err
	}
	changed := regexp.MustCompile(t.from).ReplaceAll(text, []byte(t.to))
	if slices.Equal(changed, text) {
		return fmt.Errorf("nothing in %s is %s", t.file, t.from)
	}
	return os.WriteFile(files[0], changed, 0o600)
}

// tamper joins shards of which one file was changed. No other verdict than before may come of it, and
// none at all of a changed run.
func (l *lab) tamper(ctx context.Context, c *scratch, from string, t tampering) (f found) {
	before := map[string]string{}
	for _, n := range []string{"1", "2"} {
		dir := filepath.Join(c.dir, n)
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(from, n))); err != nil {
			return found{Wrong: []string{err.Error()}}
		}
	}
	whole := l.command(ctx, merge(c.dir, "before"))
	for _, row := range whole.rows {
		before[row.Target] = row.Verdict
	}
	if err := t.change(filepath.Join(c.dir, "2")); err != nil || len(before) != 2 || whole.Status != 0 {
		return found{Wrong: []string{fmt.Sprintf("before it was %v: %s; %v", before, last(whole.stderr), err)}}
	}
	result := l.command(ctx, merge(c.dir, "after"))
	return result.judge(func(row table.Row) bool {
		if slices.Contains([]string{"inconclusive", table.Missing, table.Skipped}, row.Verdict) {
			return true
		}
		// mutant: a changed run is believed
		if strings.HasPrefix(t.file, ofRun) && strings.Contains(row.Run, filepath.Join(c.dir, "2")+"/") {
			return false
		}
		return before[row.Target] == row.Verdict && row.Outcome == "expected"
	})
}

// merge joins what shards have left in a folder, into one of a name in it.
func merge(dir, into string) run {
	return run{args: []string{"nightly", "merge", dir, "-o", "json", "--out", filepath.Join(dir, into)}, within: time.Minute}
}
