//go:build linux

package clock

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"nodestorm/sim/time/clock/overlay"
)

type setting struct {
	raw, virt, milli, wall int64
}

type pageHeader struct {
	magic    uint64
	seq      atomic.Uint64
	settings [2]setting
}

type slot struct {
	pid     atomic.Int32
	epfd    atomic.Int32
	eventfd atomic.Int32
	busy    atomic.Int32
	gen     atomic.Uint64
	wakeAt  atomic.Int64
	_       atomic.Uint64 // lagN: how many timers fired, for debuggers; the driver adds up lag
	lagMax  atomic.Int64
	lag     [overlay.LagBuckets]atomic.Uint64
}

// page is a mapped clock page. One process, its world's driver, writes the
// header; any may read it.
type page struct {
	path   string
	header *pageHeader
	slots  *[overlay.SlotCount]slotSpace
}

type slotSpace struct {
	slot
	_ [overlay.SlotSize - unsafe.Sizeof(slot{})]byte
}

// createPage makes a page at path whose virtual time starts at start and runs
// at 1x.
func createPage(path string, start time.Time) (_ *page, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating the clock page: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	// Written, not only sized: a full disk is an error here, and a SIGBUS later.
	zeros := make([]byte, overlay.PageSize+overlay.SlotCount*overlay.SlotSize)
	if _, err := f.Write(zeros); err != nil {
		return nil, fmt.Errorf("creating the clock page: %w", err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, len(zeros), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping the clock page: %w", err)
	}
	p := &page{
		path:   path,
		header: (*pageHeader)(unsafe.Pointer(&mem[0])),
		slots:  (*[overlay.SlotCount]slotSpace)(unsafe.Pointer(&mem[overlay.PageSize])),
	}
	raw := rawNow()
	for i := range p.header.settings {
		p.header.settings[i] = setting{raw: raw, virt: raw, milli: 1000, wall: start.UnixNano() - raw}
	}
	p.header.magic = overlay.PageMagic
	return p, nil
}

// close removes the file. The mapping stays, a few touched pages of memory: a
// goroutine that outlives its world may still ask for the time.
func (p *page) close() error { return os.Remove(p.path) }

// rawNow is CLOCK_MONOTONIC in ns, which all processes of a machine share. It is
// the runtime's own reading because a system call in its place is where a
// thread that is about to publish a setting would be preempted.
//
//go:linkname rawNow runtime.nanotime
func rawNow() int64

func (s setting) at(raw int64) int64 {
	d := raw - s.raw
	// mutant: the clock runs 1 % fast
	return s.virt + d/1000*s.milli + d%1000*s.milli/1000
}

// now is virtual monotonic time in ns. It never goes back, in any process.
func (p *page) now() int64 {
	h := p.header
	for {
		seq := h.seq.Load()
		s := h.settings[seq&1]
		raw := rawNow()
		if h.seq.Load() == seq {
			return s.at(raw)
		}
	}
}

func (p *page) wallOffset() int64 { return p.header.settings[0].wall }

// slowdown is how far ahead, in raw ns, a slower setting begins: what readers see
// until it is published is not behind them then.
const slowdown = 20_000

// set puts virtual time at virt or later (never earlier than it is) and runs it
// at milli thousandths from there. Only the driver calls it.
func (p *page) set(virt, milli int64) {
	h := p.header
	seq := h.seq.Load()
	cur := h.settings[seq&1]
	for {
		raw := rawNow()
		if milli < cur.milli {
			raw += slowdown
		}
		h.settings[(seq+1)&1] = setting{raw: raw, virt: max(virt, cur.at(raw)), milli: milli, wall: cur.wall}
		if milli >= cur.milli || rawNow() < raw {
			break // or else the thread lost its processor in between
		}
	}
	h.seq.Store(seq + 1)
}
