package world

import (
	"context"
	"errors"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"nodestorm/sim/history"
)

// A full disk ends the world while it happens, and is named with the way out.
func TestFullDisk(t *testing.T) {
	for name, of := range map[string]struct {
		out, tmp string
		wayOut   string
	}{
		"out":    {t.TempDir(), "/dev/shm", "--out"},
		"TMPDIR": {"/proc", t.TempDir(), "TMPDIR"}, // /proc has no size
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			w := &World{cfg: Config{Out: of.out}, tmp: of.tmp, history: history.New(time.Time{}, clocktesting.NewFakePassiveClock(time.Now()))}
			w.ctx, w.fail = context.WithCancelCause(ctx)
			w.watchDisks(math.MaxInt64)
			err := w.Err()
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), of.wayOut) {
				t.Errorf("the world says %v", err)
			}
			if got := w.history.Events(); len(got) != 1 || got[0].Verb != history.Died {
				t.Errorf("the history has %v", got)
			}
		})
	}
	if err := (disk{t.TempDir(), ""}).check(1); err != nil {
		t.Errorf("with room: %v", err)
	}
}
