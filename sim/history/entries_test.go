package history_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nodestorm/sim/history"
)

// stored writes events into a file as a run would.
func stored(t *testing.T, events []history.Entry) *history.Stored {
	t.Helper()
	var text strings.Builder
	var late history.Lateness
	for _, r := range events {
		fmt.Fprintf(&text, `{"seq":%d,"virtual":%d,"real":0,"source":"node","verb":"register"}`+"\n", r.Seq, r.Virtual)
		late.Add(r)
	}
	path := filepath.Join(t.TempDir(), "history.ndjson")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return &history.Stored{Context: t.Context(), Path: path, Late: late.Most}
}

// A stored history has both orders that the one in memory has, however late events arrive.
func TestStoredIsAsInMemory(t *testing.T) {
	for _, late := range []time.Duration{0, 3 * time.Second, time.Hour} {
		random := rand.New(rand.NewPCG(1, uint64(late)))
		var events history.InMemory
		for n := range 2000 {
			virtual := time.Duration(n/3) * time.Second
			if late > 0 {
				virtual = max(0, virtual-time.Duration(random.Int64N(int64(late))))
			}
			events = append(events, history.Entry{Seq: uint64(n + 1), Virtual: virtual, Event: history.Event{Source: history.Node, Verb: "register"}})
		}
		read := stored(t, events)
		seqs := func(events []history.Entry) (all []uint64) {
			for _, r := range events {
				all = append(all, r.Seq)
			}
			return all
		}
		for name, pair := range map[string][2][]history.Entry{
			"arrived": {slices.Collect(read.Arrived()), slices.Collect(events.Arrived())},
			"timed":   {slices.Collect(read.Timed()), slices.Collect(events.Timed())},
		} {
			if got, want := seqs(pair[0]), seqs(pair[1]); len(got) != 2000 || !slices.Equal(got, want) {
				t.Errorf("%s late, %s: %d events in another order", late, name, len(got))
			}
		}
		if read.Err() != nil {
			t.Error(read.Err())
		}
	}
}

func TestStoredSaysWhatItCannotRead(t *testing.T) {
	gone := &history.Stored{Context: t.Context(), Path: filepath.Join(t.TempDir(), "none")}
	if all := slices.Collect(gone.Timed()); len(all) != 0 || gone.Err() == nil {
		t.Errorf("%d events, %v", len(all), gone.Err())
	}
	damaged := stored(t, []history.Entry{{Seq: 1}, {Seq: 2}})
	text, err := os.ReadFile(damaged.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged.Path, append(text, "no event\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if all := slices.Collect(damaged.Arrived()); len(all) != 2 || damaged.Err() == nil || !strings.Contains(damaged.Err().Error(), "line 3") {
		t.Errorf("%d events, %v", len(all), damaged.Err())
	}
}
