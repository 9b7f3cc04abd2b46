package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"nodestorm/reports/story"
	"nodestorm/reports/table"
	"nodestorm/reports/wording"
	"nodestorm/sim/history/vocabulary"
)

// maxRows bounds a table of the page. What the picture shows beyond is in the
// table of events, which the script fills.
const maxRows = 200

// tables are what a run's picture shows, as text: for screen readers, for paper,
// and where no script runs.
type tables struct {
	story.Run
	Events   int
	Sentence string
	Tone     string // of the verdict: good, wrong, failed, waiting
	Evidence []line // how it happened: the evidence
	Steps    []line
	Decided  []line
	Groups   []group
	Absurd   int
	End      time.Duration
}

type line struct {
	At     time.Duration
	Tone   string
	Status string
	Text   string
	Seq    uint64
	Mark   bool
}

type group struct {
	Name  string
	Lives []entry
	More  int // that are not here
}

type entry struct {
	Name  string
	Spans []span
}

type span struct {
	From, To time.Duration
	Label    string
}

func tablesOf(s *story.Story) tables {
	t := tables{Run: printable(s.Run), Events: len(s.Events), Absurd: s.Absurd, End: s.End}
	t.Sentence, t.Tone = sentence(t.Run, s.Steps())
	byGroup := map[string]*group{}
	for i, e := range s.Events {
		if e.Flags&story.Evidence != 0 && len(t.Evidence) < maxRows {
			t.Evidence = append(t.Evidence, line{At: e.Virtual, Text: s.Sentence(i), Seq: e.Seq})
		}
	}
	for _, d := range s.Decisions[:min(len(s.Decisions), maxRows)] {
		t.Decided = append(t.Decided, line{At: d.At, Text: s.Sentence(int(d.Event)), Seq: s.Events[d.Event].Seq})
	}
	for _, l := range s.Lives {
		if l.Group == story.Steps {
			for _, x := range l.Spans {
				t.Steps = append(t.Steps,
					line{At: x.To, Tone: tones[x.Tone], Status: s.Kinds[s.Events[x.Event].Kind].Verb, Text: s.Sentence(int(x.Event))})
			}
			continue
		}
		g := byGroup[l.Group]
		if g == nil {
			g = &group{Name: l.Group}
			byGroup[l.Group] = g
		}
		if len(g.Lives) >= maxRows {
			g.More++
			continue
		}
		e := entry{Name: l.Label}
		for _, x := range l.Spans[:min(len(l.Spans), maxRows)] {
			e.Spans = append(e.Spans, span{x.From, x.To, x.Label})
		}
		g.Lives = append(g.Lives, e)
	}
	for _, of := range append([]vocabulary.Resource{{Group: story.Faults}, {Group: story.Interruptions}}, vocabulary.Resources()...) {
		if g := byGroup[of.Group]; g != nil {
			t.Groups = append(t.Groups, *g)
		}
	}
	return t
}

// printable is a run whose texts have nothing that does not print.
func printable(r story.Run) story.Run {
	for _, text := range []*string{&r.ID, &r.Title, &r.Summary, &r.Mechanism, &r.Issue, &r.Fix, &r.Autoscaler, &r.Target,
		&r.Source, &r.Kubernetes,
		&r.Verdict, &r.Expected, &r.Outcome, &r.Reason, &r.Symptom, &r.Commit, &r.Clock.Mode, &r.Repeat} {
		*text = wording.Clean(*text)
	}
	return r
}

var tones = map[story.Tone]string{story.Neutral: "neutral", story.Waiting: "waiting", story.Good: "good", story.Wrong: "wrong",
	story.Ending: "ending"}

// sentence explains a run's verdict to a reader who sees it for the first time.
func sentence(r story.Run, steps []story.Step) (text, tone string) {
	reason := strings.TrimPrefix(strings.TrimPrefix(r.Reason, "failed: "), "Then ")
	switch r.Verdict {
	case "reproduced":
		for _, step := range steps {
			if step.Status == "failed" && step.Error != "" {
				return fmt.Sprintf("The failure shows: “%s” does not hold (%s).", step.Text, wording.Cut(step.Error, 300)), "wrong"
			}
		}
		failed, _, _ := strings.Cut(reason, "; the symptom is in the history")
		return fmt.Sprintf("The failure shows: %s.", failed), "wrong"
	case "healthy":
		return "The failure does not show: every step of the scenario passed, and the world was undistorted.", "good"
	case "failed":
		if death, ok := strings.CutPrefix(reason, "the target died: "); ok {
			return fmt.Sprintf("The target died: %s.", strings.TrimSuffix(death, ".")), "failed"
		}
		failed, _, _ := strings.Cut(reason, "; not as documented")
		return fmt.Sprintf("Something else fails than is documented: %s.", failed), "failed"
	case "inconclusive":
		return fmt.Sprintf("Nothing may be concluded: %s.", reason), "waiting"
	case "":
		if r.Live {
			return "The run is going on.", "waiting"
		}
		return "The run did not come to its end, so there is no verdict.", "waiting"
	}
	return reason, "waiting"
}

// latest are the programs in the order of how late they were at most, those that were
// later than they may be first.
func latest(programs []table.Program) []table.Program {
	most := func(p table.Program) float64 { return max(p.Max, p.Stopped, p.Disk) }
	sorted := slices.SortedStableFunc(slices.Values(programs), func(a, b table.Program) int {
		if late := a.Distorted != ""; late != (b.Distorted != "") {
			return map[bool]int{true: -1, false: 1}[late]
		}
		return cmp.Compare(most(b), most(a))
	})
	return sorted[:min(len(sorted), maxRows)]
}

// sideBySide are the decisions of the runs, a row each.
func sideBySide(runs []tables) [][]line {
	var rows [][]line
	for n := range maxRows {
		row, any := make([]line, len(runs)), false
		for i, r := range runs {
			if n < len(r.Decided) {
				row[i], any = r.Decided[n], true
			}
		}
		if !any {
			break
		}
		rows = append(rows, row)
	}
	return rows
}
