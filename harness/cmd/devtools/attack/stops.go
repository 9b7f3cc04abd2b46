package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopped are how long programs are stopped, in real time: about what a busy machine does to them, what
// is surely seen, and longer than most waits of a step.
var stopped = []time.Duration{2 * time.Second, 20 * time.Second, 160 * time.Second}

// coming is how long a program may take to be there after the moment, as one does that is just being restarted.
const coming = 3 * time.Second

// deciding is a replay with the words of the step at which its programs are stopped. What is decided
// then shows in the next one.
type deciding struct{ id, target, at string }

var moments = []deciding{
	{"karpenter-7515-not-ready-noexecute", "karpenter@v1.6.4", "that requests 1 CPU is created"},
	{"bootstrap-7515-kubelet-restart", "karpenter@v1.7.0", `a pod "api" that requests 1 CPU is created`},
	{"clusterapi-10712-paused", "cluster-api@v1.12.0", `is annotated "cluster.x-k8s.io/paused=true"`},
}

// stops has every program stopped that a world has at the deciding moment, but one of a name only once.
func stops(ctx context.Context, l *lab) (cases []attack, without []string) {
	seen := map[string]bool{}
	for _, d := range moments {
		if !l.has(d.target) {
			without = append(without, d.target+" is not in the store")
			continue
		}
		there, undisturbed := l.stopOne(ctx, d, "", 0)
		if undisturbed.Wrong != nil { // others may have made the machine slow
			there, undisturbed = l.stopOne(ctx, d, "", 0)
		}
		if undisturbed.Wrong != nil || undisturbed.Left != nil || len(there) == 0 {
			without = append(without, fmt.Sprintf("%s on %s, which undisturbed is %s, with the programs %v", d.id, d.target, undisturbed, there))
			continue
		}
		for _, name := range there {
			if seen[name] {
				continue
			}
			seen[name] = true
			for _, span := range stopped {
				cases = append(cases, attack{fmt.Sprintf("%s stopped for %s, %s on %s", name, span, d.id, d.target),
					func(ctx context.Context, c *scratch) found {
						_, f := l.stopOne(ctx, d, name, span)
						return f
					}})
			}
		}
	}
	// Another one is the first each night, as there may not be time for all.
	if n := len(cases); n > 0 {
		at := l.round * n / 5 % n
		cases = append(cases[at:len(cases):len(cases)], cases[:at]...)
	}
	return cases, without
}

// stopOne replays, and stops the programs of a name when the moment has come. Without a name it stops
// none, and returns the names of those that were there.
func (l *lab) stopOne(ctx context.Context, d deciding, name string, span time.Duration) (there []string, f found) {
	var once sync.Once
	var stopping sync.WaitGroup
	over, end := context.WithCancel(ctx)
	defer end()
	programs, hit := map[string]bool{}, 0
	moment := func(keeper int) {
		var those []int
		for until := time.Now().Add(coming); hit == 0 && time.Now().Before(until) && over.Err() == nil; time.Sleep(20 * time.Millisecond) {
			for _, p := range descendants(keeper) {
				if p.name == "sh" {
					continue // the one around the command, and guards
				}
				programs[p.name] = true
				if p.name == name && syscall.Kill(p.pid, syscall.SIGSTOP) == nil {
					those = append(those, p.pid)
				}
			}
			hit = len(those)
		}
		timer := time.NewTimer(span)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-over.Done():
		}
		for _, pid := range those {
			_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been ended
		}
	}
	out, err := os.MkdirTemp(l.dir, "runs-")
	if err != nil {
		return nil, found{Wrong: []string{err.Error()}}
	}
	result := l.command(ctx, run{
		args:   []string{"verify", d.id, "--target", d.target, "-v", "-o", "json", "--parallel", "1", "--out", out},
		within: span + 3*time.Minute,
		said: func(line string, keeper int) {
			if strings.Contains(line, d.at) {
				once.Do(func() { stopping.Go(func() { moment(keeper) }) })
			}
		},
	})
	end()
	stopping.Wait()
	f = result.judge(disturbed)
	if name == "" && !slices.Contains(f.Verdicts, expected(result)) {
		f.Wrong = append(f.Wrong, fmt.Sprintf("it is not as expected: %v, %s", result.rows, last(result.stderr)))
	}
	if name != "" && hit == 0 {
		f.Wrong = append(f.Wrong, "the moment did not come: "+last(result.stderr))
	}
	if name == "" {
		return slices.Sorted(maps.Keys(programs)), f
	}
	// A run that was disturbed is played again. What it was judged to be is in its folder.
	read := l.command(ctx, run{args: []string{"recheck", out, "-o", "json"}, within: time.Minute}).judge(disturbed)
	f.Verdicts = nil
	return nil, f.and(read)
}

// expected is what the catalogue says of the only run.
func expected(r ran) string {
	if len(r.rows) != 1 {
		return "one run"
	}
	return r.rows[0].Expected
}
