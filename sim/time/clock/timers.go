//go:build linux

package clock

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

var _ Clock = (*virtualClock)(nil)

// virtualClock keeps our process's own timers; the driver fires them.
type virtualClock struct {
	page *page

	mu     sync.Mutex
	timers timerHeap
	lag    lagHistogram // since the last take
	before lagHistogram // until then
}

func (c *virtualClock) Now() time.Time { return c.wall(c.page.now()) }

// wall has no monotonic reading, so that times of different processes compare.
func (c *virtualClock) wall(mono int64) time.Time { return time.Unix(0, mono+c.page.wallOffset()) }

func (c *virtualClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *virtualClock) After(d time.Duration) <-chan time.Time { return c.NewTimer(d).C() }

func (c *virtualClock) Tick(d time.Duration) <-chan time.Time { return c.NewTicker(d).C() }

// Sleep returns after d of virtual time.
func (c *virtualClock) Sleep(d time.Duration) { <-c.After(d) }

func (c *virtualClock) NewTimer(d time.Duration) clock.Timer { return c.start(d, 0, nil) }

// AfterFunc runs f in its own goroutine after d of virtual time.
func (c *virtualClock) AfterFunc(d time.Duration, f func()) clock.Timer { return c.start(d, 0, f) }

// NewTicker ticks every d, which must be positive; a slow receiver misses ticks.
func (c *virtualClock) NewTicker(d time.Duration) clock.Ticker {
	if d <= 0 {
		panic("clock: non-positive interval for NewTicker")
	}
	return ticker{c.start(d, d, nil)}
}

func (c *virtualClock) start(d, period time.Duration, f func()) *timer {
	t := &timer{clock: c, period: int64(period), f: f, index: -1, ch: make(chan time.Time, 1)}
	t.Reset(d)
	return t
}

// next is the earliest deadline of our own timers in virtual monotonic ns, or
// forever.
func (c *virtualClock) next() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.timers) == 0 {
		return forever
	}
	return c.timers[0].when
}

// fire fires all timers that are due.
func (c *virtualClock) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for now := c.page.now(); len(c.timers) > 0 && c.timers[0].when <= now; {
		t := c.timers[0]
		c.lag.add(now - t.when)
		if t.period > 0 {
			t.when += t.period * (1 + (now-t.when)/t.period)
			heap.Fix(&c.timers, 0)
		} else {
			heap.Pop(&c.timers)
		}
		if t.f != nil {
			go t.f()
			continue
		}
		select {
		case t.ch <- c.wall(now):
		default:
		}
	}
}

// take makes lag begin anew.
func (c *virtualClock) take() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before.merge(c.lag)
	c.lag = lagHistogram{}
}

type timer struct {
	clock  *virtualClock
	when   int64 // virtual monotonic ns
	period int64 // 0: fires once
	index  int   // in the heap; -1: not active
	f      func()
	ch     chan time.Time
}

type ticker struct{ *timer }

func (t ticker) Stop() { t.timer.Stop() }

func (t *timer) C() <-chan time.Time { return t.ch }

// Stop reports whether it stopped the timer before it fired. As with Go 1.23's
// timers, no stale value is received after Stop or Reset, and a timer whose value
// has not been received yet counts as not fired.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.stop()
}

func (t *timer) stop() bool {
	pending := t.index >= 0
	if pending {
		heap.Remove(&t.clock.timers, t.index)
	}
	select {
	case <-t.ch:
		pending = true
	default:
	}
	return pending
}

func (t *timer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	pending := t.stop()
	now := t.clock.page.now()
	t.when = now + min(max(int64(d), 0), forever-now)
	heap.Push(&t.clock.timers, t)
	return pending
}

type timerHeap []*timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].when < h[j].when }
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
