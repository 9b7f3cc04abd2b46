// Package validation finds what is wrong with the steps of a scenario before anything starts.
package validation

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/acts"
	"nodestorm/harness/sentences/requirements"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/stepdef"
	"nodestorm/harness/sentences/words"
	"nodestorm/scenarios/given"
	"nodestorm/sim/strict"
)

// Steps finds a step that no sentence matches, a scenario without a cluster, or what a
// step quotes and no world could take, before anything starts. beside is the folder of the
// feature, with the files that the steps name; nil if there is none.
func Steps(steps []*messages.PickleStep, beside fs.FS) error {
	if len(steps) == 0 {
		return errors.New("it has no steps")
	}
	if wrong := Problems(steps, beside); len(wrong) > 0 {
		return wrong[0].Err
	}
	return nil
}

// Problem is something wrong with a step, by its index.
type Problem struct {
	Step int
	Err  error
}

// mostMeant is for how many steps of a scenario it is guessed what they might mean.
const mostMeant = 20

// Problems are all that Steps would find, one after the other.
func Problems(steps []*messages.PickleStep, beside fs.FS) (wrong []Problem) {
	feature, made, cloud := &scene.Feature{Beside: beside}, Made(steps, beside), requirements.System(steps)
	var owes []int // the steps of feature.Owed
	unread := false
	for i, said := range steps {
		m, err := stepdef.Find(said, beside)
		now, isOld := words.Newer(said.Text, cloud)
		switch {
		// mutant: a step with old words is played
		case isOld:
			err = fmt.Errorf("its step %q is called %q now: nodestorm lint --fix rewrites it", stepdef.Said(said), now)
		case errors.Is(err, stepdef.ErrUndefined):
			err, unread = unknown(said, len(wrong) < mostMeant), true
		case i == 0 && m.Definition != nil && !m.Definition.Begins:
			err = fmt.Errorf("it begins with %q, and must with a cluster, as in \"Given a cluster\"", said.Text)
		case err == nil:
			err = checkStep(m, said.Text, feature, made)
		}
		if err != nil {
			wrong = append(wrong, Problem{i, err})
		}
		for len(owes) < len(feature.Owed) {
			owes = append(owes, i)
		}
	}
	for i, owed := range feature.Owed {
		// mutant: what follows from a step that is not understood is said as well
		if unread {
			break
		}
		if err := owed(feature); err != nil {
			wrong = append(wrong, Problem{owes[i], err})
		}
	}
	return wrong
}

// Made are the names of what the steps make, with those in the files that they name.
func Made(steps []*messages.PickleStep, beside fs.FS) *given.Names {
	m := &given.Names{}
	m.AddSteps(steps, func(file string) []byte {
		if beside == nil {
			return nil
		}
		text, _ := fs.ReadFile(beside, file) // an error is the step's that names it
		return text
	})
	return m
}

// checkStep finds what is wrong with a step of this text, as far as that is known without a world.
func checkStep(m stepdef.Match, text string, f *scene.Feature, made *given.Names) error {
	if m.Waits() {
		if _, err := m.Awaited(); err != nil {
			return err
		}
		f.Awaited = true
	}
	if !m.Definition.Unchecked {
		if err := m.Args.Check(); err != nil {
			return err
		}
	}
	switch {
	case m.Definition.Observes != nil:
		if m.Definition.Observes.Quotes() && strings.TrimSpace(m.Args.Quoted) == "" {
			return errors.New("the statement: the text is empty")
		}
		o, err := m.Definition.Observes.Observation(m.Args)
		if err != nil {
			return err
		}
		if err := made.CheckOutcome(text); err != nil {
			return err
		}
		return o.EachStatement(made.Check)
	case m.Definition.Check != nil:
		return m.Definition.Check(f, m.Args)
	}
	return nil
}

// unknown says that a step matches nothing, and what it might mean.
func unknown(said *messages.PickleStep, guess bool) error {
	wrong := fmt.Sprintf("its step %q matches nothing", stepdef.Said(said))
	if guess {
		if meant := instead(said); meant != "" {
			wrong += ": " + meant
		}
	}
	return fmt.Errorf("%s; nodestorm sentences prints what does", wrong)
}

// instead says what a step might mean that no sentence matches, or "".
func instead(said *messages.PickleStep) string {
	role := stepdef.RoleOf(said)
	if words.TooLong(said.Text) {
		return ""
	}
	if meant := inUnits(said.Text); meant != said.Text && len(stepdef.Matches(role, meant)) > 0 {
		return fmt.Sprintf("durations have units of a letter: write %q", meant)
	}
	if action, event, waits := strings.Cut(said.Text, stepdef.Once); waits {
		if wrong := wrongEvent(action, strings.TrimSuffix(event, ":")); wrong != "" {
			return wrong
		}
	}
	for _, other := range stepdef.Roles {
		if len(stepdef.Matches(other, said.Text)) > 0 {
			return fmt.Sprintf("it is a %s, and not a %s", other, role)
		}
	}
	var all []stepdef.Definition
	var of []scene.Role
	var expressions []*words.Expression
	for _, role := range stepdef.Roles {
		for _, d := range stepdef.InRole(role) {
			all, of, expressions = append(all, d), append(of, role), append(expressions, d.Expression)
		}
	}
	best, found := words.Nearest(said.Text, expressions, func(i int) bool { return of[i] == role })
	if !found {
		return ""
	}
	meant := of[best].String() + " " + all[best].Expression.Words
	if wrong := expressions[best].Wrong(said.Text); wrong != "" {
		return wrong + fmt.Sprintf(", in %q", meant)
	}
	return fmt.Sprintf("did you mean %q", meant)
}

// inWords is a duration as people say it.
var inWords = regexp.MustCompile(`\b[0-9]+ ?(?:milliseconds?|seconds?|secs?|minutes?|mins?|hours?)\b`)

// inUnits is the text of a step with its durations as steps write them.
func inUnits(text string) string {
	return inWords.ReplaceAllStringFunc(text, func(said string) string { return cmp.Or(strict.DurationMeant(said), said) })
}

// wrongEvent says what is wrong with the event that an action waits for, or "".
func wrongEvent(action, event string) string {
	alone, quotes := len(stepdef.Matches(scene.When, action)) > 0, len(stepdef.Matches(scene.When, action+":")) > 0
	switch {
	case !alone && !quotes, then.IsEvent(event):
		return ""
	case event != acts.ThisRecorded:
		return fmt.Sprintf(`%q is no event to wait for, such as "karpenter" has sent "delete" of "nodes", or "cloud" has recorded `+
			`"running" of "instances"`, event)
	case alone:
		return fmt.Sprintf("the event is quoted below the step, which ends with a colon then: %q", stepdef.Once[1:]+acts.ThisRecorded+":")
	}
	return fmt.Sprintf("a step quotes one text, and %q has its own: say %q with the event before it, as a step, or name the event in words",
		action+":", "When "+acts.ThisRecorded+":")
}
