package replay_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nodestorm/features"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/harness/run/verdict"
	"nodestorm/harness/world"
	"nodestorm/harness/world/process/processtest"
	"nodestorm/sim/time/lag"
)

// A program that is stopped for 20 s is named, and nothing is concluded, neither when
// the run ends nor when it is judged again. The log lines are in UTC wherever we are.
func TestStopped(t *testing.T) {
	t.Setenv("TZ", "Asia/Kolkata")
	for _, part := range []string{"karpenter", "kube-apiserver"} {
		t.Run(part, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			r, tmp := request(t)
			stopped := make(chan struct{})
			w := watcher{at: map[string]func(*world.World){when: func(*world.World) {
				go func() {
					defer close(stopped)
					stop(t, tmp, part, 20*time.Second)
				}()
			}}}
			r.Watch, r.Ready = w.step, w.ready
			result, err := replay.Run(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-stopped:
			case <-ctx.Done():
				t.Fatal("the scenario never came to its When")
			}
			gone(t, tmp)
			want := part + ": stopped for "
			if result.Verdict != verdict.Inconclusive || !strings.Contains(result.Reason, want) {
				t.Errorf("%s: %s; want inconclusive with %q", result.Verdict, result.Reason, want)
			}
			for _, p := range result.Clock.Programs { // a loaded machine may make others late as well
				t.Logf("%+v", p)
			}
			catalogue, err := features.Catalogue()
			if err != nil {
				t.Fatal(err)
			}
			again, err := run.Recheck(t.Context(), result.Dir, kept.Records(catalogue))
			if err != nil || again.Now.Verdict != verdict.Inconclusive || !strings.Contains(again.Now.Reason, want) {
				t.Errorf("judged again: %+v, %v; want inconclusive with %q", again.Now, err, want)
			}
			if !slices.ContainsFunc(again.Run.Clock.Programs, func(p lag.Program) bool {
				return p.Name == part && p.Stopped > lag.Longest
			}) {
				t.Errorf("%s does not report it: %+v", run.File, again.Run.Clock.Programs)
			}
			checkZone(t, result)
		})
	}
}

// stop stops a part of the world for some real time.
func stop(t *testing.T, tmp, part string, d time.Duration) {
	for _, p := range processtest.ProcessesUnder(tmp) {
		program, _, _ := strings.Cut(p.Command, " ")
		if !strings.HasPrefix(filepath.Base(program), part) {
			continue
		}
		process, err := os.FindProcess(p.PID) // and never another one with its ID
		if err == nil {
			err = process.Signal(syscall.SIGSTOP)
		}
		if err != nil {
			t.Error(err)
			return
		}
		time.Sleep(d)
		_ = process.Signal(syscall.SIGCONT) // the world may have ended by now
		return
	}
	t.Errorf("no process %s", part)
}

// stamped is when a line was written, by klog, etcd or Karpenter.
var stamped = regexp.MustCompile(`(?m)^(?:[IWEF](\d{4} \d{2}:\d{2}:\d{2})|\{.*?"(?:ts|time)":"([^"]*)")`)

// checkZone looks for log lines at another time than the run's.
func checkZone(t *testing.T, result replay.Result) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(result.Dir, run.LogFolder, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	placed := 0
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range stamped.FindAllStringSubmatch(string(text), -1) {
			at, err := time.Parse("2006 0102 15:04:05", result.Epoch.UTC().Format("2006 ")+m[1])
			if m[2] != "" {
				at, err = time.Parse(time.RFC3339Nano, m[2])
			}
			// The clock began a bit before the history.
			if off := at.Sub(result.Epoch); err != nil || off < -time.Hour || off > result.Clock.Virtual+time.Hour {
				t.Errorf("%s: a line of %q, %s from the run's begin (%v)", filepath.Base(log), m[0], off, err)
				break
			}
			placed++
		}
	}
	if len(logs) < 5 || placed < 20 {
		t.Errorf("%d lines with a time in %d logs", placed, len(logs))
	}
}
