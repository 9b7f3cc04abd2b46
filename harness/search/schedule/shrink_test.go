package schedule

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nodestorm/sim/strict"
)

// A made-up failure needs a Deployment that is scaled while a fault is there: of forty acts
// that is what is left.
func TestShrink(t *testing.T) {
	d := Drawing{Site: "cluster-autoscaler/externalgrpc", Profile: "churn"}
	var s Schedule
	for seed := uint64(0); len(s.Acts) < 18; seed++ {
		var err error
		if s, err = d.Draw(seed); err != nil {
			t.Fatal(err)
		}
	}
	s.Acts = append(s.Acts, Act{Do: "fault", Fault: `the first call "increase groups" to the cloud is not answered`, For: strict.Duration(61e9)}, Act{Do: "deploy", Name: "last", CPU: 100}, Act{After: strict.Duration(7e9), Do: "scale", Name: "last", Pods: 4})
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	plays, sure := 0, 0
	fails := func(ctx context.Context, s Schedule, surely bool) (bool, error) {
		plays++
		if surely {
			sure++
		}
		faulty := false
		for _, a := range s.Acts {
			faulty = faulty || strings.Contains(a.Fault, "increase groups") && strings.Contains(a.Fault, "not answered")
			if a.Do == "scale" && a.Name == "last" && faulty {
				return true, ctx.Err()
			}
		}
		return false, ctx.Err()
	}
	small, err := Shrink(t.Context(), s, 1, fails)
	if err != nil {
		t.Fatal(err)
	}
	if shows, _ := fails(t.Context(), small, true); !shows || len(small.Acts) != 3 || len(small.Groups) != 1 || small.Rest != 0 || small.Acts[2].Pods != 1 || small.Acts[2].After != 0 {
		t.Errorf("what is left, after %d plays, is\n%s", plays, small.YAML())
	}
	if plays > 150 || sure > plays/3 {
		t.Errorf("it took %d plays, and %d until it was sure", plays, sure)
	}
	check(t, small)

	broken := errors.New("the disk is full")
	left, err := Shrink(t.Context(), s, 1, func(ctx context.Context, s Schedule, surely bool) (bool, error) {
		if len(s.Acts) < 5 {
			return false, broken
		}
		return fails(ctx, s, surely)
	})
	if !errors.Is(err, broken) || len(left.Acts) >= len(s.Acts) {
		t.Errorf("%v, and %d acts are left of %d", err, len(left.Acts), len(s.Acts))
	}
}

// A made-up failure needs a fault to act for a while: what was done during it is left out, and the
// time that it took is not.
func TestShrinkToWaiting(t *testing.T) {
	s := short(t, `{after: 10s, do: fault, fault: 'the first call "list instances" to the cloud is not answered'}, {after: 20s, do: restart}, {after: 30s, do: scale, name: web, pods: 3}, {after: 70s, do: restart}`)
	small, err := Shrink(t.Context(), s, 1, func(_ context.Context, s Schedule, _ bool) (bool, error) {
		armed, acted := false, strict.Duration(0)
		for _, a := range s.Acts {
			if armed {
				acted += a.After
			}
			armed = armed || a.Do == "fault"
		}
		return acted >= strict.Duration(50e9), nil
	})
	if err != nil || len(small.Acts) != 3 || small.Acts[1].Do != "fault" || small.Acts[2].Do != "wait" || small.Acts[2].After >= strict.Duration(110e9) || small.Rest != 0 {
		t.Errorf("%v: what is left is\n%s", err, small.YAML())
	}
	check(t, small)
}

// A made-up failure shows in a play with or without its fault, and surely only with it: the fault is left,
// and all else is left out by single plays, but for what is sure at the end of a sweep.
func TestShrinkIsSure(t *testing.T) {
	s := short(t, `{do: fault, fault: 'the first call "list instances" to the cloud is not answered'}, {after: 20s, do: restart}, {after: 30s, do: scale, name: web, pods: 3}, {after: 70s, do: restart}`)
	small, err := Shrink(t.Context(), s, 1, func(_ context.Context, s Schedule, sure bool) (bool, error) {
		return !sure || slices.ContainsFunc(s.Acts, func(a Act) bool { return a.Do == "fault" }), nil
	})
	if err != nil || len(small.Acts) != 2 || small.Acts[1].Do != "fault" {
		t.Errorf("%v: what is left is\n%s", err, small.YAML())
	}
	check(t, small)
}

// What every further play waits for is made short first: all waits at once. Settings are left out at once, and
// one by one only if one of them matters.
func TestShrinkTogether(t *testing.T) {
	s := short(t, `{after: 3m, do: restart}, {after: 3m, do: restart}, {after: 3m, do: restart}`)
	s.Settings = map[string]string{"--scan-interval": "20s", "--max-pod-eviction-time": "1m", "--expander": "least-waste"}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	var waited, set []int
	small, err := Shrink(t.Context(), s, 1, func(_ context.Context, s Schedule, _ bool) (bool, error) {
		var wait strict.Duration
		for _, a := range s.Acts {
			wait += a.After
		}
		waited, set = append(waited, int(time.Duration(wait).Seconds())), append(set, len(s.Settings))
		return len(s.Acts) == 4, nil
	})
	if err != nil || len(small.Settings) != 0 {
		t.Errorf("%v: what is left is\n%s", err, small.YAML())
	}
	short := slices.IndexFunc(waited, func(seconds int) bool { return seconds <= 40 })
	if short < 0 || short > 3 {
		t.Errorf("the plays wait %v s: the fourth at the latest is short", waited)
	}
	if slices.Contains(set, 1) || slices.Contains(set, 2) {
		t.Errorf("the plays have %v settings: left out one by one, though none matters", set)
	}
}

// What is left is the same however many are tried at a time, and no more are tried once it is known.
func TestShrinkSeveral(t *testing.T) {
	s := short(t, `{do: fault, fault: 'the first call "list instances" to the cloud is not answered'}, {after: 20s, do: restart}, {after: 30s, do: scale, name: web, pods: 3}, {after: 70s, do: restart}`)
	left := map[int]string{}
	for _, atOnce := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) { // whose time passes once all who can be asked are
			var mu sync.Mutex
			now, most := 0, 0
			small, err := Shrink(t.Context(), s, atOnce, func(ctx context.Context, s Schedule, _ bool) (bool, error) {
				count := func(more int) {
					mu.Lock()
					defer mu.Unlock()
					now += more
					most = max(most, now)
				}
				count(1)
				defer count(-1)
				time.Sleep(time.Second)
				scaled := slices.ContainsFunc(s.Acts, func(a Act) bool { return a.Do == "scale" })
				return scaled && slices.ContainsFunc(s.Acts, func(a Act) bool { return a.Do == "restart" }), ctx.Err()
			})
			if err != nil || len(small.Acts) != 3 || now != 0 || most != atOnce {
				t.Errorf("%v: %d at a time of %d, and %d are still asked; what is left is\n%s", err, most, atOnce, now, small.YAML())
			}
			left[atOnce] = string(small.YAML())
		})
	}
	if left[1] != left[4] {
		t.Errorf("one at a time leaves\n%s, four\n%s", left[1], left[4])
	}

	k := &shrinking{ctx: t.Context(), best: s, atOnce: 2, refused: map[string]bool{}, shows: func(ctx context.Context, s Schedule, _ bool) (bool, error) {
		if len(s.Acts) == 4 {
			return true, nil
		}
		<-ctx.Done() // its answer is not needed
		return false, ctx.Err()
	}}
	if i := k.first([]Schedule{s, withoutActs(s, 4, 1), withoutActs(s, 3, 2)}); i != 1 || k.err != nil {
		t.Errorf("of three the second shows it: %d, %v", i, k.err)
	}
}

// short is a schedule of a Deployment and some acts.
func short(t *testing.T, acts string) Schedule {
	t.Helper()
	s, err := Read([]byte(`{site: cluster-autoscaler/externalgrpc, seed: 1, groups: [{name: a, type: medium, max: 9}], rest: 25m, acts: [{do: deploy, name: web, pods: 2, cpu: 500},
` + acts + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The steps that have ended show how many acts have begun, those of the site and of the steady
// state among them, which belong to none.
func TestBegun(t *testing.T) {
	s := short(t, `{after: 10s, do: fault, fault: 'the first call "list instances" to the cloud is not answered'}, {do: restart}`)
	var steps []string
	for line := range strings.Lines(check(t, s)) {
		for _, word := range []string{"    Given ", "    When ", "    Then ", "    And "} {
			if strings.HasPrefix(line, word) {
				steps = append(steps, strings.TrimSpace(strings.TrimPrefix(line, word)))
			}
		}
	}
	want := 0
	for ended, step := range steps { // while that one goes on
		switch {
		case step == "these objects are created:":
			want = 1
		case strings.Contains(step, "list instances"):
			want = 2
		case strings.Contains(step, "killed"), strings.Contains(step, "restart"):
			want = 3
		}
		if got := s.Begun(ended); got != want {
			t.Errorf("while %q goes on %d acts have begun, want %d", step, got, want)
		}
	}
	if got := s.Begun(1000); want != 3 || got != 3 {
		t.Errorf("at the end %d of %d acts have begun", got, want)
	}
	rested, hurried := s.Truncate(2)
	if len(rested.Acts) != 2 || rested.Rest != s.Rest || len(hurried.Acts) != 2 || hurried.Rest != 0 || len(s.Acts) != 3 {
		t.Errorf("up to the second act there is\n%s, and without the rest\n%s", rested.YAML(), hurried.YAML())
	}
	if all, _ := s.Truncate(3); len(all.Acts) != 3 {
		t.Errorf("up to the last act there is\n%s", all.YAML())
	}
}
