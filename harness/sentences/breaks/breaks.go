// Package breaks has the sentences about faults, and their lists in YAML: what can be broken, and how a step says it.
package breaks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"nodestorm/fakecloud/cloudfault"
	"nodestorm/harness/program/programs"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
	"nodestorm/harness/world/kubelet"
	"nodestorm/sim/fault"
	"nodestorm/sim/fault/apifault"
	"nodestorm/sim/history"
	"nodestorm/sim/machine/node"
)

// breakables are what can be broken, in the order in which people read of them.
var breakables = sync.OnceValue(func() []scene.Breakable {
	all := []scene.Breakable{
		{List: apifault.Rules, Need: always, Of: func(s *scene.Scene) fault.Injector { return ways{s} }},
		{List: cloudfault.Faults, Need: scene.CloudToBreak, Of: func(s *scene.Scene) fault.Injector { return s.Cloud }},
		{List: node.Faults, Need: scene.Cluster, Of: func(s *scene.Scene) fault.Injector { return s.Nodes() }},
	}
	for _, k := range programs.All {
		all = append(all, k.Breaks...)
	}
	return append(all, scene.Breakable{
		List: kubelet.Faults, Need: scene.Kubelet, Of: func(s *scene.Scene) fault.Injector { return s.Kubelets },
	})
})

// Effects are what events call the effects of faults.
func Effects() (all []string) {
	for _, b := range breakables() {
		for _, k := range b.List.Kinds() {
			all = append(all, b.List.Called(k.Effect))
		}
	}
	return all
}

var always = scene.Need{There: func(*scene.Scene) bool { return true }}

// Arm gives the parts of the world their faults.
func Arm(s *scene.Scene, faults []fault.Fault) error {
	for _, f := range faults {
		b := breakables()[slices.IndexFunc(breakables(), func(b scene.Breakable) bool { return b.List.Has(f.Effect) })]
		if err := s.Meet(b.Need); err != nil {
			return err
		}
		if err := b.Of(s).Inject(f); err != nil {
			return err
		}
	}
	return nil
}

// Clear ends a fault before its time.
func Clear(s *scene.Scene, name string) error {
	for _, b := range breakables() {
		if s.Meet(b.Need) == nil && b.Of(s).Clear(name) == nil {
			return nil
		}
	}
	return fmt.Errorf("there is no fault %q that could be cleared", name)
}

// ways are those of programs to the API server.
type ways struct{ s *scene.Scene }

// Inject implements fault.Injector, for the way of the program that the rule is about.
func (w ways) Inject(rule fault.Fault) error {
	match, _ := rule.Match.(apifault.Match)
	program, missing := w.s.Target, scene.TargetRuns.Missing
	if own := programs.Named(match.Client).Way; own != nil { // whose agent is named after its file, and has this way for itself
		program, missing, match.Client = w.s.Programs[match.Client], own.Missing, ""
		rule.Match = match
	} else if program == nil { // it starts with them
		w.s.Rules = append(w.s.Rules, rule)
		return nil
	}
	if program == nil || program.Way() == nil {
		return fmt.Errorf("rule %q: %w", rule.Name, missing)
	}
	return program.Way().Inject(rule)
}

// Clear implements fault.Injector.
func (w ways) Clear(name string) error {
	for _, program := range slices.Sorted(maps.Keys(w.s.Programs)) {
		if way := w.s.Programs[program].Way(); way != nil && way.Clear(name) == nil {
			return nil
		}
	}
	return fmt.Errorf("there is no rule %q", name)
}

// broken are the programs whose ways to the API server are broken, as rules name them.
func broken(faults []fault.Fault) (names []string) {
	for _, f := range faults {
		if match, is := f.Match.(apifault.Match); is {
			names = append(names, match.Client)
		}
	}
	return names
}

var Sentences = sync.OnceValue(func() scene.Sentences {
	all := scene.Sentences{Worlds: "any", Records: "faults (fault)"}
	for _, s := range allSentences() {
		all.Rows = append(all.Rows, s.row())
	}
	all.Rows = append(all.Rows,
		scene.Sentence{Role: scene.Either, Words: `these faults:`, Wants: wantsThese, Check: checkThese, Act: armThese},
		scene.Sentence{Role: scene.Either, Words: `these faults from the file "FILE"`, Wants: wantsThese, Check: checkThese, Act: armThese},
		scene.Sentence{Role: scene.When, Words: `the fault "FAULT" is cleared`, Act: clearFault},
		scene.Sentence{Role: scene.Given, Words: `it is no error if a fault never takes effect`, Act: mayMiss},
		scene.Sentence{Role: scene.When, Words: `all faults are cleared`, Act: clearFaults})
	return all
})

func wantsThese(a words.Args) (scene.Wants, error) {
	these, _ := Parse([]byte(a.Quoted))
	return scene.Wants{Breaks: broken(these)}, nil
}

func checkThese(_ *scene.Feature, a words.Args) error {
	if _, err := Parse([]byte(a.Quoted)); err != nil {
		return fmt.Errorf("its faults: %w", err)
	}
	return nil
}

func armThese(_ context.Context, s *scene.Scene, a words.Args) error {
	these, err := Parse([]byte(a.Quoted))
	if err != nil {
		return err
	}
	return Arm(s, these)
}

// mayMiss is for scenarios that were drawn: whether a fault meets anything is not known
// before, nor whether there is a newest or an oldest object to do something to.
func mayMiss(_ context.Context, s *scene.Scene, _ words.Args) error {
	s.Drawn = true
	s.World.History().Record(history.Event{Source: history.Harness, Verb: history.MayMiss})
	return nil
}

// clearFaults ends all faults that have been armed and are not over. That some are is no
// matter, but one has to have been.
func clearFaults(_ context.Context, s *scene.Scene, _ words.Args) error {
	var names []string
	armed := AllArmed(s)
	for _, f := range armed {
		if f.State != history.Cleared && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	if len(armed) == 0 {
		return errors.New("no fault has been armed that could be cleared")
	}
	for _, name := range names {
		if err := Clear(s, name); err != nil {
			return err
		}
	}
	return nil
}

func clearFault(_ context.Context, s *scene.Scene, a words.Args) error {
	return Clear(s, a.Text(0))
}

// ClearSentence says that a fault is cleared.
func ClearSentence(name string) string {
	return `the fault "` + name + `" is cleared`
}
