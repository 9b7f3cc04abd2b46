package acts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/sim/history"
)

// longestWait is long for whatever autoscalers do: two of their longest timeouts.
const longestWait = time.Hour

// ThisRecorded is how a record is said that is quoted below.
const ThisRecorded = "this is recorded"

// whens is where the history was as the last block of Whens began: the Thens after it count from there.
type whens struct{ asked uint64 }

// Begin notes that a block of Whens begins.
func Begin(s *scene.Scene) { scene.State[whens](s).asked = s.Seq() }

// Asked is where the history was when that was, by the number of its newest record.
func Asked(s *scene.Scene) uint64 { return scene.State[whens](s).asked }

// Await waits for the record, which $name and so on stand for from then on.
func Await(ctx context.Context, s *scene.Scene, a then.Awaited) error {
	since, d, want, seen := Asked(s), longestWait, max(a.Count, 1), 0
	if a.Ever {
		since = 0
	}
	if a.Within > 0 {
		d = time.Duration(a.Within)
	}
	found, err := s.Within(ctx, d, since, func(r history.Entry) bool {
		if a.Matches(r) {
			seen++
		}
		return seen >= want
	})
	switch {
	case errors.Is(err, scene.ErrOver):
		others := a.ByOthers(s.World.History().Since(since))
		if others != "" {
			others = "; " + others
		}
		return fmt.Errorf("waiting for %s: %d of %d records within %s%s", a.Said, seen, want, d, others)
	case err != nil:
		return fmt.Errorf("waiting for %s: %w", a.Said, err)
	}
	s.Awaited = &found
	return nil
}

// awaits are the sentences that do nothing but wait.
var awaits = []scene.Sentence{
	{Role: scene.When, Words: `the scenario waits for DURATION`, Act: pass},
	{Role: scene.Either, Words: `EVENT`, Check: checkWaits(inWordsOf), Act: wait(inWordsOf)},
	{Role: scene.Either, Words: ThisRecorded + `:`, Check: checkWaits(inYAMLOf), Act: wait(inYAMLOf)},
}

// pass lets time pass: what goes on in it is not this step's business.
func pass(ctx context.Context, s *scene.Scene, a words.Args) error {
	return s.Sleep(ctx, a.Duration(0))
}

func inWordsOf(a words.Args) (then.Awaited, error) { return then.InWords(a.Text(0)) }
func inYAMLOf(a words.Args) (then.Awaited, error)  { return then.InYAML(a.Quoted) }

func wait(of func(words.Args) (then.Awaited, error)) func(context.Context, *scene.Scene, words.Args) error {
	return func(ctx context.Context, s *scene.Scene, a words.Args) error {
		record, err := of(a)
		if err != nil {
			return err
		}
		return Await(ctx, s, record)
	}
}

func checkWaits(of func(words.Args) (then.Awaited, error)) func(*scene.Feature, words.Args) error {
	return func(f *scene.Feature, a words.Args) error {
		if _, err := of(a); err != nil {
			return err
		}
		f.Awaited = true
		return nil
	}
}
