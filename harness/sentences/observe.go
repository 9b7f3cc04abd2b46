package sentences

import (
	"context"
	"errors"
	"strings"

	"github.com/cucumber/godog"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/words"
	"nodestorm/scenarios"
	"nodestorm/sim/history"
)

// observe registers Thens that observe the history.
func observe(on sentences, thens []then.Sentence) {
	for _, t := range thens {
		on.Then(words.New(t.Words).Pattern().String(), t)
	}
}

// live is godog, which is given a function that waits for each observation.
type live struct {
	sentences
	s *scenario
}

func (l live) Then(pattern, do any) {
	if t, is := do.(then.Sentence); is {
		do = l.s.waiting(t)
	}
	l.sentences.Then(pattern, do)
}

// waiting is the step that judges what a sentence observes.
func (s *scenario) waiting(t then.Sentence) any {
	e := words.New(t.Words)
	judge := func(ctx context.Context, quoted string) error {
		args, _ := e.Match(s.text)
		args.Quoted, s.quoted = quoted, quoted
		o, err := t.Observation(args)
		if err != nil {
			return err
		}
		return s.holds(ctx, o)
	}
	switch docString := strings.HasSuffix(t.Words, ":"); {
	case docString && len(e.Arguments) > 1:
		return func(ctx context.Context, _ string, text *godog.DocString) error { return judge(ctx, text.Content) }
	case docString:
		return func(ctx context.Context, text *godog.DocString) error { return judge(ctx, text.Content) }
	case t.Quotes():
		return func(ctx context.Context) error {
			name, _ := scenarios.FileOf(s.text)
			text, err := readBeside(s.rig.Beside, name)
			if err != nil {
				return err
			}
			return judge(ctx, string(text))
		}
	}
	return func(ctx context.Context) error { return judge(ctx, "") }
}

// holds judges an observation live: it waits until it is decided or its window is over.
func (s *scenario) holds(ctx context.Context, o then.Observation) (found error) {
	j := then.NewJudge(o, s.world.History().Since(0))
	for seen := uint64(0); ; {
		at := j.Next()
		wait := s.world.History().Start().Add(at).Sub(s.world.Clock().Now())
		_, err := s.within(ctx, max(wait, 0), seen, func(r history.Record) (decided bool) {
			seen = r.Seq
			decided, found = j.Take(r)
			return decided
		})
		if !errors.Is(err, errWindow) {
			return errors.Join(found, err)
		}
		if decided, err := j.At(at); decided {
			return err
		}
	}
}
