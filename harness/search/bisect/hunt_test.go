package bisect

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"nodestorm/harness/run/verdict"
)

// rig is a made-up target: verdicts by ID, healthy for others.
type rig struct {
	verdicts map[string]verdict.Verdict
	asked    []string
	stopAt   string
}

var errStopped = errors.New("interrupted")

func (r *rig) try(_ context.Context, p Point) (Trial, error) {
	if p.ID == r.stopAt {
		return Trial{}, errStopped
	}
	r.asked = append(r.asked, p.ID)
	v, is := r.verdicts[p.ID]
	if !is {
		v = verdict.Healthy
	}
	return Trial{Name: "v" + p.ID, Verdict: v, Reason: "made up"}, nil
}

func (r *rig) hunt() *Hunt { return &Hunt{Try: r.try, Known: map[string]Trial{}} }

func point(id string) Point { return Point{ID: id} }

func TestEnds(t *testing.T) {
	const healthy, reproduced, failed = verdict.Healthy, verdict.Reproduced, verdict.Failed
	for _, tc := range []struct {
		good, bad   verdict.Verdict
		goodIsOlder bool
		old, new    verdict.Verdict
		says        string
	}{
		{healthy, reproduced, true, healthy, reproduced, ""},
		{healthy, reproduced, false, reproduced, healthy, ""},
		{healthy, failed, true, healthy, failed, ""},
		{reproduced, healthy, true, "", "", "--good v1 is reproduced and --bad v2 is healthy: they are the wrong way round"},
		{healthy, healthy, true, "", "", "are both healthy: nothing changes"},
		{reproduced, reproduced, true, "", "", "are both reproduced"},
		{failed, reproduced, true, "", "", "--good v1 is not healthy but failed"},
		{healthy, "", true, "", "", "--bad v2 has no verdict: made up"},
		{"", "", true, "", "", "--good v1 has no verdict: made up"},
	} {
		r := &rig{verdicts: map[string]verdict.Verdict{"1": tc.good, "2": tc.bad}}
		h := r.hunt()
		err := h.Ends(t.Context(), point("1"), point("2"), tc.goodIsOlder)
		if tc.says == "" && (err != nil || h.Old != tc.old || h.New != tc.new) {
			t.Errorf("%+v: %v, %s to %s", tc, err, h.Old, h.New)
		}
		var sides *SidesError
		if tc.says != "" && (!errors.As(err, &sides) || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}

// What broke and what mended is found, past what does not build and what fails otherwise.
func TestBetween(t *testing.T) {
	for _, broke := range []bool{true, false} {
		r := &rig{verdicts: map[string]verdict.Verdict{}}
		h := r.hunt()
		h.Old, h.New = verdict.Healthy, verdict.Reproduced
		if !broke {
			h.Old, h.New = h.New, h.Old
		}
		for _, p := range chain(30) {
			r.verdicts[p.ID] = h.Old
		}
		for _, p := range chain(30)[:13] { // 29 to 17
			r.verdicts[p.ID] = h.New
		}
		r.verdicts["15"], r.verdicts["14"] = "", verdict.Failed
		first, err := h.FindFirstNew(t.Context(), chain(30))
		if err != nil || !slices.Equal(first, []string{"17"}) {
			t.Errorf("broke %v: %v, %v after %v", broke, first, err, r.asked)
		}
		r.verdicts["16"] = ""
		first, err = r.again(h).FindFirstNew(t.Context(), chain(30))
		if err != nil || !slices.Equal(first, []string{"17", "16", "15", "14"}) {
			t.Errorf("with 16 unknown: %v, %v", first, err)
		}
	}
}

func (r *rig) again(h *Hunt) *Hunt {
	anew := r.hunt()
	anew.Old, anew.New = h.Old, h.New
	r.asked = nil
	return anew
}

// What is known is not asked again.
func TestResumes(t *testing.T) {
	r := &rig{verdicts: map[string]verdict.Verdict{}}
	for _, p := range chain(64)[:20] {
		r.verdicts[p.ID] = verdict.Reproduced
	}
	h := r.hunt()
	h.Old, h.New = verdict.Healthy, verdict.Reproduced
	whole, err := h.FindFirstNew(t.Context(), chain(64))
	if err != nil {
		t.Fatal(err)
	}
	asked := r.asked
	h = r.again(h)
	var kept []string
	h.Learned = func(t Trial) error { kept = append(kept, t.ID); return nil }
	r.stopAt = asked[3]
	if _, err := h.FindFirstNew(t.Context(), chain(64)); !errors.Is(err, errStopped) || !slices.Equal(kept, asked[:3]) {
		t.Fatalf("%v, kept %v of %v", err, kept, asked)
	}
	r.stopAt, r.asked = "", nil
	first, err := h.FindFirstNew(t.Context(), chain(64))
	if err != nil || !slices.Equal(first, whole) || !slices.Equal(r.asked, asked[3:]) {
		t.Errorf("%v, %v: asked %v again, want %v", first, err, r.asked, asked[3:])
	}
}

// Of several changes the last one is followed, and all are counted.
func TestSeveralChanges(t *testing.T) {
	r := &rig{verdicts: map[string]verdict.Verdict{"2": verdict.Reproduced, "3": verdict.Reproduced, "7": verdict.Reproduced, "5": ""}}
	h := r.hunt()
	h.Old, h.New = verdict.Healthy, verdict.Reproduced
	if err := h.TryAll(t.Context(), chain(8)); err != nil {
		t.Fatal(err)
	}
	var trials []Trial
	for _, p := range slices.Backward(chain(8)) {
		trials = append(trials, h.Known[p.ID])
	}
	first, err := h.FindFirstNew(t.Context(), chain(8))
	if err != nil || !slices.Equal(first, []string{"7"}) || h.Changes(trials) != 3 || h.Changes(trials[:3]) != 1 {
		t.Errorf("%v, %v; %d changes", first, err, h.Changes(trials))
	}
}

func TestJudge(t *testing.T) {
	const healthy, reproduced, inconclusive = verdict.Healthy, verdict.Reproduced, verdict.Inconclusive
	for _, tc := range []struct {
		plays []verdict.Verdict
		want  verdict.Verdict
		says  string
	}{
		{[]verdict.Verdict{reproduced}, reproduced, "made up"},
		{[]verdict.Verdict{healthy, healthy}, healthy, "made up"},
		{[]verdict.Verdict{healthy, inconclusive, healthy}, healthy, "made up"},
		{[]verdict.Verdict{healthy, reproduced}, reproduced, "not in every run (1 were healthy)"},
		{[]verdict.Verdict{inconclusive, healthy, inconclusive, inconclusive}, "", "inconclusive 3 times"},
	} {
		left := tc.plays
		var trial Trial
		err := Rules{Healthy: 2, Doubts: 3}.Judge(t.Context(), &trial, func(context.Context) (Played, error) {
			if len(left) == 0 {
				return Played{}, errStopped
			}
			p := Played{Verdict: left[0], Reason: "made up"}
			left = left[1:]
			return p, nil
		})
		if err != nil || len(left) > 0 || trial.Verdict != tc.want || !strings.Contains(trial.Reason, tc.says) || len(trial.Played) != len(tc.plays) {
			t.Errorf("%v: %+v, %v, not played %v", tc.plays, trial, err, left)
		}
	}
}
