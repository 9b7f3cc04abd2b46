//go:build linux

package clock

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func testPage(t *testing.T, start time.Time) *page {
	t.Helper()
	p, err := createPage(filepath.Join(t.TempDir(), "clock"), start)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Readers see no step back, whatever the writer does.
func TestTimeNeverGoesBack(t *testing.T) {
	p := testPage(t, time.Now())
	const sets = 200_000
	var set atomic.Int64 // the present one
	type step struct {
		first, last int64 // sets that it may have come with
		by          time.Duration
	}
	var mu sync.Mutex
	var back []step
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			before := set.Load()
			for last := p.now(); before < sets; {
				during := set.Load()
				now := p.now()
				if now < last {
					mu.Lock()
					back = append(back, step{before, set.Load(), time.Duration(last - now)})
					mu.Unlock()
				}
				before, last = during, now
			}
		})
	}
	wall := p.wallOffset()
	late := make([]bool, sets+1)
	for i := range sets {
		before := p.now()
		began := rawNow()
		switch i % 6 {
		case 0:
			p.set(0, 60_000) // faster
		case 1:
			p.set(0, 1000) // slower
		case 2:
			p.set(before+int64(time.Second), 1000) // a jump
			if d := p.now() - before; d < int64(time.Second) {
				t.Errorf("a jump of 1s went %s ahead", time.Duration(d))
			}
		case 3:
			p.set(before-int64(time.Hour), 10_000_000) // a jump back is none
		case 4:
			p.set(before, 100)
		case 5:
			p.set(0, 1000)
		}
		// Here the writer lost its processor, and may have between its last look
		// at the time and the publication of a slower setting.
		late[i] = rawNow()-began > slowdown
		set.Add(1)
	}
	readers.Wait()
	for _, s := range back {
		if !slices.Contains(late[s.first:s.last+1], true) {
			t.Errorf("time went back by %s in sets %d to %d", s.by, s.first, s.last)
		}
	}
	for _, s := range p.header.settings {
		if s.wall != wall {
			t.Errorf("the distance to wall time was %d and is %d", wall, s.wall)
		}
	}
}

// A slower setting begins ahead of its publication: at that moment it is not
// behind the faster one, which readers have seen until then.
func TestSlowingDown(t *testing.T) {
	p := testPage(t, time.Now())
	ahead := 0
	for range 1000 {
		p.set(0, 60_000)
		fast := p.header.settings[p.header.seq.Load()&1]
		p.set(0, 1000)
		slow := p.header.settings[p.header.seq.Load()&1]
		published := rawNow()
		if published > slow.raw {
			continue // something else ran in between
		}
		ahead++
		if back := fast.at(published) - slow.at(published); back > 0 {
			t.Fatalf("time went back by %s", time.Duration(back))
		}
	}
	if ahead == 0 {
		t.Error("no slower setting began ahead of its publication")
	}
}

// At a rate, time passes at that rate: between two readings as much as between
// the raw readings around and within them.
func TestRate(t *testing.T) {
	p := testPage(t, time.Now())
	for _, milli := range []int64{1000, 60_000, 100, 10_000_000, 2500} {
		p.set(0, milli)
		outer := rawNow()
		v0 := p.now()
		inner := rawNow()
		for rawNow()-inner < int64(5*time.Millisecond) {
		}
		within := rawNow() - inner
		v1 := p.now()
		around := rawNow() - outer
		at := func(d int64) int64 { return d * milli / 1000 }
		if v1-v0 < at(within)-at(1000) || v1-v0 > at(around)+at(1000) {
			t.Errorf("at %d/1000, %s of virtual time in between %s and %s", milli, time.Duration(v1-v0), time.Duration(within), time.Duration(around))
		}
	}
}

func TestPageStart(t *testing.T) {
	start := time.Date(2031, 2, 3, 4, 5, 6, 7, time.UTC)
	outer := rawNow()
	p := testPage(t, start)
	got := p.now() + p.wallOffset() - start.UnixNano()
	if got < 0 || got > rawNow()-outer {
		t.Errorf("the page starts %s after the time asked for", time.Duration(got))
	}
}

func TestPageErrors(t *testing.T) {
	there := filepath.Join(t.TempDir(), "clock")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		there:                             "file exists",
		filepath.Join(there, "clock"):     "not a directory",
		filepath.Join(there+"s", "clock"): "no such file",
	} {
		_, err := NewDriver(Config{Path: path})
		if msg := errText(err); !strings.Contains(msg, path) || !strings.Contains(msg, want) {
			t.Errorf("a page at %s: error %q, want the path and %q", path, msg, want)
		}
	}
	if b, err := os.ReadFile(there); err != nil || string(b) != "mine" {
		t.Errorf("a file that was there is %q, %v", b, err)
	}
}
