package clock

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The layout below is shared with overlay/runtime/nodestorm.go.txt, which is
// compiled into every program of a world. pageMagic changes whenever it does.
const (
	pageMagic  = 0x6e6f646573746f31 // "nodesto1"
	pageSize   = 4096
	slotSize   = 1024
	slotCount  = 512 // processes a world can have at once
	lagBuckets = 104
)

// EnvPage names the environment variable that tells a program built with the
// overlay where its world's clock page is.
const EnvPage = "NODESTORM_CLOCK"

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
	lagN    atomic.Uint64
	lagMax  atomic.Int64
	lag     [lagBuckets]atomic.Uint64
}

// page is a mapped clock page. One process, its world's driver, writes the
// header; any may read it.
type page struct {
	path   string
	header *pageHeader
	slots  *[slotCount]slotSpace
}

type slotSpace struct {
	slot
	_ [slotSize - unsafe.Sizeof(slot{})]byte
}

// createPage makes a page at path whose virtual time starts at start and runs
// at 1x.
func createPage(path string, start time.Time) (_ *page, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating the clock page: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size := pageSize + slotCount*slotSize
	if err := f.Truncate(int64(size)); err != nil {
		return nil, fmt.Errorf("creating the clock page: %w", err)
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping the clock page: %w", err)
	}
	p := &page{
		path:   path,
		header: (*pageHeader)(unsafe.Pointer(&mem[0])),
		slots:  (*[slotCount]slotSpace)(unsafe.Pointer(&mem[pageSize])),
	}
	raw := rawNow()
	for i := range p.header.settings {
		p.header.settings[i] = setting{raw: raw, virt: raw, milli: 1000, wall: start.UnixNano() - raw}
	}
	p.header.magic = pageMagic
	return p, nil
}

// close removes the file. The mapping stays, a few touched pages of memory: a
// goroutine that outlives its world may still ask for the time.
func (p *page) close() error { return os.Remove(p.path) }

// rawNow is CLOCK_MONOTONIC, which all processes of a machine share.
func rawNow() int64 {
	var ts unix.Timespec
	// Cannot fail for this clock on Linux.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

func (s setting) at(raw int64) int64 {
	d := raw - s.raw
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

// set puts virtual time at virt or later (never earlier than it is) and runs it
// at milli thousandths from there. Only the driver calls it.
func (p *page) set(virt, milli int64) {
	h := p.header
	seq := h.seq.Load()
	cur := h.settings[seq&1]
	raw := rawNow()
	virt = max(virt, cur.at(raw))
	h.settings[(seq+1)&1] = setting{raw: raw, virt: virt, milli: milli, wall: cur.wall}
	h.seq.Store(seq + 1)
}
