package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"nodestorm/harness/builds"
	"nodestorm/harness/builds/buildstore"
	"nodestorm/harness/replay"
	"nodestorm/harness/run"
	"nodestorm/harness/search/bisect"
)

// stateFile is what one question has taught, so that a second call goes on.
type stateFile struct {
	Question []string       `json:"question"`
	Trials   []bisect.Trial `json:"trials"`

	dir, path string
}

func (f *stateFile) known() map[string]bisect.Trial {
	known := map[string]bisect.Trial{}
	for _, t := range f.Trials {
		known[t.ID] = t
	}
	return known
}

// remember reads what an earlier call with the same question has learned. The runs of
// both calls are below one folder.
func (b *bisection) remember(at ends) error {
	from := b.module
	if at.repo != nil {
		from = at.repo.Name
	}
	b.state = &stateFile{Question: []string{b.record.ID, from, at.good, at.bad, b.pkg, b.provider, fmt.Sprint(b.tags), fmt.Sprint(b.rules), fmt.Sprint(b.seed), b.clock.String(), b.manifest, fmt.Sprint(b.with), b.other,
		run.RecordDigest(b.record), b.cloud}}
	if b.features != nil {
		if text, err := fs.ReadFile(b.features, b.record.Feature); err == nil {
			b.state.Question = append(b.state.Question, fmt.Sprintf("%x", sha256.Sum256(text)))
		}
	}
	if b.autoscaler != "" {
		b.state.Question = append(b.state.Question, b.autoscaler)
	}
	question, err := json.Marshal(b.state.Question)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(question)
	b.state.dir = filepath.Join(b.out, "bisect", b.record.ID, hex.EncodeToString(sum[:4]))
	b.state.path = filepath.Join(b.state.dir, "bisect.json")
	b.out = b.state.dir
	if err := os.MkdirAll(b.state.dir, 0o755); err != nil {
		return usage(fmt.Errorf("--out: %w", err))
	}
	text, err := os.ReadFile(b.state.path)
	if errors.Is(err, fs.ErrNotExist) || b.anew {
		return nil
	}
	var earlier stateFile
	if err == nil {
		err = json.Unmarshal(text, &earlier)
	}
	if err != nil {
		return usage(fmt.Errorf("what was learned is damaged (%s: %w): --anew forgets it", b.state.path, err))
	}
	for _, t := range earlier.Trials {
		if t.Verdict == "" {
			continue // it could not be built, or told, which may be otherwise now
		}
		if _, err := os.Stat(t.Run()); err != nil {
			continue // its run was removed: it is shown again
		}
		b.state.Trials = append(b.state.Trials, t)
	}
	if n := len(b.state.Trials); n > 0 {
		b.say("going on with %s learned earlier (%s); --anew forgets them", counted(n, "answer"), b.state.path)
	}
	return nil
}

// learned keeps a trial, and says it.
func (b *bisection) learned(t bisect.Trial) error {
	b.state.Trials = append(b.state.Trials, t)
	text, err := json.MarshalIndent(b.state, "", "  ")
	if err == nil {
		err = run.WriteFile(b.state.dir, filepath.Base(b.state.path), append(text, '\n'))
	}
	played := 0.0
	for _, p := range t.Played {
		played += p.Seconds
	}
	said := string(t.Verdict)
	if t.Verdict == "" {
		said = "skipped: " + t.Reason
	} else if b.hunt.State(t) == bisect.Skipped && b.hunt.Old != "" {
		said += ", as neither end is, so skipped: " + t.Reason
	}
	b.status.clear()
	b.say("%s: %s (built or found in %.0f s, %s in %.0f s)", t.Name, said, t.BuildSeconds, counted(len(t.Played), "run"), played)
	return err
}

func (b *bisection) progress(p bisect.Point, left, steps int) {
	b.status.clear()
	if left == 0 {
		b.say("asking %s", b.name(p.ID))
		return
	}
	b.say("asking %s; it could be any of %d, about %s to go", b.name(p.ID), left, counted(steps, "step"))
}

// name is what people call a candidate: a tag and the start of its commit.
func (b *bisection) name(id string) string {
	c := b.points[id]
	if c.commit == "" || c.name == c.commit || c.name == c.commit[:12] {
		return c.name
	}
	return fmt.Sprintf("%s (%.12s)", c.name, c.commit)
}

// try builds a candidate and plays it until its verdict is certain.
func (b *bisection) try(ctx context.Context, p bisect.Point) (bisect.Trial, error) {
	t := bisect.Trial{Name: b.name(p.ID)}
	begin := time.Now()
	build, err := b.built(ctx, b.points[p.ID])
	t.BuildSeconds = time.Since(begin).Seconds()
	if err != nil {
		if ctx.Err() != nil || fatal(err) {
			return t, err
		}
		t.Reason = "it cannot be built: " + err.Error()
		return t, nil
	}
	t.Target = build.Ref.String()
	if err := replay.CheckClock(b.clock, build); err != nil {
		return t, usage(err)
	}
	return t, b.judge(ctx, &t, build)
}

// judge plays a build until its verdict is certain.
func (b *bisection) judge(ctx context.Context, t *bisect.Trial, build builds.Target) error {
	if err := b.checkManifest(ctx, []job{{record: b.record, target: build}}); err != nil {
		return err
	}
	return b.rules.Judge(ctx, t, func(ctx context.Context) (bisect.Played, error) {
		result, row, err := b.replay(ctx, b.record, build, "")
		return bisect.Played{Verdict: result.Verdict, Reason: row.Reason, Run: result.Dir, Seconds: row.WallSeconds}, err
	})
}

// fatal tells of errors that no other candidate would be without.
func fatal(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.As(err, new(*buildstore.NoCheckoutError))
}

// built is a candidate's build: one that the store has of the commit, or a new one.
func (b *bisection) built(ctx context.Context, c candidate) (builds.Target, error) {
	if c.commit == "" {
		if t, err := b.store.Get(c.recipe.Ref); err == nil {
			return t, nil
		}
	} else if t, there := b.store.OfCommit(c.recipe, c.commit); there {
		return t, nil
	}
	return b.env.build(ctx, c.recipe)
}
