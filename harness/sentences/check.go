package sentences

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cucumber/messages/go/v21"

	"nodestorm/harness/run/then"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/slips"
	"nodestorm/harness/sentences/words"
	"nodestorm/scenarios"
	"nodestorm/sim/history/checker"
)

// Check finds a step that no sentence matches, a scenario without a cluster, or what a
// step quotes and no world could take, before anything starts. beside is the folder of the
// feature, with the files that the steps name; nil if there is none.
func Check(steps []*messages.PickleStep, beside fs.FS) error {
	if len(steps) == 0 {
		return errors.New("it has no steps")
	}
	if wrong := problems(steps, beside); len(wrong) > 0 {
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

// Problems are all that Check would find, one after the other, and words that look like slips. These are lint's alone: a rule that
// compares spellings can be wrong, and must not keep a scenario from being played.
func Problems(steps []*messages.PickleStep, beside fs.FS) []Problem {
	wrong := problems(steps, beside)
	if len(wrong) == 0 { // what a wrong step says is not what it means
		for _, slip := range slips.Find(steps) {
			wrong = append(wrong, Problem{slip.Step, slip.Err})
		}
	}
	return wrong
}

func problems(steps []*messages.PickleStep, beside fs.FS) (wrong []Problem) {
	feature, made, cloud := &scene.Feature{Beside: beside}, Made(steps, beside), System(steps)
	var owes []int // the steps of feature.Owed
	for i, said := range steps {
		s, err := resolve(said, beside)
		now, isOld := words.Newer(said.Text, cloud)
		switch {
		// mutant: a step with old words is played
		case isOld:
			err = fmt.Errorf("its step %q is called %q now: nodestorm lint --fix rewrites it", roles[said.Type].String()+" "+said.Text, now)
		case errors.Is(err, errUnknown):
			err = unknown(said, len(wrong) < mostMeant)
		case i == 0 && s.row != nil && !s.row.Begins:
			err = fmt.Errorf("it begins with %q, and must with a cluster, as in \"Given a cluster\"", said.Text)
		case err == nil:
			err = s.check(said.Text, feature, made)
		}
		if err != nil {
			wrong = append(wrong, Problem{i, err})
		}
		for len(owes) < len(feature.Owed) {
			owes = append(owes, i)
		}
	}
	for i, owed := range feature.Owed {
		if err := owed(feature); err != nil {
			wrong = append(wrong, Problem{owes[i], err})
		}
	}
	return wrong
}

// Made are the names of what the steps make, with those in the files that they name.
func Made(steps []*messages.PickleStep, beside fs.FS) *checker.Made {
	m := &checker.Made{}
	scenarios.AddMade(m, steps, func(file string) []byte {
		if beside == nil {
			return nil
		}
		text, _ := fs.ReadFile(beside, file) // an error is the step's that names it
		return text
	})
	return m
}

// check finds what is wrong with a step of this text, as far as that is known without a world.
func (s spoken) check(text string, f *scene.Feature, made *checker.Made) error {
	if s.once != (once{}) {
		if _, err := s.once.record(); err != nil {
			return err
		}
		f.Awaited = true
	}
	if !s.row.Unchecked {
		if err := s.args.Check(); err != nil {
			return err
		}
	}
	switch {
	case s.row.observes != nil:
		if s.row.observes.Quotes() && strings.TrimSpace(s.args.Quoted) == "" {
			return errors.New("the statement: the text is empty")
		}
		o, err := s.row.observes.Observation(s.args)
		if err != nil {
			return err
		}
		if err := made.CheckOutcome(text); err != nil {
			return err
		}
		return o.CheckMade(made)
	case s.row.Check != nil:
		return s.row.Check(f, s.args)
	}
	return nil
}

// unknown says that a step matches nothing, and what it might mean.
func unknown(said *messages.PickleStep, guess bool) error {
	wrong := fmt.Sprintf("its step %q matches nothing", roles[said.Type].String()+" "+said.Text)
	if guess {
		if meant := instead(said); meant != "" {
			wrong += ": " + meant
		}
	}
	return fmt.Errorf("%s; nodestorm sentences prints what does", wrong)
}

// instead says what a step might mean that no sentence matches, or "".
func instead(said *messages.PickleStep) string {
	role := roles[said.Type]
	if words.TooLong(said.Text) {
		return ""
	}
	if action, record, waits := strings.Cut(said.Text, onceWords); waits {
		if wrong := wrongRecord(action, strings.TrimSuffix(record, ":")); wrong != "" {
			return wrong
		}
	}
	for _, other := range []scene.Role{scene.Given, scene.When, scene.Then} {
		if len(find(other, said.Text)) > 0 {
			return fmt.Sprintf("it is a %s, and not a %s", other, role)
		}
	}
	var all []row
	var of []scene.Role
	var expressions []*words.Expression
	for _, role := range []scene.Role{scene.Given, scene.When, scene.Then} {
		for _, r := range rowsOf()[role] {
			all, of, expressions = append(all, r), append(of, role), append(expressions, r.Expression)
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

// wrongRecord says what is wrong with the record that an action waits for, or "".
func wrongRecord(action, record string) string {
	alone, quotes := len(find(scene.When, action)) > 0, len(find(scene.When, action+":")) > 0
	switch {
	case !alone && !quotes, then.IsRecord(record):
		return ""
	case record != thisRecorded:
		return fmt.Sprintf(`%q is no record to wait for, such as "karpenter" has sent "delete" of "nodes", or "cloud" has recorded `+
			`"running" of "instances"`, record)
	case alone:
		return fmt.Sprintf("the record is quoted below the step, which ends with a colon then: %q", onceWords[1:]+thisRecorded+":")
	}
	return fmt.Sprintf("a step quotes one text, and %q has its own: say %q with the record before it, as a step, or name the record in words",
		action+":", "When "+thisRecorded+":")
}
