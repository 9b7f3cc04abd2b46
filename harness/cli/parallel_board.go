package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// board shows what goes on in several worlds: on a terminal one line for all, elsewhere a
// line when a world comes to another step, and now and then.
type board struct {
	status *status
	mu     sync.Mutex
	worlds map[int]*seen // by player
	done   int
	all    int // 0: nobody knows
}

type seen struct {
	what  string
	now   word
	key   string // of the last plain line
	shown time.Time
}

func newBoard(s *status, all int) *board {
	return &board{status: s, worlds: map[int]*seen{}, all: all}
}

// sees is told what a world does.
func (b *board) sees(nth int, what string, now word) {
	b.mu.Lock()
	defer b.mu.Unlock()
	world := b.worlds[nth]
	if world == nil {
		world = &seen{what: what}
		b.worlds[nth] = world
	}
	world.now = now
	if b.status.terminal == nil {
		key := what + now.Step
		if key != world.key || time.Since(world.shown) >= plainGap {
			world.key, world.shown = key, time.Now()
			b.status.about(key, world.text()+"  "+now.Step, "")
		}
		return
	}
	var worlds []string
	for _, nth := range slices.Sorted(maps.Keys(b.worlds)) {
		worlds = append(worlds, b.worlds[nth].text())
	}
	line := strings.Join(worlds, " | ")
	if b.all > 0 {
		line = fmt.Sprintf("%d of %d done | %s", b.done, b.all, line)
	}
	b.status.show(line)
}

// ended is for a world that is over.
func (b *board) ended(nth int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done++
	delete(b.worlds, nth)
}

// aside tells what is no news of a world: several players may have something to tell.
func (b *board) aside(say func(format string, args ...any), format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status.clear()
	say(format, args...)
}

func (s *seen) text() string { return passed(s.what, s.now.Virtual, s.now.Mean) }

// passed is a world with the time that has passed in it.
func passed(what string, virtual time.Duration, mean float64) string {
	if virtual <= 0 {
		return what
	}
	return fmt.Sprintf("%s  %s  %.0fx", what, virtual.Truncate(time.Second), mean)
}
