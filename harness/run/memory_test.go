package run_test

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/run"
	"nodestorm/harness/run/kept"
	"nodestorm/sim/history"
)

// liveHeap is the size of what the heap still references.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // what finalizers kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// renewals are events that no judgement asks for: n of them, with the end of the run. They
// are made as they are read, and at some of them the live heap is looked at.
type renewals struct {
	n    int
	most int64
}

func (l *renewals) record(seq int) history.Entry {
	e := history.Event{Source: history.API, Verb: "update", Actor: "sim-node", Code: 200,
		Object: history.Object{Resource: "leases", Namespace: "kube-node-lease", Name: fmt.Sprint("node-", seq%100)},
		Detail: detail{"holder": fmt.Sprint("node-", seq%100), "renewed": fmt.Sprint(seq), "seconds": float64(40)}}
	if seq == l.n {
		e = history.Event{Source: history.Harness, Verb: history.Ended}
	}
	return history.Entry{Seq: uint64(seq), Virtual: time.Duration(seq) * 10 * time.Millisecond, Event: e}
}

func (l *renewals) Arrived() iter.Seq[history.Entry] {
	return func(yield func(history.Entry) bool) {
		for seq := 1; seq <= l.n; seq++ {
			if seq%(l.n/4) == 0 {
				l.most = max(l.most, liveHeap())
			}
			if !yield(l.record(seq)) {
				return
			}
		}
	}
}
func (l *renewals) Timed() iter.Seq[history.Entry] { return l.Arrived() }
func (*renewals) Err() error                       { return nil }

// growth is how much more the live heap may be with ten times the events: a part of what
// the events themselves are, which is some 100 MiB. The fewer are enough to fill what is read through.
const growth = 4 << 20

// A judgement needs no more memory for a longer history.
func TestJudgeKeepsNoHistory(t *testing.T) {
	record, err := load(t).Lookup(scenario)
	if err != nil {
		t.Fatal(err)
	}
	r := run.Run{ID: scenario, Target: builds.Manifest{Ref: builds.Ref{Name: "karpenter", Version: "v1.6.4"}}}
	var most [2]int64
	for i, n := range []int{10_000, 100_000} {
		l := &renewals{n: n}
		run.Judge(r, record, l)
		most[i] = l.most
	}
	if more := most[1] - most[0]; most[0] == 0 || more > growth {
		t.Errorf("of 10,000 events the live heap is %d bytes, of 100,000 it is %d more, want %d at most", most[0], more, int64(growth))
	}
}

// Neither does reading it, in whichever order, and what a recheck returns holds none of it.
func TestRecheckKeepsNoHistory(t *testing.T) {
	dir, _ := store(t, "passed", launched[:5]...)
	catalogue := load(t)
	path := filepath.Join(dir, run.HistoryFile)
	var most [2]int64
	for i, n := range []int{10_000, 100_000} {
		l := &renewals{n: n}
		write(t, path, l)
		before := liveHeap()
		checked, err := run.Recheck(t.Context(), dir, kept.Records(catalogue))
		if err != nil {
			t.Fatal(err)
		}
		if len(checked.Doubts) == 0 {
			t.Fatal("a history that is not the run's is not doubted")
		}
		look := func() { most[i] = max(most[i], liveHeap()-before) }
		look()
		read := 0
		for range checked.Events.Timed() {
			if read++; read%(n/4) == 0 {
				look()
			}
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		problems := history.Scan(file, func(r history.Entry) {
			if r.Seq%uint64(n/4) == 0 {
				look()
			}
		})
		_ = file.Close()
		if read != n || len(problems) > 0 {
			t.Fatalf("%d of %d events, %v", read, n, problems)
		}
		runtime.KeepAlive(checked)
	}
	if more := most[1] - most[0]; more > growth {
		t.Errorf("of 10,000 events reading takes %d bytes, of 100,000 it is %d more, want %d at most", most[0], more, int64(growth))
	}
}

func write(t *testing.T, path string, l *renewals) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	for r := range l.Timed() {
		fmt.Fprintf(out, `{"seq":%d,"virtual":%d,"real":%d,"source":%q,"verb":%q,"object":{"resource":%q,"namespace":%q,"name":%q},"actor":%q,"code":%d,"detail":{"holder":%q}}`+"\n",
			r.Seq, r.Virtual, r.Virtual, r.Source, r.Verb, r.Object.Resource, r.Object.Namespace, r.Object.Name, r.Actor, r.Code, r.Object.Name)
	}
	if err := errors.Join(out.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
}
