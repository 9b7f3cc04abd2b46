package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/sim/history"
)

// BenchmarkRecheck judges runs that go on and on: the history of a real one, again and again with
// other objects, until it has as many records as it should. It reports how long that takes and how
// much memory all of this process has had at most.
func BenchmarkRecheck(b *testing.B) {
	run.LimitMemory() // as nodestorm recheck does
	catalogue, record := recordOf(b, replays[0])
	healthy := record.Targets[len(record.Targets)-1]
	played, err := replay.Run(context.Background(), replayOf(b, catalogue, record, healthy))
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(played.Dir, run.HistoryFile)
	story, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range sizes(b, "RECHECK_RECORDS", 100_000, 1_000_000) {
		b.Run(fmt.Sprintf("records=%d", n), func(b *testing.B) {
			if err := errors.Join(tellAgain(path, story, n), run.Reseal(b.Context(), played.Dir)); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				forgetMostMemory(b)
				checked, err := run.Recheck(b.Context(), played.Dir, kept.Records(catalogue))
				if err != nil || len(checked.Doubts) > 0 {
					b.Fatalf("%v, %v", err, checked.Doubts)
				}
				b.ReportMetric(mostMemory(b), "MiB")
				b.ReportMetric(b.Elapsed().Seconds(), "s")
			}
		})
	}
}

// tellAgain writes a history of n records or a few more: a story's, and all but its steps and its end
// again and again, each time later and about objects of other names.
func tellAgain(path string, story []byte, n int) (err error) {
	records, problems := history.Read(bytes.NewReader(story))
	if len(problems) > 0 {
		return problems[0]
	}
	var names []string
	seen := map[string]bool{}
	for _, r := range records {
		switch o := r.Object; o.Resource {
		case "pods", "nodes", "nodeclaims", "instances":
			if !seen[o.Name] && o.Name != "" {
				seen[o.Name] = true
				names = append(names, strconv.Quote(o.Name))
			}
		}
	}
	end := records[len(records)-1]
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	defer func() { err = errors.Join(err, out.Flush(), file.Close()) }()
	written := uint64(0)
	for again := 0; written < uint64(n); again++ {
		var other []string
		for _, name := range names {
			other = append(other, name, strings.TrimSuffix(name, `"`)+fmt.Sprintf(`-%d"`, again))
		}
		renamed := strings.NewReplacer(other...)
		for _, r := range records[:len(records)-1] {
			if again > 0 && r.Source == history.Step {
				continue // a scenario has its steps once
			}
			written++
			r.Seq, r.Virtual, r.Real = written, r.Virtual+time.Duration(again)*end.Virtual, r.Real+time.Duration(again)*end.Real
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			if again > 0 {
				text = []byte(renamed.Replace(string(text)))
			}
			if _, err := out.Write(append(text, '\n')); err != nil {
				return err
			}
		}
		if written >= uint64(n) {
			end.Seq, end.Virtual, end.Real = written+1, time.Duration(again+1)*end.Virtual, time.Duration(again+1)*end.Real
		}
	}
	text, err := json.Marshal(end)
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

// forgetMostMemory has the kernel begin anew to note how much memory we have at most, see proc_pid_clear_refs(5).
func forgetMostMemory(b *testing.B) {
	b.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Fatal(err)
	}
}

// mostMemory is how much that was, in MiB.
func mostMemory(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(after)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
